"""The number of groups of private rows on every engine: NULL is a group, and equal keys are one."""

from contextlib import closing
from datetime import date, datetime
from typing import Any

import pyarrow as pa
import pytest

from discreet.catalog.arguments import declare
from discreet.catalog.resolve import resolve
from discreet.engines.public_store import PublicStore
from discreet.query.check import check
from discreet.query.parse import parse
from discreet.query.plan import make_plan
from discreet.query.plan.plan import EpsilonTarget
from tests.engines.contract import ENGINES, engine_of, exact_rows

VALUES: dict[str, tuple[pa.DataType, list[Any]]] = {
    "i": (pa.int64(), [1, 12, None, -1, 2**62]),
    "x": (pa.float64(), [0.0, -0.0, 0.1, None, 1e300, 1e-7, 0.1 + 0.2, 0.3]),
    "s": (pa.string(), ["a", "ab", "", None, "N", "1:a", "ß", "A", " a", "a "]),
    "t": (pa.string(), ["bc", "c", None, "", "1:", "3:abc"]),
    "b": (pa.bool_(), [True, None, False]),
    "d": (pa.date32(), [date(2024, 2, 29), None, date(1969, 12, 31)]),
    "w": (pa.timestamp("us"), [datetime(2024, 2, 29, 1, 2, 3, 4), None, datetime(1969, 1, 1)]),
}
ROWS = 300

KEYS = [
    *(("i",), ("x",), ("s",), ("b",), ("d",), ("w",)),
    *(("s", "t"), ("i", "x"), ("b", "d", "w"), ("s", "i", "t", "x")),
]


def table() -> pa.Table:
    columns: dict[str, Any] = {"u": pa.array([n // 3 for n in range(ROWS)], pa.int64())}
    for place, (name, (kind, values)) in enumerate(VALUES.items()):
        chosen = [values[(n * (place + 3) + n // 7) % len(values)] for n in range(ROWS)]
        columns[name] = pa.array(chosen, kind)
    return pa.table(columns)


def number_of(keys: tuple[str, ...]) -> int:
    rows = table().select(list(keys)).to_pylist()
    return len({tuple(row.values()) for row in rows})  # -0.0 == 0.0 in Python too


@pytest.mark.parametrize("engine", ENGINES)
def test_every_engine_counts_the_groups_that_there_are(engine: str) -> None:
    with closing(engine_of(engine, {"t": table()})) as holder:
        declared = declare({"t": None}, epsilon=100, delta=0.01, unit="u", rows_per_unit=3)
        catalog = resolve(declared, holder.columns)
        found = {}
        for keys in KEYS:
            sql = f"SELECT COUNT(*) FROM (SELECT DISTINCT {', '.join(keys)} FROM t)"  # noqa: S608
            question = check(parse(sql), catalog, PublicStore({}))
            (release,) = make_plan(question, EpsilonTarget(1), catalog.budget).releases
            (query,) = release.queries
            (((_, found[keys]),),) = exact_rows(holder, query)
        assert found == {keys: number_of(keys) for keys in KEYS}
