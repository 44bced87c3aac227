"""The answer: a noisy table that knows how far to trust it and what it cost."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Self, TypeAlias

import numpy as np
import pyarrow as pa

from discreet import plots, utility
from discreet.amounts import FREE, Balance, Price, percent
from discreet.answer.charts import chart_of
from discreet.answer.columns import (
    AnswerColumn,
    Intervals,
    MarginMethod,
    Margins,
    Role,
    columns_of,
    csv_text,
    ends_of,
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
from discreet.answer.rendering import (
    PART,
    folded,
    html_table,
    joined_parts,
    line_width,
    shown_groups,
    table_lines,
    visible,
)
from discreet.deprecated import renamed_arguments, warn_renamed
from discreet.errors import ParameterError
from discreet.parameters import Real, confidence_level, flag, freeze_fields
from discreet.writing import write_file

if TYPE_CHECKING:
    from discreet.utility.neighbours import Label
    from discreet.utility.priors import AnyGain, Prior

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl


class Note(str):
    """A sentence about an answer, and whether it is printed without being asked for."""

    __slots__ = ("is_printed",)

    is_printed: bool

    def __new__(cls, text: str, *, is_printed: bool = False) -> Self:
        note = super().__new__(cls, text)
        note.is_printed = is_printed
        return note


REUSED = Note(
    "These numbers come from the saved answer to another query on the same rows and groups. Its "
    "noise is no larger than this query's would be.",
    is_printed=True,
)
"""Said where an answer was read from a table that was released for another query."""


FROM_OWN = "this is the saved answer to this query"
FROM_ANOTHER = "read from the saved answer to another query"
"""Why an answer costs nothing, as answers and explanations say it."""


WIDTH = 100
"""Columns that a text is folded to."""

ROWS_SHOWN, HEAD, TAIL = 40, 20, 10
"""Of more rows than the first, only a head and a tail are shown."""

MarginsAt: TypeAlias = Callable[[Fraction, bool], Margins]
"""Margins at a confidence, for each number alone or for all of the answer at once."""


@renamed_arguments(half_widths="column_margins", widths="column_margins_at", was_kept="from_ledger")
@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Answer:
    """A noisy table with margins of error, its cost and what remains of the budget.

    Anyone may see all of it. Margins follow from the question and the noisy numbers alone. They
    cover the noise; `notes` say which rows were left out and which values were clamped.
    """

    question: str
    table: pa.Table
    """The asked columns in the asked order."""
    roles: tuple[Role, ...]
    column_margins: Margins
    """At `confidence`: an array for each estimate (NaN where a row has none), None for others."""
    column_margins_at: MarginsAt
    """Gives the same at another confidence."""
    confidence: Real
    price: Price
    """What these numbers cost, now or when they were first asked for."""
    remaining: Balance
    """What remains of the budget now."""
    from_ledger: bool = False
    """Whether the answer was saved before, so that it costs nothing now."""
    notes: tuple[str, ...] = ()
    """Sentences: contribution limits, rows left out, clamped values, margins of ranks.

    A `Note` among them knows whether it is printed without being asked for.
    """
    limits: tuple[Mapping[str, object], ...] = ()
    """For programs, what contribution limits and bounds leave out: tables, columns and shares."""
    scales: tuple[Fraction | None, ...] = ()
    """Of each column that is a whole number plus geometric noise, the scale of the noise."""
    methods: tuple[MarginMethod | None, ...] = ()
    """How the margins of each column were found, None for a column without any."""
    column_intervals: Intervals = ()
    """For each column of selected values, such as medians, ends of intervals at `confidence`."""

    def __post_init__(self) -> None:
        freeze_fields(
            self,
            table=tidied(self.table),
            confidence=confidence_level(self.confidence),
            column_margins=tuple(self.column_margins),
        )
        for each in (self.roles, self.column_margins):
            if len(each) != self.table.num_columns:
                raise ParameterError("columns", len(each), "must have one role and margin each")

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
        """Whether asking this cost nothing: it was saved before, or reads public tables only."""
        return self.from_ledger or self.price.is_free

    @property
    def charged(self) -> Price:
        """What this asking cost."""
        return FREE if self.from_ledger else self.price

    @property
    def margins(self) -> dict[str, list[float | None]]:
        """Margins of error of each estimate at the answer's confidence, row by row."""
        return self._named(self.column_margins)

    @property
    def intervals(self) -> dict[str, list[tuple[object, object] | None]]:
        """Intervals of quantiles, minima and maxima at the answer's confidence, row by row.

        Each holds the value without noise. It is None where too few rows support a value.
        """
        pairs = zip(self.columns, self.column_intervals, strict=False)
        return {
            name: [None if each[0] is None else each for each in ends_of(found)]
            for name, found in pairs
            if found is not None
        }

    def margins_at(
        self, confidence: Real, *, simultaneous: bool = False
    ) -> dict[str, list[float | None]]:
        """Return margins of error at another confidence; this costs nothing.

        They hold for each number with that confidence, or for all numbers of the answer at once.
        """
        at_once = flag("simultaneous", simultaneous)
        return self._named(self.column_margins_at(confidence_level(confidence), at_once))

    def best_guess(
        self, prior: "Prior", gain: "AnyGain" = "identity", *, column: str | None = None
    ) -> "list[Label]":
        """Return, for each row, the best guess of a count for what one believes and gains.

        Post-processing of the noisy number, so free of charge. The column may be left out if it is
        the only one that is a count with geometric noise.
        """
        if not isinstance(prior, utility.Prior):
            rule = "must be a prior: uniform(0, 100) of discreet.utility"
            raise ParameterError("prior", prior, rule)
        name, scale = self._guessed(column)
        noisy = self.table.column(name).to_numpy().tolist()
        return utility.best_guesses(noisy, prior, gain, epsilon=1 / scale)

    def to_arrow(self, *, errors: bool = False) -> pa.Table:
        """Return an Arrow table; with errors, `<column>_error` is beside each estimate.

        Beside a quantile, minimum or maximum are `<column>_low` and `<column>_high`.
        """
        if not flag("errors", errors):
            return self.table
        names, arrays = [], []
        extra, low, high = (error_names(self.columns, each) for each in ("error", "low", "high"))
        intervals = self.column_intervals or [None] * len(self.columns)
        for i, (name, widths) in enumerate(zip(self.columns, self.column_margins, strict=True)):
            names.append(name)
            arrays.append(self.table.column(i))
            if widths is not None:
                names.append(extra[i])
                arrays.append(pa.chunked_array([pa.array(widths, from_pandas=True)]))
            if (found := intervals[i]) is not None:
                names += [low[i], high[i]]
                arrays += found
        return pa.table(arrays, names=names)

    def __arrow_c_schema__(self) -> object:
        """Return the columns as the Arrow PyCapsule interface has them."""
        return self.table.schema.__arrow_c_schema__()

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Return the asked columns for any library that reads the Arrow PyCapsule interface."""
        stream: object = self.table.__arrow_c_stream__(requested_schema)  # type: ignore[no-untyped-call]
        return stream

    def to_pandas(self, *, errors: bool = False) -> "pd.DataFrame":
        """Return a pandas frame; with errors, `<column>_error` is beside each estimate."""
        return pandas_frame(self.to_arrow(errors=errors))

    def to_polars(self, *, errors: bool = False) -> "pl.DataFrame":
        """Return a Polars frame; with errors, `<column>_error` is beside each estimate."""
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
        """Return the answer as lines of text, folded to a width; with all notes if wanted."""
        shown, gap = self._shown()
        columns = line_width(width)
        lines = table_lines(shown_groups(shown), width=columns, gap=gap)
        is_asked = flag("notes", notes)
        printed = [each for each in self.notes if is_asked or _is_printed(each)]
        said = (line for each in printed for line in folded(visible(each), columns))
        legend = (line for each in self._legend() for line in folded(each, columns))
        return "\n".join([*lines, "", *legend, *said, *joined_parts(self.footer, columns)])

    def plot(self, *columns: str) -> "plots.Plot":
        """Draw the numbers with error bars over the group keys; all columns if none is named."""
        known = ", ".join(self.columns)
        for each in columns:
            if not isinstance(each, str) or each not in self.columns:
                raise ParameterError("columns", each, f"must be among {known}")
        return chart_of(self._columns(self.table), chosen=columns, confidence=self._level)

    # ----------------------------------------------------------------------- old names

    @property
    def error(self) -> dict[str, list[float | None]]:
        """The old name of `margins`."""
        warn_renamed("Answer.error", "Answer.margins")
        return self.margins

    def error_at(
        self, confidence: Real, *, simultaneous: bool = False
    ) -> dict[str, list[float | None]]:
        """Return what `margins_at` does, under its old name."""
        warn_renamed("Answer.error_at", "Answer.margins_at")
        return self.margins_at(confidence, simultaneous=simultaneous)

    @property
    def half_widths(self) -> Margins:
        """The old name of `column_margins`."""
        warn_renamed("Answer.half_widths", "Answer.margins")
        return self.column_margins

    @property
    def widths(self) -> MarginsAt:
        """The old name of `column_margins_at`."""
        warn_renamed("Answer.widths", "Answer.margins_at")
        return self.column_margins_at

    @property
    def was_kept(self) -> bool:
        """The old name of `from_ledger`."""
        warn_renamed("Answer.was_kept", "Answer.from_ledger")
        return self.from_ledger

    @property
    def cautions(self) -> tuple[str, ...]:
        """Those of `notes` that are printed without being asked for."""
        warn_renamed("Answer.cautions", "Answer.notes")
        return tuple(filter(_is_printed, self.notes))

    # ----------------------------------------------------------------------- shown

    def __repr__(self) -> str:
        return self.to_text()

    def _repr_html_(self) -> str:
        shown, gap = self._shown()
        notes = (*self._legend(), *map(visible, self.notes))
        return html_table(shown_groups(shown), gap=gap, notes=notes, footer=PART.join(self.footer))

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
        return columns_of(table, self.roles, self.column_margins, self.column_intervals)

    def _shown(self) -> tuple[tuple[AnswerColumn, ...], tuple[int, int] | None]:
        """Return the columns of the rows that are shown, and where how many are left out."""
        if len(self) <= ROWS_SHOWN:
            return self._columns(self.table), None
        places = np.r_[0:HEAD, len(self) - TAIL : len(self)]
        widths = [None if each is None else each[places] for each in self.column_margins]
        ends = [
            None if each is None else (each[0].take(places), each[1].take(places))
            for each in self.column_intervals
        ]
        shown = columns_of(self.table.take(places), self.roles, widths, ends)
        return shown, (HEAD, len(self) - HEAD - TAIL)

    def _named(self, half_widths: Margins) -> dict[str, list[float | None]]:
        pairs = zip(self.columns, half_widths, strict=True)
        return {name: list(errors_of(each)) for name, each in pairs if each is not None}

    def _legend(self) -> Iterator[str]:
        """Yield what ± means, if it is there."""
        if any(each is not None for each in self.column_margins):
            level = percent(self._level)
            yield f"± is the margin of error from the noise, at {level} confidence."
        if any(each is not None for each in self.column_intervals):
            level = percent(self._level)
            yield f"An interval holds the value without noise, at {level} confidence."

    @property
    def footer(self) -> tuple[str, ...]:
        """What was spent, what remains, and what repeating the query costs, in short sentences."""
        remaining = f"Remaining: {self.remaining}"
        if self.from_ledger:
            why = FROM_ANOTHER if REUSED in self.notes else FROM_OWN
            return f"Spent nothing: {why}", remaining
        if self.price.is_free:
            return "Spent nothing: no private data were read", remaining
        return f"Spent {self.price}", remaining, "Repeating this query is free"

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
                name: [json_value(each) for each in errors] for name, errors in self.margins.items()
            },
            "error_methods": {
                name: method.value
                for name, method in zip(self.columns, self.methods, strict=False)
                if method is not None
            },
            "intervals": {
                name: [each and [json_value(end) for end in each] for each in found]
                for name, found in self.intervals.items()
            },
            "confidence": float(self._level),
            "price": self.price.to_json(),
            "charged": self.charged.to_json(),
            "remaining": self.remaining.to_json(),
            "is_free": self.is_free,
            "was_kept": self.from_ledger,
            "notes": list(self.notes),
            "limits": [dict(each) for each in self.limits],
        }


def _is_printed(note: str) -> bool:
    return isinstance(note, Note) and note.is_printed
