"""PostgreSQL servers opened: by a catalog, an address, a role of few rights; versions of data."""

# ruff: noqa: S608 - names are made here

import re
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

import discreet
from discreet.engines.postgresql import PostgreSqlEngine
from discreet.errors import CatalogError, ParameterError
from tests.attacks.clinic import golden, tables
from tests.engines.on_postgresql import run, stored
from tests.engines.test_contract import QUESTIONS, exact, expected, plan_of
from tests.postgresql import shared_server

ROOT = Path(__file__).parent.parent.parent
CORPUS = len(golden("corpus")["answer"])


@pytest.fixture
def schema() -> Iterator[str]:
    name = stored({})
    yield name
    run(f"DROP SCHEMA {name} CASCADE")


def documented_role(role: str, schema: str) -> list[str]:
    """Return the statements of the page that make a role with the rights that are needed."""
    page = (ROOT / "docs" / "engines.md").read_text(encoding="utf-8")
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
    with pytest.raises(CatalogError, match="CLINIC of the environment, which is not set"):
        discreet.open(path)
    monkeypatch.setenv("CLINIC", "mysql://host")
    with pytest.raises(CatalogError, match="holds no address"):
        discreet.open(path)
    monkeypatch.setenv("CLINIC", shared_server())
    sql = "SELECT name, COUNT(*) AS n FROM visits JOIN clinics USING (clinic_id) GROUP BY name"
    with discreet.open(path) as curator:
        assert "NOT MATERIALIZED" in str(curator.explain(sql, epsilon=1))
        answer = curator.ask(sql, epsilon=2)
    assert len(answer.rows) == 8
    with discreet.open(path) as again:
        assert again.ask(sql, epsilon=2).is_free


def test_a_catalog_keeps_no_password(tmp_path: Path) -> None:
    path = tmp_path / "discreet.toml"
    path.write_text(CATALOG.format(engine="postgresql://me:secret@host/db", schema="a"))
    with pytest.raises(CatalogError, match="holds a password") as found:
        discreet.open(path)
    assert "secret" not in str(found.value)


def test_a_table_of_a_server_is_opened_by_its_name(clinic: str) -> None:
    name = f"{clinic}.visits"
    with discreet.open(shared_server(), name=name, unit="patient_id", epsilon=1) as curator:
        assert [each.name for each in curator.catalog.tables] == ["visits"]
        assert curator.ask("SELECT COUNT(*) FROM visits", epsilon=1).rows
    with pytest.raises(ParameterError, match="which table of the server"):
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
