"""What a contribution limit and bounds leave out, in the line below an answer and as a value."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from html import escape
from math import ceil, floor
from shlex import quote

from discreet.amounts import Balance, Price
from discreet.answer.columns import indentation, json_text
from discreet.answer.rendering import PART, QUIET, folded, joined_parts, line_width, visible
from discreet.bounds.histogram import ColumnRef
from discreet.catalog.schema import Bounds, Kind, PrivateTable
from discreet.coverage.limits import reads_tables, tables_cut
from discreet.coverage.lookup import KnownCoverage
from discreet.coverage.measurements import OutsideBounds
from discreet.coverage.shares import Share, UnitSizes
from discreet.explanation.months import first_months, used_months
from discreet.explanation.sentences import (
    UnitName,
    effect_of_limit,
    end_text,
    left_out_text,
    limit_head,
)
from discreet.parameters import Real, integer, rational
from discreet.query.plan.plan import PlannedRelease
from discreet.query.questions import Clamped, ContributionLimit, Limited

WIDTH = 100

JsonObject = Mapping[str, object]


# --------------------------------------------------------------------------- shares as text


def share_text(share: Share) -> str:
    """Return about 11% (7–16%), or at most 2%."""
    low, high = floor(share.low * 1000) / 10, ceil(share.high * 1000) / 10
    if share.low <= 0 and share.estimate < share.margin:
        return f"at most {_percent(high)}"
    about = f"about {_percent(_rounded(share))}"
    if high - low < 1:
        return about
    return f"{about} ({_number(floor(low))}–{_percent(ceil(high))})"


def _rounded(share: Share) -> float:
    """Return percent with as many digits as the margin supports."""
    return round(share.estimate * 100, 0 if share.margin > 0.005 else 1)


def _percent(number: float) -> str:
    return f"{_number(number)}%"


def _number(number: float) -> str:
    return f"{number:g}"


def how_to(table: str) -> str:
    """Return both ways to measure a table's coverage, to be copied as they are."""
    name = table.replace("\\", "\\\\").replace('"', '\\"')
    return f'discreet coverage {quote(table)}, or curator.coverage("{name}")'


# --------------------------------------------------------------------------- lines of an answer


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitLine:
    """What a limit leaves out: a line for people, and facts for programs."""

    text: str
    facts: tuple[JsonObject, ...]


def limit_line(
    planned: PlannedRelease, unit: UnitName, known: KnownCoverage, *, with_table: bool
) -> LimitLine | None:
    """Return what a contribution limit leaves out; None if it cannot leave out anything."""
    limit, tables = planned.contribution, tables_cut(planned)
    if not isinstance(limit, ContributionLimit) or (reads_tables(planned) and not tables):
        return None
    head = limit_head(limit, unit, with_table=with_table or len(tables) > 1)
    effect = f"{head}, so {effect_of_limit(planned.aggregation.aggregates)}"
    if limit.of is not Limited.ROWS or not tables:
        return LimitLine(text=f"{effect}.", facts=(_fact(limit, unit),))
    missing = [each for each in tables if not known.is_measured(each)]
    shares = [
        _counted(each, unit, known, is_only=len(tables) == 1)
        for each in tables
        if each not in missing
    ]
    ways = f"To see how many rows: {'; '.join(how_to(each.name) for each in missing)}"
    parts = [effect, *shares, ways] if missing else [head, *shares]
    facts = tuple(_table_fact(each, unit, known) for each in tables)
    return LimitLine(text=PART.join(parts), facts=facts)


def clamped_line(
    planned: PlannedRelease, known: KnownCoverage, *, is_said: bool
) -> LimitLine | None:
    """Return what bounds change; `is_said` if another line says how to measure it."""
    clamped = [each for each in planned.left_out if isinstance(each, Clamped)]
    if not clamped:
        return None
    texts: dict[str, None] = {}
    missing: dict[str, None] = {}
    facts = []
    for each in clamped:
        ref = known.column(planned, each)
        outside = known.values(ref)
        texts[_clamped(each, outside)] = None
        if ref is not None:
            facts.append(_column_fact(ref, outside))
            if outside is None:
                missing[ref.table.name] = None
    line = f"Clamped: {'; '.join(texts)}"
    if not missing or is_said:
        return LimitLine(text=f"{line}.", facts=tuple(facts))
    ways = "; ".join(map(how_to, missing))
    return LimitLine(text=PART.join([line, f"To see how many values: {ways}"]), facts=tuple(facts))


