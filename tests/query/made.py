"""Questions about a small table, made by hand, and exact tables as an engine would return them."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import pyarrow as pa

from discreet.accounting.approximate import basic_cost
from discreet.catalog.catalog import Accounting, BudgetPolicy
from discreet.catalog.schema import Column, ColumnUnit, Kind, PrivateTable, Value
from discreet.mechanisms.sensitivity import ADD_REMOVE, Neighbours
from discreet.query.plan import Plan, make_plan
from discreet.query.plan.plan import EpsilonTarget
from discreet.query.questions import (
    Aggregate,
    Aggregation,
    ColumnOrigin,
    DeclaredGroups,
    Groups,
    Key,
    ListedByCatalog,
    NoKeys,
    NotDeclared,
    OriginKind,
    Question,
    RowsPerUnit,
    Statistic,
    UndeclaredGroups,
)
from discreet.query.tree import ColumnOf, Facts, Interval, Scan
from discreet.tables import ExactTable

VISITS = PrivateTable(
    name="visits",
    columns=(
        Column(name="patient", kind=Kind.INTEGER),
        Column(name="cost", kind=Kind.REAL),
        Column(name="minutes", kind=Kind.INTEGER),
        Column(name="region", kind=Kind.TEXT),
    ),
    unit=ColumnUnit(column="patient"),
)

REGIONS = ("north", "south", "west")

Number = int | Fraction


def column(
    name: str,
    kind: Kind = Kind.REAL,
    *,
    bounds: tuple[Number, Number] | None = None,
    step: Number | None = None,
    domain: tuple[Value, ...] | None = None,
    nullable: bool = True,
) -> ColumnOf:
    interval = (
        Interval()
        if bounds is None
        else Interval(low=Fraction(bounds[0]), high=Fraction(bounds[1]))
    )
    facts = Facts(
        kind=kind,
        interval=interval,
        step=None if step is None else Fraction(step),
        domain=domain,
        nullable=nullable,
    )
    return ColumnOf(source="v", name=name, facts=facts)


COST = column("cost", bounds=(0, 500))
MINUTES = column("minutes", Kind.INTEGER, bounds=(0, 240))
CHANGE = column("change", Kind.INTEGER, bounds=(-20, 50))
REGION = column("region", Kind.TEXT, domain=REGIONS)

ROWS = Aggregate(statistic=Statistic.COUNT_ROWS, kind=Kind.INTEGER)
UNITS = Aggregate(statistic=Statistic.COUNT_UNITS, kind=Kind.INTEGER)


def count(argument: ColumnOf) -> Aggregate:
    return Aggregate(statistic=Statistic.COUNT, argument=argument, kind=Kind.INTEGER)


def total(argument: ColumnOf) -> Aggregate:
    kind = argument.facts.kind
    return Aggregate(statistic=Statistic.SUM, argument=argument, kind=kind)


def average(argument: ColumnOf) -> Aggregate:
    return Aggregate(statistic=Statistic.AVG, argument=argument)


def of(statistic: Statistic, argument: ColumnOf, kind: Kind = Kind.REAL) -> Aggregate:
    return Aggregate(statistic=statistic, argument=argument, kind=kind)


def quantile(argument: ColumnOf, fraction: str) -> Aggregate:
    share = Fraction(fraction)
    return Aggregate(statistic=Statistic.QUANTILE, argument=argument, fraction=share)


def by_region(*, known: bool = True) -> tuple[tuple[Key, ...], Groups]:
    keys = (Key(name="region", expression=REGION),)
    if known:
        return keys, DeclaredGroups(rows=tuple((each,) for each in REGIONS), why=ListedByCatalog())
    return keys, UndeclaredGroups(why=NotDeclared(columns=("region",)))


def make_release(
    *aggregates: Aggregate,
    keys: tuple[tuple[Key, ...], Groups] | None = None,
    limit: int = 10,
    is_one_row: bool = False,
) -> Aggregation:
    group, key_set = keys or ((), DeclaredGroups(rows=((),), why=NoKeys()))
    return Aggregation(
        rows=Scan(table=VISITS),
        name="v",
        contribution_limit=limit,
        limit_reason=RowsPerUnit(table="visits", rows=limit, is_default=False),
        one_row_per_unit=is_one_row,
        keys=group,
        groups=key_set,
        aggregates=aggregates,
    )


def make_question(*releases: Aggregation, names: Sequence[str] | None = None) -> Question:
    found = [
        ColumnOrigin(release=number, kind=OriginKind.AGGREGATE, index=i)
        for number, each in enumerate(releases)
        for i in range(len(each.aggregates))
    ]
    columns = tuple(names or (f"c{i}" for i in range(len(found))))
    return Question(
        aggregations=releases,
        post_sql="SELECT * FROM released_0",
        columns=columns,
        spreads=(None,) * len(columns),
        sources=tuple(found),
    )


def make_policy(
    *,
    delta: Number = 0,
    neighbours: Neighbours = ADD_REMOVE,
    accounting: Accounting = Accounting.BASIC,
) -> BudgetPolicy:
    return BudgetPolicy(
        epsilon=Fraction(100),
        delta=Fraction(delta),
        neighbours=neighbours,
        accounting=accounting,
    )


def plan_of(
    *releases: Aggregation, epsilon: Number = 1, policy: BudgetPolicy | None = None
) -> Plan:
    return make_plan(make_question(*releases), EpsilonTarget(epsilon), policy or make_policy())


def charged(plan: Plan) -> tuple[Fraction, Fraction]:
    costs = [basic_cost(each) for each in plan.events]
    return sum((e for e, _ in costs), Fraction(0)), sum((d for _, d in costs), Fraction(0))


def exact(columns: Mapping[str, list[Any]]) -> ExactTable:
    return ExactTable(pa.Table.from_pydict(dict(columns)))
