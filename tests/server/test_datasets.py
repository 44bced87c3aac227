"""Data that owners add on the page: what may be chosen, what is written, who may use it."""

import json
import os
import socket
import stat
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from discreet.errors import ParameterError
from discreet.server.data_places import places_from
from discreet.server.settings import settings_from
from tests.engines.on_postgresql import run, stored
from tests.postgresql import shared_server
from tests.server.offered import LIMITS, write_settings, write_trips
from tests.server.running import BASE, Served, serving, write_catalog

COLUMNS = {
    "rider_id": {"type": "integer"},
    "town": {"type": "text", "values": ["Aba", "Ebo"]},
    "minutes": {"type": "integer", "bounds": [0, 120]},
    "day": {"type": "date", "bounds": ["2024-01-01", "2024-12-31"]},
}
TRIPS: dict[str, Any] = {
    "name": "trips",
    "source": {"file": "data/trips.csv"},
    "unit": "rider_id",
    "rows_per_unit": 4,
    "columns": COLUMNS,
    "epsilon": 5,
    "delta": "1e-6",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("datasets")


@pytest.fixture(scope="module")
def served(folder: Path) -> Iterator[Served]:
    config = write_settings(folder)
    catalog = write_catalog(folder / "clinic")
    for each in ("trips", "more", "same", "wrong"):
        write_trips(folder / "data" / f"{each}.csv", riders=300 + len(each))
    (folder / "secret.csv").write_text("rider_id\n7\n")
    hostile(folder)
    with serving(catalog, "--config", str(config)) as found:
        yield found


def hostile(folder: Path) -> None:
    """Put into the folder what must never be offered."""
    data = folder / "data"
    (data / "link.csv").symlink_to(folder / "secret.csv")
    (data / "up").symlink_to(folder)
    (data / "zero.csv").symlink_to("/dev/zero")
    (data / "trips.duckdb").write_bytes(b"")
    (data / "discreet.toml").write_text("")
    (data / ".hidden.csv").write_text("rider_id\n1\n")
    (data / "[t]rips.csv").write_text("rider_id\n1\n")
    os.mkfifo(data / "pipe.csv")
    with socket.socket(socket.AF_UNIX) as heard:
        before = Path.cwd()
        os.chdir(data)  # a path of a socket is short
        heard.bind("socket.csv")
        os.chdir(before)


def draft(served: Served, who: str = "boss", **source: str) -> Any:
    return served.call("POST", "/v1/datasets/draft", who, json={"source": source})


def add(served: Served, who: str = "boss", **changed: Any) -> Any:
    return served.call("POST", "/v1/datasets", who, json=TRIPS | changed)


def test_only_plain_files_of_the_folder_are_offered(served: Served) -> None:
    found = served.call("GET", "/v1/datasets/sources", "boss").json()
    assert found["is_on"] is True
    assert [each["name"] for each in found["files"]] == [
        f"data/{each}.csv" for each in ("more", "same", "trips", "wrong")
    ]


@pytest.mark.parametrize(
    "name",
    [
        "data/../secret.csv",
        "../secret.csv",
        "data/link.csv",
        "data/up/secret.csv",
        "data/zero.csv",
        "data/pipe.csv",
        "data/socket.csv",
        "data/trips.duckdb",
        "data/discreet.toml",
        "data/.hidden.csv",
        "data/[t]rips.csv",
        "data/*.csv",
        "data/trips.csv\x00",
        "data//trips.csv",
        "/etc/passwd",
        "data/nothing.csv",
        "data/trips.csv/",
        "trips.csv",
    ],
)
def test_all_other_names_are_rejected_with_the_same_words(
    served: Served, folder: Path, name: str
) -> None:
    for source in (name, str(folder / name)):
        replies = [draft(served, file=source), add(served, source={"file": source})]
        for reply in replies:
            assert reply.status_code == 404
            assert reply.json()["error"]["code"] == "not_offered"
            assert str(folder) not in reply.text
    assert draft(served, file=name).json() == draft(served, file="data/absent.csv").json()


@pytest.mark.parametrize(
    "source",
    [
        {"address": "postgresql://other/db", "table": "visits"},
        {"address": "postgresql://127.0.0.1:1/db", "table": "visits"},
        {"address": "env:HOME", "table": "visits"},
        {"address": "data/trips.csv", "table": "trips"},
        {"file": "data/trips.csv", "table": "trips"},
        {"file": "data/trips.csv", "address": "postgresql://other/db"},
        {},
    ],
)
def test_an_address_must_be_one_that_the_administrator_named(
    served: Served, source: dict[str, str]
) -> None:
    assert draft(served, **source).json()["error"]["code"] == "not_offered"


def test_a_draft_has_names_and_types_and_no_values(served: Served) -> None:
    found = draft(served, file="data/trips.csv").json()
    assert found == {
        "table": "trips",
        "columns": [
            {"name": "rider_id", "type": "integer", "is_identifier": True},
            {"name": "town", "type": "text", "is_identifier": False},
            {"name": "minutes", "type": "integer", "is_identifier": False},
            {"name": "day", "type": "date", "is_identifier": False},
        ],
        "unit": "rider_id",
        "guessed_from": 1000,
    }


def test_a_draft_of_a_huge_file_reads_its_beginning_alone(served: Served, folder: Path) -> None:
    file = folder / "data" / "huge.csv"
    write_trips(file, riders=1000)
    os.truncate(file, 1 << 40)  # sparse: a terabyte of zeros
    try:
        found = draft(served, file="data/huge.csv")
        assert found.status_code == 200
        assert len(found.json()["columns"]) == 4
    finally:
        file.unlink()


def test_what_is_no_table_is_told_without_its_contents(served: Served, folder: Path) -> None:
    file = folder / "data" / "odd.parquet"
    file.write_bytes(b"secret words")
    try:
        reply = draft(served, file="data/odd.parquet")
        assert reply.status_code == 422
        assert reply.json()["error"]["code"] == "unreadable_data"
        assert "secret" not in reply.text
        assert str(folder) not in reply.text
    finally:
        file.unlink()


@pytest.mark.parametrize("who", ["ann", "guest"])
def test_only_owners_may_look_or_add(served: Served, who: str) -> None:
    replies = [
        served.call("GET", "/v1/datasets/sources", who),
        draft(served, who, file="data/trips.csv"),
        served.call("POST", "/v1/datasets/effects", who, json={}),
        add(served, who),
    ]
    assert [each.status_code for each in replies] == [403] * 4
    assert served.call("GET", "/v1/datasets/sources", None).status_code == 401


def test_effects_are_those_of_an_explanation(served: Served) -> None:
    body = {
        "unit": "rider_id",
        "rows_per_unit": 10,
        "columns": COLUMNS,
        "epsilon": 3,
        "epsilon_each": 0.2,
    }
    found = served.call("POST", "/v1/datasets/effects", "boss", json=body).json()
    assert found["queries"] == 15
    assert found["count"] == "±150"
    assert found["columns"][0]["name"] == "minutes"
    assert found["columns"][0]["average"].startswith("±")
    margins = {each["rows_per_unit"]: each["margin"] for each in found["by_limit"]}
    assert margins[1] < margins[10] < margins[60]
    assert f"±{round(margins[10], -1)}" == found["count"]


def test_effects_of_rows_as_units(served: Served) -> None:
    found = served.call("POST", "/v1/datasets/effects", "boss", json={"unit": None}).json()
    assert found["count"] == "±15"
    assert found["by_limit"] == []


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        ({"columns": {"minutes": {"type": "integer", "bounds": [9, 1]}}}, "minutes"),
        ({"columns": {"day": {"type": "date", "bounds": ["x", "y"]}}}, "columns.day.bounds"),
        ({"columns": {"day": {"type": "date", "bounds": [1, 2]}}}, "columns.day.bounds"),
        ({"columns": {"town": {"type": "text", "values": [1]}}}, "columns.town.values"),
        ({"columns": {"town": {"type": "text", "values": ["a", "a"]}}}, "town"),
        ({"columns": {"nobody": {"type": "text"}}}, "columns.nobody"),
        ({"unit": "nobody"}, "nobody"),
        ({"epsilon": 0}, "epsilon"),
        ({"delta": 2}, "delta"),
        ({"name": "../x"}, "name"),
        ({"name": ""}, "name"),
        ({"name": ".lock"}, "name"),
        ({"find_limit": 9}, "find_limit"),
    ],
)
def test_what_is_wrong_is_named_and_leaves_nothing(
    served: Served, folder: Path, changed: dict[str, Any], named: str
) -> None:
    reply = add(served, **({"name": "broken"} | changed))
    assert reply.status_code == 422, reply.text
    assert named in reply.json()["error"]["message"]
    assert str(folder) not in reply.text
    assert not (folder / "added" / "broken").exists()


