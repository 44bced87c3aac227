"""Forms that grow on a server: they have the rows that a full preparation of the tables has."""

# ruff: noqa: S608 - names are made here

import os
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import psycopg
import pytest

import discreet
from discreet.engines.growth import Anew, Grows, MadeAnew, Step
from discreet.engines.postgresql import PostgreSqlEngine, fingerprints, growing, prepared
from discreet.engines.postgresql.prepared import Maker
from discreet.errors import SourceError
from discreet.opening import forget_catalog, is_copy_outdated, prepare_catalog
from tests.engines import on_postgresql
from tests.engines.on_postgresql import FLUSH, stored
from tests.fuzzing.choices import Choices
from tests.postgresql import server_in

CATALOG = """
[budget]
epsilon = 100000

[source]
engine = "env:CLINIC"

[tables.visits]
from = "{schema}.visits"
unit = "who"
rows_per_unit = 3

[tables.visits.columns]
cost = {{ bounds = [0, 10] }}

[tables.pills]
from = "{schema}.pills"
unit = "visits.who via visit"
rows_per_unit = 4
"""

TABLES = (
    "CREATE TABLE {0}.visits (visit int, who text, cost double precision, day date)",
    "CREATE TABLE {0}.pills (visit int, drug text)",
)

PEOPLE = 1500


@cache
def own_server() -> str:
    """Return the address of a server whose forms are those of these tests alone."""
    return server_in(Path(tempfile.mkdtemp(prefix="discreet-growing-")))


def run(*statements: str) -> list[Any]:
    return on_postgresql.run(*statements, address=own_server())


class Days:
    """Adds visits and pills to tables of a server, day by day."""

    places: Mapping[str, str] = {"visits": "visits", "pills": "pills"}

    def __init__(self, schema: str, seed: int = 0) -> None:
        self.schema, self.draws, self.visit = schema, Choices(f"days {seed}"), 0

    def add(self, rows: int) -> None:
        """Add rows: some twice, some of nobody, some of a visit that is yet to come."""
        visits = [
            (
                self.visit + n,
                self._person(),
                self.draws.one([0.0, -0.0, 1.5, None]),
                "2026-01-02",
            )
            for n in range(rows)
        ]
        ahead = self.visit + rows + rows // 3 + 1
        pills = [(self.draws.below(ahead), self.draws.one("abcé")) for _ in range(rows)]
        with psycopg.connect(own_server()) as connection, connection.cursor() as cursor:
            for name, added in (("visits", visits), ("pills", pills)):
                place = f"{self.schema}.{self.places[name]}"
                with cursor.copy(f"COPY {place} FROM STDIN") as copy:
                    for row in added:
                        copy.write_row(row)
            connection.execute(FLUSH)
        self.visit += rows

    def _person(self) -> str | None:
        if self.draws.is_one_of(50):
            return None
        return f"p{self.draws.below(20 if self.draws.is_one_of(5) else PEOPLE)}"


@pytest.fixture
def schema() -> Iterator[str]:
    name = stored({}, own_server())
    run(*(each.format(name) for each in TABLES))
    yield name
    run(f"DROP SCHEMA {name} CASCADE")


