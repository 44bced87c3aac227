"""Whether an answer without noise is what plain SQL gives, and where it is not."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from fractions import Fraction
from math import ceil, floor, isqrt, sqrt
from typing import Any

import duckdb

from discreet.answer import Answer
from discreet.catalog.schema import Kind
from discreet.estimators import Estimator, KeyCount, SelectedValue
from discreet.explanation.sentences import left_out_sentence
from discreet.query.plan import Plan, PlannedRelease
from discreet.query.tree import Interval
from tests.properties.databases import PUBLIC, Database, table_of
from tests.properties.questions import Asked, Drawn

Key = tuple[Any, ...]

CLAMP = """
CREATE MACRO clamp(x, low, high) AS
CASE WHEN x < low THEN low WHEN x > high THEN high ELSE x END
"""


def plain_database(database: Database) -> duckdb.DuckDBPyConnection:
    """Return a DuckDB that holds all tables and knows nothing of privacy.

    What Discreet states apart is set: x / 0 is NULL, and there is CLAMP.
    """
    connection = duckdb.connect(":memory:")
    connection.execute("SET error_on_division_by_zero = false")
    connection.execute("SET ieee_floating_point_ops = false")
    connection.execute("SET TimeZone = 'UTC'")
    connection.execute(CLAMP)
    for name, rows in {**database.tables, **PUBLIC}.items():
        connection.register("frame", table_of(name, rows))
        connection.sql("SELECT * FROM frame").create(name)
        connection.unregister("frame")
    return connection


def plain(value: Any) -> Any:
    """Return a value that compares by what it means: times as timestamps, numbers as numbers."""
    if isinstance(value, datetime):
        return value if value.tzinfo is None else value.astimezone(UTC).replace(tzinfo=None)
    if isinstance(value, date):
        return datetime(value.year, value.month, value.day)
    return value


def number(value: Any) -> float:
    """Return a number, or a time as one."""
    moment = plain(value)
    if isinstance(moment, datetime):
        return (moment - datetime(1970, 1, 1)).total_seconds()
    return float(value)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference:
    """What plain SQL says of a question's groups."""

    answers: dict[Key, tuple[Any, ...]]
    """Of the groups that HAVING lets pass."""
    values: dict[Key, tuple[list[Any], ...]]
    """For each answer, the values that it is made of, in all groups that there are."""
    rows: dict[Key, int]


def reference(question: Drawn, connection: duckdb.DuckDBPyConnection) -> Reference:
    """Ask plain SQL."""
    width = len(question.keys)

    def by_key(sql: str) -> dict[Key, tuple[Any, ...]]:
        found = connection.execute(sql).fetchall()
        return {tuple(map(plain, row[:width])): row[width:] for row in found}

    lists = [
        f"list({each.argument or '1'}) FILTER (WHERE {each.where or 'true'})"
        for each in question.asked
    ]
    inner = by_key(question.written([*lists, "COUNT(*)"]))
    return Reference(
        answers=by_key(question.sql),
        values={
            key: tuple([x for x in each or () if x is not None] for each in row[:-1])
            for key, row in inner.items()
        },
        rows={key: row[-1] for key, row in inner.items()},
    )


def differences(question: Drawn, answer: Answer, plan: Plan, expected: Reference) -> list[str]:
    """Return what differs, in words; nothing if the question kept its meaning."""
    width = len(question.keys)
    table = answer.to_arrow()
    columns = [[each.as_py() for each in column] for column in table.columns]
    rows = list(zip(*columns, strict=True))
    ours = {tuple(map(plain, row[:width])): row[width:] for row in rows}
    found = [f"{key} is answered twice" for key in ours if len(ours) < len(rows)]
    found += [
        f"{key} is missing, and nothing says so"
        for key in expected.answers
        if key not in ours and not _is_told(key, question, plan)
    ]
    found += [f"{key} should not be here" for key in ours if _is_extra(key, expected)]
    scales = _scales(plan, width, len(question.asked))
    for key in expected.answers.keys() & ours.keys():
        for place, asked in enumerate(question.asked):
            if asked.statistic == "pairs":  # tests/query/plan/test_pairs.py compares these
                continue
            values, theirs = expected.values[key][place], expected.answers[key][place]
            mine = ours[key][place]
            if not _is_same(asked, mine, theirs, values, scales[place]):
                found.append(f"{asked.text} of {key} is {mine!r}, not {theirs!r} of {values!r}")
    return found


