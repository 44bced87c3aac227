"""Synthetic tables: the rows of one small experiment, and any number of copies of it.

All copies are in one table, with a column `copy`. Every person is in one copy only, so a query that
groups by copy runs on all of them at once.
"""

from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

COPY, PERSON = "copy", "person"

Row = dict[str, object]
Tables = Mapping[str, Sequence[Row]]
"""The rows of one copy of each private table; `person` numbers its people from 0."""

PEOPLE = 1 << 12
"""No copy has more people."""

FIELDS: dict[str, pa.DataType] = {
    PERSON: pa.int64(),
    "x": pa.float64(),
    "kind": pa.string(),
    "day": pa.int64(),
}
"""The columns of every private table except `copy`. Missing values of a row are NULL."""


def repeated(rows: Sequence[Row], copies: int) -> pa.Table:
    """Return copies of the rows, each with different people."""
    whose = np.repeat(np.arange(copies, dtype=np.int64), len(rows))
    first = pa.array(whose * PEOPLE)
    columns = {name: _tiled(rows, name, copies) for name in FIELDS}
    columns[PERSON] = pc.add(columns[PERSON], first)  # NULL, who is nobody, stays NULL
    return pa.table({COPY: pa.array(whose), **columns})


def _tiled(rows: Sequence[Row], name: str, copies: int) -> "pa.Array[pa.Scalar[pa.DataType]]":
    once = pa.array([each.get(name) for each in rows], FIELDS[name])
    return once.take(pa.array(np.tile(np.arange(len(rows)), copies), pa.int64()))
