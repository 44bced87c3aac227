"""The explanation: what would happen, as text, for a notebook, and as JSON."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from html import escape

from discreet.amounts import Balance, Price, amount_up, equation, exact_and_float, percent
from discreet.answer.answer import FROM_ANOTHER, FROM_OWN
from discreet.answer.columns import indentation, json_text
from discreet.answer.rendering import (
    LINE,
    QUIET,
    ShownColumn,
    clipped,
    folded,
    line_width,
    padded,
    table_lines,
    visible,
)
from discreet.catalog.schema import ByMonth
from discreet.deprecated import Renamed, renamed_arguments
from discreet.mechanisms.sensitivity import Neighbours
from discreet.parameters import flag

WIDTH, WIDEST = 100, 60
"""Columns that the text is folded to, and those of its widest cell."""

NAMES = 12
"""Columns of the names above the table."""

UNNAMED = "–"
"""Shown in place of a column's name, for a number that is only part of a column."""

NARROWEST = 20
"""Sentences are folded to no fewer columns."""

PREVIEW = "Preview only: nothing was spent and no query was run."
PER_ROW = "n is the number of rows in a group whose value is not NULL."
HINT = "To see the generated SQL, add --sql, or call to_text(sql=True) in Python."


@renamed_arguments(spread_text="margin_text")
@dataclass(frozen=True, slots=True, kw_only=True)
class ExplainedColumn:
    """One number that is released for each group."""

    name: str
    statistic: str
    """As the question writes it: AVG(age)."""
    margin_text: str
    """Its margin of error at the explanation's confidence."""
    epsilon_share: Fraction
    """What its measurement costs; columns that are computed from one measurement share it."""
    noise: str
    why: str
    """Why this noise, in a sentence."""
    shares_with: str = ""
    """The column whose measurement it is computed from as well, and whose cost it shares."""
    is_per_row: bool = False
    """Whether the margin depends on the number of rows in a group."""
    margin: float | None = None
    """The margin as a number, if it is the same for all groups and known in advance."""

    @property
    def cost_text(self) -> str:
        if self.shares_with:
            return f"shared with {self.shares_with}"
        return equation("ε", amount_up(self.epsilon_share))

    spread_text = Renamed("margin_text")
    price_text = Renamed("cost_text")


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """What would happen and what it would cost; follows from the question and the catalog alone."""

    question: str
    price: Price
    """What it costs the first to ask."""
    confidence: Fraction
    neighbours: Neighbours | None
    """None if no private data are read."""
    unit: str
    """What is protected: patient_id, or row of sales."""
    columns: tuple[ExplainedColumn, ...]
    is_row_unit: bool = False
    """Whether each row is protected on its own."""
    months: str = ""
    """With a budget per month, the months that the query is charged to."""
    by_month: ByMonth | None = None
    """With a budget per month, what is protected is the data of a unit in one month."""
    first: tuple[str, ...] = ()
    """Which bounds are found before the rest is answered, and for what."""
    bounding: tuple[str, ...] = ()
    """How many rows of a privacy unit are used, and what that means for the results."""
    keys: tuple[str, ...] = ()
    """Which groups are shown."""
    groups: tuple[int | None, ...] = ()
    """How many groups each release has; None where they are undeclared."""
    left_out: tuple[str, ...] = ()
    """Which rows are left out, and which values are clamped."""
    later: str = ""
    """Which margins are computed with the answer, as a sentence."""
    hints: tuple[str, ...] = ()
    """How the margin of error could be smaller for the same cost."""
    afterwards: str = ""
    """SQL on the noisy results that makes the answer; it costs nothing."""
    sqls: tuple[str, ...] = ()
    """SQL that the engine would run."""
    remaining: Balance | None = None
    """What remains of the budget now."""
    due: Price | None = None
    """What would be charged now: less than the price if some of it was charged before."""
    is_reused: bool = False
    """Whether it would be read from the saved answer to another query."""
    data_version: str | None = None
    """The version of the data that the owner declared."""
    change: str = ""
    """That the data changed since the query was last charged, so that it is charged again."""
    shows_sql: bool = False
    """Whether text has the generated SQL, as where a dialect was asked for."""
    warnings: tuple[str, ...] = ()
    """What to check before the query is run: a suspension, or a value that looks mistyped."""

    @property
    def protects(self) -> str:
        """What stays hidden, by which relation of neighbours."""
        if self.neighbours is None:
            return "nobody, because no private data are read"
        unit = visible(self.unit)
        if self.by_month is not None:
            return f"{of_one_month(unit, self.by_month)} (add-remove neighbours)"
        if self.neighbours is Neighbours.REPLACE:
            return f"the data of each {unit} (replace neighbours: the number of them is public)"
        whole = "" if self.is_row_unit else " with all its rows"
        return f"each {unit}{whole} (add-remove neighbours)"

    def __str__(self) -> str:
        return self.to_text()

    def __repr__(self) -> str:
        return self.to_text()

    def to_text(self, *, width: int = WIDTH, sql: bool | None = None) -> str:
        """Return the explanation as lines of text; with the generated SQL if `sql` is true.

        By default the SQL is shown if it was asked for: if `explain` was called with a dialect.
        """
        columns = max(line_width(width), NARROWEST)
        lines = [PREVIEW, "", *_definitions(self._facts(), columns)]
        groups = [(column,) for column in self._table()]
        if self.columns:
            lines += ["", *table_lines(groups, width=line_width(width), gap=None)]
            lines += [PER_ROW] if self._is_per_row else []
            lines += folded(visible(self.later), columns, indent="") if self.later else []
        for title, sentences in self._sections():
            lines += ["", title, *_indented(sentences, columns)]
        if self.shows_sql if sql is None else flag("sql", sql):
            for title, sqls in self._programs():
                indented = (f"  {visible(line)}" for each in sqls for line in each.splitlines())
                lines += ["", title, *indented]
        elif self.sqls or self.afterwards:
            lines += ["", *folded(HINT, columns, indent="")]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        facts = "".join(
            f"<div>{escape(name)}: <b>{escape(text)}</b></div>" for name, text in self._facts()
        )
        table = _html_table(self._table()) if self.columns else ""
        per_row = f'<div style="{QUIET}">{escape(PER_ROW)}</div>' if self._is_per_row else ""
        later = f'<div style="{QUIET}">{escape(visible(self.later))}</div>' if self.later else ""
        sections = "".join(
            f'<div style="{QUIET};padding-top:.6em">{escape(title)}</div>'
            + "".join(f"<div>{escape(visible(sentence))}</div>" for sentence in sentences)
            for title, sentences in self._sections()
        )
        programs = "".join(_html_programs(*each) for each in self._programs())
        return (
            f'<div style="max-width:60em;line-height:1.45">'
            f'<div style="{QUIET}">{escape(PREVIEW)}</div>'
            f"{facts}{table}{per_row}{later}{sections}{programs}</div>"
        )

    def to_json(self, *, indent: int | None = None) -> str:
        """Return everything as JSON."""
        return json_text(self._content(), indentation(indent))

    def _facts(self) -> Iterator[tuple[str, str]]:
        yield "Cost", f"{self._cost()}. {self.change}" if self.change else self._cost()
        if self.data_version is not None:
            yield "Data", f"version {visible(self.data_version)}"
        if self.remaining is not None:
            yield "Remaining", str(self.remaining)
        if self.months:
            yield "Charged to", self.months
        yield "Protects", self.protects

    def _cost(self) -> str:
        """Return what would be charged; who was charged before, when and for what is not said."""
        if self.price.is_free:
            return "nothing"
        if self.due is None or self.due == self.price:
            return str(self.price)
        if self.due.is_free:
            if self.is_reused:
                return f"nothing: {FROM_ANOTHER}"
            return f"nothing: {FROM_OWN} (it cost {self.price})"
        return f"{self.due}, because the rest of {self.price} was spent before"

    @property
    def _is_per_row(self) -> bool:
        return any(each.is_per_row for each in self.columns)

    def _table(self) -> tuple[ShownColumn, ...]:
        columns = {
            "column": [each.name for each in self.columns],
            "expression": [each.statistic for each in self.columns],
            f"margin of error ({percent(self.confidence)})": [
                each.margin_text for each in self.columns
            ],
            "cost": [each.cost_text for each in self.columns],
        }
        return tuple(
            ShownColumn(
                header=header,
                cells=tuple(clipped(visible(cell), WIDEST) for cell in cells),
                is_right=False,
                is_key=header == "column",
            )
            for header, cells in columns.items()
        )

    def _sections(self) -> Iterator[tuple[str, Sequence[str]]]:
        """Yield titles and their sentences, those that there are."""
        for title, sentences in (
            ("Warnings", self.warnings),
            ("Bounds", self.first),
            ("Contribution limit", self.bounding),
            ("Groups", self.keys),
            ("Left out or changed", self.left_out),
            ("Noise", tuple(self._noises())),
            ("Hints", self.hints),
        ):
            if sentences:
                yield title, sentences

    def _noises(self) -> Iterator[str]:
        """Yield each noise with the columns that have it."""
        names: dict[tuple[str, str], dict[str, None]] = {}
        for each in self.columns:
            name = each.statistic if each.name == UNNAMED else each.name
            names.setdefault((each.noise, each.why), {})[name] = None
        for (noise, why), columns in names.items():
            yield f"{', '.join(columns)}: {noise}. {why}".rstrip()

    def _programs(self) -> Iterator[tuple[str, Sequence[str]]]:
        if self.sqls:
            yield "Generated SQL (gives exact results, which get noise)", self.sqls
        if self.afterwards:
            yield "Post-processing (on noisy results; costs nothing)", (self.afterwards,)

    def _content(self) -> dict[str, object]:
        columns = [
            {
                "name": each.name,
                "statistic": each.statistic,
                "spread": each.margin_text,
                "margin": each.margin,
                **exact_and_float(epsilon=each.epsilon_share),
                "shares_with": each.shares_with or None,
                "noise": each.noise,
                "why": each.why,
            }
            for each in self.columns
        ]
        return {
            "question": self.question,
            "price": self.price.to_json(),
            "due": None if self.due is None else self.due.to_json(),
            **({"change": self.change} if self.change else {}),
            **({} if self.data_version is None else {"data_version": self.data_version}),
            "remaining": None if self.remaining is None else self.remaining.to_json(),
            "confidence": float(self.confidence),
            "neighbours": None if self.neighbours is None else self.neighbours.value,
            "unit": self.unit,
            **({"months": self.months, "protects": self.protects} if self.months else {}),
            "columns": columns,
            "first": list(self.first),
            "bounding": list(self.bounding),
            "keys": list(self.keys),
            "groups": list(self.groups),
            "left_out": list(self.left_out),
            "warnings": list(self.warnings),
            "later": self.later,
            "hints": list(self.hints),
            "sql": list(self.sqls),
            "afterwards": self.afterwards,
        }


