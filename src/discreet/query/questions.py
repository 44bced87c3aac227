"""A checked question: what is released about private rows, and what is made of it afterwards.

Reasons are values here. `explanation.sentences` turns them into English, and nothing else does.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from enum import Enum
from fractions import Fraction

from discreet.catalog.schema import Kind, PublicRange, Value
from discreet.query.tree import Expression, Relation

# --------------------------------------------------------------------------- reasons


@dataclass(frozen=True, slots=True, kw_only=True)
class RowIsUnit:
    """Each row of the table is a privacy unit."""

    table: str


@dataclass(frozen=True, slots=True, kw_only=True)
class OneRowPerUnit:
    """The rows are grouped by the unit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RowsPerUnit:
    """The catalog limits the rows of a unit, or its default does."""

    table: str
    rows: int
    is_default: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class JoinProduct:
    """Rows of a unit are joined: each relation, and how many rows it adds for one of the others."""

    factors: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class UnionSum:
    """Rows of both parts of UNION ALL are used."""

    left: int
    right: int


@dataclass(frozen=True, slots=True, kw_only=True)
class FullJoinSum:
    """Rows of both sides of FULL JOIN are used, with and without a partner."""

    left: int
    right: int


@dataclass(frozen=True, slots=True, kw_only=True)
class NumberedRows:
    """The question takes so many rows of a unit at most, by ROW_NUMBER: none need be left out."""

    rows: int


LimitReason = (
    RowIsUnit | OneRowPerUnit | RowsPerUnit | JoinProduct | UnionSum | FullJoinSum | NumberedRows
)
"""Where the limit on the rows of a unit comes from."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NoKeys:
    """There is one group."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedByCatalog:
    """The catalog or the question lists the values of all keys."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FromPublicTables:
    """Public tables list the values of some keys, the catalog or the question those of others."""

    tables: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class FixedBins:
    """The groups are the same for all data."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NotDeclared:
    """The values of these columns are not declared."""

    columns: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class TooManyKeys:
    """More groups are possible than are answered one by one."""

    number: int
    most: int


@dataclass(frozen=True, slots=True, kw_only=True)
class OneUnitEach:
    """Each group is of one unit, because this key leads to one."""

    key: str


DeclaredReason = NoKeys | ListedByCatalog | FromPublicTables | FixedBins
UndeclaredReason = NotDeclared | TooManyKeys | OneUnitEach
KeysReason = DeclaredReason | UndeclaredReason
"""Why groups are declared, or why they are not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NullUnit:
    """Rows of a table whose unit is NULL."""

    table: str
    column: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NoPathToUnit:
    """Rows of a table whose reference leads to no unit."""

    table: str
    column: str
    parent: str


@dataclass(frozen=True, slots=True, kw_only=True)
class UnlistedKeys:
    """Rows that WHERE lets pass and that are in none of the declared groups."""

    text: str
    """The key, as the question writes it."""
    has_null: bool
    """Whether the key can be NULL."""
    has_undeclared: bool
    """Whether it can have a value that is not declared."""
    bounds: tuple[Value, Value] | None = None
    """Of a column whose declared values are all those between its bounds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NullValues:
    """Rows whose value is NULL."""

    column: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Clamped:
    """Values outside the bounds count as the nearer bound."""

    text: str
    """The expression, as the question writes it."""
    low: Fraction
    high: Fraction
    kind: Kind


LeftOut = NullUnit | NoPathToUnit | UnlistedKeys | NullValues | Clamped | PublicRange
"""What is not used as it is."""


class RowChoiceTime(Enum):
    """When the rows of a unit that are used were chosen."""

    PER_QUERY = "among the rows that match"
    ONCE = "before any query, and this one reads all rows"
    BEFORE_WHERE = "before WHERE was applied"
    BEFORE_JOIN = "before tables were joined"


class Limited(Enum):
    """What of a unit is limited."""

    ROWS = "rows"
    GROUPS = "groups"
    VALUES = "values"


