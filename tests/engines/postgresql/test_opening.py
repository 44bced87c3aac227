"""PostgreSQL servers opened: by a catalog, an address, a role of few rights; versions of data."""

# ruff: noqa: S608 - names are made here

import logging
import re
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

import discreet
from discreet.engines.postgresql import PostgreSqlEngine
from discreet.errors import CatalogError, DiscreetError, ParameterError, SourceError
from tests.attacks.clinic import golden, tables
from tests.engines.corpus import QUESTIONS, exact, expected, plan_of
from tests.engines.on_postgresql import run, stored
from tests.postgresql import shared_server

ROOT = Path(__file__).parents[3]
CORPUS = len(golden("corpus")["answer"])


@pytest.fixture
def schema() -> Iterator[str]:
    name = stored({})
    yield name
    run(f"DROP SCHEMA {name} CASCADE")


def documented_role(role: str, schema: str) -> list[str]:
    """Return the statements of the page that make a role with the rights that are needed."""
    page = (ROOT / "docs" / "how-to" / "connect-postgresql.md").read_text(encoding="utf-8")
    block = page.split("```sql\n")[1].split("```")[0]
    written = re.sub(r"\bclinic\b", schema, block.replace("discreet_reader", role))
    lines = [each for each in written.splitlines() if not each.startswith("--")]
    return [each.strip() for each in "\n".join(lines).split(";") if each.strip()]


def test_the_documented_role_answers_questions_and_cannot_write() -> None:
    schema = stored(tables())
    role = f"reader_{schema}"
    ((database,),) = run("SELECT current_database()")
    statements = [each.replace("hospital", database) for each in documented_role(role, schema)]
    run(*statements)
    address = shared_server().replace("postgres:@", f"{role}@")
    assert run("SELECT current_user", address=address) == [(role,)]
    units = dict.fromkeys(("visits", "patients"), "patient_id")
    units["prescriptions"] = "visits.patient_id via visit_id"
    curator = discreet.open(
        address,
        unit={f"{schema}.{name}": unit for name, unit in units.items()},
        public=[f"{schema}.clinics"],
        epsilon=10,
    )
    answer = curator.ask("SELECT COUNT(*) AS n FROM visits", epsilon=5)
    assert len(answer.rows) == 1
    engine = curator._engine
    for each in QUESTIONS[:CORPUS]:
        assert exact(engine, plan_of(each)) == expected(each)
    curator.close()
    for each in (
        f"DELETE FROM {schema}.visits",
        f"INSERT INTO {schema}.clinics SELECT * FROM {schema}.clinics",
        f"CREATE TABLE {schema}.mine (n int)",
        "CREATE TABLE public.mine (n int)",
        f"CREATE FUNCTION {schema}.f() RETURNS int LANGUAGE sql AS 'SELECT 1'",
    ):
        with pytest.raises(psycopg.Error):
            run("SET default_transaction_read_only = off", each, address=address)
    run(f"DROP OWNED BY {role}", f"DROP ROLE {role}", f"DROP SCHEMA {schema} CASCADE")


# --------------------------------------------------------------------------- opening

CATALOG = """
[budget]
epsilon = 3.0
[source]
engine = "{engine}"
[tables.visits]
from = "{schema}.visits"
unit = "patient_id"
rows_per_unit = 12
[tables.clinics]
from = "{schema}.clinics"
public = true
"""


@pytest.fixture(scope="module")
def clinic() -> str:
    return stored(tables())


