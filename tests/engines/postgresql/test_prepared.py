"""Prepared forms on a PostgreSQL server: made on request, used while they are of the same."""

# ruff: noqa: S608 - names are made here

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pyarrow as pa
import pytest

import discreet
from discreet.catalog.resolve import read
from discreet.engines.postgresql import prepared
from discreet.errors import CatalogError, EngineError, ParameterError, SourceError
from discreet.opening import forget_catalog, is_copy_outdated, open_unplugged, prepare_catalog
from discreet.opening.sources import form_of
from tests.attacks.clinic import tables
from tests.engines.on_postgresql import FLUSH, run, stored
from tests.postgresql import shared_server

ROOT = Path(__file__).parents[3]

CATALOG = """
[budget]
epsilon = 1000
delta = 1e-3

[source]
engine = "env:CLINIC"

[tables.visits]
from = "{schema}.visits"
unit = "who"
rows_per_unit = 3

[tables.visits.columns]
cost = {{ bounds = [0, 10] }}
sex = {{ values = ["f", "m"] }}

[tables.sales]
from = "{schema}.sales"
unit = "row"

[tables.rooms]
from = "{schema}.rooms"
public = true
"""

QUESTIONS = [
    "SELECT COUNT(*) AS n FROM visits",
    "SELECT sex, COUNT(*) AS n FROM visits GROUP BY sex ORDER BY sex",
    "SELECT COUNT(DISTINCT who) AS n FROM visits",
    "SELECT COUNT(*) AS n FROM visits WHERE cost > 5",
    "SELECT COUNT(*) AS n FROM sales",
    "SELECT COUNT(*) AS n FROM visits v JOIN rooms r ON v.room = r.room",
    "SELECT COUNT(*) AS n FROM (SELECT who, SUM(cost) AS s FROM visits GROUP BY who) WHERE s > 20",
]


def made_up() -> dict[str, pa.Table]:
    count = 300
    return {
        "visits": pa.table(
            {
                "who": [f"p{n % 75 if n < 250 else 7}" for n in range(count)],
                "cost": [float(n % 11) for n in range(count)],
                "sex": ["fm"[n % 2] for n in range(count)],
                "room": [n % 3 for n in range(count)],
            }
        ),
        "sales": pa.table({"x": [1, 2, 3]}),
        "rooms": pa.table({"room": [1, 2, 2], "floor": [0, 1, 2]}),
    }


@pytest.fixture
def schema() -> Iterator[str]:
    name = stored(made_up())
    yield name
    run(f"DROP SCHEMA {name} CASCADE")


