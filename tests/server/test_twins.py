"""Servers over neighbouring tables: whatever a caller sees, noisy numbers apart, is the same.

A reply has as many bytes as its digits need, so that its size follows from the noisy numbers that
it shows. That is allowed: whoever has the numbers knows their digits. All else is compared.
"""

import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from time import perf_counter, sleep
from typing import Any

import httpx
import pytest
from scipy.stats import mannwhitneyu

from tests.server.held import process_of
from tests.server.running import BASE, Served, serving, write_catalog

VICTIM = 6
"""Lives in the north, in city 6, and is 42."""

FALSE_ALARM = 1e-6
"""Two servers that answer at the same times are told apart once in a million runs."""

ROUNDS = 20
"""Queries at each server: so many that separate times have a p-value of 7e-8."""

MANY_ROUNDS = 400
"""In the long form, which sees a shift of a quarter of the spread of times."""

OUTCOMES = {
    "new": ("SELECT COUNT(*) AS n FROM visits WHERE patient_id = 6 AND age <> {}", 200),
    "repeated": ("SELECT COUNT(*) AS n FROM visits WHERE patient_id = 6", 200),
    "rejected": ("SELECT nothing_{} FROM visits WHERE patient_id = 6", 422),
}
"""Queries about the victim, with the status of their replies."""

QUERIES = (
    "SELECT COUNT(*) AS n FROM visits",
    "SELECT region, COUNT(*) AS n FROM visits GROUP BY region",
    "SELECT region, AVG(age) AS age FROM visits WHERE patient_id = 6 GROUP BY region",
    "SELECT COUNT(*) AS n FROM visits WHERE patient_id = 6 AND 1 / (age - 42) > 0",
    "SELECT SUM(age) AS a FROM visits WHERE CAST(city AS INTEGER) > 0",
    "SELECT MEDIAN(age) AS a FROM visits WHERE patient_id = 6",
    "SELECT * FROM visits WHERE patient_id = 6",
    "SELECT nothing FROM visits",
    "SELECT COUNT( FROM visits",
)


@pytest.fixture(scope="module")
def twins(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Served, Served]]:
    folder = tmp_path_factory.mktemp("twins")
    config = folder / "server.toml"
    config.write_text(
        'release_every = "50ms"\n[limits]\nburst = 1000000\nrequests_per_minute = 1000000\n'
    )
    options = ("--config", str(config))
    with (
        serving(write_catalog(folder / "here"), *options) as here,
        serving(write_catalog(folder / "gone", without=VICTIM), *options) as gone,
    ):
        yield here, gone


def seen(reply: httpx.Response) -> dict[str, Any]:
    """Return what is seen of a reply but noisy numbers, times and what is drawn at random."""
    varying = {"date", "content-length", "discreet-answer"}
    body = reply.json() if "json" in reply.headers["content-type"] else reply.text
    return {
        "status": reply.status_code,
        "headers": sorted((k, v) for k, v in reply.headers.items() if k not in varying),
        "body": _without_numbers(body),
    }


NOISY = {"rows", "errors"}
TIME = re.compile(r"\d{4}-\d\d-\d\dT[\d:.+]+")


def _without_numbers(content: Any, *, is_noisy: bool = False) -> Any:
    """Return a reply with a word in place of each noisy number, time and id."""
    match content:
        case dict():
            return {
                name: "id"
                if name == "answer"
                else _without_numbers(each, is_noisy=is_noisy or name in NOISY)
                for name, each in content.items()
            }
        case list():
            return [_without_numbers(each, is_noisy=is_noisy) for each in content]
        case float() | int() | None if is_noisy:
            return "number"
        case str():
            return TIME.sub("time", content)
        case _:
            return content


@pytest.mark.parametrize("sql", QUERIES)
def test_twins_reply_alike(twins: tuple[Served, Served], sql: str) -> None:
    for route in ("explain", "ask"):
        body = {"sql": sql, "epsilon": 1}
        here, gone = (seen(each.call("POST", f"{BASE}/{route}", json=body)) for each in twins)
        assert here == gone


@pytest.mark.parametrize("path", ["schema", "budget", "history", "requests"])
def test_twins_show_analysts_the_same_records(twins: tuple[Served, Served], path: str) -> None:
    here, gone = (seen(each.call("GET", f"{BASE}/{path}")) for each in twins)
    assert here == gone


def test_twins_count_calls_alike(twins: tuple[Served, Served]) -> None:
    here, gone = (
        sorted(
            each
            for each in server.call("GET", "/metrics", "boss").text.splitlines()
            if each.startswith("discreet_calls_total{") and "/health" not in each
        )
        for server in twins
    )
    assert here
    assert here == gone


def times_of(twins: tuple[Served, Served], outcome: str, number: int) -> list[list[float]]:
    """Return seconds of the same queries at both servers, in turns."""
    found: list[list[float]] = [[], []]
    sql, status = OUTCOMES[outcome]
    with httpx.Client(timeout=60, verify=False) as client:  # noqa: S501 - no TLS here
        for turn in range(number):
            for which in (turn % 2, 1 - turn % 2):
                served = twins[which]
                headers = {"Authorization": f"Bearer {served.tokens['boss']}"}
                body = {"sql": sql.format(turn), "epsilon": 0.01}
                begun = perf_counter()
                reply = client.post(f"{served.url}{BASE}/ask", json=body, headers=headers)
                found[which].append(perf_counter() - begun)
                assert reply.status_code == status
    return found


