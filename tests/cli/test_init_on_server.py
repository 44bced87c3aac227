"""`discreet prepare` of tables that stay on a server."""

from pathlib import Path

import pyarrow as pa
import pytest

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