@pytest.fixture
def catalog(tmp_path: Path, schema: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv("CLINIC", shared_server())
    path = tmp_path / "discreet.toml"
    path.write_text(CATALOG.format(schema=schema))
    yield path
    path.write_text(CATALOG.format(schema=schema))
    forget_catalog(path)


def answers(path: Path) -> list[list[dict[str, Any]]]:
    with discreet.open(path, ledger=":memory:") as curator:
        return [curator.ask(each, epsilon=140, delta=1e-6).rows for each in QUESTIONS]


def reads_prepared(path: Path) -> bool:
    with discreet.open(path, ledger=":memory:") as curator:
        return "discreet_kept" in curator.explain(QUESTIONS[0], epsilon=1).to_text(sql=True)


def test_a_form_answers_as_the_tables_do(catalog: Path) -> None:
    """Where no unit has more rows than count; noise is beyond 20 once in 10^10."""
    catalog.write_text(catalog.read_text().replace("rows_per_unit = 3", "rows_per_unit = 60"))
    before = answers(catalog)
    assert prepare_catalog(catalog)
    assert reads_prepared(catalog)
    for one, other in zip(before, answers(catalog), strict=True):
        for here, there in zip(one, other, strict=True):
            assert here["n"] == pytest.approx(there["n"], abs=20)


def test_a_form_is_made_once_and_forgotten(catalog: Path) -> None:
    assert not forget_catalog(catalog)
    told: list[tuple[str, int, int]] = []
    assert prepare_catalog(catalog, lambda *each: told.append(each))
    assert told[-1] == ("visits", 1, 1)
    assert not prepare_catalog(catalog)
    assert forget_catalog(catalog)
    assert not reads_prepared(catalog)
    assert not forget_catalog(catalog)


def test_what_was_answered_from_a_form_is_free_from_the_same_one(catalog: Path) -> None:
    found = []
    for _ in range(2):
        prepare_catalog(catalog)
        with discreet.open(catalog) as curator:
            found.append(curator.ask(QUESTIONS[1], epsilon=1))
        forget_catalog(catalog)
    assert found[1].is_free
    assert found[1].rows == found[0].rows


def test_rows_can_still_be_chosen_by_the_question(catalog: Path) -> None:
    prepare_catalog(catalog)
    with discreet.open(catalog, ledger=":memory:") as curator:
        told = curator.explain(QUESTIONS[3], epsilon=1, row_choice="per-query").to_text(sql=True)
        found = curator.ask(QUESTIONS[3], epsilon=20, row_choice="per-query").rows
    assert "discreet_every" in told
    assert "discreet_kept" not in told
    exact = run(f"SELECT sum(least(n, 3)) FROM ({counted(catalog)}) AS by_unit")[0][0]
    assert found[0]["n"] == pytest.approx(exact, abs=5)


def counted(catalog: Path) -> str:
    schema = re.findall(r'"(.*)\.visits"', catalog.read_text())[0]
    return f"SELECT count(*) AS n FROM {schema}.visits WHERE cost > 5 GROUP BY who"


def test_explaining_says_what_asking_does(catalog: Path) -> None:
    for is_prepared in (False, True):
        with open_unplugged(catalog) as unplugged, discreet.open(catalog) as curator:
            told = [
                each.explain(QUESTIONS[1], epsilon=1).to_text(sql=True)
                for each in (unplugged, curator)
            ]
            assert told[0] == told[1]
            assert ("discreet_kept" in told[0]) is is_prepared
        prepare_catalog(catalog)


def test_what_is_not_prepared_is_not_asked_for(catalog: Path) -> None:
    with (
        discreet.open(catalog) as curator,
        pytest.raises(ParameterError, match="and these tables are not prepared"),
    ):
        curator.ask(QUESTIONS[0], epsilon=1, row_choice="once")
    text = catalog.read_text().replace("[tables.visits]", 'bounding = "per-query"\n[tables.visits]')
    prepare_catalog(catalog)
    catalog.write_text(text)
    assert not reads_prepared(catalog)
    with pytest.raises(CatalogError, match="there is nothing to prepare"):
        prepare_catalog(catalog)


# --------------------------------------------------------------------------- of the same


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("rows_per_unit = 3", "rows_per_unit = 4"),
        ('unit = "who"', 'unit = "room"'),
        ('engine = "env:CLINIC"', 'engine = "env:CLINIC"\nversion = "2"'),
    ],
)
def test_a_form_under_another_catalog_is_not_used(catalog: Path, old: str, new: str) -> None:
    prepare_catalog(catalog)
    assert not is_copy_outdated(catalog)
    catalog.write_text(catalog.read_text().replace(old, new))
    assert is_copy_outdated(catalog)
    assert not reads_prepared(catalog)
    assert prepare_catalog(catalog)
    assert reads_prepared(catalog)


@pytest.mark.parametrize(
    "change",
    [
        "DELETE FROM {0}.visits WHERE cost = 0",
        "ALTER TABLE {0}.visits ADD COLUMN more int",
        "TRUNCATE {0}.visits",
    ],
)
def test_a_form_of_other_data_is_not_used(catalog: Path, schema: str, change: str) -> None:
    prepare_catalog(catalog)
    run(change.format(schema), FLUSH, "SELECT 1")
    assert is_copy_outdated(catalog)
    assert not reads_prepared(catalog)