@dataclass(frozen=True, slots=True, kw_only=True)
class OneRowEach:
    """A unit has one row at most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CountedOnce:
    """A unit counts once, however many rows it has."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ContributionLimit:
    """No more of a unit is used."""

    most: int
    of: Limited
    reason: LimitReason
    chosen: RowChoiceTime
    groups: int | None = None
    """How many groups a unit is counted in, if groups_per_unit limits them."""


Contribution = OneRowEach | CountedOnce | ContributionLimit | NumberedRows
"""How much of a unit is used."""


# --------------------------------------------------------------------------- questions


class Statistic(Enum):
    """What can be released about private rows."""

    COUNT_ROWS = "COUNT(*)"
    COUNT = "COUNT"
    COUNT_UNITS = "COUNT(DISTINCT unit)"
    COUNT_DISTINCT = "COUNT(DISTINCT)"
    SUM = "SUM"
    SUM_DISTINCT = "SUM(DISTINCT)"
    AVG = "AVG"
    VAR_SAMP = "VAR_SAMP"
    VAR_POP = "VAR_POP"
    STDDEV_SAMP = "STDDEV_SAMP"
    STDDEV_POP = "STDDEV_POP"
    CORR = "CORR"
    COVAR_POP = "COVAR_POP"
    COVAR_SAMP = "COVAR_SAMP"
    REGR_SLOPE = "REGR_SLOPE"
    REGR_INTERCEPT = "REGR_INTERCEPT"
    REGR_R2 = "REGR_R2"
    REGR_COUNT = "REGR_COUNT"
    REGR_AVGX = "REGR_AVGX"
    REGR_AVGY = "REGR_AVGY"
    REGR_SXX = "REGR_SXX"
    REGR_SYY = "REGR_SYY"
    REGR_SXY = "REGR_SXY"
    QUANTILE = "QUANTILE"
    MIN = "MIN"
    MAX = "MAX"
    MODE = "MODE"


class Counted(Enum):
    """What is counted where keys are selected."""

    ROWS = "rows"
    UNITS = "units"


@dataclass(frozen=True, slots=True, kw_only=True)
class Aggregate:
    """One statistic of an expression over the rows of a group."""

    statistic: Statistic
    argument: Expression | None = None
    """None for COUNT(*) and COUNT(DISTINCT unit)."""
    second: Expression | None = None
    """Of a statistic of pairs: x, where the argument is y."""
    fraction: Fraction | None = None
    """Of a quantile."""
    discrete: bool = False
    """Whether a quantile keeps its argument's kind (PERCENTILE_DISC), else integers become real."""
    is_of_unit: bool = field(default=False, compare=False)
    """Whether the argument is the row's own unit, or NULL: then a unit has one value."""
    text: str = field(default="", compare=False)
    """As the question writes it, for explanations."""
    argument_text: str = field(default="", compare=False)
    """The argument as the question writes it."""
    second_text: str = field(default="", compare=False)
    span: tuple[int, int] | None = field(default=None, compare=False)
    """Where it stands in the question, for refusals."""
    kind: Kind = field(default=Kind.REAL, compare=False)
    """Of the released value."""

    @property
    def arguments(self) -> tuple[Expression, ...]:
        """All expressions that it is a statistic of."""
        return tuple(each for each in (self.argument, self.second) if each is not None)

    def mapped(self, function: Callable[[Expression], Expression]) -> "Aggregate":
        """Return it with a function applied to its expressions."""
        both = [None if each is None else function(each) for each in (self.argument, self.second)]
        return replace(self, argument=both[0], second=both[1])


@dataclass(frozen=True, slots=True, kw_only=True)
class Key:
    """An expression that rows are grouped by."""

    name: str
    expression: Expression
    text: str = field(default="", compare=False)
    """As the question writes it."""
    span: tuple[int, int] | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True, weakref_slot=True)
