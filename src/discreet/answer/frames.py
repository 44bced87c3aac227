"""Data frames, the extra `frames`: the only place that knows pandas and Polars."""

from typing import TYPE_CHECKING

import pyarrow as pa
from pyarrow import types

from discreet.errors import MissingExtraError

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl


def pandas_frame(table: pa.Table) -> "pd.DataFrame":
    """Return a pandas frame; whole numbers with gaps stay whole numbers."""
    try:
        import pandas as pd  # noqa: PLC0415 - an optional extra, imported here only
    except ImportError as cause:
        raise MissingExtraError("pandas support", extra="frames") from cause
    frame: pd.DataFrame = table.to_pandas()
    for field, column in zip(table.schema, table.columns, strict=True):
        if types.is_integer(field.type) and column.null_count:
            frame[field.name] = pd.array(column.to_pylist(), dtype="Int64")
    return frame


def polars_frame(table: pa.Table) -> "pl.DataFrame":
    """Return a Polars frame."""
    try:
        import polars as pl  # noqa: PLC0415 - an optional extra, imported here only
    except ImportError as cause:
        raise MissingExtraError("Polars support", extra="frames") from cause
    frame = pl.from_arrow(table)
    if not isinstance(frame, pl.DataFrame):  # pragma: no cover - a table is always a frame
        raise TypeError
    return frame
