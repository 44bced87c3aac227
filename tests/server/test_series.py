"""Series on a server: read by everyone who may, released by owners and by the clock."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from datetime import UTC, datetime, time
from pathlib import Path
from time import sleep
from typing import Any

import httpx
import pytest

import discreet
from tests.series.files import DAYS, write_clinic, write_visits
from tests.server.held import Hold, held_process, limits_of, process_of, spent_by, wait_for
from tests.server.running import BASE, Served, add_accounts, serving

SERIES = f"{BASE}/series"
REGIONS, PATIENTS = "visits by region", "patients"


def listed(served: Served, who: str = "boss") -> dict[str, Any]:
    found: dict[str, Any] = served.call("GET", SERIES, who).json()
    return {each["name"]: each for each in found["series"]}


def released(served: Served) -> dict[str, int]:
    return {name: each["released"] for name, each in listed(served).items()}


def wait_until_released(served: Served, ticks: int = DAYS) -> None:
    wait_for(lambda: set(released(served).values()) == {ticks})


def rows(served: Served, name: str = REGIONS, who: str = "guest", **terms: Any) -> list[list[Any]]:
    found: list[list[Any]] = served.call("GET", f"{SERIES}/{name}", who, params=terms).json()[
        "rows"
    ]
    return found


def logged(served: Served) -> list[dict[str, Any]]:
    entries = served.call("GET", f"{BASE}/audit", "boss").json()["entries"]
    return [each for each in entries if each["action"] == "tick"]


def by_hand(folder: Path, limits: str = "") -> tuple[str, str]:
    """Return options of a server that releases no tick by itself."""
    option, file = limits_of(folder, limits)
    Path(file).write_text(f"series = false\n{Path(file).read_text()}")
    return option, file


# --------------------------------------------------------------------------- by the clock


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("clinic")
    with serving(write_clinic(folder), *limits_of(folder, "")) as found:
        wait_until_released(found)
        yield found


def test_ticks_that_are_due_are_released_charged_once_and_logged(served: Served) -> None:
    assert spent_by(served, "boss", 100) == 30
    entries = {each["series"]: each for each in logged(served)}
    assert {(each["who"], each["outcome"]) for each in entries.values()} == {("(clock)", "charged")}
    assert {name: each["ticks"] for name, each in entries.items()} == {
        REGIONS: DAYS,
        PATIENTS: DAYS,
    }
    assert entries[REGIONS]["epsilon"] == "10"


@pytest.mark.parametrize("who", ["guest", "ann", "boss"])
def test_every_role_reads_the_same_released_numbers(served: Served, who: str) -> None:
    assert rows(served, who=who) == rows(served)
    assert len(rows(served, who=who)) == 2 * DAYS
    assert ("ticking" in served.call("GET", SERIES, who).json()) is (who == "boss")


def test_a_list_says_what_series_cost_and_how_far_they_are(served: Served) -> None:
    found = listed(served, "guest")[REGIONS]
    assert (found["clock"], found["ticks"], found["due"]) == ("day", 30, DAYS)
    assert (found["keys"], found["groups"], found["is_charged"]) == (["region"], 2, True)
    assert found["price"]["epsilon_exact"] == "10"
    (column,) = found["columns"]
    assert column["name"] == "visits"
    assert 0 < column["margins"]["first"] <= column["margins"]["worst"]
    assert found["next_at"] > datetime.now(UTC).replace(tzinfo=None).isoformat()
    assert any("Protects all data of one patient_id" in each for each in found["notes"])


def test_windows_and_ticks_follow_from_the_same_numbers(served: Served) -> None:
    running = [row[1] for row in rows(served, PATIENTS)]
    last = rows(served, PATIENTS, kind="window", window=7)
    alone = rows(served, PATIENTS, kind="tick")
    assert last[-1][1] == pytest.approx(running[-1] - running[-8])
    assert alone[-1][1] == pytest.approx(running[-1] - running[-2])
    assert running[-1] == pytest.approx(40 * DAYS, abs=20)
    wide = rows(served, confidence="0.999")
    assert wide[0][3] > rows(served)[0][3]


def test_ticks_come_as_csv(served: Served) -> None:
    reply = served.call("GET", f"{SERIES}/{REGIONS}", "guest", params={"format": "csv"})
    assert reply.headers["content-type"] == "text/csv; charset=utf-8"
    head, *lines = reply.text.splitlines()
    assert head == "tick,region,visits,visits_margin"
    assert len(lines) == 2 * DAYS
    assert rows(served, last=3) == rows(served)[-6:]


@pytest.mark.parametrize(
    ("path", "status", "code"),
    [
        ("/nothing", 404, "series"),
        (f"/{REGIONS}?kind=window", 422, "parameter"),
        (f"/{REGIONS}?window=3", 422, "parameter"),
        (f"/{REGIONS}?kind=each", 422, "bad_call"),
        (f"/{REGIONS}?confidence=2", 422, "parameter"),
    ],
)
def test_a_call_that_means_nothing_is_rejected(
    served: Served, path: str, status: int, code: str
) -> None:
    reply = served.call("GET", SERIES + path, "guest")
    assert (reply.status_code, reply.json()["error"]["code"]) == (status, code)


def test_only_owners_release_ticks(served: Served) -> None:
    for who in ("guest", "ann"):
        assert served.call("POST", f"{SERIES}/tick", who, json={}).status_code == 403
    assert served.call("POST", f"{SERIES}/tick", "boss", json={}).json() == {"released": []}


def test_a_tick_is_released_when_its_time_comes(tmp_path: Path) -> None:
    today = datetime.combine(datetime.now(UTC).date(), time(), UTC)
    wait = int((datetime.now(UTC) - today).total_seconds()) + 4
    catalog = write_clinic(tmp_path, more=f'wait = "{wait} seconds"\n')
    with serving(catalog, *limits_of(tmp_path, "")) as served:
        wait_for(lambda: released(served) == {REGIONS: DAYS - 1, PATIENTS: DAYS})
        before = rows(served)
        wait_until_released(served)
        assert rows(served)[: len(before)] == before


# --------------------------------------------------------------------------- by owners


def test_a_server_can_leave_ticks_to_its_owner(tmp_path: Path) -> None:
    with serving(write_clinic(tmp_path), *by_hand(tmp_path)) as served:
        assert released(served) == {REGIONS: 0, PATIENTS: 0}
        early = served.call("GET", f"{SERIES}/{REGIONS}", "guest")
        assert "No tick of the series visits by region is released yet" in early.text
        until = listed(served)[REGIONS]["next_at"]
        body = {"names": [REGIONS.upper()], "until": until}
        (told,) = served.call("POST", f"{SERIES}/tick", "boss", json=body).json()["released"]
        assert (told["series"], told["ticks"]) == (REGIONS, 1)
        assert told["charged"]["epsilon"] == 10
        assert released(served) == {REGIONS: 1, PATIENTS: 0}
        rest = served.call("POST", f"{SERIES}/tick", "boss", json={}).json()["released"]
        assert [(each["ticks"], each["charged"] is None) for each in rest] == [
            (DAYS - 1, True),
            (DAYS, False),
        ]
        ticking = served.call("GET", SERIES, "boss").json()["ticking"]
        assert ticking == {"by_clock": False, "failures": []}


def test_ticks_that_are_longer_than_is_sent_are_rejected_with_how_many_fit(tmp_path: Path) -> None:
    with serving(write_clinic(tmp_path), *by_hand(tmp_path, "answer_bytes = 1400")) as served:
        served.call("POST", f"{SERIES}/tick", "boss", json={"names": [REGIONS]})
        for form in ("json", "csv"):
            terms: dict[str, Any] = {"format": form}
            reply = served.call("GET", f"{SERIES}/{REGIONS}", "guest", params=terms)
            replies = [reply]
            while reply.status_code == 422 and len(replies) < 5:
                error = reply.json()["error"]
                assert error["code"] == "answer_too_long"
                terms["last"] = error["remedy"].rpartition("last=")[2]
                reply = served.call("GET", f"{SERIES}/{REGIONS}", "guest", params=terms)
                replies.append(reply)
            assert 1 < len(replies) < 5
            assert reply.status_code == 200
            assert 200 < len(reply.content) <= 1400
        assert served.call("GET", SERIES, "guest").status_code == 200


@pytest.mark.parametrize(
    "until", ["2999-01-01", "9999-12-31T23:59:59-14:00", "0001-01-01T00:00:00+14:00"]
)
def test_a_moment_that_cannot_be_is_rejected_before_anything_is_noted(
    served: Served, until: str
) -> None:
    before = logged(served)
    reply = served.call("POST", f"{SERIES}/tick", "boss", json={"until": until})
    assert (reply.status_code, reply.json()["error"]["code"]) == (422, "parameter")
    assert served.call("GET", SERIES, "boss").json()["ticking"]["failures"] == []
    assert logged(served) == before


def test_ticks_count_the_data_as_they_are_by_then(tmp_path: Path) -> None:
    catalog = write_clinic(tmp_path)
    write_visits(tmp_path, days=2)
    with serving(catalog, *by_hand(tmp_path)) as served:
        write_visits(tmp_path, days=DAYS)
        served.call("POST", f"{SERIES}/tick", "boss", json={"names": [PATIENTS]})
        assert rows(served, PATIENTS)[-1][1] == pytest.approx(40 * DAYS, abs=20)


def test_a_failure_is_told_to_owners_in_fixed_words_and_hinders_no_other_series(
    tmp_path: Path,
) -> None:
    with serving(write_clinic(tmp_path, budget=25), *limits_of(tmp_path, "")) as served:
        wait_for(lambda: released(served) == {REGIONS: DAYS, PATIENTS: 0})
        wait_for(lambda: bool(served.call("GET", SERIES, "boss").json()["ticking"]["failures"]))
        (failure,) = served.call("GET", SERIES, "boss").json()["ticking"]["failures"]
        assert (failure["series"], failure["code"]) == (PATIENTS, "budget")
        assert failure["message"].startswith("Ticks that are due could not be released")
        assert "failures" not in served.call("GET", SERIES, "guest").text
        assert {each["outcome"] for each in logged(served)} == {"charged", "budget"}


def test_data_that_are_gone_are_a_failure_until_they_are_back(tmp_path: Path) -> None:
    catalog = write_clinic(tmp_path)
    with serving(catalog, *by_hand(tmp_path)) as served:
        (tmp_path / "visits.csv").rename(tmp_path / "away.csv")
        assert served.call("POST", f"{SERIES}/tick", "boss", json={}).status_code == 503
        (failure,) = served.call("GET", SERIES, "boss").json()["ticking"]["failures"]
        assert (failure["series"], failure["code"]) == (None, "source")
        (tmp_path / "away.csv").rename(tmp_path / "visits.csv")
        served.call("POST", f"{SERIES}/tick", "boss", json={})
        wait_until_released(served)
        assert served.call("GET", SERIES, "boss").json()["ticking"]["failures"] == []


# --------------------------------------------------------------------------- kills and stops


@pytest.mark.parametrize(
    "place",
    [
        *("run", "keep_tick"),
        *(pytest.param(each, marks=pytest.mark.slow) for each in ("charge", "keep")),
    ],
)
def test_a_server_that_is_killed_while_it_releases_ticks_loses_nothing(
    tmp_path: Path, place: str
) -> None:
    catalog = write_clinic(tmp_path)
    tokens, hold = add_accounts(catalog), Hold(tmp_path)
    hold.arm()
    with held_process(catalog, place, tokens=tokens) as served:
        hold.wait_until_reached()
        served.process.kill()
    hold.release()
    options = limits_of(tmp_path, "")
    seen = []
    for _ in range(2):
        with process_of(catalog, *options, tokens=tokens) as served:
            wait_until_released(served)
            assert spent_by(served, "boss", 100) == 30
            seen.append([rows(served, name) for name in (REGIONS, PATIENTS)])
    assert seen[0] == seen[1]


def test_a_server_that_is_told_to_stop_saves_the_tick_that_it_releases(tmp_path: Path) -> None:
    catalog = write_clinic(tmp_path)
    tokens, hold = add_accounts(catalog), Hold(tmp_path)
    hold.arm()
    with held_process(catalog, "keep_tick", tokens=tokens) as served, ThreadPoolExecutor(1) as pool:
        hold.wait_until_reached()
        stopped = pool.submit(served.stop)
        sleep(0.5)  # until the server has heard of it
        hold.release()
        assert stopped.result() == 0
    with discreet.open(catalog) as curator:
        # The first series was saved; the server stopped before the second one.
        assert [each.status.released for each in curator.all_series()] == [DAYS, 0]
        assert curator.remaining.epsilon == 90


def test_two_servers_over_one_ledger_release_each_tick_once(tmp_path: Path) -> None:
    catalog = write_clinic(tmp_path)
    tokens, options = add_accounts(catalog), limits_of(tmp_path, "")
    with ExitStack() as stack:
        first, second = (
            stack.enter_context(process_of(catalog, *options, tokens=tokens)) for _ in range(2)
        )
        for each in (first, second):
            wait_until_released(each)
        for name in (REGIONS, PATIENTS):
            assert rows(first, name) == rows(second, name)
        assert spent_by(first, "boss", 100) == spent_by(second, "boss", 100) == 30


# --------------------------------------------------------------------------- time


def test_with_a_clock_of_replies_ticks_are_saved_at_its_multiples(tmp_path: Path) -> None:
    """How long a database ran would show in when a tick can be read first."""
    option, file = by_hand(tmp_path)
    Path(file).write_text(f'release_every = "1s"\n{Path(file).read_text()}')
    with serving(write_clinic(tmp_path), option, file) as served:

        def took(act: Callable[[], httpx.Response]) -> float:
            begun = datetime.now(UTC)
            assert act().status_code == 200
            return (datetime.now(UTC) - begun).total_seconds()

        body = {"names": [PATIENTS]}
        seconds = took(lambda: served.call("POST", f"{SERIES}/tick", "boss", json=body))
        assert seconds > 0.8  # without the clock it is a tenth of that