def told_apart(twins: tuple[Served, Served], outcome: str = "new", number: int = ROUNDS) -> bool:
    """Return whether times tell which server has the victim, with the stated false-alarm rate."""
    here, gone = times_of(twins, outcome, number)
    return float(mannwhitneyu(here, gone).pvalue) < FALSE_ALARM


def test_with_a_clock_times_do_not_tell_twins_apart(twins: tuple[Served, Served]) -> None:
    assert not told_apart(twins)


@pytest.mark.slow
@pytest.mark.parametrize("outcome", OUTCOMES)
def test_with_a_clock_many_times_do_not_tell_twins_apart(
    twins: tuple[Served, Served], outcome: str
) -> None:
    assert not told_apart(twins, outcome, MANY_ROUNDS)


@pytest.mark.slow
def test_times_tell_of_a_server_that_is_slower_with_the_victim_unless_there_is_a_clock(
    tmp_path: Path,
) -> None:
    """The broken twin: 40 ms more for one person. Without a clock it is caught."""
    config = tmp_path / "server.toml"
    slower = ("tests.server.leaky", "0.04")
    for tick, is_caught in (("", True), ('release_every = "200ms"\n', False)):
        config.write_text(f"{tick}[limits]\nburst = 1000000\nrequests_per_minute = 1000000\n")
        options, folder = ("--config", str(config)), tmp_path / f"caught {is_caught}"
        with (
            process_of(write_catalog(folder / "here"), *options, module=slower) as here,
            process_of(write_catalog(folder / "gone", without=VICTIM), *options) as gone,
        ):
            assert told_apart((here, gone)) is is_caught


@pytest.mark.slow
def test_with_a_clock_callers_who_choose_the_moment_learn_nothing(tmp_path: Path) -> None:
    """The broken twin, asked so that what it takes longer would pass a tick; and its history."""
    config = tmp_path / "server.toml"
    config.write_text(
        'release_every = "200ms"\n[limits]\nburst = 1000000\nrequests_per_minute = 1000000\n'
    )
    options, slower = ("--config", str(config)), ("tests.server.leaky", "0.06")
    with (
        process_of(write_catalog(tmp_path / "here"), *options, module=slower) as here,
        process_of(write_catalog(tmp_path / "gone", without=VICTIM), *options) as gone,
    ):
        times = [times_before_a_tick(each, ROUNDS) for each in (here, gone)]
    for channel in ("reply", "history"):
        here_times, gone_times = (each[channel] for each in times)
        assert mannwhitneyu(here_times, gone_times).pvalue >= FALSE_ALARM


def times_before_a_tick(served: Served, number: int) -> dict[str, list[float]]:
    """Return seconds until the reply, and until the time in the history, of several queries.

    Each is sent so long after a tick that it ends about at the next one.
    """
    found: dict[str, list[float]] = {"reply": [], "history": []}
    headers = {"Authorization": f"Bearer {served.tokens['boss']}"}
    with httpx.Client(timeout=60, verify=False, headers=headers) as client:  # noqa: S501 - no TLS
        for turn in range(number):
            client.get(f"{served.url}{BASE}/budget")  # its reply leaves at a tick
            sleep(0.12)
            body = {"sql": OUTCOMES["new"][0].format(turn), "epsilon": 0.01}
            begun, clock = perf_counter(), datetime.now(UTC)
            client.post(f"{served.url}{BASE}/ask", json=body)
            found["reply"].append(perf_counter() - begun)
            reply = client.get(f"{served.url}{BASE}/history?limit=1")
            written = datetime.fromisoformat(reply.json()["entries"][0]["written"])
            found["history"].append((written - clock).total_seconds())
    return found


def test_sizes_follow_from_the_numbers_that_are_shown(twins: tuple[Served, Served]) -> None:
    for served in twins:
        reply = served.ask("SELECT COUNT(*) AS n, SUM(age) AS a FROM visits", epsilon=1)
        again = json.dumps(reply.json(), ensure_ascii=False).encode()
        assert len(reply.content) == int(reply.headers["content-length"]) == len(again)


@pytest.mark.parametrize("sql", QUERIES[:6])
def test_answers_of_twins_have_the_same_size_where_numbers_have_one_width(
    twins: tuple[Served, Served], sql: str
) -> None:
    sizes = []
    for served in twins:
        saved = served.ask(sql, "boss", epsilon=1).headers["Discreet-Answer"]
        reply = served.call("GET", f"{BASE}/answers/{saved}?format=arrow", "boss")
        assert reply.headers["content-type"] == "application/vnd.apache.arrow.stream"
        sizes.append((len(reply.content), int(reply.headers["content-length"])))
    assert sizes[0] == sizes[1]
    assert sizes[0][0] == sizes[0][1] > 0