def test_data_that_do_not_fit_are_told_in_fixed_words(served: Served, folder: Path) -> None:
    file = folder / "data" / "wrong.csv"
    file.write_text(file.read_text() + "seven,Aba,1,2024-01-01\n")
    same = {name: each for name, each in COLUMNS.items() if name != "rider_id"}
    columns = same | {"rider_id": {"type": "integer"}}
    reply = add(served, name="wrong", source={"file": "data/wrong.csv"}, columns=columns)
    assert reply.status_code == 422
    assert reply.json()["error"]["code"] == "unreadable_data"
    assert "seven" not in reply.text
    assert "line" not in reply.text
    assert not (folder / "added" / "wrong").exists()


def test_an_added_data_set_is_served_at_once_and_after_a_restart(tmp_path: Path) -> None:
    config, catalog = write_settings(tmp_path), write_catalog(tmp_path / "clinic")
    write_trips(tmp_path / "data" / "trips.csv")
    with serving(catalog, "--config", str(config)) as served:
        cookie = served.call("POST", "/v1/session", None, json={"token": served.tokens["boss"]})
        reply = add(served)
        assert reply.status_code == 201, reply.text
        assert reply.json()["rows_per_unit"] == 4
        assert reply.json()["found"] is None
        check_served(served)
        secret = cookie.headers["set-cookie"].partition(";")[0]
        session = served.call("GET", "/v1/session", None, headers={"Cookie": secret}).json()
        assert [each["name"] for each in session["catalogs"]] == ["clinic", "trips"]
        served.stop()
    own = tmp_path / "added" / "trips"
    assert sorted(each.suffix for each in own.iterdir() if each.suffix == ".toml") == [".toml"]
    assert stat.S_IMODE(own.stat().st_mode) == 0o700
    assert stat.S_IMODE((own / "discreet.toml").stat().st_mode) == 0o600
    with serving(catalog, "--config", str(config)) as served:
        check_served(served)
        entries = served.call("GET", "/v1/catalogs/trips/audit", "boss").json()["entries"]
        assert entries[-1]["action"] == "add_data"
        assert entries[-1]["source"] == "data/trips.csv"


