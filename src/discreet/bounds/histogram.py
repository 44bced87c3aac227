"""Bounds found privately: a noisy histogram of magnitudes, and what can be read off it.

The bins are fixed and public, and every value falls into one of them. Their noisy counts are an
ordinary histogram, released and charged as any other; the bounds are read off the noisy counts, so
they cost nothing more (docs/proofs/found_bounds.md). The method is that of
Wilson, Zhang, Lam, Desfontaines, Simmons-Marengo, Gipson 2020, "Differentially Private SQL with
Bounded User Contribution", the section on automatic bounds.

The question is how many values of a column are in each bin. It is a histogram like any other: its
bins are the same for all data, each row that counts is in one of them, and it is planned, charged,
run, released and kept as any question. Reading bounds off it is post-processing
(docs/proofs/found_bounds.md).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from fractions import Fraction
from itertools import pairwise
from typing import Protocol

from discreet.catalog.catalog import Catalog
from discreet.catalog.schema import (
    Bounds,
    Column,
    Kind,
    PrivateTable,
    Value,
    number_from_date,
    number_from_timestamp,
    time_from_number,
)
from discreet.errors import ParameterError, UnknownNameError, shown
from discreet.parameters import Real, did_you_mean
from discreet.query.check import Checker
from discreet.query.check.relations import PublicReader
from discreet.query.expressions.facts import case_of, facts_from_column, literal
from discreet.query.expressions.functions import call
from discreet.query.plan.plan import PlannedRelease
from discreet.query.questions import (
    Aggregate,
    Aggregation,
    ColumnOrigin,
    DeclaredGroups,
    FixedBins,
    Key,
    NullValues,
    OriginKind,
    Question,
    Statistic,
)
from discreet.query.tree import ColumnOf, Expression, Scan, Select
from discreet.query.tree import NamedExpression as Named

FALSE_BOUNDS = Fraction(1, 1000)
"""How likely it may be, over all bins together, that noise alone moves the bounds."""


FIRST_YEAR, LAST_YEAR = 1900, 2100


@dataclass(frozen=True, slots=True, kw_only=True)
class Bin:
    """Values between two ends. A value is in the first bin that reaches to it, or in the last.

    A bin reaches to all that is below `high`, and to `high` itself if it is closed.
    """

    low: Fraction
    high: Fraction
    is_closed: bool = True

    def reaches(self, x: Fraction) -> bool:
        return x < self.high or (self.is_closed and x == self.high)


def _magnitudes(least: int, most: int) -> tuple[Bin, ...]:
    """Return bins by sign and ⌈log₂|x|⌉: … [-4, -2), …, {0}, …, (2, 4] …, clipped at both ends."""
    edges = [Fraction(0), *(Fraction(2) ** k for k in range(least, most + 1))]
    above = [Bin(low=low, high=high) for low, high in pairwise(edges)]
    below = [Bin(low=-each.high, high=-each.low, is_closed=False) for each in reversed(above)]
    return (*below, Bin(low=Fraction(0), high=Fraction(0)), *above)


def _years(is_date: bool) -> tuple[Bin, ...]:
    def first(year: int) -> Fraction:
        start = date(year, 1, 1)
        return number_from_date(start) if is_date else number_from_timestamp(_midnight(start))

    return tuple(
        Bin(low=first(year), high=first(year + 1) - 1) for year in range(FIRST_YEAR, LAST_YEAR + 1)
    )


def _midnight(day: date) -> datetime:
    return datetime(day.year, day.month, day.day)


BINS: dict[Kind, tuple[Bin, ...]] = {
    Kind.INTEGER: _magnitudes(0, 63),
    Kind.REAL: _magnitudes(-32, 64),
    Kind.DATE: _years(is_date=True),
    Kind.TIMESTAMP: _years(is_date=False),
    Kind.TIMESTAMP_TZ: _years(is_date=False),
}
"""For each kind that bounds can be found for, its bins in order: powers of two, or years."""


def bin_of(x: Fraction, kind: Kind) -> int:
    """Return which of the kind's bins a number is in; what an engine must compute for each row."""
    bins = BINS[kind]
    return next((i for i, each in enumerate(bins) if each.reaches(x)), len(bins) - 1)


class Noise(Protocol):
    """A mechanism that knows how far its noise reaches, as those for counts do."""

    def margin(self, confidence: Real, answers: int = 1) -> Real: ...


def threshold_for(noise: Noise, kind: Kind) -> Real:
    """Return the count that no empty bin of the kind passes, but with probability 1/1000."""
    return noise.margin(1 - FALSE_BOUNDS, len(BINS[kind]))


def bounds_from_noisy(counts: Sequence[Real], kind: Kind, threshold: Real) -> Bounds | None:
    """Return the ends of the bins whose noisy count is above the threshold; None if there are none.

    With the threshold of `threshold_for`, and with probability 999/1000 or more, all of these hold:
    both ends are those of bins that do hold values, and every bin outside the bounds holds no more
    than twice the threshold. Privacy does not rest on the threshold.
    """
    bins = BINS[kind]
    if len(counts) != len(bins):
        raise ParameterError("counts", len(counts), f"must be {len(bins)}, one for each bin")
    kept = [each for each, count in zip(bins, counts, strict=True) if count > threshold]
    if not kept:
        return None
    low, high = min(each.low for each in kept), max(each.high for each in kept)
    # Where there is nothing but zeros, bounds must still have a width.
    return Bounds(low=low, high=high if low < high else min(e.high for e in bins if e.high > high))


LARGEST_INTEGER = Fraction(2**63 - 1)
"""Integers have 64 bits: the outermost bin ends one above."""