def test_changes_of_public_tables_leave_a_form_as_it_is(catalog: Path, schema: str) -> None:
    prepare_catalog(catalog)
    run(f"INSERT INTO {schema}.rooms VALUES (7, 7)")
    assert reads_prepared(catalog)


GROWING = {
    "SELECT COUNT(*) AS n FROM visits v JOIN rooms r ON v.room = r.room": 75 * 3 * 2,
    "SELECT COUNT(*) AS n FROM sales s JOIN rooms r ON s.x = r.room": 3 * 2,
    "SELECT COUNT(*) AS n FROM (SELECT who, MAX(room) AS m FROM visits GROUP BY who) v "
    "JOIN rooms r ON v.m = r.room": 75 * 2,
}


def test_rows_that_come_to_a_public_table_move_no_unit_by_more(catalog: Path, schema: str) -> None:
    """They were counted when the table was opened; noise is beyond 20 once in 10^10."""
    prepare_catalog(catalog)
    with discreet.open(catalog, ledger=":memory:") as curator:
        run(f"INSERT INTO {schema}.rooms SELECT 1 + n % 2, n FROM generate_series(1, 400) AS of(n)")
        for sql, most in GROWING.items():
            (row,) = curator.ask(sql, epsilon=140, delta=1e-6).rows
            assert int(str(row["n"])) <= most + 20


def test_who_opened_one_form_never_reads_the_next(catalog: Path) -> None:
    prepare_catalog(catalog)
    with discreet.open(catalog, ledger=":memory:") as curator:
        catalog.write_text(catalog.read_text().replace("rows_per_unit = 3", "rows_per_unit = 90"))
        prepare_catalog(catalog)
        with pytest.raises((EngineError, discreet.errors.UnsupportedError)):
            curator.ask(QUESTIONS[0], epsilon=1)


def test_data_that_change_on_the_way_leave_no_form(catalog: Path, schema: str) -> None:
    def change(_: str, done: int, of: int) -> None:
        if done == of:
            run(f"DELETE FROM {schema}.visits WHERE cost = 1", FLUSH, "SELECT 1")

    with pytest.raises(SourceError, match="changed while it was read"):
        prepare_catalog(catalog, change)
    assert not forget_catalog(catalog)


# --------------------------------------------------------------------------- interrupted


class _StoppedError(Exception):
    """Stands for a process that ends."""


@pytest.mark.parametrize("after", [0, 2])
def test_an_interrupted_start_is_taken_up_where_it_ended(
    catalog: Path, monkeypatch: pytest.MonkeyPatch, after: int
) -> None:
    monkeypatch.setattr(prepared, "PART", 80)
    begun: list[int] = []

    def stop(_: str, number: int, __: int) -> None:
        begun.append(number)
        if len(begun) > after:
            raise _StoppedError

    with pytest.raises(_StoppedError):
        prepare_catalog(catalog, stop)
    assert not reads_prepared(catalog)
    assert not is_copy_outdated(catalog)
    monkeypatch.setattr(prepared, "PART", 10)
    again: list[tuple[int, int]] = []
    assert prepare_catalog(catalog, lambda _, number, of: again.append((number, of)))
    assert not set(begun[:-1]) & {number for number, _ in again}
    assert reads_prepared(catalog)
    if after:
        assert {of for _, of in again} == {4}
    with discreet.open(catalog, ledger=":memory:") as curator:
        found = curator.ask("SELECT COUNT(*) AS n FROM visits", epsilon=20).rows[0]["n"]
    assert found == pytest.approx(75 * 3, abs=5)


def test_two_do_not_make_a_form_at_once(catalog: Path) -> None:
    declared = read(catalog)
    form = form_of(declared, declared.sources)
    assert form is not None

    def meanwhile(_: str, done: int, of: int) -> None:
        if done == of:
            return
        with psycopg.connect(shared_server()) as other:
            other.execute("SELECT pg_advisory_xact_lock(%s)", (int(form.family[:15], 16),))
            with pytest.raises(SourceError, match="Another process"):
                prepare_catalog(catalog)

    assert prepare_catalog(catalog, meanwhile)


