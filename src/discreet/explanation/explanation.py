"""The explanation: what would happen, as text, for a notebook, and as JSON."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from html import escape
from textwrap import wrap

from discreet.amounts import Balance, Price, amount_up, exact_and_float
from discreet.answer.columns import indentation, json_text
from discreet.answer.rendering import (
    LINE,
    QUIET,
    ShownColumn,
    clipped,
    line_width,
    percent,
    table_lines,
    visible,
)
from discreet.mechanisms.sensitivity import Neighbours

WIDTH, WIDEST = 100, 60
"""Columns that the text is folded to, and those of its widest cell."""

NARROWEST = 20
"""Sentences are folded to no fewer columns."""

PROTECTS = {
    Neighbours.ADD_REMOVE: "one {unit} more or less (add-remove neighbours)",
    Neighbours.REPLACE: "the data of one {unit} (replace neighbours: the number of them is public)",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ExplainedColumn:
    """One number that is released for each group."""

    name: str
    statistic: str
    """As the question writes it: AVG(age)."""
    spread_text: str
    """How far noise moves it at the explanation's confidence."""
    epsilon_share: Fraction
    """What its measurement costs; columns that are read off one measurement share it."""
    noise: str
    why: str
    """Why this noise, in a sentence."""
    shares_with: str = ""
    """The column whose measurement it is read off as well, and whose price it shares."""

    @property
    def price_text(self) -> str:
        return f"with {self.shares_with}" if self.shares_with else amount_up(self.epsilon_share)


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """What would happen and what it would cost; follows from the question and the catalog alone."""

    question: str
    price: Price
    """What it costs who is the first to ask."""
    confidence: Fraction
    neighbours: Neighbours | None
    """None if only public tables are read."""
    unit: str
    """What is protected: patient_id."""
    columns: tuple[ExplainedColumn, ...]
    first: tuple[str, ...] = ()
    """Which bounds are found before the rest is answered, and for what."""
    bounding: tuple[str, ...] = ()
    """How the rows of a unit are held to a limit, and whether the limit is a default."""
    keys: tuple[str, ...] = ()
    """Which groups are answered."""
    left_out: tuple[str, ...] = ()
    """What is not counted."""
    afterwards: str = ""
    """SQL that makes the answer of what is released, free of charge."""
    sqls: tuple[str, ...] = ()
    """What the engine would run."""
    remaining: Balance | None = None
    """What is left of the budget now."""
    due: Price | None = None
    """What would be charged now: less than the price if it was paid for before, or a part of it."""

    @property
    def protects(self) -> str:
        """What stays hidden, by which relation of neighbours."""
        if self.neighbours is None:
            return "nobody: only public tables are read"
        return PROTECTS[self.neighbours].format(unit=visible(self.unit))

    def __str__(self) -> str:
        return self.to_text()

    def __repr__(self) -> str:
        return self.to_text()

    def to_text(self, *, width: int = WIDTH) -> str:
        """Return the explanation as lines of text."""
        columns = line_width(width)
        lines = [f"would cost {self._cost()}", f"protects {self.protects}", ""]
        groups = [(column,) for column in self._table()]
        if self.columns:
            lines += [*table_lines(groups, width=columns, gap=None), ""]
        for title, sentences in self._sections():
            lines += [title, *_indented(sentences, max(columns, NARROWEST))]
        for title, sqls in self._programs():
            lines += [title, *(f"  {visible(line)}" for sql in sqls for line in sql.splitlines())]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        heading = f"would cost <b>{escape(self._cost())}</b> · protects {escape(self.protects)}"
        told = "".join(
            f'<div style="{QUIET};padding-top:.6em">{escape(title)}</div>'
            + "".join(f"<div>{escape(visible(sentence))}</div>" for sentence in sentences)
            for title, sentences in self._sections()
        )
        table = _html_table(self._table()) if self.columns else ""
        programs = "".join(_html_programs(*each) for each in self._programs())
        return (
            f'<div style="max-width:60em;line-height:1.45">'
            f"<div>{heading}</div>{table}{told}{programs}</div>"
        )

    def to_json(self, *, indent: int | None = None) -> str:
        """Return everything as JSON."""
        return json_text(self._content(), indentation(indent))

    def _cost(self) -> str:
        left = "" if self.remaining is None else f" · left {self.remaining}"
        return f"{self._charge()}{left}"

    def _charge(self) -> str:
        """Return what would be charged; whoever paid before, when and for what is not told."""
        if self.price.is_free:
            return "nothing"
        if self.due is None or self.due == self.price:
            return str(self.price)
        if self.due.is_free:
            return f"nothing: all that it needs was paid for before ({self.price})"
        return f"{self.due}: the rest of its price, {self.price}, was paid for before"

    def _table(self) -> tuple[ShownColumn, ...]:
        columns = {
            "column": [each.name for each in self.columns],
            "statistic": [each.statistic for each in self.columns],
            f"± {percent(self.confidence)}": [each.spread_text for each in self.columns],
            "ε": [each.price_text for each in self.columns],
            "noise": [each.noise for each in self.columns],
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
        reasons = dict.fromkeys(each.why for each in self.columns if each.why)
        for title, sentences in (
            ("what is found first", self.first),
            ("why this noise", tuple(reasons)),
            ("how units are bounded", self.bounding),
            ("which groups are answered", self.keys),
            ("what is left out", self.left_out),
        ):
            if sentences:
                yield title, sentences

    def _programs(self) -> Iterator[tuple[str, Sequence[str]]]:
        if self.sqls:
            yield "what the engine runs, before noise", self.sqls
        if self.afterwards:
            yield "what is computed afterwards, free of charge", (self.afterwards,)

    def _content(self) -> dict[str, object]:
        columns = [
            {
                "name": each.name,
                "statistic": each.statistic,
                "spread": each.spread_text,
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
            "remaining": None if self.remaining is None else self.remaining.to_json(),
            "confidence": float(self.confidence),
            "neighbours": None if self.neighbours is None else self.neighbours.value,
            "unit": self.unit,
            "columns": columns,
            "first": list(self.first),
            "bounding": list(self.bounding),
            "keys": list(self.keys),
            "left_out": list(self.left_out),
            "sql": list(self.sqls),
            "afterwards": self.afterwards,
        }


def _indented(sentences: Sequence[str], width: int) -> Iterator[str]:
    for sentence in sentences:
        yield from wrap(visible(sentence), width, initial_indent="  ", subsequent_indent="    ")


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