def check_served(served: Served) -> None:
    """Use one token for both catalogs; others have no access to the new one."""
    me = served.call("GET", "/v1/me", "boss").json()["catalogs"]
    assert [(each["name"], each["role"]) for each in me] == [
        ("clinic", "owner"),
        ("trips", "owner"),
    ]
    body = {"sql": "SELECT town, COUNT(*) AS n FROM trips GROUP BY town", "epsilon": 1}
    reply = served.call("POST", "/v1/catalogs/trips/ask", "boss", json=body)
    assert reply.status_code == 200, reply.text
    assert served.call("GET", "/v1/catalogs/trips/schema", "ann").status_code == 404
    assert served.call("GET", f"{BASE}/schema", "ann").status_code == 200


def test_a_limit_is_found_privately_and_charged(served: Served) -> None:
    reply = add(served, name="more", source={"file": "data/more.csv"}, find_limit=1)
    assert reply.status_code == 201, reply.text
    found = reply.json()
    assert found["remaining"]["epsilon"] == 4
    assert found["found"]["is_found"] is True
    assert 2 <= found["rows_per_unit"] <= 8
    shares = found["found"]["shares"]
    assert shares[0]["estimate"] < shares[-1]["estimate"] <= 1
    again = served.call("GET", "/v1/catalogs/more/budget", "boss").json()["remaining"]
    assert again["epsilon"] == 4


def test_of_two_that_add_one_name_one_wins_and_data_are_added_once(served: Served) -> None:
    body: dict[str, Any] = {"name": "same", "source": {"file": "data/same.csv"}}
    with ThreadPoolExecutor(4) as pool:
        replies = list(pool.map(lambda _: add(served, **body), range(4)))
    assert sorted(each.status_code for each in replies) == [201, 409, 409, 409]
    codes = {each.json()["error"]["code"] for each in replies if each.status_code == 409}
    assert codes == {"name_taken"}
    again = add(served, **(body | {"name": "twice"}))
    assert again.json()["error"]["code"] == "data_in_use"
    listed = served.call("GET", "/v1/datasets/sources", "boss").json()["files"]
    assert {"name": "data/same.csv", "in_use": True} in listed
    assert add(served, name="clinic").json()["error"]["code"] == "name_taken"


def test_what_a_crash_left_is_replaced_and_never_served(tmp_path: Path) -> None:
    config, catalog = write_settings(tmp_path), write_catalog(tmp_path / "clinic")
    write_trips(tmp_path / "data" / "trips.csv")
    left = tmp_path / "added" / "trips"
    left.mkdir(parents=True, mode=0o700)
    (tmp_path / "added").chmod(0o700)
    (left / "draft.toml").write_text("[budget]\nepsilon = 1\n")
    (left / "discreet.ledger").write_bytes(b"half")
    broken = tmp_path / "added" / "gone"
    broken.mkdir()
    (broken / "discreet.toml").write_text("[tables.x]\n")
    with serving(catalog, "--config", str(config)) as served:
        assert "gone" in served.process.written()
        assert len(served.call("GET", "/v1/me", "boss").json()["catalogs"]) == 1
        assert add(served).status_code == 201
        check_served(served)


