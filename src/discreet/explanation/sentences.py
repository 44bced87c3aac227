"""Reasons, limits and omissions as English: the only place that makes sentences of them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from fractions import Fraction

from discreet.amounts import error_text, number_text, percent
from discreet.catalog.schema import Kind, PublicRange, Value, time_from_number
from discreet.errors import BudgetError
from discreet.estimators import ExpectedMargin, MarginPerCount, RankMargin
from discreet.mechanisms.row_threshold import RowThreshold
from discreet.parameters import did_you_mean
from discreet.query.plan.plan import PlannedKeySelection
from discreet.query.questions import (
    Aggregate,
    Clamped,
    Contribution,
    ContributionLimit,
    CountedOnce,
    DeclaredGroups,
    FixedBins,
    FromPublicTables,
    FullJoinSum,
    JoinProduct,
    Key,
    LeftOut,
    Limited,
    LimitReason,
    NoPathToUnit,
    NotDeclared,
    NullUnit,
    NullValues,
    NumberedRows,
    RowChoiceTime,
    RowsPerUnit,
    Statistic,
    TooManyKeys,
    UnionSum,
    UnlistedKeys,
)
from discreet.query.undeclared_values import UndeclaredValue

EXAMPLES = (1_000, 10_000)
"""Sizes of a group at which a margin that depends on it is shown."""

FEW_VALUES = 8
"""Declared values that a note lists."""

COUNTS = {
    Statistic.COUNT_ROWS,
    Statistic.COUNT,
    Statistic.COUNT_UNITS,
    Statistic.COUNT_DISTINCT,
}
SUMS = {Statistic.SUM, Statistic.SUM_DISTINCT}
RANKS = {Statistic.QUANTILE, Statistic.MIN, Statistic.MAX}
"""Selected by rank, so their margin is in rows, and not a ±."""

PER_QUERY = (
    "To choose among the matching rows, use --row-choice per-query, or in Python "
    'row_choice="per-query" (same cost, slower).'
)


@dataclass(frozen=True, slots=True, kw_only=True)
class UnitName:
    """What the privacy unit is called: patient_id, or row of sales."""

    name: str
    is_row: bool = False
    without_month: str = ""
    """With a budget per month, the unit is one month of this one."""

    @property
    def counted(self) -> str:
        """What a count of units counts."""
        if self.without_month:
            return f"pairs of {self.without_month} and month"
        return "rows" if self.is_row else f"{self.name} values"


# --------------------------------------------------------------------------- warnings


CHANGED = "The data changed since this query was last charged; this is a new charge."


SAVED_BY_OLDER = (
    "An older release of Discreet saved this answer. It is still valid, because the data are the "
    "same."
)


def change_sentence(since: datetime | None) -> str:
    """Return that a query is charged again, and since when the ledger knows the new data."""
    if since is None:
        return CHANGED
    return f"The data changed on {since:%Y-%m-%d}; this is a new charge."


SUSPENDED = "This account is suspended, so running this query would be rejected."


def over_limit_sentence(rejection: BudgetError) -> str:
    """Return that a limit of the account would reject a query."""
    return f"{rejection.what}, so running it would be rejected."


def listed_sentence(keys: Sequence[str]) -> str:
    """Return that a query lists the declared values of keys, not those that occur in the data."""
    return f"Lists the declared values of {listed(keys)}, whether or not they occur."


UNREAD = "Conditions that read noisy results leave none of them out."


def undeclared_value_note(compared: UndeclaredValue) -> str:
    """Return that a query compares a column with a value that it cannot have, and the nearest."""
    known = [_value_text(each) for each in compared.declared if each is not None]
    fix = did_you_mean(str(compared.value), known, otherwise=_declared_list(known))
    value = repr(compared.value) if isinstance(compared.value, str) else _value_text(compared.value)
    return f"{value} is not a declared value of {compared.column}. {fix}"


def _declared_list(known: Sequence[str]) -> str:
    more = ", ..." if len(known) > FEW_VALUES else ""
    return f"Declared values: {', '.join(known[:FEW_VALUES])}{more}."


# --------------------------------------------------------------------------- margins


def margin_text(expected: ExpectedMargin, *, is_integer: bool, rank: str = "") -> str:
    """Return ±41, ±4,300/n with examples, or a distance in rows from the rank of this name."""
    match expected:
        case None:
            return "no margin of error"
        case RankMargin(rows=rows):
            return f"within {rows_text(rows)} rows of {rank or 'the requested rank'}"
        case MarginPerCount():
            return _per_count(expected)
        case _:
            return error_text(expected, is_whole=is_integer)


def later_sentence(columns: Sequence[str]) -> str:
    """Return which numbers have a margin only when there is an answer."""
    verb = "is" if len(columns) == 1 else "are"
    return (
        f"{listed(columns)} {verb} computed from noisy numbers. The margin of error of a number "
        "comes with the answer, at no cost."
    )


def rank_name(aggregate: Aggregate) -> str:
    """Return what the rank of a selected value is called."""
    if aggregate.statistic is Statistic.MIN or aggregate.fraction == 0:
        return "the lowest rank"
    if aggregate.statistic is Statistic.MAX or aggregate.fraction == 1:
        return "the highest rank"
    is_median = aggregate.fraction == Fraction(1, 2)
    return "the median's rank" if is_median else "the requested rank"


def rank_note(aggregate: Aggregate, margin: RankMargin, confidence: Fraction) -> str:
    """Return how far the rank of a selected value may be from the one asked for."""
    return (
        f"{aggregate.text}: with {percent(confidence)} confidence, the value shown is within "
        f"{rows_text(margin.rows)} rows of {rank_name(aggregate)}, in sorted order."
    )


def rows_text(rows: float) -> str:
    """Return a number of rows, never rounded down."""
    return error_text(rows, is_whole=True).removeprefix("±")


def brief(scale: Fraction | float) -> str:
    """Return a scale with three digits."""
    return number_text(float(f"{float(scale):.3g}"))


def _per_count(margin: MarginPerCount) -> str:
    few, many = EXAMPLES
    at_few, at_many = (error_text(margin.at(n), is_whole=False) for n in EXAMPLES)
    divisor = "n" if margin.power == 1 else "√n" if margin.power * 2 == 1 else f"n^{margin.power}"
    whole = error_text(margin.numerator, is_whole=False)
    examples = f"{at_few} at n = {number_text(few)}; {at_many} at {number_text(many)}"
    if margin.is_typical:
        return f"about {whole}/{divisor} ({examples}), more if values vary little"
    return f"{whole}/{divisor} ({examples})"


# --------------------------------------------------------------------------- contribution limits


def contribution_sentences(
    contribution: Contribution, unit: UnitName, line: str | None
) -> Iterator[str]:
    """Yield how much of a privacy unit is used: for a limit, the line that an answer has."""
    match contribution:
        case ContributionLimit():
            if line is not None:
                yield line
            if _when_chosen(contribution):
                yield PER_QUERY
        case CountedOnce():
            yield f"Each {unit.name} is counted once, however many rows it has."
        case NumberedRows(rows=rows):
            yield f"The query takes at most {rows} rows per {unit.name}, so no rows are left out."
        case _ if unit.is_row:
            yield f"Each {unit.name} is protected on its own, so no rows are left out."
        case _:
            yield f"Each {unit.name} has at most one row here, so no rows are left out."


def limit_head(limit: ContributionLimit, unit: UnitName, *, with_table: bool) -> str:
    """Return how much of a unit is counted, as the line below an answer begins."""
    chosen = _when_chosen(limit)
    when = f", chosen {chosen}" if chosen else ""
    return f"Counts {_limit(limit, unit, with_table=with_table)}{when}"


def _limit(limit: ContributionLimit, unit: UnitName, *, with_table: bool) -> str:
    source = _limit_source(limit.reason, limit.of)
    behind = f" ({source})" if source else ""
    if limit.of is Limited.GROUPS:
        told = behind if limit.groups is None else ""
        return f"each {unit.name} in at most {_number(limit.most, 'group')}{told}"
    if limit.groups is not None:
        behind += f", from at most {_number(limit.groups, 'group')}"
    what, table = ("distinct value" if limit.of is Limited.VALUES else "row"), ""
    if limit.of is Limited.ROWS and isinstance(limit.reason, JoinProduct | FullJoinSum):
        what = "joined row"
    if limit.of is Limited.ROWS and isinstance(limit.reason, RowsPerUnit) and with_table:
        table = f" of {limit.reason.table}"
    return f"at most {_number(limit.most, what)}{table} of each {unit.name}{behind}"


def _limit_source(reason: LimitReason, of: Limited) -> str:
    match reason:
        case RowsPerUnit(is_default=True):
            return "the default; set rows_per_unit to change it"
        case JoinProduct(factors=factors) if of is Limited.ROWS:
            if sum(rows > 1 for _, rows in factors) <= 1:
                return ""
            return " × ".join(f"{number_text(rows)} of {name}" for name, rows in factors)
        case UnionSum(left=left, right=right) if of is Limited.ROWS:
            return f"{number_text(left)} + {number_text(right)} of the two parts of UNION ALL"
        case FullJoinSum(left=left, right=right) if of is Limited.ROWS:
            return f"{number_text(left)} + {number_text(right)} of the two sides of FULL JOIN"
        case _:
            return ""


def effect_of_limit(aggregates: Sequence[Aggregate]) -> str:
    """Return what results that lack rows can be."""
    sums = [each for each in aggregates if each.statistic in SUMS]
    if any(_can_be_negative(each) for each in sums):
        return "counts can be too low, and sums too low or too high"
    if sums or any(each.statistic in COUNTS for each in aggregates):
        return "counts and sums can be too low"
    return "results can differ from those of all rows"


def _can_be_negative(aggregate: Aggregate) -> bool:
    low = None if aggregate.argument is None else aggregate.argument.facts.interval.low
    return low is None or low < 0


def _when_chosen(limit: ContributionLimit) -> str:
    return {
        RowChoiceTime.BEFORE_WHERE: "before WHERE",
        RowChoiceTime.BEFORE_JOIN: "before the join",
    }.get(limit.chosen, "")


# --------------------------------------------------------------------------- left out, clamped


def left_out_text(rows: LeftOut, *, with_table: bool) -> str:
    """Return which rows are left out, as part of a sentence; or a value that is clamped."""
    match rows:
        case NullUnit(table=table, column=column):
            return f"rows{f' of {table}' if with_table else ''} where {column} is NULL"
        case NoPathToUnit(table=table, column=column, parent=parent):
            of = f" of {table}" if with_table else ""
            return f"rows{of} where {column} leads to no row of {parent} with a privacy unit"
        case UnlistedKeys():
            ways = [*(["NULL"] if rows.has_null else []), *_undeclared(rows)]
            return f"rows where {rows.text} is {' or '.join(ways)}"
        case NullValues(column=column):
            return f"rows where {column} is NULL"
        case Clamped(text=text):
            return f"{text} to the range {' to '.join(_end_texts(rows))}"
        case PublicRange(table=table, column=column, bounds=ends, kind=kind):
            low, high = end_text(ends.low, kind), end_text(ends.high, kind)
            return f"the bounds of {column}, {low} to {high}, are those of the public table {table}"


def left_out_sentence(rows: LeftOut) -> str:
    """Return what is not used as it is, as a sentence."""
    if not isinstance(rows, Clamped):
        return sentence(left_out_text(rows, with_table=True))
    low, high = _end_texts(rows)
    return f"Values of {rows.text} below {low} count as {low}; values above {high} count as {high}."


def left_out_note(
    left_out: Sequence[LeftOut], besides: Sequence[str] = (), *, is_limited: bool
) -> str | None:
    """Return what an answer says of rows that are left out, and of others besides."""
    rows = [each for each in left_out if not isinstance(each, Clamped | PublicRange)]
    tables = {each.table for each in rows if isinstance(each, NullUnit | NoPathToUnit)}
    found = [left_out_text(each, with_table=len(tables) > 1) for each in rows]
    texts = dict.fromkeys((*found, *besides))
    if not texts:
        return None
    return f"{'Also left out' if is_limited else 'Left out'}: {'; '.join(texts)}."


def _undeclared(keys: UnlistedKeys) -> Iterator[str]:
    if not keys.has_undeclared:
        return
    if keys.bounds is None:
        yield "not a declared value"
        return
    low, high = map(_value_text, keys.bounds)
    yield f"outside {low} to {high}"


def _end_texts(clamped: Clamped) -> tuple[str, str]:
    low, high = (end_text(each, clamped.kind) for each in (clamped.low, clamped.high))
    return low, high


def end_text(number: Fraction, kind: Kind) -> str:
    """Return a bound as people read it: 0, 1,000, 0.25 or a date."""
    if kind.is_time:
        return str(time_from_number(number, kind))
    if number.denominator != 1:
        return number_text(float(f"{float(number):g}"))
    return _value_text(int(number))


def _value_text(value: Value) -> str:
    """Return a value; whole numbers of four digits may be years."""
    is_large = isinstance(value, int) and abs(value) >= 10_000
    return number_text(value) if is_large and isinstance(value, int) else str(value)


# --------------------------------------------------------------------------- groups


def declared_groups(keys: Sequence[Key], known: DeclaredGroups) -> str:
    """Return which groups are shown where they are declared."""
    if not keys:
        return "All rows are one group."
    number, names = number_text(len(known.rows)), listed([each.text or each.name for each in keys])
    match known.why:
        case FixedBins():
            return f"All {number} groups are fixed ranges of values, the same for all data."
        case FromPublicTables(tables=tables):
            where = f"public table{'s' if len(tables) > 1 else ''} {listed(tables)}"
            return (
                f"All {number} declared groups of {names} are shown, even those with no rows "
                f"(listed in the {where})."
            )
        case _:
            what = "values" if len(keys) == 1 else "groups"
            return f"All {number} declared {what} of {names} are shown, even those with no rows."


def undeclared_groups(
    why: NotDeclared | TooManyKeys,
    selection: PlannedKeySelection,
    counted: str,
    confidence: Fraction,
    *,
    is_answered: bool,
) -> str:
    """Return when a group that only the data have is shown, and how large it must be for that.

    If the count that selects is an answer as well, its margin near the threshold is said, too.
    """
    mechanism = selection.mechanism
    half, most = (number_text(mechanism.smallest_seen(share)) for share in (0.5, 0.99))
    threshold = number_text(mechanism.threshold)
    near = (
        f" Counts up to {number_text(mechanism.clear(confidence))} may be shown only because their "
        f"noise happened to be high. Their margin of error is "
        f"±{number_text(mechanism.widest(confidence))}, even if you asked for a smaller one."
    )
    if isinstance(mechanism, RowThreshold):
        is_answered, near = True, _near_text(mechanism, confidence)
    return (
        f"{_why_undeclared(why)}, so only large groups are shown. A group is shown if its noisy "
        f"number of {counted} is above the group threshold, {threshold}. A group with {half} "
        f"{counted} is shown with at least 50% probability; one with {most} {counted}, with at "
        f"least 99%.{near if is_answered else ''}"
    )


def _near_text(mechanism: RowThreshold, confidence: Fraction) -> str:
    return (
        f" Groups with a noisy count of up to {number_text(mechanism.clear(confidence))} may be "
        "shown only because their noise happened to be high. Their counts have a margin of error "
        f"of ±{number_text(mechanism.widest(confidence))}; their other results have none."
    )


def _why_undeclared(why: NotDeclared | TooManyKeys) -> str:
    match why:
        case NotDeclared(columns=columns):
            return f"The values of {listed(columns) or 'the group key'} are not declared"
        case TooManyKeys(number=number, most=most):
            return f"There are {number_text(number)} possible groups, more than {number_text(most)}"


# --------------------------------------------------------------------------- words


def sentence(words: str) -> str:
    """Return words as a sentence: a capital first, a full stop last."""
    text = words.strip()
    return text[:1].upper() + text[1:] + ("" if text.endswith(".") else ".")


def listed(words: Sequence[str]) -> str:
    """Return a, b and c."""
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def _number(number: int, what: str) -> str:
    return f"{number_text(number)} {what}{'' if number == 1 else 's'}"
