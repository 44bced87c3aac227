"""Statements of programs that cannot all be installed here: answered, or rejected with a hint."""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from discreet.server.pgwire.hollow import binaries
from tests.server.pgwire.tools import PROGRAMS, Sent, sent_by
from tests.server.pgwire.wired import Wired, wired, write_clinic


@pytest.fixture(scope="module")
def clinic(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Wired]:
    with wired(write_clinic(tmp_path_factory.mktemp("clinic"))) as served:
        yield served


def outcome(connection: psycopg.Connection, sent: Sent, *, is_prepared: bool) -> str:
    """Return what becomes of a statement: free, or rejected with a code; rejections have hints."""
    try:
        connection.execute(sent.sql.encode(), prepare=True if is_prepared else None)
    except psycopg.Error as error:
        if not error.diag.message_hint and not is_of_postgresql(error):
            return f"{error.sqlstate} without a hint"
        return f"rejected {error.sqlstate}"
    return "free"


def is_of_postgresql(error: psycopg.Error) -> bool:
    """Return whether the words are PostgreSQL's own, who may not look at other connections."""
    return (error.diag.message_primary or "").startswith("permission denied for function")


def expected(sent: Sent) -> str:
    """Return what should become of a statement on a connection that states no cost."""
    if sent.fate == "cost":
        return "rejected 22023"
    return "free" if sent.fate == "free" else f"rejected {sent.code}"


@pytest.mark.parametrize("is_prepared", [False, True], ids=["simple", "prepared"])
@pytest.mark.parametrize("program", PROGRAMS)
def test_what_a_program_sends_is_answered_or_rejected_with_a_hint(
    clinic: Wired, program: str, is_prepared: bool
) -> None:
    before, found, wanted = clinic.spent(), [], []
    with clinic.connect(epsilon=None) as connection:
        for sent in sent_by(program):
            if is_prepared and ";" in sent.sql.rstrip(";"):
                continue  # several statements are sent by the simple protocol only
            found.append((sent.line, outcome(connection, sent, is_prepared=is_prepared)))
            wanted.append((sent.line, expected(sent)))
    assert found == wanted
    assert clinic.spent() == before


@pytest.mark.parametrize("program", PROGRAMS)
def test_what_a_program_asks_about_data_is_understood_at_a_cost(
    clinic: Wired, program: str
) -> None:
    before = clinic.spent()
    with clinic.connect(epsilon=0.5) as connection:
        for sent in sent_by(program):
            if sent.fate == "cost":
                connection.execute(f"EXPLAIN {sent.sql}".encode())
    assert clinic.spent() == before


def test_a_refreshed_chart_is_free(clinic: Wired) -> None:
    chart = next(each for each in sent_by("metabase") if "source" in each.sql)
    with clinic.connect(epsilon=0.25) as connection:
        before = clinic.spent()
        first = connection.execute(chart.sql.encode()).fetchall()
        assert clinic.spent() == pytest.approx(before + 0.25)
        assert connection.execute(chart.sql.encode()).fetchall() == first
    assert clinic.spent() == pytest.approx(before + 0.25)


def test_charts_of_relative_times_are_refreshed_for_free_if_times_are_rounded(
    clinic: Wired,
) -> None:
    metabase = next(each.sql for each in sent_by("metabase") if "NOW()" in each.sql)
    grafana = next(each.sql for each in sent_by("grafana") if ".999Z" in each.sql)
    refreshed = grafana.replace(":59.999Z", ":58.123Z")
    options = "-c discreet.epsilon=0.25 -c discreet.snap_times=on"
    with clinic.connect(epsilon=None, options=options) as connection:
        before = clinic.spent()
        for sql in (metabase, grafana):
            connection.execute(sql.encode())
        assert clinic.spent() == pytest.approx(before + 0.5)
        for sql in (metabase, refreshed):
            connection.execute(sql.encode())
    assert clinic.spent() == pytest.approx(before + 0.5)


def test_a_cursor_with_hold_outlives_its_transaction_and_others_do_not(clinic: Wired) -> None:
    listed = "FOR SELECT region FROM visits GROUP BY 1 ORDER BY 1"
    with clinic.connect(epsilon=None) as connection:
        connection.execute(f"BEGIN; DECLARE h CURSOR WITH HOLD {listed}; FETCH 1 FROM h; COMMIT")
        assert connection.execute("FETCH ALL FROM h").fetchall() == [("south",)]
        connection.execute(f"BEGIN; DECLARE c CURSOR {listed}; COMMIT")
        with pytest.raises(psycopg.errors.InvalidCursorName):
            connection.execute("FETCH 1 FROM c")
        connection.execute(f"BEGIN; DECLARE r CURSOR WITH HOLD {listed}; ROLLBACK")
        with pytest.raises(psycopg.errors.InvalidCursorName):
            connection.execute("FETCH 1 FROM r")


@pytest.mark.parametrize("setting", ["statement_timeout", "role", "work_mem", "temp_file_limit"])
def test_a_function_sets_only_what_harms_nobody(clinic: Wired, setting: str) -> None:
    with clinic.connect(epsilon=None) as connection:
        with pytest.raises(psycopg.errors.InsufficientPrivilege) as error:
            connection.execute(f"SELECT set_config('{setting}', '1', false)".encode())
        assert "SET name = value" in (error.value.diag.message_hint or "")
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute(f"SELECT set_config_of_any('{setting}', '1', false)".encode())
        connection.execute("SELECT set_config('extra_float_digits', '2', false)")
        assert connection.execute("SHOW extra_float_digits").fetchone() == ("2",)


def test_a_connection_sees_itself_alone(clinic: Wired) -> None:
    with clinic.connect(epsilon=None) as one, clinic.connect(epsilon=None):
        for view in ("pg_stat_ssl", "pg_stat_gssapi"):
            rows = one.execute(f"SELECT pid = pg_backend_pid() FROM {view}".encode()).fetchall()  # noqa: S608 - of names above
            assert rows == [(True,)]


BACKSLASHES = r"\l \dn \d \dt+ \d+_visits \di \du \dp \df \dT \dx \ddp \db \dO \conninfo \encoding"


def test_psql_describes_the_tables(clinic: Wired) -> None:
    commands = [part for each in BACKSLASHES.split() for part in ("-c", each.replace("_", " "))]
    parts, before = clinic.parts(), clinic.spent()
    address = ["-h", parts["host"], "-p", str(parts["port"]), "-U", parts["user"], "-d", "clinic"]
    done = subprocess.run(  # noqa: S603 - PostgreSQL's own client
        [binaries() / "psql", "-X", "-v", "ON_ERROR_STOP=1", *address, *commands],
        env={"PGPASSWORD": parts["password"], "PATH": os.environ["PATH"], "LC_ALL": "C"},
        capture_output=True,
        text=True,
        cwd=Path("/"),
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "Private: protects each patient_id" in done.stdout
    assert "cities_pkey" in done.stdout
    assert clinic.spent() == before