def clamped_sentence(clamped: Clamped, outside: OutsideBounds | None) -> str:
    """Return which values count as a bound, and how many that are if it is known."""
    low, high = (end_text(each, clamped.kind) for each in (clamped.low, clamped.high))
    is_known = outside is not None and outside.is_known
    below = f" ({share_text(outside.below)} of values)" if outside and is_known else ""
    above = f" ({share_text(outside.above)} of values)" if outside and is_known else ""
    return (
        f"Values of {clamped.text} below {low} count as {low}{below}; values above {high} count as "
        f"{high}{above}."
    )


def _clamped(clamped: Clamped, outside: OutsideBounds | None) -> str:
    text = left_out_text(clamped, with_table=False)
    if outside is None or not outside.is_known:
        return text
    return (
        f"{text} ({share_text(outside.below)} of values below, {share_text(outside.above)} above)"
    )


def _counted(table: PrivateTable, unit: UnitName, known: KnownCoverage, *, is_only: bool) -> str:
    share = known.rows(table)
    if share is None or not share.is_known:
        return f"the ε of its coverage was too small to tell the share of rows of {table.name}"
    rows = f"all rows of {table.name}"
    if used_months(table) is not None:
        rows = f"rows of {table.name} in used months"
    elif table.by_month is not None:
        rows = f"all rows of {table.name} that have a month"
    what = f"{share_text(share)} of {rows}"
    return what if is_only else f"{table.rows_per_unit} of each {unit.name} are {what}"


def _fact(limit: ContributionLimit, unit: UnitName) -> JsonObject:
    kind = "distinct" if limit.of is Limited.VALUES else limit.of.value
    return {"kind": kind, "unit": unit.name, "most": limit.most}


def _table_fact(table: PrivateTable, unit: UnitName, known: KnownCoverage) -> JsonObject:
    share = known.rows(table)
    return {
        "kind": "rows",
        "unit": unit.name,
        "most": table.rows_per_unit,
        "table": table.name,
        "share": None if share is None else share.to_json(),
        "command": f"discreet coverage {quote(table.name)}",
    }


def _column_fact(ref: ColumnRef, outside: OutsideBounds | None) -> JsonObject:
    bounds = ref.column.bounds
    assert isinstance(bounds, Bounds)  # noqa: S101 - only such columns are clamped to them
    return {
        "kind": "values",
        "table": ref.table.name,
        "column": ref.column.name,
        "low": float(bounds.low),
        "high": float(bounds.high),
        "below": None if outside is None else outside.below.to_json(),
        "above": None if outside is None else outside.above.to_json(),
        "command": f"discreet coverage {quote(ref.table.name)}",
    }


# --------------------------------------------------------------------------- as a value


@dataclass(frozen=True, slots=True, kw_only=True)
class ClampedColumn:
    """A column with bounds, and the shares of its values that they change."""

    name: str
    low: Fraction
    high: Fraction
    below: Share
    above: Share


