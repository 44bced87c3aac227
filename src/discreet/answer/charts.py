"""Which chart shows an answer: bars, lines with a band, a heat map, or dots with an interval."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from fractions import Fraction
from math import isfinite

import numpy as np
from numpy.typing import NDArray

from discreet import plots
from discreet.amounts import error_text, percent
from discreet.answer.columns import AnswerColumn, Floats, Role, Sort
from discreet.answer.rendering import shown_groups, value_texts, visible
from discreet.errors import HIDDEN, ParameterError

LINE_LEAST = 13
"""So many points of an ordered key make a line; fewer are bars."""

LINE_LEAST_OF_TWO = 5
"""So many points make a line where there is a second key; bars of pairs are hard to compare."""

LINES_MOST = 6
"""So many lines can be told apart; more groups are bars."""

CELLS_LEAST = 25
"""So many rows with two keys are a heat map, if they are no lines; fewer are bars."""

NAMES_MOST = 60
"""So many names along a side of a heat map can be read."""

BARS_MOST = 60
"""So many bars can be read; of more rows only the first are drawn, and the picture says so."""


def chart_of(
    columns: Sequence[AnswerColumn], *, chosen: Sequence[str], confidence: Fraction
) -> "plots.Plot":
    """Return the picture of the chosen number columns, or of all, over the keys."""
    numbers = [each for each in columns if _is_drawn(each, chosen)]
    if not numbers:
        raise ParameterError("an answer", HIDDEN, "must have a column of numbers to be drawn")
    rows = len(numbers[0].values)
    if rows == 0:
        return plots.plot_nothing("no rows")
    if rows == 1:
        return plots.plot_answer_dots([_single(each, confidence) for each in numbers])
    keys = _keys(columns, numbers)
    panels = [_panel(each, confidence) for each in numbers]
    return _lines(keys, panels) or _heat(keys, numbers, panels) or _bars(keys, panels)


def series_chart(
    columns: Sequence[AnswerColumn], *, chosen: Sequence[str], confidence: Fraction, label: str
) -> "plots.Plot":
    """Return lines of the chosen numbers over the first column, one for each group.

    More groups than can be told apart are left out, and the picture says so.
    """
    numbers = [each for each in columns if _is_drawn(each, chosen)]
    ticks, *keys = [each for each in columns if each.role is Role.KEY]
    if not ticks.values:
        return plots.plot_nothing("no ticks are released yet")
    if len(set(ticks.values)) == 1:
        return chart_of(columns, chosen=chosen, confidence=confidence)
    groups = _groups(keys, len(ticks.values))
    lines = {name: np.array(rows) for name, rows in [*groups.items()][:LINES_MOST]}
    if len(groups) > LINES_MOST:
        label = f"{label} · the first {LINES_MOST} of {len(groups):,} groups"
    panels = [_panel(each, confidence) for each in numbers]
    return plots.plot_answer_lines(_places(ticks), panels, lines=lines, label=visible(label))


def _is_drawn(column: AnswerColumn, chosen: Sequence[str]) -> bool:
    if chosen:
        return column.name in chosen and column.sort.is_number
    return column.sort.is_number and column.role is not Role.KEY


def _keys(columns: Sequence[AnswerColumn], numbers: Sequence[AnswerColumn]) -> list[AnswerColumn]:
    """Return what names the rows: the keys, or else the columns that are no numbers."""
    keys = [each for each in columns if each.role is Role.KEY and each not in numbers]
    return keys or [each for each in columns if not each.sort.is_number]


def _is_ordered(key: AnswerColumn) -> bool:
    return key.sort is Sort.TIME or key.sort.is_number


def _lines(keys: Sequence[AnswerColumn], panels: "Sequence[plots.Panel]") -> "plots.Plot | None":
    """Return lines over an ordered key, one for each value of the others, if that fits.

    If both of two keys are ordered, the one with more values is the axis.
    """
    ordered = [key for key in keys if _is_ordered(key)]
    if not ordered or (len(ordered) > 1 and len(keys) != 2):
        return None
    key = max(ordered, key=lambda each: len(set(each.values)))
    groups = _groups([each for each in keys if each is not key], len(key.values))
    least = LINE_LEAST if len(keys) == 1 else LINE_LEAST_OF_TWO
    if len(set(key.values)) < least or len(groups) > LINES_MOST:
        return None
    places = _places(key)
    lines = {
        name: np.array([i for i in _sorted(places, rows) if key.values[i] is not None])
        for name, rows in groups.items()
    }
    return plots.plot_answer_lines(places, panels, lines=lines, label=visible(key.name))


def _heat(
    keys: Sequence[AnswerColumn], numbers: Sequence[AnswerColumn], panels: "Sequence[plots.Panel]"
) -> "plots.Plot | None":
    """Return a heat map of two keys, the one with fewer values upright, if they can be named."""
    if len(keys) != 2 or len(panels[0].values) < CELLS_LEAST:
        return None
    named = [(key, *_names_and_places(key)) for key in keys]
    (upright, lines, i), (along, columns, j) = sorted(named, key=lambda each: len(each[1]))
    is_repeated = len(set(zip(i, j, strict=True))) < len(i)
    if is_repeated or any(
        len(each) > NAMES_MOST and not _is_ordered(key)
        for key, each in ((upright, lines), (along, columns))
    ):
        return None
    return plots.plot_answer_heat(
        [_without_bars(panel, each) for panel, each in zip(panels, numbers, strict=True)],
        names=(lines, columns),
        cells=(np.array(i), np.array(j)),
        labels=(visible(upright.name), visible(along.name)),
    )


def _names_and_places(key: AnswerColumn) -> tuple[list[str], list[int]]:
    """Return the names of a key's values, in order or as they come, and the place of each row."""
    texts = _key_texts(key)
    rows: Sequence[int] = range(len(texts))
    if _is_ordered(key):
        rows = _sorted(_places(key), [*rows])
    names = list(dict.fromkeys(texts[i] for i in rows))
    where = {name: i for i, name in enumerate(names)}
    return names, [where[text] for text in texts]


