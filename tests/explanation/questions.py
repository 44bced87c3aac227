"""Checked questions made by hand, and their plans."""

from fractions import Fraction

from discreet.catalog.catalog import BudgetPolicy
from discreet.catalog.schema import Bounds, Column, ColumnUnit, Kind, PrivateTable
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
    NotDeclared,
    NullUnit,
    OriginKind,
    Question,
    RowsPerUnit,
    Statistic,
    UndeclaredGroups,
)
from discreet.query.tree import ColumnOf, Facts, Interval, Scan

AGES = Interval(low=Fraction(0), high=Fraction(120))

VISITS = PrivateTable(
    name="visits",
    unit=ColumnUnit(column="patient_id"),
    columns=(
        Column(name="patient_id", kind=Kind.INTEGER),
        Column(name="region", kind=Kind.TEXT, values=("north", "south", "east", "west")),
        Column(name="age", kind=Kind.REAL, bounds=Bounds(low=Fraction(0), high=Fraction(120))),
    ),
)

AGE = ColumnOf(source="v", name="age", facts=Facts(kind=Kind.REAL, interval=AGES, nullable=False))
REGION = ColumnOf(source="v", name="region", facts=Facts(kind=Kind.TEXT))

COUNT = Aggregate(statistic=Statistic.COUNT_ROWS, text="COUNT(*)", kind=Kind.INTEGER)
UNITS = Aggregate(
    statistic=Statistic.COUNT_UNITS, text="COUNT(DISTINCT patient_id)", kind=Kind.INTEGER
)
AVERAGE = Aggregate(statistic=Statistic.AVG, argument=AGE, text="AVG(age)")
DEVIATION = Aggregate(statistic=Statistic.STDDEV_SAMP, argument=AGE, text="STDDEV(age)")
SUM = Aggregate(statistic=Statistic.SUM, argument=AGE, text="SUM(age)")
MEDIAN = Aggregate(
    statistic=Statistic.QUANTILE, argument=AGE, fraction=Fraction(1, 2), text="MEDIAN(age)"
)

KNOWN = DeclaredGroups(rows=(("north",), ("south",), ("east",), ("west",)), why=ListedByCatalog())
UNKNOWN = UndeclaredGroups(why=NotDeclared(columns=("region",)))


def make_question(*aggregates: Aggregate, keys: Groups = KNOWN) -> Question:
    """Return SELECT region, <aggregates> AS c0, c1, ... FROM visits GROUP BY region."""
    places = range(len(aggregates))
    release = Aggregation(
        rows=Scan(table=VISITS),
        name="v",
        contribution_limit=10,
        limit_reason=RowsPerUnit(table="visits", rows=10, is_default=True),
        one_row_per_unit=False,
        keys=(Key(name="region", expression=REGION),),
        groups=keys,
        aggregates=aggregates,
        left_out=(NullUnit(table="visits", column="patient_id"),),
    )
    return Question(
        aggregations=(release,),
        post_sql="SELECT region, a0 AS c0 FROM released_0",
        columns=("region", *(f"c{i}" for i in places)),
        spreads=(None, *(None for _ in places)),
        sources=(
            ColumnOrigin(release=0, kind=OriginKind.KEY, index=0),
            *(ColumnOrigin(release=0, kind=OriginKind.AGGREGATE, index=i) for i in places),
        ),
    )


def make_a_plan(
    *aggregates: Aggregate, keys: Groups = KNOWN, neighbours: Neighbours = ADD_REMOVE
) -> Plan:
    """Return the plan of a question for ε = 0.5."""
    policy = BudgetPolicy(epsilon=Fraction(3), delta=Fraction(1, 10**6), neighbours=neighbours)
    return make_plan(make_question(*aggregates, keys=keys), EpsilonTarget(0.5), policy)


def make_public_plan() -> Plan:
    """Return the plan of a question about public tables only."""
    question = Question(
        aggregations=(),
        post_sql="SELECT name FROM clinics",
        columns=("name",),
        spreads=(None,),
        sources=(None,),
    )
    return make_plan(question, EpsilonTarget(0.5), BudgetPolicy(epsilon=Fraction(3)))