NAME_MOST = 60
"""Longer names are cut in a refusal."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnRef:
    """A column of a private table."""

    table: PrivateTable
    column: Column

    def __str__(self) -> str:
        return f"{self.table.name}.{self.column.name}"


def column_named(catalog: Catalog, name: str) -> ColumnRef:
    """Return the column of this name, with its table before a dot or alone if only one has it."""
    if not isinstance(name, str):
        raise ParameterError("column", name, 'must be the name of a column, such as "visits.cost"')
    columns = all_columns(catalog)
    folded = name.casefold()
    exact = [each for each in columns if str(each).casefold() == folded]
    found = exact or [each for each in columns if each.column.name.casefold() == folded]
    if not found:
        known = [*map(str, columns), *(each.column.name for each in columns)]
        fix = did_you_mean(name, known, otherwise="Write table.column")
        text = name if name.isprintable() and len(name) <= NAME_MOST else shown(name)
        raise UnknownNameError(f"No private table has a column {text}", fix)
    if len(found) > 1:
        both = " or ".join(str(each) for each in found[:2])
        raise UnknownNameError(
            f"Column {name} is ambiguous: several tables have it", f"Write {both}"
        )
    if found[0].column.kind not in BINS:
        rule = "must be a column of numbers, dates or timestamps"
        raise ParameterError("column", name, rule)
    return found[0]


def all_columns(catalog: Catalog) -> tuple[ColumnRef, ...]:
    """Return all columns of private tables."""
    return tuple(
        ColumnRef(table=table, column=column)
        for table in catalog.tables
        if isinstance(table, PrivateTable)
        for column in table.columns
    )


# --------------------------------------------------------------------------- the question


def histogram_question(ref: ColumnRef, catalog: Catalog, public: PublicReader) -> Question:
    """Return the question; what the catalog declares of columns has no part in it.

    So it stays the same question, paid for once, when bounds are declared later.
    """
    private = Checker(catalog=catalog, public=public).scan(ref.table)
    scan = private.rows
    assert isinstance(scan, Scan)  # noqa: S101 - a table is scanned
    value = ColumnOf(source="t", name=ref.column.name, facts=facts_from_column(_bare(ref)))
    number = bin_number(value)
    rows = Select(
        source=Scan(table=_undeclared(scan.table), parents=tuple(map(_undeclared, scan.parents))),
        name="t",
        where=call("not", call("is_null", value)),
        columns=(Named(name="bin", expression=number),),
    )
    bins = range(len(BINS[ref.column.kind]))
    release = Aggregation(
        rows=rows,
        name="rows",
        contribution_limit=private.contribution_limit,
        limit_reason=private.reason,
        one_row_per_unit=private.one_row_per_unit,
        keys=(
            Key(
                name="k0",
                expression=ColumnOf(source="rows", name="bin", facts=number.facts),
                text=f"magnitude of {ref}",
            ),
        ),
        groups=DeclaredGroups(rows=tuple((each,) for each in bins), why=FixedBins()),
        aggregates=(Aggregate(statistic=Statistic.COUNT_ROWS, text="COUNT(*)", kind=Kind.INTEGER),),
        left_out=(*private.left_out, NullValues(column=ref.column.name)),
    )
    return Question(
        aggregations=(release,),
        post_sql='SELECT "k0", "a0", "a0_spread" FROM "released_0"',
        columns=("k0", "a0"),
        spreads=(None, "a0_spread"),
        sources=(
            ColumnOrigin(release=0, kind=OriginKind.KEY, index=0),
            ColumnOrigin(release=0, kind=OriginKind.AGGREGATE, index=0),
        ),
    )


def bin_number(value: Expression) -> Expression:
    """Return the number of the bin that a value is in, as `catalog.bin_of` has it; not for NULL."""
    return _searched(value, BINS[value.facts.kind], first=0)


def _searched(value: Expression, bins: Sequence[Bin], *, first: int) -> Expression:
    """Halve the bins until one is left: a bin reaches to all that those before it reach to."""
    if len(bins) == 1:
        return literal(first)
    middle = len(bins) // 2
    last = bins[middle - 1]
    kind = value.facts.kind
    compare = "less_or_equal" if last.is_closed else "less"
    is_before = call(compare, value, literal(_edge(last.high, kind), kind))
    before = _searched(value, bins[:middle], first=first)
    return case_of(((is_before, before),), _searched(value, bins[middle:], first=first + middle))


def _edge(number: Fraction, kind: Kind) -> Value:
    if kind.is_time:
        return time_from_number(number, kind)
    return int(number) if kind is Kind.INTEGER else number


def _bare(ref: ColumnRef) -> Column:
    return Column(name=ref.column.name, kind=ref.column.kind)


def _undeclared(table: PrivateTable) -> PrivateTable:
    """Return the table with nothing said of its columns but their kinds."""
    columns = tuple(Column(name=each.name, kind=each.kind) for each in table.columns)
    return replace(table, columns=columns, is_default_limit=False)


# --------------------------------------------------------------------------- its answer


def read_bounds(planned: PlannedRelease, counts: Sequence[int], kind: Kind) -> Bounds | None:
    """Return the bounds that noisy counts tell; None if no bin stands out from the noise."""
    found = bounds_from_noisy(counts, kind, threshold_for(planned.components[0].noise, kind))
    if found is None or kind is not Kind.INTEGER:
        return found
    return replace(found, high=min(found.high, LARGEST_INTEGER))


def bounds_text(bounds: Bounds, kind: Kind) -> str:
    """Return bounds as people read them: 0 to 128, or two dates."""
    return " to ".join(_end_text(each, kind) for each in (bounds.low, bounds.high))


def _end_text(number: Fraction, kind: Kind) -> str:
    if kind.is_time:
        return str(time_from_number(number, kind))
    return str(number) if number.denominator == 1 else f"{float(number):g}"