def _without_bars(panel: "plots.Panel", column: AnswerColumn) -> "plots.Panel":
    """Return the panel with a title that tells the largest margin, which a colour cannot show."""
    name = visible(column.name)
    if panel.errors is None or not np.isfinite(panel.errors).any():
        return replace(panel, title=name)
    level = panel.title.partition("(error bars: ")[2]
    largest = float(np.nanmax(panel.errors[np.isfinite(panel.errors)]))
    margin = error_text(largest, is_whole=False)
    return replace(panel, title=f"{name}   (margins up to {margin}, {level}")


def _bars(keys: Sequence[AnswerColumn], panels: "Sequence[plots.Panel]") -> "plots.Plot":
    rows = len(panels[0].values)
    label = " · ".join(visible(key.name) for key in keys)
    if rows > BARS_MOST:
        panels = [_first(panel) for panel in panels]
        label = f"{label} (the first {BARS_MOST} of {rows} rows)".strip()
    return plots.plot_answer_bars(
        _labels(keys, rows)[:BARS_MOST],
        panels,
        is_ordered=len(keys) == 1 and keys[0].sort is Sort.TIME,
        label=label,
    )


def _labels(keys: Sequence[AnswerColumn], rows: int) -> list[str]:
    if not keys:
        return [str(i + 1) for i in range(rows)]
    return [" · ".join(parts) for parts in zip(*map(_key_texts, keys), strict=True)]


def _key_texts(key: AnswerColumn) -> tuple[str, ...]:
    """Return the texts of a key, first days of months as months."""
    texts = value_texts(key)
    if key.sort is Sort.TIME and all(len(text) == 10 and text.endswith("-01") for text in texts):
        return tuple(text.removesuffix("-01") for text in texts)
    return texts


def _groups(keys: Sequence[AnswerColumn], rows: int) -> dict[str, list[int]]:
    groups: dict[str, list[int]] = {}
    for i, label in enumerate(_labels(keys, rows) if keys else [""] * rows):
        groups.setdefault(label, []).append(i)
    return groups


def _places(key: AnswerColumn) -> NDArray[np.datetime64] | Floats:
    """Return an ordered key as positions along an axis."""
    if key.sort is Sort.TIME:
        texts = ["NaT" if value is None else _local(value) for value in key.values]
        return np.array(texts, dtype="datetime64[us]")
    return _floats(key.values)


def _local(value: object) -> str:
    # A zone has no place in datetime64, and all values of a column share theirs.
    return str(value.replace(tzinfo=None) if isinstance(value, datetime) else value)


def _sorted(places: NDArray[np.generic], rows: list[int]) -> list[int]:
    return [rows[i] for i in np.argsort(places[rows], kind="stable")]


def _panel(column: AnswerColumn, confidence: Fraction) -> "plots.Panel":
    errors = None if column.errors is None else _floats(column.errors)
    if column.ends is not None:
        errors = _distances(column)
    name = visible(column.name)
    title = name if errors is None else f"{name}   (error bars: {percent(confidence)} confidence)"
    return plots.Panel(title=title, values=_floats(column.values), errors=errors)


def _single(column: AnswerColumn, confidence: Fraction) -> "plots.Panel":
    """Return the panel of a single row, whose title tells the number as the text does."""
    cells = [shown.cells[0].strip() for shown in shown_groups([column])[0]]
    level = f"({percent(confidence)})" if len(cells) > 1 else ""
    title = f"{visible(column.name)}   {' '.join(cells)} {level}".rstrip()
    return replace(_panel(column, confidence), title=title)


def _distances(column: AnswerColumn) -> Floats:
    """Return how far below and above each value its interval reaches."""
    low, high = (_floats([ends[side] for ends in column.ends or ()]) for side in (0, 1))
    values = _floats(column.values)
    return np.stack([values - low, high - values])


def _first(panel: "plots.Panel") -> "plots.Panel":
    errors = None if panel.errors is None else panel.errors[..., :BARS_MOST]
    return replace(panel, values=panel.values[:BARS_MOST], errors=errors)


def _floats(values: Sequence[object]) -> Floats:
    """Return the values as floats, NaN for what cannot be drawn."""
    floats = [float(value) if value is not None else np.nan for value in values]  # type: ignore[arg-type]
    return np.array([each if isfinite(each) else np.nan for each in floats])
