"""The last step: columns that are only named are the same as SQL would make them."""

from datetime import UTC, date, datetime
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from discreet.curator import Curator
from discreet.query.check import check
from discreet.query.parse import parse
from tests.curated import curator_of

ROWS = 400
KEYS: dict[str, Any] = {
    "region": pa.array(["north", "süd", None, ""] * 100, pa.string()),
    "ward": pa.array([1, 2, -3, None] * 100, pa.int64()),
    "rate": pa.array([0.5, -1.25, 1e9, None] * 100, pa.float64()),
    "is_new": pa.array([True, False, None, True] * 100, pa.bool_()),
    "day": pa.array([date(2024, 2, 29), date(1969, 1, 1), None, date(2024, 1, 1)] * 100),
    "at": pa.array([datetime(2024, 1, 1, 3), None] * 200, pa.timestamp("us")),
    "at_utc": pa.array(
        [datetime(2024, 1, 1, 3, tzinfo=UTC), None] * 200, pa.timestamp("us", "UTC")
    ),
}


@pytest.fixture(scope="module")
def curator() -> Curator:
    table = pa.table({**KEYS, "age": pa.array(range(ROWS), pa.int64())})
    return curator_of(table, bounds={"age": (0, ROWS)}, epsilon=10**6, delta=1e-3)


@pytest.mark.parametrize("key", KEYS)
def test_columns_that_are_only_named_are_as_sql_makes_them(curator: Curator, key: str) -> None:
    shown = f"SELECT {key}, COUNT(*) AS n, AVG(age) AS m, MEDIAN(age), COUNT(*) AS again"
    plain = f"{shown} FROM visits GROUP BY {key}"
    direct = curator.ask(plain, epsilon=90)
    by_sql = curator.ask(f"{plain} HAVING COUNT(*) > -1e9", epsilon=90)
    assert direct.table.num_rows > 1
    assert direct.table.equals(by_sql.table)
    assert direct.table.schema == by_sql.table.schema
    for one, other in zip(direct.column_margins, by_sql.column_margins, strict=True):
        assert (one is None) == (other is None)
        assert one is None or other is None or np.array_equal(one, other)


@pytest.mark.parametrize(
    ("sql", "is_plain"),
    [
        ("SELECT COUNT(*) AS n FROM visits", True),
        ("SELECT is_new AS x, COUNT(*) FROM visits GROUP BY is_new", True),
        ("SELECT COUNT(*) + 1 AS n FROM visits", False),
        ("SELECT is_new, COUNT(*) FROM visits GROUP BY is_new ORDER BY 2", False),
        ("SELECT is_new, COUNT(*) FROM visits GROUP BY is_new LIMIT 1", False),
        ("SELECT is_new FROM visits GROUP BY is_new HAVING COUNT(*) > 3", False),
        ("SELECT DISTINCT COUNT(*) FROM visits GROUP BY is_new", False),
        ("SELECT n FROM (SELECT COUNT(*) AS n FROM visits) AS inner_query", False),
        ("SELECT (SELECT COUNT(*) FROM visits) AS n", False),
        ("SELECT COUNT(*) AS n FROM visits UNION ALL SELECT COUNT(*) AS n FROM visits", False),
        ("SELECT 1 AS one", False),
    ],
)
def test_only_bare_names_go_without_sql(curator: Curator, sql: str, *, is_plain: bool) -> None:
    question = check(parse(sql), curator.catalog, curator._public)
    assert (question.shown is not None) == is_plain
