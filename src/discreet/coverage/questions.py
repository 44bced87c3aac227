"""What coverage measures: rows of each unit by size, and values of a column by its bounds.

Both are histograms in fixed groups, planned, charged, run, released and kept as any question is.

*Rows by unit*: each unit is in one group, by its number of rows: [1, 2), [2, 4), [4, 8), … Within
a group its place between both ends is summed as well, in whole steps, so that a unit is one unit of
mass that is divided between two ends. So it moves all numbers together by 1 at most, added or
removed, and the number of rows is exact before noise, not only known to a factor of two.

*Values by bounds*: each row that counts is below, inside or above the bounds that the catalog
declares. Raw values are compared: the question knows nothing of the bounds but two literals.

Proofs: docs/proofs/coverage.md.
"""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

from discreet.bounds.histogram import ColumnRef
from discreet.catalog.catalog import Catalog
from discreet.catalog.schema import Bounds, Column, Kind, PrivateTable
from discreet.query.check import Checker
from discreet.query.check.relations import PrivateRows, PublicReader
from discreet.query.expressions.facts import case_of, facts_from_column, literal
from discreet.query.expressions.functions import call
from discreet.query.questions import (
    Aggregate,
    Aggregation,
    ColumnOrigin,
    DeclaredGroups,
    FixedBins,
    Key,
    NullValues,
    OneRowPerUnit,
    OriginKind,
    Question,
    Statistic,
)
from discreet.query.tree import (
    ColumnOf,
    Expression,
    Facts,
    GroupByUnit,
    Interval,
    Scan,
    Select,
    UnitAggregate,
    UnitFunction,
)
from discreet.query.tree import NamedExpression as Named

DOUBLINGS = 20
"""Units with 2**20 rows or more are counted as having so many."""

KNOTS: tuple[int, ...] = tuple(1 << power for power in range(DOUBLINGS + 1))
"""Where groups of units begin. The last one holds all larger units."""

STEPS = 1024
"""A unit's place in its group is rounded down to one of so many steps."""

Made = Callable[[int], Expression]
"""Makes an expression for the group that begins at a power of two."""

BELOW, INSIDE, ABOVE = 0, 1, 2
"""The groups of values."""


# --------------------------------------------------------------------------- rows of units


def rows_question(table: PrivateTable, catalog: Catalog, public: PublicReader) -> Question:
    """Return the question how many units have how many rows.

    What the catalog declares of columns and of rows_per_unit has no part in it. So it stays the
    same question, paid for once, whatever limit is declared later.
    """
    private = Checker(catalog=catalog, public=public).scan(table)
    unlimited = Facts(
        kind=Kind.INTEGER, interval=Interval(low=Fraction(1)), step=Fraction(1), nullable=False
    )
    units = GroupByUnit(
        source=_scan_of(private, rows_per_unit=1),
        name="t",
        keys=(),
        aggregates=(
            UnitAggregate(
                name="n", function=UnitFunction.COUNT_ROWS, argument=None, facts=unlimited
            ),
        ),
    )
    # Cut at the cap before anything is computed, so that no arithmetic can overflow.
    rows = call("least", ColumnOf(source="u", name="n", facts=unlimited), literal(KNOTS[-1]))
    size, place = size_of(rows), place_of(rows)
    outer = Select(
        source=units,
        name="u",
        columns=(Named(name="size", expression=size), Named(name="place", expression=place)),
    )
    whole = replace(
        place.facts,
        interval=Interval(low=Fraction(0), high=Fraction(STEPS)),
        step=Fraction(1),
        nullable=False,
    )
    release = Aggregation(
        rows=outer,
        name="rows",
        contribution_limit=1,
        limit_reason=OneRowPerUnit(),
        one_row_per_unit=True,
        keys=(_key("size", size, f"rows of {table.name} by unit"),),
        groups=_groups(len(KNOTS)),
        aggregates=(
            _count(),
            Aggregate(
                statistic=Statistic.SUM,
                argument=ColumnOf(source="rows", name="place", facts=whole),
                text="SUM(place)",
                kind=Kind.INTEGER,
            ),
        ),
        left_out=private.left_out,
    )
    return _question(release)


def size_of(rows: Expression) -> Expression:
    """Return the group of a number of rows: how often 1 is doubled without passing it."""
    return _doubled(rows, 0, DOUBLINGS, literal)


def place_of(rows: Expression) -> Expression:
    """Return the place of a number of rows in its group: 0 at its beginning, below STEPS."""
    return _doubled(rows, 0, DOUBLINGS, lambda power: _place(rows, power))