@pytest.fixture
def catalog(tmp_path: Path, schema: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv("CLINIC", own_server())
    path = tmp_path / "discreet.toml"
    path.write_text(CATALOG.format(schema=schema))
    yield path
    path.write_text(CATALOG.format(schema=schema))
    forget_catalog(path)


OURS = """
SELECT schemaname, tablename FROM pg_tables WHERE schemaname IN ('discreet_kept', 'discreet_rest')
ORDER BY 1, 2
"""


def contents() -> dict[Any, Any]:
    """Return the rows of all forms of this server as multisets, and their numbers of units."""
    found: dict[Any, Any] = {}
    for place, name in run(OURS):
        table, _, mark = name.rpartition("_")
        found[place, table] = Counter(map(repr, run(f'SELECT * FROM {place}."{name}"')))
        if place == "discreet_kept":
            noted = f'SELECT __unit, sum(__n) FROM discreet_about."units {name}" GROUP BY 1'
            kept = f'SELECT __unit, count(*) FROM discreet_kept."{name}" GROUP BY 1'
            found["units of", table] = sorted(run(noted))
            assert found["units of", table] == sorted(run(kept))
        parts = f'SELECT name, sum(units) FROM discreet_about."parts_{mark}" GROUP BY 1 ORDER BY 1'
        found["units"] = run(parts)
    return found


def fresh(catalog: Path) -> dict[Any, Any]:
    """Return what a full preparation of the same tables makes."""
    forget_catalog(catalog)
    assert prepare_catalog(catalog)
    return contents()


def prepare(catalog: Path) -> list[Step]:
    """Prepare, and return what was told."""
    told: list[Step] = []
    assert prepare_catalog(catalog, told=told.append)
    return told


BOTH: list[Step] = [Grows(table="visits"), Grows(table="pills")]


@pytest.mark.parametrize("notes", [1, 2])
def test_a_grown_form_is_what_a_full_preparation_makes(
    catalog: Path, schema: str, monkeypatch: pytest.MonkeyPatch, notes: int
) -> None:
    """Five thousand rows of a thousand people and more, in five steps."""
    monkeypatch.setattr(growing, "NOTES", notes)
    days = Days(schema)
    days.add(3000)
    assert prepare(catalog) == []
    for rows in (40, 1, 500, 1500):
        days.add(rows)
        assert is_copy_outdated(catalog)
        assert prepare(catalog) == BOTH
        assert not is_copy_outdated(catalog)
    grown = contents()
    assert sum(grown["discreet_rest", "visits"].values()) > 500
    ((units,),) = run("SELECT count(*) FROM discreet_about." + units_of("visits"))
    assert (units == len(grown["units of", "visits"])) is (notes == 1)
    assert grown == fresh(catalog)


def units_of(table: str) -> str:
    """Return the table that says how many rows each unit keeps."""
    (name,) = [name for _, name in run(OURS) if name.startswith(f"{table}_")][:1]
    return f'"units {name}"'


FORGOTTEN = """
WITH gone AS (DELETE FROM {0} RETURNING __n) INSERT INTO {0} SELECT 'nobody', sum(__n) FROM gone
"""
"""The same number of rows, but of nobody."""


@pytest.mark.parametrize(
    "broken", ["appended whatever there is", "earlier ones stay", "what units keep is forgotten"]
)
def test_growth_that_ranks_wrongly_is_caught(
    catalog: Path, schema: str, monkeypatch: pytest.MonkeyPatch, broken: str
) -> None:
    days = Days(schema)
    days.add(1500)
    prepare(catalog)
    days.add(500)
    with monkeypatch.context() as patch:
        if broken == "appended whatever there is":
            patch.setattr(growing.Grower, "_add", without_limit(growing.Grower._add))
        elif broken == "what units keep is forgotten":
            run(FORGOTTEN.format(f"discreet_about.{units_of('visits')}"), "SELECT 1")
        else:
            patch.setattr(Maker, "order", lambda *_: '"__row"')
        prepare(catalog)
    found, right = kept_visits(), fresh(catalog)
    assert found != right["discreet_kept", "visits"]


def test_a_form_whose_numbers_of_rows_do_not_add_up_does_not_grow(
    catalog: Path, schema: str
) -> None:
    days = Days(schema)
    days.add(300)
    prepare(catalog)
    run(f"UPDATE discreet_about.{units_of('visits')} SET __n = 0 WHERE __n = 3", "SELECT 1")
    days.add(100)
    assert MadeAnew(reason=Anew.RELEASE, table="visits") in prepare(catalog)
    assert contents() == fresh(catalog)


def kept_visits() -> Counter[str]:
    (name,) = [
        name for place, name in run(OURS) if (place, name[:7]) == ("discreet_kept", "visits_")
    ]
    return Counter(map(repr, run(f'SELECT * FROM discreet_kept."{name}"')))


def without_limit(add: Callable[..., None]) -> Callable[..., None]:
    """Return growth for which each unit has room."""

    def added(self: growing.Grower, connection: Any, held: Any, scan: Any) -> None:
        table = replace(scan.table, rows_per_unit=10**6)
        add(self, connection, held, replace(scan, table=table))

    return added


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ("DELETE FROM {0}.visits WHERE visit = 3", Anew.CHANGED),
        ("UPDATE {0}.visits SET cost = 7 WHERE visit = 3", Anew.CHANGED),
        ("DELETE FROM {0}.pills; INSERT INTO {0}.pills VALUES (1, 'a')", Anew.CHANGED),
        ("ALTER TABLE {0}.visits ADD COLUMN more int", Anew.CATALOG),
    ],
)
def test_rows_that_changed_are_prepared_anew(
    catalog: Path, schema: str, change: str, reason: Anew
) -> None:
    days = Days(schema)
    days.add(300)
    prepare(catalog)
    days.add(30) if "ALTER" not in change else None
    run(*change.format(schema).split(";"), FLUSH, "SELECT 1")
    assert reason in {each.reason for each in prepare(catalog) if isinstance(each, MadeAnew)}
    assert contents() == fresh(catalog)