def test_two_that_make_a_form_by_turns_both_succeed(
    catalog: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One has made the last part, when the other declares the form whole."""
    table, both = prepared.Maker._make_table, [prepare_catalog]

    def made(maker: prepared.Maker, *given: Any) -> None:
        table(maker, *given)
        if both:
            assert both.pop()(catalog)

    monkeypatch.setattr(prepared.Maker, "_make_table", made)
    assert prepare_catalog(catalog)
    assert reads_prepared(catalog)


# --------------------------------------------------------------------------- roles


def documented(number: int, names: dict[str, str]) -> list[str]:
    """Return the statements of a block of the page, with other names."""
    page = (ROOT / "docs" / "how-to" / "connect-postgresql.md").read_text(encoding="utf-8")
    written = page.split("```sql\n")[number].split("```")[0]
    for old, new in names.items():
        written = re.sub(rf"\b{old}\b", new, written)
    lines = [each for each in written.splitlines() if not each.startswith("--")]
    return [each.strip() for each in "\n".join(lines).split(";") if each.strip()]


@pytest.fixture
def hospital() -> Iterator[str]:
    """Yield the address of a database of its own, whose name the schemas of tables bear too."""
    name = stored({}).replace("contract", "hospital")
    run(f"CREATE DATABASE {name}")
    yield shared_server().replace("/postgres?", f"/{name}?")
    run(f"DROP DATABASE {name} WITH (FORCE)")


def test_the_documented_roles_prepare_and_ask_and_can_do_nothing_else(
    hospital: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    schema = stored(tables(), hospital)
    ((database,),) = run("SELECT current_database()", address=hospital)
    roles = {f"discreet_{each}": f"{each}_{database}" for each in ("reader", "preparer")}
    names = {**roles, "clinic": schema, "hospital": database}
    run(*documented(1, names), *documented(2, names), address=hospital)
    reader, preparer = (hospital.replace("postgres:@", f"{each}@") for each in roles.values())
    path = tmp_path / "discreet.toml"
    path.write_text(
        '[budget]\nepsilon = 1000\n[source]\nengine = "env:HOSPITAL"\n'
        f'[tables.visits]\nfrom = "{schema}.visits"\nunit = "patient_id"\n'
        f'[tables.prescriptions]\nfrom = "{schema}.prescriptions"\n'
        'unit = "visits.patient_id via visit_id"\n'
        f'[tables.clinics]\nfrom = "{schema}.clinics"\npublic = true\n'
    )
    monkeypatch.setenv("HOSPITAL", reader)
    with pytest.raises(SourceError, match="may read no column"):
        discreet.open(path)
    monkeypatch.setenv("HOSPITAL", preparer)
    assert prepare_catalog(path)
    monkeypatch.setenv("HOSPITAL", reader)
    with discreet.open(path, ledger=":memory:") as curator:
        for sql in (
            "SELECT COUNT(*) AS n FROM visits JOIN clinics USING (clinic_id)",
            "SELECT COUNT(DISTINCT patient_id) AS n FROM visits",
            "SELECT COUNT(*) AS n FROM prescriptions WHERE drug = 'a'",
        ):
            for choice in ("once", "per-query"):
                (row,) = curator.ask(sql, epsilon=20, row_choice=choice).rows
                assert int(str(row["n"])) > 0
    with pytest.raises(SourceError, match=r"rights that docs/how-to/connect-postgresql\.md lists"):
        forget_catalog(path)
    refused(reader, f"SELECT 1 FROM {schema}.visits", "SELECT 1 FROM discreet_rest.visits")
    refused(preparer, f"DELETE FROM {schema}.visits", f"CREATE TABLE {schema}.mine (n int)")
    refused(preparer, "CREATE TABLE public.mine (n int)", "CREATE SCHEMA mine")
    monkeypatch.setenv("HOSPITAL", preparer)
    assert forget_catalog(path)
    run(*(f"DROP OWNED BY {each}" for each in roles.values()), address=hospital)
    run(*(f"DROP ROLE {each}" for each in roles.values()))


def refused(address: str, *statements: str) -> None:
    for each in statements:
        with pytest.raises(psycopg.Error):
            run("SET default_transaction_read_only = off", each, address=address)


def test_a_role_without_rights_is_told_which_page_lists_them(
    catalog: Path, schema: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    role = f"poor_{schema}"
    run(
        f"CREATE ROLE {role} LOGIN",
        f"GRANT USAGE ON SCHEMA {schema} TO {role}",
        f"GRANT SELECT ON ALL TABLES IN SCHEMA {schema} TO {role}",
    )
    prepare_catalog(catalog)
    monkeypatch.setenv("CLINIC", shared_server().replace("postgres:@", f"{role}@"))
    assert not reads_prepared(catalog)
    with pytest.raises(SourceError, match=r"rights that docs/how-to/connect-postgresql\.md lists"):
        prepare_catalog(catalog)
    monkeypatch.setenv("CLINIC", shared_server())
    run(f"DROP OWNED BY {role}", f"DROP ROLE {role}")


def test_a_form_of_who_may_not_read_the_tables_is_not_used(catalog: Path, schema: str) -> None:
    """Such a role could keep too many rows of a unit, and learn from the answers."""
    prepare_catalog(catalog)
    role = f"forger_{schema}"
    with discreet.open(catalog, ledger=":memory:") as curator:
        told = curator.explain(QUESTIONS[0], epsilon=1).to_text(sql=True)
    (kept,) = set(re.findall(r'"discreet_kept"\."\w+"', told))
    run(f"CREATE ROLE {role}", f"ALTER TABLE {kept} OWNER TO {role}")
    assert not reads_prepared(catalog)
    run(f"GRANT SELECT ON ALL TABLES IN SCHEMA {schema} TO {role}")
    assert reads_prepared(catalog)
    run(f"REASSIGN OWNED BY {role} TO postgres", f"DROP OWNED BY {role}", f"DROP ROLE {role}")


@pytest.mark.parametrize(
    ("name", "columns"),
    [
        ("units visits", "__unit text, __n bigint"),
        ("parts", "name text, part int, parts int, units bigint"),
    ],
)
def test_what_others_tied_to_a_table_of_a_form_never_acts(
    catalog: Path, schema: str, monkeypatch: pytest.MonkeyPatch, name: str, columns: str
) -> None:
    """What the next form will be called is known to all who may look at the counters."""
    role = f"thief_{schema}"
    prepare_catalog(catalog)
    forget_catalog(catalog)
    run(f"CREATE ROLE {role} LOGIN", f"CREATE SCHEMA {role} AUTHORIZATION {role}")
    run(f"GRANT USAGE, CREATE ON SCHEMA discreet_about TO {role}")
    thief = shared_server().replace("postgres:@", f"{role}@")
    begin = prepared.Maker.make

    def awaited(maker: prepared.Maker, *given: Any) -> None:
        table = f'discreet_about."{name}_{maker.key[:16]}"'
        run(
            f"CREATE TABLE {table} ({columns})",
            f"GRANT ALL ON {table} TO PUBLIC",
            f"CREATE TABLE {role}.loot (v text)",
            f"GRANT ALL ON SCHEMA {role} TO PUBLIC",
            f"GRANT ALL ON {role}.loot TO PUBLIC",
            f"CREATE FUNCTION {role}.steal() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
            f"INSERT INTO {role}.loot SELECT v::text FROM {schema}.visits v; RETURN NULL; END $$",
            f"CREATE TRIGGER t AFTER INSERT ON {table} EXECUTE FUNCTION {role}.steal()",
            address=thief,
        )
        begin(maker, *given)

    monkeypatch.setattr(prepared.Maker, "make", awaited)
    with pytest.raises(SourceError, match="belongs to a role that may not read"):
        prepare_catalog(catalog)
    assert run(f"SELECT count(*) FROM {role}.loot") == [(0,)]
    assert not reads_prepared(catalog)
    run(f"DROP OWNED BY {role} CASCADE", f"DROP ROLE {role}")