@pytest.mark.postgresql
def test_a_table_of_an_address_is_added(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    town = pa.array(["Aba", "Ebo", "Aba"])
    schema = stored({"trips": pa.table({"rider_id": [1, 1, 2], "town": town})})
    monkeypatch.setenv("CLINIC", shared_server())
    catalog = write_catalog(tmp_path / "clinic")
    config = tmp_path / "server.toml"
    folder = json.dumps(str(tmp_path / "added"))
    config.write_text(f'add_data_from = ["env:CLINIC"]\ncatalog_folder = {folder}\n{LIMITS}')
    source = {"address": "env:CLINIC", "table": f"{schema}.trips"}
    with serving(catalog, "--config", str(config)) as served:
        found = served.call("GET", "/v1/datasets/sources", "boss").json()
        assert found == {"is_on": True, "files": [], "addresses": ["env:CLINIC"]}
        assert draft(served, **source).json()["unit"] == "rider_id"
        absent = draft(served, address="env:CLINIC", table=f"{schema}.absent")
        assert absent.json()["error"]["code"] == "unreadable_data"
        assert shared_server() not in absent.text
        assert draft(served, address=shared_server(), table="x").status_code == 404
        reply = add(served, source=source, columns={})
        assert reply.status_code == 201, reply.text
        again = add(served, name="again", source=source, columns={})
        assert again.json()["error"]["code"] == "data_in_use"
        body = {"sql": "SELECT COUNT(*) AS n FROM trips", "epsilon": 1}
        asked = served.call("POST", "/v1/catalogs/trips/ask", "boss", json=body)
        assert asked.status_code == 200
    run(f"DROP SCHEMA {schema} CASCADE")


def test_adding_is_off_by_default(tmp_path: Path) -> None:
    with serving(write_catalog(tmp_path / "clinic")) as served:
        found = served.call("GET", "/v1/datasets/sources", "boss").json()
        assert found == {"is_on": False, "files": [], "addresses": []}
        for reply in (add(served), draft(served, file="clinic/visits.csv")):
            assert reply.status_code == 403
            assert reply.json()["error"]["code"] == "adding_is_off"


def test_a_disabled_account_of_one_catalog_still_opens_the_other(served: Served) -> None:
    name = "kim"
    made = served.call(
        "POST", f"{BASE}/analysts", "boss", json={"name": name, "role": "owner"}
    ).json()
    served.tokens[name] = made["token"]
    assert add(served, name).status_code == 201
    path = f"{BASE}/analysts/{name}"
    assert served.call("PATCH", path, "boss", json={"enabled": False}).status_code == 200
    me = served.call("GET", "/v1/me", name).json()["catalogs"]
    assert [each["name"] for each in me] == ["trips"]
    served.tokens["forged"] = made["token"][:-4] + "AAAA"
    assert served.call("GET", "/v1/me", "forged").status_code == 401


@pytest.mark.parametrize(
    ("given", "rule"),
    [
        ({"add_data_from": ["/nowhere/at/all"]}, "folders that exist"),
        ({"add_data_from": ["postgresql://me:secret@host/db"]}, "must not contain a password"),
        ({"add_data_from": ["env:1x"]}, "environment variable"),
        ({"add_data_from": ["postgresql://host/db"]}, "must be set beside"),
        ({"catalog_folder": "/nowhere/at/all"}, "folder that exists"),
    ],
)
def test_settings_are_checked_when_the_server_starts(given: dict[str, Any], rule: str) -> None:
    with pytest.raises(ParameterError, match=rule) as error:
        settings_from(given)
    assert "secret" not in str(error.value)


def test_folders_have_names_of_their_own(tmp_path: Path) -> None:
    for each in ("a", "b"):
        (tmp_path / each / "data").mkdir(parents=True)
    with pytest.raises(ParameterError, match="different names"):
        places_from("add_data_from", (str(tmp_path / "a/data"), str(tmp_path / "b/data")))


def test_a_folder_that_others_can_change_is_rejected(tmp_path: Path) -> None:
    config, catalog = write_settings(tmp_path), write_catalog(tmp_path / "clinic")
    (tmp_path / "added").mkdir()
    (tmp_path / "added").chmod(0o777)
    with (
        pytest.raises(AssertionError, match="other users"),
        serving(catalog, "--config", str(config)),
    ):
        pass


def test_what_another_process_added_is_in_use_and_its_name_taken(tmp_path: Path) -> None:
    config, catalog = write_settings(tmp_path), write_catalog(tmp_path / "clinic")
    write_trips(tmp_path / "data" / "trips.csv")
    write_trips(tmp_path / "data" / "more.csv")
    with (
        serving(catalog, "--config", str(config)) as one,
        serving(catalog, "--config", str(config)) as other,
    ):
        assert add(one).status_code == 201
        assert add(other, name="again").json()["error"]["code"] == "data_in_use"
        free = {"file": "data/more.csv"}
        assert add(other, source=free).json()["error"]["code"] == "name_taken"