def of_one_month(unit: str, dated: ByMonth) -> str:
    """Return what a budget per month protects, and what that means for a unit over time."""
    if dated.in_all is None:
        return f"the data of one {unit} in one month"
    text = f"the used data of one {unit} in one month"
    cost = "the same cost" if dated.in_all == 1 else f"{dated.in_all} times the cost at most"
    return f"{text}; all data of one {unit} together at {cost}"


def _definitions(facts: Iterable[tuple[str, str]], width: int) -> Iterator[str]:
    """Yield lines of a name and what stands for it, in two columns."""
    for name, text in facts:
        yield from folded(padded(name, NAMES, is_right=False) + text, width, indent=" " * NAMES)


def _indented(sentences: Sequence[str], width: int) -> Iterator[str]:
    for each in sentences:
        yield from (f"  {line}" for line in folded(visible(each), width - 2, indent=""))


def _html_table(columns: Sequence[ShownColumn]) -> str:
    style = "text-align:left;padding:.25em 1.2em .25em 0;border:none;vertical-align:top"
    head = "".join(f'<th style="{style};{LINE}">{escape(each.header)}</th>' for each in columns)
    rows = (
        "".join(f'<td style="{style}">{escape(cell)}</td>' for cell in row)
        for row in zip(*(each.cells for each in columns), strict=True)
    )
    body = "".join(f'<tr style="background:none">{row}</tr>' for row in rows)
    return (
        f'<table style="border-collapse:collapse;border:none;margin:.6em 0 0">'
        f'<tr style="background:none">{head}</tr>{body}</table>'
    )


def _html_programs(title: str, sqls: Sequence[str]) -> str:
    style = "margin:.3em 0 0;padding:0;background:none;white-space:pre-wrap"
    code = "".join(
        f'<pre style="{style}">{escape(chr(10).join(map(visible, sql.splitlines())))}</pre>'
        for sql in sqls
    )
    summary = f'<summary style="{QUIET};padding-top:.6em">{escape(title)}</summary>'
    return f"<details>{summary}{code}</details>"
