"""Relations and expressions over private rows, how to walk them, and the exact query.

Nothing else reaches an engine. Private rows are relations in which every row belongs to one unit.
Each keeps two promises, for any two neighbouring data sets: the rows of a unit follow from its own
rows (and public tables) alone, and rows of NULL units are gone. So what is bounded by unit is.

Expressions are total: NULL where SQL would raise an error, and in place of NaN and infinities. Only
functions of `query.expressions.functions` can be called.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from enum import Enum
from fractions import Fraction

from discreet.catalog.schema import Kind, PrivateTable, Value
from discreet.months import EVERY_MONTH, MonthSpan

# --------------------------------------------------------------------------- expressions


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """Where a number lies if it is not NULL; None is no bound on that side."""

    low: Fraction | None = None
    high: Fraction | None = None


ANYWHERE = Interval()


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What is known of an expression's values from the question and the catalog alone.

    Numbers have their interval as they are, dates in days and timestamps in microseconds since
    1970-01-01, UTC. Privacy never rests on these facts: values are moved into the interval where
    they are summed, and rows whose key is not in the domain are not counted.
    """

    kind: Kind
    interval: Interval = ANYWHERE
    step: Fraction | None = None
    """Values are multiples of it, counted from the interval's low end (or from 0 without one)."""
    domain: tuple[Value, ...] | None = None
    """All values that it can have, NULL among them only if it is one; None if not known."""
    nullable: bool = True
    """Whether it may be NULL, as far as the catalog promises."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnOf:
    """A column of the rows at hand: `source` names one of the relations joined there."""

    source: str
    name: str
    facts: Facts = field(compare=False)
    within: tuple[int, int] | None = field(default=None, compare=False)
    """Where whole numbers lie that the engine itself computed, whatever the data."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Literal:
    """A value that the question states."""

    value: Value
    facts: Facts = field(compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleasedScalar:
    """A noisy number that an earlier release of the same question gives; known to all by then."""

    number: int
    facts: Facts = field(compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class InReleasedRows:
    """Whether a value is in the only column of rows that earlier releases give, as IN means it."""

    argument: "Expression"
    rows: "ReleasedRows"
    facts: Facts = field(compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A function of `query.expressions.functions`, by its name there, which fixes its meaning."""

    function: str
    arguments: "tuple[Expression, ...]"
    facts: Facts = field(compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """The first branch whose condition is true, else `otherwise`."""

    branches: "tuple[tuple[Expression, Expression], ...]"
    otherwise: "Expression"
    facts: Facts = field(compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class UnitSemiJoin:
    """Whether the row's own unit has a row among others: (NOT) IN, (NOT) EXISTS on the unit.

    `where` may also speak of columns of the outer row. Never NULL.
    """

    rows: "Relation"
    name: str
    """What the inner rows are called in `where`."""
    where: "Expression | None"
    facts: Facts = field(compare=False)


class WindowFunction(Enum):
    """What a window inside one unit's rows can compute."""

    ROW_NUMBER = "row_number"
    RANK = "rank"
    DENSE_RANK = "dense_rank"
    LAG = "lag"
    LEAD = "lead"
    FIRST_VALUE = "first_value"
    LAST_VALUE = "last_value"
    COUNT = "count"
    SUM = "sum"
    MIN = "min"
    MAX = "max"


@dataclass(frozen=True, slots=True, kw_only=True)
class Ordering:
    """One expression to order by."""

    expression: "Expression"
    descending: bool = False
    nulls_first: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """A function over rows of the same unit; `partition` and the unit part the rows.

    Ties are broken by all columns of the row, so that only equal rows are interchangeable and the
    values of a unit follow from its own rows alone. `frame` is "whole", "running" (to the current
    row, by rows) or "2 preceding" (so many rows and the current row).
    """

    function: WindowFunction
    arguments: "tuple[Expression, ...]"
    partition: "tuple[Expression, ...]"
    order: tuple[Ordering, ...]
    frame: str
    facts: Facts = field(compare=False)


Expression = (
    ColumnOf | Literal | ReleasedScalar | InReleasedRows | Call | Case | UnitSemiJoin | Window
)


# --------------------------------------------------------------------------- private rows


@dataclass(frozen=True, slots=True, kw_only=True, weakref_slot=True)
class Scan:
    """A private table, each row with its unit."""

    table: PrivateTable
    parents: tuple[PrivateTable, ...] = ()
    """The tables on the path to the unit, nearest first; empty if the unit is in the table."""
    is_bounded: bool = False
    """Of a prepared table: only the rows that count, at most rows_per_unit of each unit."""
    group_limits: tuple[tuple[str, int], ...] = ()
    """Of those: only rows with one of so many values of a column, chosen for each unit."""
    ranked: frozenset[str] = field(default=frozenset(), compare=False)
    """Columns of which the engine has stored which value of its unit a row has."""
    months: MonthSpan = EVERY_MONTH
    """Of a table that is counted by month: only rows that arrived then are read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PublicScan:
    """A public table that private rows are joined with."""

    table: str


MOST_CONSTANT_ROWS, MOST_CONSTANT_LETTERS = 10_000, 1_000_000
"""No more rows are written into a statement, nor rows whose texts are longer together."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConstantColumn:
    """A column of rows that stand in the statement."""

    name: str
    kind: Kind


@dataclass(frozen=True, slots=True, kw_only=True)
class ConstantRows:
    """Rows that the question states, or that public tables give: they stand in the statement."""

    columns: tuple[ConstantColumn, ...]
    rows: tuple[tuple[Value, ...], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleasedRows:
    """Rows of SQL over earlier releases of the same question; known to all by then.

    `engines.released` puts constant rows in their place when the releases are made.
    """

    number: int
    columns: tuple[ConstantColumn, ...]
    key: tuple[int, ...] | None = None
    """The places of columns in which no two rows agree, whatever was released; None if not known.

    Without any column there is one row at most.
    """


PublicRelation = PublicScan | ConstantRows | ReleasedRows
"""What private rows can be joined with that belongs to no unit."""


class JoinKind(Enum):
    """Which rows of the left side stay without a partner."""

    INNER = "inner"
    LEFT = "left"


@dataclass(frozen=True, slots=True, kw_only=True)
class Join:
    """Another relation beside the rows; a private one is joined on the unit besides `on`."""

    kind: JoinKind
    source: "Relation | PublicRelation"
    name: str
    on: Expression
    fan_out: int | None = field(default=None, compare=False)
    """Of public rows: how many of its rows one row can meet at most, if that is sure."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedExpression:
    """A named expression of a relation's output."""

    name: str
    expression: Expression


@dataclass(frozen=True, slots=True, kw_only=True)
class Select:
    """Row by row: join, filter, compute. The unit is that of `source`."""

    source: "Relation"
    name: str
    joins: tuple[Join, ...] = ()
    where: Expression | None = None
    columns: tuple[NamedExpression, ...]
    qualify: Expression | None = None
    """QUALIFY: a filter on the columns' windows, taken after `where`."""


class UnitFunction(Enum):
    """What can be computed exactly of one unit's rows, the same in every run."""

    COUNT_ROWS = "count rows"
    COUNT = "count"
    COUNT_DISTINCT = "count distinct"
    SUM = "sum"
    AVG = "avg"
    MIN = "min"
    MAX = "max"
    MEDIAN = "median"


@dataclass(frozen=True, slots=True, kw_only=True)
class UnitAggregate:
    """An aggregate over the rows of one unit (and one key); sums of reals are fixed point."""

    name: str
    function: UnitFunction
    argument: Expression | None
    facts: Facts = field(compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupByUnit:
    """GROUP BY the unit (and keys): a row for each unit and key, with aggregates.

    Expressions speak of `source` by `name`. The output's columns are the keys and the aggregates.
    """

    source: "Relation"
    name: str
    keys: tuple[NamedExpression, ...]
    aggregates: tuple[UnitAggregate, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class UnionAll:
    """UNION ALL of rows of the same kind of unit, columns by position, named as in the first."""

    parts: "tuple[Relation, ...]"


Relation = Scan | Select | GroupByUnit | UnionAll


def is_unfiltered(rows: Relation) -> bool:
    """Return whether these are all rows of one kept table, each once."""
    match rows:
        case Scan(is_bounded=is_kept, months=months):
            return is_kept and months == EVERY_MONTH
        case Select(source=source, joins=joins, where=where, qualify=only):
            return not joins and where is None and only is None and is_unfiltered(source)
        case _:
            return False


def columns_in(expression: Expression) -> Iterator[ColumnOf]:
    """Yield every column of the rows at hand that an expression reads, repeats included."""
    for each in parts_of(expression):
        if isinstance(each, ColumnOf):
            yield each


def parts_of(expression: Expression) -> Iterator[Expression]:
    """Yield an expression and all that it is made of; columns of inner rows left out."""
    yield expression
    match expression:
        case Call():
            inner = expression.arguments
        case InReleasedRows():
            inner = (expression.argument,)
        case Case():
            pairs = [each for pair in expression.branches for each in pair]
            inner = (*pairs, expression.otherwise)
        case Window():
            order = [each.expression for each in expression.order]
            inner = (*expression.arguments, *expression.partition, *order)
        case UnitSemiJoin(where=where, name=name):
            outer = () if where is None else parts_of(where)
            yield from (
                each for each in outer if not (isinstance(each, ColumnOf) and each.source == name)
            )
            return
        case _:
            inner = ()
    for each in inner:
        yield from parts_of(each)


def map_columns(  # noqa: PLR0911 - one for each kind
    expression: Expression, change: Callable[[ColumnOf], Expression]
) -> Expression:
    """Return the expression with each of its columns changed; columns of inner rows stay."""

    def go(each: Expression) -> Expression:
        return map_columns(each, change)

    match expression:
        case ColumnOf():
            return change(expression)
        case Call():
            return replace(expression, arguments=tuple(map(go, expression.arguments)))
        case InReleasedRows():
            return replace(expression, argument=go(expression.argument))
        case Case():
            branches = tuple((go(condition), go(value)) for condition, value in expression.branches)
            return replace(expression, branches=branches, otherwise=go(expression.otherwise))
        case Window():
            return replace(
                expression,
                arguments=tuple(map(go, expression.arguments)),
                partition=tuple(map(go, expression.partition)),
                order=tuple(_ordering(each, go) for each in expression.order),
            )
        case UnitSemiJoin(where=where) if where is not None:
            outer_only = _outside(expression.name, change)
            return replace(expression, where=map_columns(where, outer_only))
        case _:
            return expression


def _ordering(ordering: Ordering, change: Callable[[Expression], Expression]) -> Ordering:
    return replace(ordering, expression=change(ordering.expression))


def _outside(
    inner: str, change: Callable[[ColumnOf], Expression]
) -> Callable[[ColumnOf], Expression]:
    return lambda column: column if column.source == inner else change(column)


class ContributionBounding(Enum):
    """How much of a unit is used; `limit` below is the `contribution_limit` of the query."""

    NONE = "one row per unit by construction"
    ROWS = "at most `limit` rows of each unit, chosen by a hash of their contents"
    UNITS_ONLY = "each unit counts once in each of at most `limit` groups"
    PAIRS = "at most `limit` different values of each unit, over all groups"


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupBounding:
    """At most `most` groups of each unit are counted, chosen by a hash of unit and group."""

    most: int
    keys: int
    """The first so many keys of the query are those of the group."""


@dataclass(frozen=True, slots=True, kw_only=True, weakref_slot=True)
class ExactQuery:
    """Whole numbers by group: what the engine computes, decided before any data is read.

    The rows are bounded by unit, grouped by `keys` (k0, k1, ... in the result), and each of `sums`
    (s0, s1, ...), an expression of whole numbers never NULL once coalesced to 0, is summed exactly.
    With `units` there is a column `units`, the number of different units in the group. With `cell`
    the rows are grouped by that whole number as well (column `cell`; rows where it is NULL are
    dropped), with their number in `n`. Without keys or cell there is exactly one row.
    """

    rows: Relation
    name: str
    keys: tuple[Expression, ...]
    bounding: ContributionBounding
    contribution_limit: int
    sums: tuple[Expression, ...] = ()
    units: bool = False
    cell: Expression | None = None
    is_bounded: bool = False
    """Whether no unit has more rows than `contribution_limit`, so that none need be chosen."""
    distinct: Expression | None = None
    """With PAIRS: the value whose different values are counted (column `n`) or summed."""
    group_bounding: GroupBounding | None = None
    """How many groups of a unit are counted, if that is limited before its rows are."""
