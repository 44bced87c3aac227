"""A checked question: what is released about private rows, and what is made of it afterwards."""

from dataclasses import dataclass, field
from enum import Enum
from fractions import Fraction

from discreet.catalog.schema import Kind, Value
from discreet.query.tree import Expression, Rows


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
    QUANTILE = "QUANTILE"
    MIN = "MIN"
    MAX = "MAX"
    MODE = "MODE"


@dataclass(frozen=True, slots=True, kw_only=True)
class Aggregate:
    """One statistic of an expression over the rows of a group."""

    statistic: Statistic
    argument: Expression | None = None
    """None for COUNT(*) and COUNT(DISTINCT unit)."""
    fraction: Fraction | None = None
    """Of a quantile."""
    discrete: bool = False
    """Whether a quantile keeps its argument's kind (PERCENTILE_DISC), else integers become real."""
    is_of_unit: bool = field(default=False, compare=False)
    """Whether the argument is the row's own unit, or NULL: then a unit has one value."""
    text: str = field(default="", compare=False)
    """As the question writes it, for explanations."""
    span: tuple[int, int] | None = field(default=None, compare=False)
    """Where it stands in the question, for refusals."""
    kind: Kind = field(default=Kind.REAL, compare=False)
    """Of the released value."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Key:
    """An expression that rows are grouped by."""

    name: str
    expression: Expression
    text: str = field(default="", compare=False)
    """As the question writes it."""
    span: tuple[int, int] | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownKeys:
    """Keys that the catalog or the question fixes: each is answered, also without rows."""

    rows: tuple[tuple[Value, ...], ...]
    why: str = field(compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class UnknownKeys:
    """Keys that only the data know: those of enough units are released."""

    why: str = field(compare=False)


Keys = KnownKeys | UnknownKeys


@dataclass(frozen=True, slots=True, kw_only=True)
class Release:
    """A table that is released: its keys and its aggregates over groups of private rows.

    Its columns are called by the keys' names and a0, a1, ... for the aggregates. Without keys, it
    has one row.
    """

    rows: Rows
    name: str
    """What keys and aggregates call the rows."""
    limit: int
    """At most so many rows of a unit count, over all groups together."""
    limit_reason: str = field(compare=False)
    is_one_row: bool
    """Whether a unit has one row at most by construction, so that nothing needs to be cut."""
    keys: tuple[Key, ...]
    key_set: Keys
    aggregates: tuple[Aggregate, ...]
    left_out: tuple[str, ...] = field(default=(), compare=False)
    """What is not counted, in sentences for the explanation."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scalar:
    """A number that later releases use: the only value of SQL over earlier released tables."""

    number: int
    sql: str
    needs: tuple[int, ...]
    """The releases it is computed from."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What is asked: releases in the order in which they can be made, then SQL over their results.

    Release i becomes the table `released_i` of the SQL that comes afterwards, which otherwise reads
    public tables only. It gives the asked columns, then for each name in `spreads` a column of half
    widths, computed from columns `<column>_spread` that stand beside every aggregate.
    """

    releases: tuple[Release, ...]
    scalars: tuple[Scalar, ...] = ()
    afterwards: str
    columns: tuple[str, ...]
    spreads: tuple[str | None, ...]
    """For each column, the name of the output column that holds its half width, if it has one."""
    sources: tuple[tuple[int, str] | None, ...]
    """For each column, the release and column it is taken from unchanged, if it is."""
    shown: tuple[tuple[str, str], ...] | None = None
    """Where the SQL only names columns of released_0: what it calls each, and which it is."""