@pytest.mark.parametrize(
    "change",
    [
        "VACUUM (FULL, FREEZE) {0}.visits",
        "UPDATE {0}.visits SET cost = cost WHERE who IS NULL",
        "DELETE FROM {0}.visits WHERE who IS NULL",
        "SELECT 1",
    ],
)
def test_what_changes_no_row_of_any_unit_changes_no_form(
    catalog: Path, schema: str, change: str
) -> None:
    days = Days(schema)
    days.add(300)
    run(f"DELETE FROM {schema}.pills", FLUSH, "SELECT 1")
    prepare(catalog)
    run(change.format(schema), FLUSH, "SELECT 1")
    if is_copy_outdated(catalog):
        assert prepare(catalog) == BOTH
    assert contents() == fresh(catalog)


def test_what_cannot_grow_holds_no_lock_any_more(
    catalog: Path, schema: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A server frees the locks of a connection that is closed only some time later."""
    days = Days(schema)
    days.add(100)
    prepare(catalog)
    run(f"DELETE FROM {schema}.pills WHERE drug = 'a'", FLUSH, "SELECT 1")
    closed: list[psycopg.pq.TransactionStatus] = []
    close = psycopg.Connection.close

    def closing(connection: psycopg.Connection[Any]) -> None:
        closed.append(connection.info.transaction_status)
        close(connection)

    monkeypatch.setattr(psycopg.Connection, "close", closing)
    assert MadeAnew(reason=Anew.CHANGED, table="pills") in prepare(catalog)
    assert set(closed) == {psycopg.pq.TransactionStatus.IDLE}


def test_rows_of_a_transaction_that_ends_later_are_new(catalog: Path, schema: str) -> None:
    days = Days(schema)
    days.add(300)
    with psycopg.connect(own_server()) as late:
        late.execute(f"INSERT INTO {schema}.visits VALUES (-1, 'late', 1, NULL)")
        prepare(catalog)
        run(f"INSERT INTO {schema}.visits VALUES (-2, 'soon', 1, NULL)", FLUSH, "SELECT 1")
        late.commit()
        late.execute(FLUSH)
    assert prepare(catalog) == BOTH
    grown = contents()
    assert sum("late" in each or "soon" in each for each in grown["discreet_kept", "visits"]) == 2
    assert grown == fresh(catalog)


SAVED = "INSERT INTO {0}.visits SELECT -1, 'late', 1, NULL FROM generate_series(1, 2)"
"""By its number, a row of a savepoint looks as if it had been there before."""


@pytest.mark.parametrize("is_broken", [False, True])
def test_rows_of_a_savepoint_that_ends_later_are_seen(
    catalog: Path, schema: str, monkeypatch: pytest.MonkeyPatch, *, is_broken: bool
) -> None:
    """Two rows come and two go, so that a number of rows alone does not tell."""
    Days(schema).add(300)
    with psycopg.connect(own_server()) as late:
        late.execute(f"INSERT INTO {schema}.pills VALUES (1, 'a')")
        late.execute("SAVEPOINT within")
        late.execute(SAVED.format(schema))
        late.execute("RELEASE within")
        prepare(catalog)
        late.commit()
        late.execute(FLUSH)
    run(
        f"DELETE FROM {schema}.visits WHERE ctid IN (SELECT ctid FROM {schema}.visits "
        "WHERE who IS NOT NULL AND who <> 'late' "
        f"AND visit NOT IN (SELECT visit FROM {schema}.pills) LIMIT 2)",
        FLUSH,
        "SELECT 1",
    )
    with monkeypatch.context() as patch:
        if is_broken:
            none = 'SELECT * FROM ({}) AS "__all" WHERE FALSE'
            patch.setattr(fingerprints.TableRows, "late", lambda rows, _: none.format(rows.all()))
        told = prepare(catalog)
    assert (MadeAnew(reason=Anew.CHANGED, table="visits") in told) is not is_broken
    assert (contents() == fresh(catalog)) is not is_broken


SOON = "INSERT INTO {0}.visits SELECT -1, 'soon ' || n, 1, NULL FROM generate_series(1, 40) AS r(n)"
"""Some of them in parts that are read already, others not."""


@pytest.mark.parametrize(
    ("changes", "is_seen_at_once"),
    [
        ((SOON,), False),
        (("DELETE FROM {0}.visits WHERE who = 'p1' OR visit < 9",), True),
        ((SOON, "DELETE FROM {0}.visits WHERE who LIKE 'soon%'"), True),
    ],
)
def test_rows_that_change_while_parts_are_read_are_seen_without_the_counters(
    catalog: Path,
    schema: str,
    monkeypatch: pytest.MonkeyPatch,
    changes: tuple[str, ...],
    is_seen_at_once: bool,
) -> None:
    """The counters of the server lag; here they stand still."""
    Days(schema).add(400)
    left = list(changes)

    def change(name: str, done: int, of: int) -> None:
        if name == "visits" and left and 0 < done < of:
            run(left.pop(0).format(schema), "SELECT 1")

    monkeypatch.setattr(prepared, "PART", 100)
    with monkeypatch.context() as patch:
        patch.setattr(prepared.Maker, "_is_changed", lambda *_: False)
        with pytest.raises(SourceError, match="changed while it was read"):
            prepare_catalog(catalog, change)
    assert not left
    if is_seen_at_once:
        assert not forget_catalog(catalog)
        return
    run(f"INSERT INTO {schema}.visits VALUES (-2, 'later', 1, NULL)", FLUSH, "SELECT 1")
    assert MadeAnew(reason=Anew.CHANGED, table="visits") in prepare(catalog)
    assert contents() == fresh(catalog)


def test_a_form_that_an_earlier_version_made_whole_does_not_grow(
    catalog: Path, schema: str
) -> None:
    """Such a version leaves the table of what units keep empty, if it is there."""
    days = Days(schema)
    days.add(300)
    prepare(catalog)
    run(
        "UPDATE discreet_about.forms SET notes = CAST(CAST(notes AS jsonb) - 'server' AS text)",
        f"DELETE FROM discreet_about.{units_of('visits')}",
        "SELECT 1",
    )
    days.add(60)
    assert prepare(catalog) == [MadeAnew(reason=Anew.RELEASE)]
    assert contents() == fresh(catalog)


def test_a_part_that_an_earlier_version_made_leaves_no_form(
    catalog: Path, schema: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    Days(schema).add(300)

    def forget(name: str, done: int, _: int) -> None:
        if (name, done) == ("visits", 1):
            run(f"DELETE FROM discreet_about.{units_of('visits')}", "SELECT 1")

    monkeypatch.setattr(prepared, "PART", 100)
    monkeypatch.setattr(Maker, "can_count", lambda *_: False)
    with pytest.raises(SourceError, match="changed while it was read"):
        prepare_catalog(catalog, forget)
    assert not forget_catalog(catalog)


SWAPPED = (
    "ALTER TABLE {0}.visits RENAME who TO other",
    "ALTER TABLE {0}.visits RENAME also TO who",
    "ALTER TABLE {0}.visits RENAME other TO also",
)


def test_columns_that_are_swapped_for_a_while_are_seen(catalog: Path, schema: str) -> None:
    """Each row has another unit while parts are read; its number stays."""
    Days(schema).add(100)
    add = f"ALTER TABLE {schema}.visits ADD also text", f"UPDATE {schema}.visits SET also = visit"
    run(*add, FLUSH, "SELECT 1")

    def change(name: str, done: int, of: int) -> None:
        if name == "visits" and done in (0, of):
            run(*(each.format(schema) for each in SWAPPED), "SELECT 1")

    prepare_catalog(catalog, change)
    run(f"INSERT INTO {schema}.visits VALUES (-2, 'later', 1, NULL, 'l')", FLUSH, "SELECT 1")
    assert MadeAnew(reason=Anew.CHANGED, table="visits") in prepare(catalog)
    assert contents() == fresh(catalog)


def test_children_that_come_after_a_table_was_opened_are_seen(
    catalog: Path, schema: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows of a child go and come with it, and bear the numbers that they had."""
    Days(schema).add(100)
    for n in (1, 2):
        child = f"{schema}.child{n}"
        run(
            f"CREATE TABLE {child} (LIKE {schema}.visits)",
            f"INSERT INTO {child} VALUES (1, 'child {n}', 1, NULL)",
            FLUSH,
            "SELECT 1",
        )
    opened, left = PostgreSqlEngine.prepare, ["child1", "child2"]

    def prepared_late(*given: Any, **named: Any) -> bool:
        run(f"ALTER TABLE {schema}.{left.pop(0)} INHERIT {schema}.visits", "SELECT 1")
        return opened(*given, **named)

    with monkeypatch.context() as patch:
        patch.setattr(PostgreSqlEngine, "prepare", prepared_late)
        prepare(catalog)
        run(
            f"ALTER TABLE {schema}.child1 NO INHERIT {schema}.visits",
            f"ANALYZE {schema}.visits",
            "SELECT 1",
        )
        assert MadeAnew(reason=Anew.CHANGED, table="visits") in prepare(catalog)
    assert contents() == fresh(catalog)


def test_tables_with_a_budget_per_month_grow(catalog: Path, schema: str) -> None:
    """The units of a form are those of a month, and rows that have none are left out."""
    text = catalog.read_text().split("[tables.pills]")[0]
    text = text.replace("100000", '100000\nper = "month"')
    catalog.write_text(text.replace('"who"', '"who"\narrival = "day"'))
    rows = "SELECT n, 'p' || n % 5, 1, DATE '2026-01-01' + nullif(n, 9) FROM generate_series"
    for ends in ("(1, 60)", "(50, 120)"):
        run(f"INSERT INTO {schema}.visits {rows}{ends} AS rows(n)", FLUSH, "SELECT 1")
        told = prepare(catalog)
    assert told == [Grows(table="visits")]
    grown = contents()
    assert sum(grown["discreet_rest", "visits"].values()) > 0
    assert grown == fresh(catalog)
    forget_catalog(catalog)


def test_units_with_long_names_that_begin_alike_are_told_apart(catalog: Path, schema: str) -> None:
    """An index of PostgreSQL has room for 2,700 bytes."""
    begin = "".join(sha256(bytes([n])).hexdigest() for n in range(60))
    rows = f"SELECT n, '{begin}' || n % 3, n, NULL FROM generate_series({{}}, {{}}) AS rows(n)"
    for ends in ((1, 8), (9, 16)):
        run(f"INSERT INTO {schema}.visits {rows.format(*ends)}", FLUSH, "SELECT 1")
        prepare(catalog)
    grown = contents()
    assert sum(grown["discreet_kept", "visits"].values()) == 9
    assert grown == fresh(catalog)


@pytest.mark.parametrize(
    ("tables", "reason"),
    [
        (("ALTER TABLE {0}.visits RENAME TO t", "CREATE VIEW {0}.visits AS TABLE {0}.t"), "PLACE"),
        (
            (
                "ALTER TABLE {0}.visits RENAME TO t",
                "CREATE TABLE {0}.visits (LIKE {0}.t) PARTITION BY LIST (day)",
                "CREATE TABLE {0}.p1 PARTITION OF {0}.visits DEFAULT",
            ),
            None,
        ),
    ],
)
def test_views_are_read_anew_and_partitioned_tables_grow(
    catalog: Path, schema: str, tables: tuple[str, ...], reason: str | None
) -> None:
    run(*(each.format(schema) for each in tables))
    days = Days(schema)
    if reason is not None:
        days = DaysOfAView(schema)
    days.add(300)
    prepare(catalog)
    days.add(100)
    told = prepare(catalog)
    assert (
        told == BOTH if reason is None else told == [MadeAnew(reason=Anew[reason], table="visits")]
    )
    assert contents() == fresh(catalog)


class DaysOfAView(Days):
    """Adds to the table that a view shows."""

    places: Mapping[str, str] = {"visits": "t", "pills": "pills"}


KILLED = """
import os, signal, sys
from pathlib import Path
from discreet.engines.postgresql.growing import Grower
from discreet.opening import prepare_catalog
name = sys.argv[2]
act = getattr(Grower, name)
def watched(*given, **named):
    found = act(*given, **named)
    os.kill(os.getpid(), signal.SIGKILL)
setattr(Grower, name, watched)
prepare_catalog(Path(sys.argv[1]))
"""


@pytest.mark.parametrize("name", ["_add", "_rename"])
def test_a_growth_that_was_killed_leaves_the_old_form(
    catalog: Path, schema: str, name: str
) -> None:
    days = Days(schema)
    days.add(300)
    prepare(catalog)
    before = contents()
    days.add(60)
    killed = subprocess.run(  # noqa: S603 - our own code
        [sys.executable, "-c", KILLED, str(catalog), name], check=False, env=dict(os.environ)
    )
    assert killed.returncode == -signal.SIGKILL
    wait_until_forgotten()
    assert contents() == before
    assert prepare(catalog) == BOTH
    assert contents() == fresh(catalog)


def wait_until_forgotten() -> None:
    """Wait until the server has noticed that a process is gone."""
    with psycopg.connect(own_server(), autocommit=True) as connection:
        for _ in range(200):
            if connection.execute(HELD).fetchone() == (0,):
                return
            connection.execute("SELECT pg_sleep(0.05)")
    pytest.fail("the server holds on to a process that was killed")


HELD = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'"


def test_answers_over_a_grown_form_are_those_over_a_fresh_one(catalog: Path, schema: str) -> None:
    """The noise of two counts is 12 apart once in 10^15."""
    days = Days(schema)
    days.add(800)
    prepare(catalog)
    days.add(200)
    prepare(catalog)
    before = answers(catalog)
    fresh(catalog)
    for one, other in zip(before, answers(catalog), strict=True):
        assert one == pytest.approx(other, abs=12)


def answers(catalog: Path) -> list[float]:
    with discreet.open(catalog, ledger=":memory:") as curator:
        return [
            float(str(curator.ask(sql, epsilon=100).rows[0]["n"]))
            for sql in (
                "SELECT COUNT(*) AS n FROM visits",
                "SELECT COUNT(DISTINCT who) AS n FROM visits",
                "SELECT SUM(cost) AS n FROM visits",
                "SELECT COUNT(*) AS n FROM pills WHERE drug = 'a'",
            )
        ]
