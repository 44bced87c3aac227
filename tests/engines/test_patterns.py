"""LIKE: the same matches everywhere, and no text that a pattern takes long to be compared with."""

from collections.abc import Callable, Iterator
from typing import Any

import pyarrow as pa
import pytest

from discreet.catalog.schema import Kind
from discreet.engines.connection import Limits
from discreet.engines.dialect import Dialect, Written
from discreet.engines.duckdb import DuckDbEngine
from discreet.engines.duckdb_dialect import DUCKDB
from discreet.engines.spark_dialect import SPARK
from discreet.query.expressions.facts import literal
from discreet.query.expressions.functions import call
from discreet.query.expressions.patterns import MOST_WILDCARDS
from discreet.query.tree import Scan
from tests.engines.made import column, count, private, select
from tests.engines.on_postgresql import postgresql_engine
from tests.engines.on_spark import spark_engine
from tests.spark import shared_session

PATIENT = Limits(timeout=60)
"""What takes turns of all places with all others takes years."""

MAKERS: dict[str, Callable[..., Any]] = {
    "duckdb": DuckDbEngine.load,
    "postgresql": postgresql_engine,
    "spark": spark_engine,
}

TRIED_OFTEN = ["%a" * (MOST_WILDCARDS - 1) + "%b_", "%a_" * (MOST_WILDCARDS - 1) + "%b", "%a%c"]


@pytest.mark.parametrize("kind", MAKERS)
def test_no_text_stalls_a_pattern(kind: str) -> None:
    """A query that ends in time for all but one person's text would tell of that person."""
    texts = ["a" * 4000, "a\U0001f600" * 4000, "b"]
    table = pa.table({"patient_id": [1, 2, 3], "s": texts})
    engine = MAKERS[kind]({"visits": table}, limits=PATIENT)
    for pattern in TRIED_OFTEN:
        for name in ("like", "ilike"):
            matches = call(name, column("s", Kind.TEXT), literal(pattern))
            rows = select(Scan(table=private(engine)), where=matches)
            (row,) = engine.run(count(rows), ()).unseal().to_pylist()
            assert row["s0"] == 0
    engine.close()


TEXTS = [
    "",
    "a",
    "ab",
    "aab",
    "abab",
    "a%b",
    "a_b",
    "a\\b",
    "\n",
    "a\nb",
    "\U0001f600",
    "AbC",
    "a.b",
]
TEXTS += ["İΣß", "ıσς", "(a)", "[a]{2}^$|?*+", "é", "e\u0301", "aXbXc", "xx%yy%zz", "a\u2028b"]
PATTERNS = ["", "%", "%%", "_", "_%_", "%a%b", "a%b%c", "%a%b%", "%_%_%", "a%%", "%\n%_", "%.%b"]
PATTERNS += [
    "%[%]%",
    "%(%)%",
    "A%B%C",
    "%İ%Σ%",
    "%x%%y!%%z%",
    "!%%!_%",
    "%$%|%",
    "%\\%\\%",
    "%!!%a",
]


def written(dialect: Dialect, value: str) -> Written:
    return Written(text=dialect.text(value), kind=Kind.TEXT, is_literal=True, value=value)


def matches(dialect: Dialect, name: str) -> Iterator[str]:
    """Yield the match of every text with every pattern, with an escape and without one."""
    for pattern in PATTERNS:
        for escape in ([], [written(dialect, "!")]):
            if not (escape and pattern.endswith("!")):
                given = [written(dialect, pattern), *escape]
                for text in TEXTS:
                    yield dialect.functions[name].write([written(dialect, text), *given])


@pytest.mark.parametrize("name", ["like", "ilike"])
@pytest.mark.xdist_group("spark")
def test_spark_matches_as_the_embedded_engine_does(name: str) -> None:
    """Patterns of several % are written as regular expressions of ours there."""
    found = shared_session().sql(f"SELECT array({', '.join(matches(SPARK, name))})").collect()
    engine = DuckDbEngine.load({"visits": pa.table({"patient_id": [1]})})
    with engine._store.cursor() as cursor:
        expected = cursor.sql(f"SELECT [{', '.join(matches(DUCKDB, name))}]").fetchall()
    engine.close()
    assert list(found[0][0]) == expected[0][0]
    assert {True, False} <= set(expected[0][0])