def place(rows: int) -> tuple[int, int]:
    """Return what an engine must compute for a unit: its group, and its place there."""
    capped = min(rows, KNOTS[-1])
    power = capped.bit_length() - 1
    return power, (capped - KNOTS[power]) * STEPS // KNOTS[power]


def _doubled(rows: Expression, first: int, last: int, made: Made) -> Expression:
    """Halve the groups until one is left."""
    if first == last:
        return made(first)
    middle = (first + last + 1) // 2
    is_before = call("less", rows, literal(KNOTS[middle]))
    before = _doubled(rows, first, middle - 1, made)
    return case_of(((is_before, before),), _doubled(rows, middle, last, made))


def _place(rows: Expression, power: int) -> Expression:
    knot = KNOTS[power]
    if power in (0, DOUBLINGS):
        return literal(0)
    above = call("subtract", rows, literal(knot))
    if knot <= STEPS:
        return call("multiply", above, literal(STEPS // knot))
    return call("integer_divide", above, literal(knot // STEPS))


# --------------------------------------------------------------------------- values of a column


def values_question(
    ref: ColumnRef, bounds: Bounds, catalog: Catalog, public: PublicReader
) -> Question:
    """Return the question how many values of the rows that count are below, inside and above."""
    private = Checker(catalog=catalog, public=public).scan(ref.table)
    bare = Column(name=ref.column.name, kind=ref.column.kind)
    value = ColumnOf(source="t", name=ref.column.name, facts=facts_from_column(bare))
    side = _side(value, bounds)
    rows = Select(
        source=_scan_of(private),
        name="t",
        where=call("not", call("is_null", value)),
        columns=(Named(name="side", expression=side),),
    )
    release = Aggregation(
        rows=rows,
        name="rows",
        contribution_limit=private.contribution_limit,
        limit_reason=private.reason,
        one_row_per_unit=private.one_row_per_unit,
        keys=(_key("side", side, f"{ref} by its bounds"),),
        groups=_groups(3),
        aggregates=(_count(),),
        left_out=(*private.left_out, NullValues(column=ref.column.name)),
    )
    return _question(release)


def _side(value: Expression, bounds: Bounds) -> Expression:
    low, high = (_literal(each, value.facts.kind) for each in (bounds.low, bounds.high))
    branches = (
        (call("less", value, low), literal(BELOW)),
        (call("greater", value, high), literal(ABOVE)),
    )
    return case_of(branches, literal(INSIDE))


def _literal(number: Fraction, kind: Kind) -> Expression:
    is_whole = kind is Kind.INTEGER and number.denominator == 1
    return literal(int(number), kind) if is_whole else literal(number, Kind.REAL)


# --------------------------------------------------------------------------- both


def _scan_of(private: PrivateRows, *, rows_per_unit: int | None = None) -> Scan:
    """Return the scan of a table with nothing said of its columns but their kinds."""
    scan = private.rows
    assert isinstance(scan, Scan)  # noqa: S101 - a table is scanned

    def bare(table: PrivateTable) -> PrivateTable:
        columns = tuple(Column(name=each.name, kind=each.kind) for each in table.columns)
        limit = table.rows_per_unit if rows_per_unit is None else rows_per_unit
        return replace(table, columns=columns, is_default_limit=False, rows_per_unit=limit)

    return Scan(table=bare(scan.table), parents=tuple(map(bare, scan.parents)))


def _key(name: str, expression: Expression, text: str) -> Key:
    column = ColumnOf(source="rows", name=name, facts=expression.facts)
    return Key(name="k0", expression=column, text=text)


def _groups(number: int) -> DeclaredGroups:
    return DeclaredGroups(rows=tuple((each,) for each in range(number)), why=FixedBins())


def _count() -> Aggregate:
    return Aggregate(statistic=Statistic.COUNT_ROWS, text="COUNT(*)", kind=Kind.INTEGER)


def _question(release: Aggregation) -> Question:
    names = [f"a{number}" for number in range(len(release.aggregates))]
    shown = ", ".join(f'"{each}", "{each}_spread"' for each in names)
    return Question(
        aggregations=(release,),
        post_sql=f'SELECT "k0", {shown} FROM "released_0"',  # noqa: S608 - our own names
        columns=("k0", *names),
        spreads=(None, *(f"{each}_spread" for each in names)),
        sources=(
            ColumnOrigin(release=0, kind=OriginKind.KEY, index=0),
            *(
                ColumnOrigin(release=0, kind=OriginKind.AGGREGATE, index=number)
                for number in range(len(names))
            ),
        ),
    )
