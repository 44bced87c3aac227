"""`discreet init` and `discreet prepare` of tables that stay on a server."""

from pathlib import Path

import pyarrow as pa
import pytest

import discreet as api
from tests.cli.conftest import Discreet
from tests.engines.on_postgresql import run, stored
from tests.postgresql import shared_server

COUNT = "SELECT COUNT(*) AS visits FROM visits"
COPY = "the prepared copy on the server"


def test_a_form_is_made_used_and_forgotten(
    tmp_path: Path, discreet: Discreet, monkeypatch: pytest.MonkeyPatch
) -> None:
    schema = stored({"visits": pa.table({"who": [1, 1, 1, 2], "cost": [1, 2, 3, 4]})})
    catalog = tmp_path / "discreet.toml"
    catalog.write_text(
        f'[budget]\nepsilon = 9\n[source]\nengine = "env:CLINIC"\n'
        f'[tables.visits]\nfrom = "{schema}.visits"\nunit = "who"\nrows_per_unit = 2\n'
    )
    monkeypatch.setenv("CLINIC", shared_server())
    monkeypatch.chdir(tmp_path)
    made = discreet("prepare")
    assert made.out == f"{COPY} is ready: private rows, in schemas that begin with discreet_\n"
    assert discreet("prepare").out == f"{COPY} is up to date\n"
    assert discreet("ask", COUNT, "-e", "1").err == ""
    assert "discreet_kept" in discreet("explain", COUNT, "-e", "1", "--sql").out
    catalog.write_text(catalog.read_text().replace("rows_per_unit = 2", "rows_per_unit = 1"))
    told = " ".join(discreet("ask", COUNT, "-e", "1").err.split())
    assert "out of date and will not be used. Run discreet prepare to rebuild it." in told
    assert discreet("prepare", "--remove").out == f"{COPY} is removed\n"
    assert discreet("prepare", "--remove").out == f"{COPY} does not exist\n"
    run(f"DROP SCHEMA {schema} CASCADE")


def test_a_catalog_is_drafted_for_tables_of_a_server(
    tmp_path: Path, discreet: Discreet, monkeypatch: pytest.MonkeyPatch
) -> None:
    regions = pa.table({"region": ["north", "south"]})
    visits = pa.table({"patient_id": [1, 1, 2], "cost": [1.5, 2.5, 3.5]})
    schema = stored({"visits": visits, "regions": regions})
    monkeypatch.setenv("CLINIC", shared_server())
    monkeypatch.chdir(tmp_path)
    data = ("env:CLINIC", f"{schema}.visits", f"{schema}.regions")
    ended = discreet("init", *data, "--public", "regions", "--epsilon", "9", "--delta", "0")
    assert ended.code == 0, ended
    text = (tmp_path / "discreet.toml").read_text()
    assert '[source]\nengine = "env:CLINIC"' in text
    assert f'from = "{schema}.visits"' in text
    assert 'cost = { type = "real" }' in text
    assert "2.5" not in text
    with api.open(tmp_path / "discreet.toml") as curator:
        answer = curator.ask("SELECT COUNT(*) AS n FROM visits", epsilon=5)
        assert abs(answer.table["n"][0].as_py() - 3) <= 200
    spent = discreet("init", *data, "--spend", "1", "--unit", "patient_id", "--force")
    assert (spent.code, "spend works for files only" in spent.err) == (1, True), spent
    run(f"DROP SCHEMA {schema} CASCADE")


def test_a_catalog_is_drafted_for_tables_of_spark(
    tmp_path: Path, discreet: Discreet, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[object] = []

    class Engine:
        def columns(self, table: str) -> tuple[api.catalog.Column, ...]:
            kind = api.catalog.Kind.INTEGER
            return (api.catalog.Column(name=f"{table}_user_id", kind=kind),)

        def close(self) -> None:
            read.append("closed")

    def opened(address: str, tables: dict[str, str]) -> Engine:
        read.extend([address, tables])
        return Engine()

    monkeypatch.setattr("discreet.opening.sources.open_engine", opened)
    monkeypatch.chdir(tmp_path)
    ended = discreet("init", "spark://host:7077", "clinic.visits", "-o", "new.toml")
    assert ended.code == 0, ended
    assert read == ["spark://host:7077", {"visits": "clinic.visits"}, "closed"]
    text = (tmp_path / "new.toml").read_text()
    assert '[source]\nengine = "spark://host:7077"' in text
    assert 'unit = "visits_user_id"   # GUESS' in text
