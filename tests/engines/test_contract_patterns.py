"""LIKE: the same matches everywhere, and no text that a pattern takes long to be compared with."""

# ruff: noqa: S608 - this file writes SQL

from collections.abc import Callable, Iterator
from typing import Any

import psycopg
import pyarrow as pa
import pytest

from discreet.catalog.schema import Kind
from discreet.engines.base import ResourceLimits
from discreet.engines.dialect import Dialect, Written
from discreet.engines.duckdb import DuckDbEngine
from discreet.engines.duckdb.dialect import DUCKDB
from discreet.engines.postgresql.dialect import POSTGRESQL
from discreet.engines.spark.dialect import SPARK
from discreet.errors import UnsupportedError
from discreet.query.check import check
from discreet.query.expressions.facts import literal
from discreet.query.expressions.functions import call
from discreet.query.expressions.literals import MOST_WILDCARDS, UNSETTLED
from discreet.query.parse import parse
from discreet.query.tree import Scan
from tests.engines.made import column, count, private, select
from tests.engines.on_postgresql import postgresql_engine
from tests.engines.on_spark import spark_engine
from tests.postgresql import shared_server
from tests.query.plan.declared import CATALOG, STORE
from tests.spark import shared_session
from tests.statements import unbound

PATIENT = ResourceLimits(timeout=60)
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
            (row,) = engine.run(unbound(count(rows)), ()).unseal().to_pylist()
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
@pytest.mark.spark
def test_spark_matches_as_the_embedded_engine_does(name: str) -> None:
    """Patterns of several % are written as regular expressions of ours there."""
    found = shared_session().sql(f"SELECT array({', '.join(matches(SPARK, name))})").collect()
    engine = DuckDbEngine.load({"visits": pa.table({"patient_id": [1]})})
    with engine._store.cursor() as cursor:
        expected = cursor.sql(f"SELECT [{', '.join(matches(DUCKDB, name))}]").fetchall()
    engine.close()
    assert list(found[0][0]) == expected[0][0]
    assert {True, False} <= set(expected[0][0])


# --------------------------------------------------------------------------- letters in any case

BELOW = 0x3000
ODD = ["İ", "ı", "I", "i", "ß", "ẞ", "ss", "ſ", "s", "K", "k", "Å", "å", "Σ", "σ", "ς", "ΑΣ", "ας"]
ODD += ["ασ", "ŉ", "ǅ", "ǆ", "ﬁ", "fi", "ﬀ", "ΐ", "Ω", "ω", "\u0345", "ι", "i\u0307", "Ꮳ", "ꭳ"]


def lowered(dialect: Dialect, text: str) -> str:
    return dialect.functions["lower"].write([Written(text=text, kind=Kind.TEXT)])


def odd_matches(dialect: Dialect) -> list[str]:
    """Return whether each odd text is like each other one, in any case."""
    write = dialect.functions["ilike"].write
    return [write([written(dialect, x), written(dialect, y)]) for x in ODD for y in ODD]


@pytest.mark.postgresql
@pytest.mark.spark
def test_letters_in_any_case_are_the_same_on_all_engines() -> None:
    """ILIKE compares letters in lower case, one by one."""
    engine = DuckDbEngine.load({"visits": pa.table({"patient_id": [1]})})
    with engine._store.cursor() as cursor:
        sql = f"SELECT c, {lowered(DUCKDB, 'chr(c)')} FROM range(1, {BELOW}) AS r(c)"
        letters = dict(cursor.sql(sql.replace("chr(c)", "chr(CAST(c AS INTEGER))")).fetchall())
        matches = list(cursor.sql(f"SELECT {', '.join(odd_matches(DUCKDB))}").fetchall()[0])
        alike = "chr(c::INT) ILIKE lower(chr(c::INT)) AND lower(chr(c::INT)) ILIKE chr(c::INT)"
        (different,) = cursor.sql(
            f"SELECT COUNT(*) FROM range(1, {BELOW}) AS r(c) WHERE NOT ({alike})"
        ).fetchall()[0]
    engine.close()
    assert different == 0
    with psycopg.connect(shared_server()) as server:
        sql = f"SELECT c, {lowered(POSTGRESQL, 'chr(c)')} FROM generate_series(1, {BELOW - 1}) AS c"
        on_server: dict[int, str] = dict(server.execute(sql).fetchall())
        row = server.execute(f"SELECT ARRAY[{', '.join(odd_matches(POSTGRESQL))}]").fetchone()
    letter = "decode(unhex(lpad(hex(id), 8, '0')), 'UTF-32')"
    listed = f"array({', '.join(odd_matches(SPARK))})"
    found = shared_session().sql(
        f"SELECT id, {lowered(SPARK, letter)} FROM range(1, {BELOW}) "
        f"UNION ALL SELECT 0, array_join(transform({listed}, m -> string(m)), ' ')"
    )
    in_spark: dict[int, str] = dict(found.collect())
    assert in_spark.pop(0).split(" ") == [str(each).lower() for each in matches]
    assert row is not None
    assert row[0] == matches
    assert [c for c in letters if not letters[c] == on_server[c] == in_spark[c]] == [0x1C89]
    assert {0x1C89, 0x1C8A} <= set(UNSETTLED)


@pytest.mark.parametrize("letter", ["\u1c89", "\u1c8a", "ɤ", "\ua7cb", "ƛ", "\U00010d50"])
def test_a_letter_that_engines_know_different_cases_of_is_refused(letter: str) -> None:
    with pytest.raises(UnsupportedError, match="upper and lower case of U"):
        parsed(f"SELECT COUNT(*) FROM visits WHERE note ILIKE '%{letter}'")
    parsed(f"SELECT COUNT(*) FROM visits WHERE note LIKE '%{letter}' AND note ILIKE 'é%'")


def parsed(sql: str) -> None:
    check(parse(sql), CATALOG, STORE)
