"""Attacks by people who may use the page: owners who add data, analysts who save and try."""

import fcntl
import json
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from discreet.catalog.declaration import declaration_from
from discreet.opening import open_unplugged
from discreet.opening.synthetic import MOST_VALUES, UNITS, synthetic_tables_of
from discreet.server.data_places import DataPlace, covered_by
from tests.engines.on_postgresql import run, stored
from tests.postgresql import shared_server
from tests.server.offered import LIMITS, write_settings, write_trips
from tests.server.running import BASE, Served, serving, write_catalog

TRIPS: dict[str, Any] = {
    "name": "trips",
    "source": {"file": "data/trips.csv"},
    "unit": "rider_id",
    "rows_per_unit": 4,
    "epsilon": 5,
    "delta": "1e-6",
}
VISITS: dict[str, Any] = {
    "name": "again",
    "source": {"file": "data/clinic/visits.csv"},
    "unit": "patient_id",
    "columns": {},
}


def add(served: Served, who: str = "boss", **changed: Any) -> Any:
    return served.call("POST", "/v1/datasets", who, json=TRIPS | changed)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("intruders")


@pytest.fixture(scope="module")
def served(folder: Path) -> Iterator[Served]:
    config = write_settings(folder)
    catalog = write_catalog(folder / "data" / "clinic")
    write_trips(folder / "data" / "trips.csv")
    with serving(catalog, "--config", str(config)) as found:
        yield found


def replaced(file: Path) -> None:
    """Write a file anew as careful programs do: another file takes its name."""
    new = file.with_name("new")
    new.write_bytes(file.read_bytes())
    new.replace(file)


def test_a_file_that_was_replaced_gets_no_second_budget(served: Served, folder: Path) -> None:
    replaced(folder / "data" / "clinic" / "visits.csv")
    reply = add(served, **VISITS)
    assert reply.json()["error"]["code"] == "data_in_use"
    listed = served.call("GET", "/v1/datasets/sources", "boss").json()["files"]
    assert {"name": "data/clinic/visits.csv", "in_use": True} in listed


def catalog_of(engine: str, table: str) -> Any:
    return declaration_from(
        {
            "budget": {"epsilon": 1},
            "source": {"engine": engine},
            "tables": {"t": {"from": table, "unit": "id"}},
        }
    )


HOST = "postgresql://db.example.org/clinics"


