"""Bits of heavy units are dropped whenever a table may show other units in rows that stay."""

# ruff: noqa: S608 - names are made here

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from time import sleep

import psycopg
import pyarrow as pa
import pytest

from discreet.catalog.schema import Kind
from discreet.engines.postgresql import PostgreSqlEngine, heavy
from discreet.engines.postgresql.heavy import ServerSnapshot
from discreet.engines.writer import tables_counted
from discreet.query.expressions.facts import literal
from discreet.query.expressions.functions import call
from discreet.query.tree import ExactQuery, NamedExpression, Scan, Select
from tests.engines.contract import exact_rows
from tests.engines.made import column, count, private
from tests.engines.on_postgresql import run, stored
from tests.postgresql import server_in, shared_server

pytestmark = pytest.mark.postgresql

UNITS, LIMIT = 2000, 10
"""As many as the limit that a catalog has if it names none."""


@contextmanager
def opened(schema: str) -> Iterator[PostgreSqlEngine]:
    engine = PostgreSqlEngine.open(shared_server(), {"visits": f"{schema}.visits"})
    try:
        yield engine
    finally:
        engine.close()


def light() -> str:
    """Return the schema of a table whose units have one row each; in `other` all are one unit."""
    units = {"patient_id": range(UNITS), "other": [7] * UNITS, "cost": [1] * UNITS}
    table = pa.table({name: pa.array(each, pa.int64()) for name, each in units.items()})
    return stored({"visits": table})


def number(engine: PostgreSqlEngine) -> ExactQuery:
    return count(Scan(table=private(engine)), limit=LIMIT, sums=(literal(1), column("cost")))


CHANGES = {
    "columns change names": (
        "ALTER TABLE {0}.visits RENAME patient_id TO was",
        "ALTER TABLE {0}.visits RENAME other TO patient_id",
        "ALTER TABLE {0}.visits RENAME was TO other",
    ),
    "a column with a default comes instead": (
        "ALTER TABLE {0}.visits DROP patient_id",
        "ALTER TABLE {0}.visits ADD patient_id bigint DEFAULT 7",
    ),
}


@pytest.mark.parametrize("change", CHANGES)
def test_columns_that_change_under_rows_that_stay_are_seen(
    change: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also a broken engine that does not compare columns is seen."""
    for is_broken, found in ((False, LIMIT), (True, UNITS)):
        schema = light()
        with opened(schema) as engine, monkeypatch.context() as patch:
            if is_broken:
                patch.setattr(heavy.HeavyInSnapshots, "_columns", lambda *_: "")
            query = number(engine)
            assert exact_rows(engine, query)[0][0] == ("s0", UNITS)
            run(*(each.format(schema) for each in CHANGES[change]))
            assert exact_rows(engine, query)[0][0] == ("s0", found)


def test_texts_of_the_catalog_tell_no_units_apart() -> None:
    schema = light()
    run(
        f"CREATE TYPE {schema}.who AS ENUM ('a', 'b')",
        f"ALTER TABLE {schema}.visits DROP patient_id",
        f"ALTER TABLE {schema}.visits ADD patient_id {schema}.who DEFAULT 'a'",
    )
    with opened(schema) as engine:
        query = number(engine)
        assert not tables_counted(query, engine._dialect)
        assert exact_rows(engine, query)[0][0] == ("s0", LIMIT)
        run(f"ALTER TYPE {schema}.who RENAME VALUE 'a' TO 'c'")
        assert exact_rows(engine, query)[0][0] == ("s0", LIMIT)


def test_a_text_that_looks_like_a_name_of_ours_fails_for_no_data() -> None:
    schema = light()
    run(f"ALTER TABLE {schema}.visits ADD region text DEFAULT 'n'")
    with opened(schema) as engine, psycopg.connect(shared_server()) as open_transaction:
        region = column("region", Kind.TEXT)
        where = call("not_equal", region, literal('"__fresh"'))
        columns = (NamedExpression(name="cost", expression=column("cost")),)
        rows = Select(source=Scan(table=private(engine)), name="v", columns=columns, where=where)
        query = count(rows, limit=LIMIT, sums=(literal(1), column("cost")))
        open_transaction.execute("SELECT pg_current_xact_id()")  # all that comes now is fresh
        for added in range(2):
            assert exact_rows(engine, query)[0][0] == ("s0", UNITS + added)
            run(f"INSERT INTO {schema}.visits VALUES ({UNITS}, 7, 1, 'n')")


def test_a_server_that_recovered_from_a_crash_is_another(tmp_path: Path) -> None:
    """It gives numbers of transactions again that it lost, and tells no other start."""
    address = server_in(tmp_path)
    with psycopg.connect(address) as first:
        before = ServerSnapshot.of(first).server
        os.kill(first.info.backend_pid, signal.SIGKILL)
        with suppress(psycopg.Error):
            first.execute("SELECT 1")
    for _ in range(100):
        with suppress(psycopg.OperationalError), psycopg.connect(address) as second:
            assert ServerSnapshot.of(second).server != before
            return
        sleep(0.1)
    pytest.fail("the server did not come back")
