"""The answer: a noisy table that knows how far to trust it and what it cost."""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import pyarrow as pa

from discreet.amounts import FREE, Balance, Price
from discreet.answer.charts import chart_of
from discreet.answer.columns import (
    AnswerColumn,
    HalfWidths,
    Role,
    columns_of,
    csv_text,
    error_names,
    errors_of,
    indentation,
    json_rows,
    json_text,
    json_value,
    pandas_frame,
    polars_frame,
    sort_of,
    tidied,
)
from discreet.answer.rendering import html_table, line_width, shown_groups, table_lines, visible
from discreet.errors import ParameterError
from discreet.mechanisms.frozen import settle
from discreet.parameters import Real, confidence_level, flag
from discreet.plots import Plot
from discreet.utility.gains import AnyGain
from discreet.utility.graphs import Label
from discreet.utility.guessing import best_guesses
from discreet.utility.priors import Prior
from discreet.writing import write_file

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl


WIDTH = 100
"""Columns that a text is folded to."""

ROWS_SHOWN, HEAD, TAIL = 40, 20, 10
"""Of more rows than the first, only a head and a tail are shown."""

Widths: TypeAlias = Callable[[Fraction, bool], HalfWidths]
"""Half widths at a confidence, for each number alone or for all of the answer at once."""


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Answer:
    """A noisy table with error bars, its price and what is left.

    Anyone may see all of it. Half widths follow from the question and the noisy numbers alone;
    they cover the noise, and what bounding cut off is said in `notes`.
    """

    question: str
    table: pa.Table
    """The asked columns in the asked order."""
    roles: tuple[Role, ...]
    half_widths: HalfWidths
    """At `confidence`: an array for each estimate (NaN where a row has none), None for others."""
    widths: Widths
    """Gives half widths at another confidence, in the same form."""
    confidence: Real
    price: Price
    """What these numbers cost, now or when they were first asked for."""
    remaining: Balance
    """What is left of the budget now."""
    was_kept: bool = False
    """Whether the question had been paid for before, so that asking it again was free."""
    cautions: tuple[str, ...] = ()
    """Sentences that stand with the numbers: limits by default, errors of rank."""
    notes: tuple[str, ...] = ()
    """Sentences: what was cut, left out or not counted."""
    scales: tuple[Fraction | None, ...] = ()
    """Of each column that is a whole number plus geometric noise, the scale of the noise."""

    def __post_init__(self) -> None:
        settle(
            self,
            table=tidied(self.table),
            confidence=confidence_level(self.confidence),
            half_widths=tuple(self.half_widths),
        )
        for each in (self.roles, self.half_widths):
            if len(each) != self.table.num_columns:
                raise ParameterError("columns", len(each), "must have one role and width each")

    def __len__(self) -> int:
        return self.table.num_rows

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(self.table.column_names)

    @property
    def rows(self) -> list[dict[str, object]]:
        """The rows, each a mapping from column to Python value: ints stay ints, dates dates."""
        columns = self._columns(self.table)
        values = zip(*(column.values for column in columns), strict=True)
        return [dict(zip(self.columns, row, strict=True)) for row in values]

    @property
    def is_free(self) -> bool:
        """Whether asking this cost nothing: it was paid for before, or reads public tables only."""
        return self.was_kept or self.price.is_free

    @property
    def charged(self) -> Price:
        """What this asking cost."""
        return FREE if self.was_kept else self.price

    @property
    def error(self) -> dict[str, list[float | None]]:
        """Half widths of each estimate at the answer's confidence, row by row."""
        return self._named(self.half_widths)

    def error_at(
        self, confidence: Real, *, simultaneous: bool = False
    ) -> dict[str, list[float | None]]:
        """Return half widths at another confidence; free, as it tells nothing new.

        They hold for each number with that confidence, or for all numbers of the answer at once.
        """
        at_once = flag("simultaneous", simultaneous)
        return self._named(self.widths(confidence_level(confidence), at_once))

    def best_guess(
        self, prior: Prior, gain: AnyGain = "identity", *, column: str | None = None
    ) -> list[Label]:
        """Return, for each row, the best guess of a count for what one believes and gains.

        Post-processing of the noisy number, so free of charge. The column may be left out if it is
        the only one that is a count with geometric noise.
        """
        if not isinstance(prior, Prior):
            rule = "must be a prior: uniform(0, 100) of discreet.utility"
            raise ParameterError("prior", prior, rule)
        name, scale = self._guessed(column)
        noisy = self.table.column(name).to_numpy().tolist()
        return best_guesses(noisy, prior, gain, epsilon=1 / scale)

    def to_arrow(self, *, errors: bool = False) -> pa.Table:
        """Return an Arrow table; with errors, `<column>_error` stands beside each estimate."""
        if not flag("errors", errors):
            return self.table
        names, arrays = [], []
        extra = error_names(self.columns)
        for i, (name, widths) in enumerate(zip(self.columns, self.half_widths, strict=True)):
            names.append(name)
            arrays.append(self.table.column(i))
            if widths is not None:
                names.append(extra[i])
                arrays.append(pa.chunked_array([pa.array(widths, from_pandas=True)]))
        return pa.table(arrays, names=names)

    def to_pandas(self, *, errors: bool = False) -> "pd.DataFrame":
        """Return a pandas frame; with errors, `<column>_error` stands beside each estimate."""
        return pandas_frame(self.to_arrow(errors=errors))

    def to_polars(self, *, errors: bool = False) -> "pl.DataFrame":
        """Return a Polars frame; with errors, `<column>_error` stands beside each estimate."""
        return polars_frame(self.to_arrow(errors=errors))

    def to_csv(self, path: str | Path | None = None, *, errors: bool = True) -> str | Path:
        """Return CSV, or write it and return its path; texts that look like formulas are inert.

        Characters that command a terminal or turn the direction of writing are written as escapes.
        A file is only written in a folder that is there, and never through a link.
        """
        text = csv_text(self._columns(self.table), errors=flag("errors", errors))
        if path is None:
            return text
        return write_file("path", path, text.encode())

    def to_json(self, *, indent: int | None = None) -> str:
        """Return everything as JSON: columns, rows, errors, price and what is left."""
        return json_text(self._content(), indentation(indent))

    def to_text(self, *, width: int = WIDTH, notes: bool = False) -> str:
        """Return the answer as lines of text, folded to a width; its notes too, if wanted."""
        shown, gap = self._shown()
        columns = line_width(width)
        lines = table_lines(shown_groups(shown, self._level), width=columns, gap=gap)
        said = [*self.cautions, *(self.notes if flag("notes", notes) else ())]
        told = [f"note: {visible(each)}" for each in said]
        return "\n".join([*lines, *told, self._footer()])

    def plot(self, *columns: str) -> Plot:
        """Draw the numbers with their error bars over the keys; all columns if none is named."""
        known = ", ".join(self.columns)
        for each in columns:
            if not isinstance(each, str) or each not in self.columns:
                raise ParameterError("columns", each, f"must be among {known}")
        return chart_of(self._columns(self.table), chosen=columns, confidence=self._level)

    def __repr__(self) -> str:
        return self.to_text()

    def _repr_html_(self) -> str:
        shown, gap = self._shown()
        groups = shown_groups(shown, self._level)
        return html_table(groups, gap=gap, notes=self._notes(), footer=self._footer())

    @property
    def _level(self) -> Fraction:
        return confidence_level(self.confidence)

    def _guessed(self, column: str | None) -> tuple[str, Fraction]:
        """Return the column that a guess is about, and the scale of its noise."""
        scales = {
            name: scale
            for name, scale in zip(self.columns, self.scales, strict=False)
            if scale is not None
        }
        chosen = next(iter(scales)) if column is None and len(scales) == 1 else column
        if not isinstance(chosen, str) or chosen not in scales:
            known = (
                ", ".join(scales) or "none here, as noise or SQL made all of them something else"
            )
            rule = f"must be a count with geometric noise: {known}"
            raise ParameterError("column", column, rule)
        return chosen, scales[chosen]

    def _columns(self, table: pa.Table) -> tuple[AnswerColumn, ...]:
        return columns_of(table, self.roles, self.half_widths)

    def _shown(self) -> tuple[tuple[AnswerColumn, ...], tuple[int, int] | None]:
        """Return the columns of the rows that are shown, and where how many are left out."""
        if len(self) <= ROWS_SHOWN:
            return self._columns(self.table), None
        places = np.r_[0:HEAD, len(self) - TAIL : len(self)]
        widths = [None if each is None else each[places] for each in self.half_widths]
        shown = columns_of(self.table.take(places), self.roles, widths)
        return shown, (HEAD, len(self) - HEAD - TAIL)

    def _named(self, half_widths: HalfWidths) -> dict[str, list[float | None]]:
        pairs = zip(self.columns, half_widths, strict=True)
        return {name: list(errors_of(each)) for name, each in pairs if each is not None}

    def _notes(self) -> tuple[str, ...]:
        return tuple(f"note: {visible(note)}" for note in (*self.cautions, *self.notes))

    def _footer(self) -> str:
        """Return what was paid, what is left, and what asking again costs."""
        left = f"left {self.remaining}"
        if self.was_kept:
            return f"free: this question was paid for before · {left}"
        if self.price.is_free:
            return f"free: only public tables were read · {left}"
        return f"paid {self.price} · {left} · asked again, this is free"

    def _content(self) -> dict[str, object]:
        columns = [
            {"name": field.name, "role": role.value, "type": sort_of(field.type).value}
            for field, role in zip(self.table.schema, self.roles, strict=True)
        ]
        return {
            "question": self.question,
            "columns": columns,
            "rows": list(json_rows(self._columns(self.table))),
            "errors": {
                name: [json_value(each) for each in errors] for name, errors in self.error.items()
            },
            "confidence": float(self._level),
            "price": self.price.to_json(),
            "charged": self.charged.to_json(),
            "remaining": self.remaining.to_json(),
            "is_free": self.is_free,
            "was_kept": self.was_kept,
            "notes": [*self.cautions, *self.notes],
        }
