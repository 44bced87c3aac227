"""Totals, single ticks and windows of a series are computed from its stored numbers."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from discreet.answer.series_table import SeriesTable
from discreet.catalog.series import MARGIN
from discreet.errors import ParameterError
from discreet.parameters import Real, confidence_level, integer
from discreet.series.definition import SeriesDefinition
from discreet.tables import ARROW_TYPES


def read_series(  # noqa: PLR0913 - each is something that a reader may choose
    series: SeriesDefinition,
    records: Sequence[list[list[int]]],
    released: int,
    *,
    window: int | None = None,
    is_running: bool = True,
    confidence: Real = 0.95,
) -> SeriesTable:
    """Return the released ticks of a series, computed from their numbers; costs nothing."""
    level = confidence_level(confidence)
    length = 1 if window is None else integer("window", window, least=1, most=series.ticks)
    groups = len(series.groups)
    starts = [series.start(tick) for tick in range(1, released + 1)]
    arrays: list[pa.Array[Any]] = [
        pa.array([each for each in starts for _ in range(groups)], pa.timestamp("us"))
    ]
    names = ["tick", *series.keys]
    for number, kind in enumerate(series.kinds):
        keys = [group[number] for group in series.groups] * released
        arrays.append(pa.array(keys, ARROW_TYPES[kind]))
    for measure, record in zip(series.measures, records, strict=True):
        mechanism, unit = measure.mechanism, float(measure.unit)
        numbers = _record(record, groups)
        if is_running:
            values, half = mechanism.running(numbers), mechanism.margins(level, last=released)
        else:
            values = mechanism.windows(numbers, length)
            half = mechanism.margins(level, window=length, last=released)
        arrays.append(pa.array((values * unit).reshape(-1)))
        arrays.append(pa.array(np.repeat(half * unit, groups)))
        names += [measure.column, measure.column + MARGIN]
    shown = "running" if is_running else "tick" if window in (None, 1) else "window"
    return SeriesTable(
        name=series.name,
        kind=shown,
        window=length if shown == "window" else None,
        clock=series.clock.value,
        confidence=level,
        keys=series.keys,
        columns=tuple(each.column for each in series.measures),
        released=released,
        ticks=series.ticks,
        notes=series.notes,
        table=pa.Table.from_arrays(arrays, names=names),
    )


def check_kind(kind: object, window: object) -> tuple[bool, int | None]:
    """Return whether running totals are wanted, and the length of windows; reject other wishes."""
    if kind not in ("running", "tick", "window"):
        raise ParameterError("kind", kind, "must be 'running', 'tick' or 'window'")
    if kind == "window":
        if window is None:
            raise ParameterError("window", window, "must be a number of ticks, for example 7")
        return False, integer("window", window, least=1)
    if window is not None:
        raise ParameterError("window", window, "must come with kind='window'")
    return kind == "running", None


def _record(record: Sequence[list[int]], groups: int) -> Any:
    if not record:
        return np.zeros((0, groups), np.int64)
    try:
        return np.array(record, np.int64)
    except OverflowError:
        return np.array(record, object)