def test_a_catalog_names_a_server(
    tmp_path: Path, clinic: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "discreet.toml"
    path.write_text(CATALOG.format(engine="env:CLINIC", schema=clinic))
    with pytest.raises(CatalogError, match="the environment variable CLINIC, which is not set"):
        discreet.open(path)
    monkeypatch.setenv("CLINIC", "mysql://host")
    with pytest.raises(CatalogError, match="CLINIC is not an address"):
        discreet.open(path)
    monkeypatch.setenv("CLINIC", shared_server())
    sql = "SELECT name, COUNT(*) AS n FROM visits JOIN clinics USING (clinic_id) GROUP BY name"
    with discreet.open(path) as curator:
        assert "NOT MATERIALIZED" in curator.explain(sql, epsilon=1).to_text(sql=True)
        answer = curator.ask(sql, epsilon=2)
    assert len(answer.rows) == 8
    with discreet.open(path) as again:
        assert again.ask(sql, epsilon=2).is_free


def test_a_catalog_keeps_no_password(tmp_path: Path) -> None:
    path = tmp_path / "discreet.toml"
    path.write_text(CATALOG.format(engine="postgresql://me:secret@host/db", schema="a"))
    with pytest.raises(CatalogError, match="contains a password") as found:
        discreet.open(path)
    assert "secret" not in str(found.value)


def test_a_table_of_a_server_is_opened_by_its_name(clinic: str) -> None:
    name = f"{clinic}.visits"
    with discreet.open(shared_server(), name=name, unit="patient_id", epsilon=1) as curator:
        assert [each.name for each in curator.catalog.tables] == ["visits"]
        assert curator.ask("SELECT COUNT(*) FROM visits", epsilon=1).rows
    with pytest.raises(ParameterError, match="must name a table of the server"):
        discreet.open(shared_server(), unit="patient_id", epsilon=1)


def test_changes_that_the_server_counts_make_another_version(schema: str) -> None:
    run(
        f"CREATE TABLE {schema}.base (u int)",
        f"CREATE VIEW {schema}.seen AS SELECT u FROM {schema}.base",
    )

    def version() -> str:
        engine = PostgreSqlEngine.open(shared_server(), {"seen": f"{schema}.seen"})
        engine.close()
        return engine.version

    first = version()
    assert version() == first
    run(f"INSERT INTO {schema}.base VALUES (1)", "SELECT pg_stat_force_next_flush()", "SELECT 1")
    second = version()
    assert second != first
    run(f"TRUNCATE {schema}.base")
    assert version() not in (first, second)


# --------------------------------------------------------------------------- what owners may have


def columns_of(schema: str, table: str) -> dict[str, bool | None]:
    """Return the columns of a table as it is opened, each with whether it may have NULLs."""
    engine = PostgreSqlEngine.open(shared_server(), {"t": f"{schema}.{table}"})
    found = {each.name: each.nulls for each in engine.columns("t")}
    engine.close()
    return found


def warnings_of(schema: str, table: str, caplog: pytest.LogCaptureFixture) -> str:
    """Return what the owner is told when a table is opened."""
    caplog.clear()
    with caplog.at_level(logging.WARNING, "discreet.engine"):
        columns_of(schema, table)
    return caplog.text


def test_that_there_is_no_null_is_believed_where_the_server_has_looked(schema: str) -> None:
    run(
        f"CREATE TABLE {schema}.t (a int NOT NULL, b int, c int, d text NOT NULL)",
        f"INSERT INTO {schema}.t VALUES (1, NULL, NULL, 'x')",
        f"ALTER TABLE {schema}.t ADD CONSTRAINT b_given NOT NULL b NOT VALID",
        f"ALTER TABLE {schema}.t ADD CONSTRAINT c_given CHECK (c IS NOT NULL) NOT VALID",
        f"CREATE TABLE {schema}.parent (a int, CONSTRAINT given NOT NULL a NO INHERIT)",
        f"CREATE TABLE {schema}.child () INHERITS ({schema}.parent)",
        f"INSERT INTO {schema}.child VALUES (NULL)",
        f"CREATE TABLE {schema}.parts (a int NOT NULL) PARTITION BY LIST (a)",
        f"CREATE TABLE {schema}.part PARTITION OF {schema}.parts FOR VALUES IN (1)",
    )
    assert columns_of(schema, "t") == {"a": False, "b": None, "c": None, "d": False}
    assert columns_of(schema, "parent") == {"a": None}
    assert columns_of(schema, "parts") == {"a": False}
    run(
        f"UPDATE {schema}.t SET b = 1, c = 1",
        f"ALTER TABLE {schema}.t VALIDATE CONSTRAINT b_given",
    )
    assert columns_of(schema, "t")["b"] is False


def test_columns_that_are_computed_when_they_are_read_are_left_out(
    schema: str, caplog: pytest.LogCaptureFixture
) -> None:
    """1 / a raises for one row: whether a question fails would tell that there is such a row."""
    run(
        f"CREATE TABLE {schema}.t (id int, a int, inverse int GENERATED ALWAYS AS (1 / a) VIRTUAL,"
        " next int GENERATED ALWAYS AS (a + 1) STORED)",
        f"INSERT INTO {schema}.t VALUES (1, 0), (2, 5)",
    )
    assert list(columns_of(schema, "t")) == ["id", "a", "next"]
    told = warnings_of(schema, "t", caplog)
    assert "the column inverse of" in told
    assert "make it STORED" in told
    with discreet.open(shared_server(), name=f"{schema}.t", unit="id", epsilon=9) as curator:
        assert len(curator.ask("SELECT COUNT(*) AS n FROM t", epsilon=1).rows) == 1
        with pytest.raises(DiscreetError, match="inverse"):
            curator.explain("SELECT COUNT(inverse) AS n FROM t", epsilon=1)
    run(f"CREATE TABLE {schema}.v (a int GENERATED ALWAYS AS (1) VIRTUAL)")
    with pytest.raises(SourceError, match="All columns"):
        columns_of(schema, "v")


def test_owners_are_told_of_views_and_policies_that_may_raise(
    schema: str, caplog: pytest.LogCaptureFixture
) -> None:
    run(
        f"CREATE TABLE {schema}.t (id int, a int, b text)",
        f"CREATE VIEW {schema}.plain AS SELECT id, a AS other FROM {schema}.t",
        f"CREATE VIEW {schema}.divides AS SELECT id, 1 / a AS x FROM {schema}.t",
        f"CREATE VIEW {schema}.of_view AS SELECT id FROM {schema}.divides",
        f"CREATE VIEW {schema}.casts AS SELECT id, b::int AS x FROM {schema}.t",
        f"CREATE VIEW {schema}.scalar AS SELECT (SELECT a FROM {schema}.t) AS x",
        f"CREATE MATERIALIZED VIEW {schema}.kept AS SELECT id, a + 1 AS x FROM {schema}.t",
        f"CREATE TABLE {schema}.held (id int)",
        f"ALTER TABLE {schema}.held ENABLE ROW LEVEL SECURITY",
        f"CREATE TABLE {schema}.g (a int, b int GENERATED ALWAYS AS (1 / a) VIRTUAL)",
        f"CREATE VIEW {schema}.of_g AS SELECT b FROM {schema}.g",
    )
    for table in ("t", "plain", "kept"):
        assert warnings_of(schema, table, caplog) == ""
    for table in ("divides", "of_view", "casts", "scalar"):
        assert "a view that computes" in warnings_of(schema, table, caplog)
    assert "row-level security" in warnings_of(schema, "held", caplog)
    assert "virtual generated columns" in warnings_of(schema, "of_g", caplog)


def test_texts_that_the_server_takes_for_one_are_no_units(schema: str) -> None:
    """By a nondeterministic collation 'Ann' and 'ann' are one person, and two by their bytes."""
    run(
        f'CREATE COLLATION {schema}.loose FROM "C"',  # the server has no library for a real one
        f"UPDATE pg_collation SET collisdeterministic = FALSE WHERE collname = 'loose' AND "
        f"collnamespace = '{schema}'::regnamespace",
        f"CREATE DOMAIN {schema}.name_of AS text COLLATE {schema}.loose",
        f"CREATE TABLE {schema}.t (plain text, loose text COLLATE {schema}.loose, "
        f"domain_of {schema}.name_of, spans int4range, several int[])",
        f"CREATE TABLE {schema}.child (loose text)",
    )
    place = f"{schema}.t"
    for column in ("loose", "domain_of", "spans", "several"):
        with pytest.raises(CatalogError, match="cannot be compared reliably"):
            discreet.open(shared_server(), name=place, unit=column, epsilon=1)
    discreet.open(shared_server(), name=place, unit="plain", epsilon=1).close()
    with pytest.raises(CatalogError, match="cannot be compared reliably"):
        discreet.open(
            shared_server(),
            unit={place: "plain", f"{schema}.child": "t.plain via loose"},
            epsilon=1,
        )