@pytest.mark.parametrize(
    ("engine", "table"),
    [
        (HOST, "wages"),
        (HOST, "public.wages"),
        (HOST, '"public"."Wages"'),
        ("postgres://ann@db.example.org:5432/clinics", "public.wages"),
        ("postgresql://DB.example.org/clinics?sslmode=require", "public.wages"),
        ("postgresql:///clinics?host=db.example.org&port=5432", "public.wages"),
        ("env:CLINICS", "public.wages"),
    ],
)
def test_a_table_is_known_under_all_its_addresses(
    engine: str, table: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLINICS", "postgresql://me:secret@db.example.org/clinics")
    covered = covered_by(catalog_of(engine, table))
    for source in ("wages", "public.wages"):
        place = DataPlace(label="", source=source, engine=HOST)
        assert not place.marks.isdisjoint(covered)
    for other, name in ((HOST, "public.other"), ("postgresql://db.example.org/more", "wages")):
        assert DataPlace(label="", source=name, engine=other).marks.isdisjoint(covered)


def test_tables_of_one_name_in_two_schemas_are_two() -> None:
    covered = covered_by(catalog_of(HOST, "one.wages"))
    assert DataPlace(label="", source="two.wages", engine=HOST).marks.isdisjoint(covered)


@pytest.mark.postgresql
def test_a_table_gets_no_second_budget_without_its_schema(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    schema = stored({"rides": pa.table({"rider_id": [1, 1, 2]})})
    monkeypatch.setenv("RIDES", shared_server())
    catalog = write_catalog(tmp_path / "clinic")
    config = tmp_path / "server.toml"
    where = json.dumps(str(tmp_path / "added"))
    config.write_text(f'add_data_from = ["env:RIDES"]\ncatalog_folder = {where}\n{LIMITS}')
    with serving(catalog, "--config", str(config)) as served:
        for name, table, status in (("one", f"{schema}.rides", 201), ("two", "rides", 409)):
            source = {"address": "env:RIDES", "table": table}
            reply = add(served, name=name, source=source, columns={})
            assert reply.status_code == status, reply.text
    run(f"DROP SCHEMA {schema} CASCADE")


@pytest.mark.parametrize("number", ["1e30000000", "1e-30000000", "1_0", "1e", "", "٣"])
def test_a_short_text_is_no_number_that_fills_the_memory(served: Served, number: str) -> None:
    body = {"columns": {"x": {"type": "real", "bounds": ["0", number]}}}
    begun = time.monotonic()
    reply = served.call("POST", "/v1/datasets/effects", "boss", json=body)
    assert reply.status_code == 422
    assert "columns.x.bounds" in reply.json()["error"]["message"]
    assert time.monotonic() - begun < 5


def test_an_owner_who_was_disabled_meanwhile_gets_no_data_set(served: Served, folder: Path) -> None:
    made = served.call("POST", f"{BASE}/analysts", "boss", json={"name": "lee", "role": "owner"})
    served.tokens["lee"] = made.json()["token"]
    (folder / "added").mkdir(mode=0o700, exist_ok=True)
    with (folder / "added" / ".lock").open("w") as lock, ThreadPoolExecutor(1) as pool:
        fcntl.flock(lock, fcntl.LOCK_EX)
        waiting = pool.submit(add, served, "lee", name="late")
        time.sleep(0.5)
        path, ended = f"{BASE}/analysts/lee", {"enabled": False}
        assert served.call("PATCH", path, "boss", json=ended).status_code == 200
        fcntl.flock(lock, fcntl.LOCK_UN)
        assert waiting.result().status_code == 401
    assert not (folder / "added" / "late").exists()
    assert served.call("GET", "/v1/me", "lee").status_code == 401


def test_a_ledger_whose_catalog_was_moved_is_never_replaced(served: Served, folder: Path) -> None:
    left = folder / "added" / "retired"
    left.mkdir(parents=True, mode=0o700)
    (folder / "added").chmod(0o700)
    (left / "discreet.ledger").write_bytes(b"what was spent")
    assert add(served, name="retired").json()["error"]["code"] == "name_taken"
    assert (left / "discreet.ledger").read_bytes() == b"what was spent"


def test_the_audit_log_has_the_beginning_of_a_long_query_that_was_tried(served: Served) -> None:
    served.call("POST", f"{BASE}/try", json={"sql": "SELECT " + "x" * 90_000})
    served.call("POST", f"{BASE}/try", json={"sql": "select count(*) from visits", "epsilon": 1})
    reply = served.call("GET", f"{BASE}/audit", "boss", params={"limit": 2})
    last, before = reply.json()["entries"]
    assert (last["action"], last["outcome"]) == ("try", "free")
    assert last["question"] == "SELECT COUNT(*) FROM visits"
    assert before["action"] == "try"
    assert len(reply.content) < 10_000


@pytest.mark.parametrize(
    "terms",
    [
        {"within": {"n" * 200_000: 1}},
        {"within": {f"n{i}": 1 for i in range(1000)}},
        {"find_bounds_of": ["x" * 200_000]},
        {"groups_per_unit": 10**4000},
    ],
)
def test_what_is_saved_is_small(served: Served, terms: dict[str, Any]) -> None:
    body = {"sql": "SELECT 1", "terms": terms}
    assert served.call("PUT", f"{BASE}/saved/big", json=body).status_code == 422


def synthetic_of(columns: dict[str, Any], **more: Any) -> Any:
    """Return the synthetic table of a declaration."""
    table = {"from": "t.csv", "unit": "u", "rows_per_unit": 3, "columns": columns, **more}
    declared = declaration_from({"budget": {"epsilon": 1}, "tables": {"t": table}})
    with closing(open_unplugged("discreet.toml", declared=declared)) as curator:
        return synthetic_tables_of(curator.catalog, {})["t"]


@pytest.mark.parametrize("low", [2**70, 2**63 - 10, -(2**70), 2**62])
@pytest.mark.parametrize("name", ["u", "k", "x"])
def test_bounds_beyond_all_integers_have_synthetic_rows(name: str, low: int) -> None:
    columns = {each: {"type": "integer"} for each in ("u", "k", "x")}
    columns[name] = {"type": "integer", "bounds": [low, low + 5]}  # type: ignore[dict-item]
    assert synthetic_of(columns, key="k").num_rows > UNITS


def test_a_wide_table_is_made_in_a_short_time() -> None:
    """A thousand columns of all rows took most of a minute, and all others waited."""
    columns = {f"x{i}": {"type": "real", "bounds": [0, 1]} for i in range(999)}
    made = synthetic_of({"u": {"type": "integer"}, **columns})
    assert 0 < made.num_rows * made.num_columns <= MOST_VALUES


def test_a_tried_query_has_no_millions_of_rows(tmp_path: Path) -> None:
    catalog = write_catalog(tmp_path)
    towns = "".join(f"t{i}\n" for i in range(200))
    (tmp_path / "towns.csv").write_text(f"town\n{towns}")
    more = '[tables.towns]\nfrom = "towns.csv"\npublic = true\n'
    catalog.write_text(catalog.read_text() + more)
    with serving(catalog) as served:
        sql = "SELECT a.town AS x, b.town AS y FROM towns a CROSS JOIN towns b"
        reply = served.call("POST", f"{BASE}/try", json={"sql": sql})
        assert (reply.status_code, reply.json()["error"]["code"]) == (422, "question_size")
        few = served.call("POST", f"{BASE}/try", json={"sql": f"{sql} LIMIT 10"})
        assert few.status_code == 200