@dataclass(frozen=True, kw_only=True, repr=False)
class Coverage:
    """How much of a table its contribution limit and bounds count, as a private measurement tells.

    It is about all rows of the table, not about those of a WHERE. If only some months of a unit are
    used, it is about their rows. Anyone may see all of it.
    """

    table: str
    unit: str
    """What the privacy unit is called; empty if no rows can be left out."""
    rows_per_unit: int
    rows: Share | None
    """The share of rows that are counted. None if nothing limits them, or no unit stands out.

    A unit with more rows than `largest` is left out of it, and so has the share at most this."""
    largest: int | None
    """The most rows of a unit that stand out from the noise."""
    columns: tuple[ClampedColumn, ...]
    price: Price
    """What these numbers cost, now or when they were first asked for."""
    remaining: Balance
    from_ledger: bool
    """Whether it was saved before, so that it costs nothing now."""
    sizes: UnitSizes | None = None
    """The noisy numbers of units by their number of rows."""
    months_per_unit: int | None = None
    """With a budget per month: only a unit's first months are used, and shares are of their rows.

    None if all months are used."""
    without_month: str = ""
    """With a budget per month: which rows have no month, so that they are in none of the shares."""

    def rows_at(self, rows_per_unit: int) -> Share | None:
        """Return the share of rows that another limit would count; this costs nothing."""
        limit = integer("rows_per_unit", rows_per_unit, least=1)
        return None if self.sizes is None else self.sizes.share_counted(limit)

    def best_rows_per_unit(self, epsilon: Real) -> int | None:
        """Return the limit of least expected error of COUNT(*) at an epsilon; None if unknown.

        The error is the number of rows left out plus the mean size of the noise. This costs
        nothing.
        """
        price = rational("epsilon", epsilon, above=0)
        return None if self.sizes is None else self.sizes.best_limit(1 / float(price))

    def to_text(self, *, width: int = WIDTH) -> str:
        """Return it as lines of text, folded to a width."""
        columns = line_width(width)
        lines = (line for each in self._lines() for line in folded(visible(each), columns))
        return "\n".join([*lines, *joined_parts(self._footer(), columns)])

    def to_json(self, *, indent: int | None = None) -> str:
        """Return everything as JSON."""
        content: dict[str, object] = {
            "table": self.table,
            "unit": self.unit,
            "rows_per_unit": self.rows_per_unit,
            "rows": None if self.rows is None else self.rows.to_json(),
            "largest": self.largest,
            "columns": [
                {
                    "name": each.name,
                    "low": float(each.low),
                    "high": float(each.high),
                    "below": each.below.to_json(),
                    "above": each.above.to_json(),
                }
                for each in self.columns
            ],
            "price": self.price.to_json(),
            "remaining": self.remaining.to_json(),
            "was_kept": self.from_ledger,
            **({} if self.months_per_unit is None else {"months_per_unit": self.months_per_unit}),
            **({"without_month": self.without_month} if self.without_month else {}),
        }
        return json_text(content, indentation(indent))

    def __repr__(self) -> str:
        return self.to_text()

    def _repr_html_(self) -> str:
        lines = "".join(f"<div>{escape(visible(each))}</div>" for each in self._lines())
        footer = escape(visible(PART.join(self._footer())))
        return f'<div>{lines}<div style="{QUIET}">{footer}</div></div>'

    def _lines(self) -> Iterator[str]:
        rows = "all of its rows that have a month" if self.without_month else "all of its rows"
        rows = rows if self.months_per_unit is None else "its rows in used months"
        yield f"Coverage of {self.table}: {rows}, before any WHERE, at 95% confidence."
        if self.months_per_unit is not None:
            used = f"Only rows of a privacy unit's {first_months(self.months_per_unit)} are used."
            yield f"{used} Other rows are in none of these shares."
        if self.without_month:
            yield f"Rows where {self.without_month} are in none of these shares."
        if self.unit:
            yield from self._row_lines()
        for each in self.columns:
            low, high = (_bound(end) for end in (each.low, each.high))
            if not (each.below.is_known and each.above.is_known):
                yield f"{each.name}: this ε is too small to tell the shares beyond its bounds."
                continue
            yield (
                f"{each.name}: {share_text(each.below)} of values below {low}, "
                f"{share_text(each.above)} above {high}."
            )

    def _row_lines(self) -> Iterator[str]:
        limit = f"At most {self.rows_per_unit:,} rows of each {self.unit}"
        if self.rows is None or self.largest is None or not self.rows.is_known:
            yield f"{limit} are counted. This ε is too small to tell the share of rows."
            return
        yield f"{limit} are counted: {share_text(self.rows)} of rows."
        yield (
            f"No {self.unit} with more than {self.largest:,} rows stands out from the noise. If "
            "there are any, the share is lower."
        )

    def _footer(self) -> Sequence[str]:
        spent = f"Spent {self.price}"
        if self.from_ledger:
            spent = f"Spent nothing: it was measured before, for {self.price}"
        return spent, f"Remaining: {self.remaining}", "Repeating it is free"


def _bound(number: Fraction) -> str:
    return end_text(number, Kind.REAL)