class DeclaredGroups:
    """Keys that the catalog or the question fixes: each is answered, also without rows."""

    rows: tuple[tuple[Value, ...], ...]
    why: DeclaredReason = field(compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class UndeclaredGroups:
    """Keys that only the data know: those of enough units are released."""

    why: UndeclaredReason = field(compare=False)


Groups = DeclaredGroups | UndeclaredGroups


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupLimit:
    """At most so many groups of a unit count."""

    most: int
    is_in_rows: bool = False
    """Whether the rows are limited to these already, before any filter."""


@dataclass(frozen=True, slots=True, kw_only=True, weakref_slot=True)
class Aggregation:
    """A table that is released: its keys and its aggregates over groups of private rows.

    Its columns have the keys' names, and a0, a1, ... for aggregates. Without keys it has one row.
    """

    rows: Relation
    name: str
    """What keys and aggregates call the rows."""
    contribution_limit: int
    """At most so many rows of a unit count, over all groups together."""
    limit_reason: LimitReason = field(compare=False)
    one_row_per_unit: bool
    """Whether a unit has one row at most by construction, so that nothing needs to be cut."""
    keys: tuple[Key, ...]
    groups: Groups
    aggregates: tuple[Aggregate, ...]
    left_out: tuple[LeftOut, ...] = field(default=(), compare=False)
    """Which rows are not used."""
    group_limit: GroupLimit | None = None
    """None where a unit may be in as many groups as it has rows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScalarQuery:
    """A number that later releases use: the only value of SQL over earlier released tables."""

    number: int
    sql: str
    needs: tuple[int, ...]
    """The releases it is computed from."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TableQuery:
    """Rows that later releases join: those of SQL over earlier released tables."""

    number: int
    sql: str
    needs: tuple[int, ...]
    """The releases they are computed from."""
    kinds: tuple[Kind, ...]
    """Of its columns."""
    name: str = field(default="", compare=False)
    """What the question calls it."""


class OriginKind(Enum):
    """What a column of a released table is there."""

    KEY = "key"
    AGGREGATE = "aggregate"


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnOrigin:
    """A column of a released table: its first key, its second aggregate, and so on."""

    release: int
    kind: OriginKind
    index: int


@dataclass(frozen=True, slots=True, kw_only=True)
class OverShownGroups:
    """SQL after the noise aggregates the groups of a release, and small ones are not shown."""

    release: int
    is_count: bool
    """Whether the groups are only counted, so that the result is too low."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What is asked: releases in the order in which they can be made, then SQL over their results.

    That SQL reads release i as `released_i`, and public tables. It gives the asked columns, then
    half widths by their names in `spreads`, from `<column>_spread`, and the ends of intervals.
    """

    aggregations: tuple[Aggregation, ...]
    scalars: tuple[ScalarQuery, ...] = ()
    tables: tuple[TableQuery, ...] = ()
    post_sql: str
    columns: tuple[str, ...]
    spreads: tuple[str | None, ...]
    """For each column, the name of the output column that holds its half width, if it has one."""
    is_exact: tuple[bool, ...] = ()
    """For each column, whether that half width is as good as those of what was released."""
    is_noisy: tuple[bool, ...] = ()
    """For each column, whether it is computed from noisy numbers."""
    is_chosen: bool = False
    """Whether noisy numbers decide which rows or values are there."""
    all_rows_sql: str | None = None
    """The SQL without its last LIMIT, if it has one."""
    sources: tuple[ColumnOrigin | None, ...]
    """For each column, the column of a release that it is taken from unchanged, if it is."""
    reads: tuple[frozenset[ColumnOrigin], ...] = ()
    """For each column with a half width, the released numbers it comes from; none if not known."""
    ends: tuple[tuple[str, str] | None, ...] = ()
    """For each column, the output columns that hold the ends of its interval, if it has one."""
    shown: tuple[tuple[str, str], ...] | None = None
    """Where the SQL only names columns of released_0: what it calls each, and which it is."""
    over_shown: tuple[OverShownGroups, ...] = ()
    """Which releases with undeclared groups the SQL aggregates."""
    listed: tuple[str, ...] = ()
    """Keys, as the question writes them, whose declared values are all that it asks for."""
    has_unread: bool = False
    """Whether conditions of such a list read noisy results, which are not released."""

    @property
    def uses_releases(self) -> bool:
        """Whether what is released may depend on what was released before."""
        return bool(self.scalars or self.tables)