def _is_told(key: Key, question: Drawn, plan: Plan) -> bool:
    """Return whether the explanation says that rows whose key is NULL are left out."""
    nulls = [text for text, value in zip(question.keys, key, strict=True) if value is None]
    said = [left_out_sentence(rows) for each in plan.releases for rows in each.left_out]
    told = [words for words in said if "is NULL" in words]
    return any(_bare(text) in _bare(words) for text in nulls for words in told)


def _bare(text: str) -> str:
    """Return what is left of a text when case, blanks and brackets are gone."""
    short = text.casefold().replace("integer", "int")
    return "".join(each for each in short if each.isalnum() or each in "_.'<>=%+")


def _is_extra(key: Key, expected: Reference) -> bool:
    """Return whether a group is shown that plain SQL filters out; those without rows may be."""
    return key in expected.rows and key not in expected.answers


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """How fine an answer can be."""

    size: float
    """The largest number that the argument can be, by its bounds."""
    step: float
    """Of the grid between the bounds that rows are moved to."""


def _scales(plan: Plan, skipped: int, count: int) -> list[Scale]:
    scales = []
    for source in plan.question.sources[skipped : skipped + count]:
        assert source is not None
        planned, place = plan.releases[source.release], source.index
        argument = planned.aggregation.aggregates[place].argument
        interval = Interval() if argument is None else argument.facts.interval
        ends = [abs(each) for each in (interval.low, interval.high) if each is not None]
        size = float(max(ends, default=Fraction(1)))
        is_day = argument is not None and argument.facts.kind is Kind.DATE
        step = _step(planned, planned.estimators[place], size) * (86_400 if is_day else 1)
        scales.append(Scale(size=size, step=step))
    return scales


def _step(planned: PlannedRelease, estimator: Estimator, size: float) -> float:
    """Return the step of the grid, or a little more."""
    if isinstance(estimator, SelectedValue):
        ruler = planned.value_selections[estimator.selection].value_selection.grid
        return float(ruler.step) if ruler else 0.0
    if isinstance(estimator, KeyCount):
        return 0.0
    measure = planned.components[estimator.measure].measure
    # Squares have the square of the steps as their total; a sum alone has ends instead of a total.
    total = max(measure.total, *map(abs, measure.ends or (0,)))
    return 2 * size / (isqrt(total) if "squares" in measure.what else total)


def _is_same(asked: Asked, mine: Any, theirs: Any, values: Sequence[Any], scale: Scale) -> bool:
    if asked.statistic == "exact":
        # DuckDB's COUNT_IF of nothing but NULL is NULL, and 0 here.
        return bool(mine == theirs) or (theirs is None and mine == 0)
    if "sum" in asked.statistic:
        # A sum of nothing is 0 here and NULL there.
        return _is_near(mine, theirs or 0, scale.step * max(1, len(values)))
    if theirs is None:
        return len(values) < 2  # there is no NULL with noise
    if asked.statistic == "quantile":
        return _is_between(mine, values, asked.fraction, scale.step)
    if asked.statistic == "mode":
        return mine in values and values.count(mine) == max(map(values.count, values))
    return _is_near(mine, theirs, _tolerance(asked.statistic, theirs, scale))


def _tolerance(statistic: str, theirs: Any, scale: Scale) -> float:
    match statistic:
        case "mean" | "end":
            return scale.step
        case "variance":
            return 4 * scale.size * scale.step
        case "deviation":
            # √(v + t) - √v ≤ t / √v, and ≤ √t.
            tolerance = 4 * scale.size * scale.step
            return min(sqrt(tolerance), tolerance / max(float(theirs), 1e-300))
        case _:
            raise ValueError(statistic)


def _is_near(mine: Any, theirs: Any, tolerance: float) -> bool:
    a, b = number(mine), number(theirs)
    return abs(a - b) <= tolerance + 1e-9 * abs(b)


def _is_between(mine: Any, values: Sequence[Any], fraction: float, tolerance: float) -> bool:
    """Return whether the value lies in the gap between rows where the quantile is."""
    numbers = sorted(map(number, values))
    rank = fraction * len(numbers)
    low, high = numbers[max(0, ceil(rank) - 1)], numbers[min(len(numbers) - 1, floor(rank))]
    return low - tolerance <= number(mine) <= high + tolerance
