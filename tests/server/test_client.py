"""The same calls, answers and errors as of a local curator, over a real server."""

import asyncio
import json
import os
import warnings
from collections.abc import Callable, Coroutine, Iterator
from contextlib import closing
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import discreet
from discreet.account_limits import AccountLimits
from discreet.client import ServerError, connect, connect_async
from discreet.errors import (
    AccountError,
    BudgetError,
    DiscreetError,
    QuestionError,
    SeriesError,
    UnknownNameError,
)
from discreet.explanation.thresholds import GroupThresholdWarning
from discreet.ledger import make_token
from discreet.opening import open_books
from tests.series.files import write_clinic
from tests.server.forked import Ended, run_command
from tests.server.running import BASE, Served, in_month, serving, write_catalog, write_monthly

QUERIES = (
    "SELECT COUNT(*) AS n FROM visits",
    "SELECT region, COUNT(*) AS n, AVG(age) AS age, MEDIAN(age) AS m FROM visits GROUP BY region",
    "SELECT region, COUNT(*) / SUM(COUNT(*)) OVER () AS share FROM visits GROUP BY region",
    "SELECT city, COUNT(DISTINCT patient_id) AS n FROM visits GROUP BY city",
    "SELECT AVG(age) / SUM(CASE WHEN age > 98 THEN 1 ELSE 0 END) AS ratio FROM visits",
)

REJECTED = (
    "SELECT * FROM visits",
    "SELECT nope FROM visits",
    "SELECT SUM(patient_id) FROM visits",
    "SELECT COUNT( FROM visits",
    "DELETE FROM visits",
)


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with serving(write_catalog(tmp_path_factory.mktemp("clinic"))) as found:
        yield found


@pytest.fixture(scope="module")
def other(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """Run a server with a budget of its own, for the client for asyncio."""
    with serving(write_catalog(tmp_path_factory.mktemp("other"))) as found:
        yield found


@pytest.fixture(scope="module")
def local(tmp_path_factory: pytest.TempPathFactory) -> Iterator[discreet.Account]:
    catalog = write_catalog(tmp_path_factory.mktemp("local"))
    token = make_token()
    with open_books(catalog) as ledger:
        ledger.declare_analyst("ann", epsilon=50, token_hash=token.hash)
    with discreet.open(catalog) as curator:
        yield curator.as_analyst(token.text)


class Waited:
    """A client for asyncio, each of whose calls is waited for: as a local curator is used."""

    def __init__(self, served: Served) -> None:
        self._loop = asyncio.new_event_loop()
        self._remote = self._wait(connect_async(served.url, served.tokens["ann"]))

    def _wait(self, work: Coroutine[Any, Any, Any]) -> Any:
        return self._loop.run_until_complete(work)

    def ask(self, sql: str, **terms: Any) -> Any:
        return self._wait(self._remote.ask(sql, **terms))

    def explain(self, sql: str, **terms: Any) -> Any:
        return self._wait(self._remote.explain(sql, **terms))

    def coverage(self, table: str, **terms: Any) -> Any:
        return self._wait(self._remote.coverage(table, **terms))

    def series(self, name: str) -> "WaitedSeries":
        return WaitedSeries(self._wait(self._remote.series(name)), self._wait)

    def all_series(self) -> list["WaitedSeries"]:
        return [WaitedSeries(each, self._wait) for each in self._wait(self._remote.all_series())]

    @property
    def remaining(self) -> Any:
        return self._wait(self._remote.remaining())

    def remaining_by_month(self) -> Any:
        return self._wait(self._remote.remaining_by_month())

    @property
    def limits(self) -> Any:
        return self._wait(self._remote.limits())

    @property
    def catalog(self) -> Any:
        return self._wait(self._remote.catalog())

    def close(self) -> None:
        self._wait(self._remote.close())
        self._loop.close()


class WaitedSeries:
    """A series of a client for asyncio, as a local one is used."""

    def __init__(self, series: Any, wait: Callable[[Coroutine[Any, Any, Any]], Any]) -> None:
        self.name, self._series, self._wait = series.name, series, wait

    @property
    def status(self) -> Any:
        return self._wait(self._series.status())

    def read(self, *kind: str, **terms: Any) -> Any:
        return self._wait(self._series.read(*kind, **terms))

    def explain(self, **terms: Any) -> Any:
        return self._wait(self._series.explain(**terms))


@pytest.fixture(params=["remote", "asyncio"])
def remote(request: pytest.FixtureRequest, served: Served, other: Served) -> Iterator[Any]:
    with closing(served.connect() if request.param == "remote" else Waited(other)) as found:
        yield found


@pytest.fixture(params=["local", "remote", "asyncio"])
def curator(request: pytest.FixtureRequest, local: Any, served: Served, other: Served) -> Any:
    if request.param == "local":
        yield local
        return
    with closing(served.connect() if request.param == "remote" else Waited(other)) as found:
        yield found


def test_limits_are_the_same(remote: Any, local: discreet.Account) -> None:
    assert remote.limits == local.limits == AccountLimits()


def test_what_may_be_asked_about_is_the_same(remote: Any, local: discreet.Account) -> None:
    assert remote.catalog.tables == local.catalog.tables
    assert remote.catalog.budget == local.catalog.budget


@pytest.mark.parametrize("sql", QUERIES)
def test_a_query_is_answered_charged_and_free_when_repeated(curator: Any, sql: str) -> None:
    before = curator.remaining
    answer = curator.ask(sql, epsilon=2, groups_per_unit=1)
    assert answer.charged.epsilon == 2
    assert curator.remaining.epsilon == before.epsilon - 2
    again = curator.ask(sql, epsilon=2, groups_per_unit=1)
    assert again.is_free
    assert again.rows == answer.rows
    assert again.margins == answer.margins
    assert again.intervals == answer.intervals
    assert str(again.table.schema) == str(answer.table.schema)
    assert answer.to_text()
    assert answer.to_json()
    assert answer._repr_html_()
    wider = curator.ask(sql, epsilon=2, groups_per_unit=1, confidence=0.99)
    assert answer.margins_at(0.99) == wider.margins
    assert answer.margins_at(0.99, simultaneous=True).keys() == wider.margins.keys()
    assert curator.remaining.epsilon == before.epsilon - 2


@pytest.mark.parametrize("sql", QUERIES)
def test_an_explanation_is_the_same(remote: Any, local: discreet.Account, sql: str) -> None:
    there, here = (each.explain(sql, epsilon=1) for each in (remote, local))
    assert there.columns == here.columns
    assert there.price == here.price
    told = (replace(each, remaining=None, due=None) for each in (there, here))
    assert len({each.to_text(sql=True) for each in told}) == 1


@pytest.mark.parametrize("sql", REJECTED)
def test_a_rejection_is_the_same(remote: Any, local: discreet.Account, sql: str) -> None:
    there, here = (_rejection(each.ask, sql) for each in (remote, local))
    assert type(there) is type(here)
    assert str(there) == str(here)


def _rejection(ask: Callable[..., object], sql: str) -> DiscreetError:
    with pytest.raises(QuestionError) as caught:
        ask(sql, epsilon=1)
    return caught.value


def test_a_budget_that_is_not_enough_says_the_same(curator: Any) -> None:
    with pytest.raises(BudgetError) as caught:
        curator.ask(f"{QUERIES[0]} WHERE age > 3", epsilon=51)
    assert caught.value.requested == {"epsilon": 51}


def test_groups_that_are_not_shown_are_warned_of_before_the_charge(curator: Any) -> None:
    curator.ask("SELECT COUNT(*) AS n FROM visits WHERE age >= 0", epsilon=1)
    curator.ask("SELECT COUNT(*) AS n FROM visits", epsilon=3)
    sql = "SELECT city, age, COUNT(*) AS n FROM visits GROUP BY city, age"
    before = curator.remaining
    with pytest.raises(GroupThresholdWarning):
        curator.ask(sql, epsilon=0.01)  # tests turn warnings into errors
    assert curator.remaining == before
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GroupThresholdWarning)
        assert len(curator.ask(sql, epsilon=0.01)) == 0


def test_a_client_for_asyncio_asks_several_at_once(served: Served) -> None:
    async def asked() -> list[Any]:
        async with await connect_async(served.url, served.tokens["ann"]) as remote:
            sqls = [f"{QUERIES[0]} WHERE age > {n}" for n in range(10, 16)]
            answers = await asyncio.gather(*(remote.ask(sql, epsilon=0.1) for sql in sqls))
            narrow = await remote.ask(sqls[0], epsilon=0.1, confidence=0.5)
            assert answers[0].margins_at(0.5) == narrow.margins != answers[0].margins
            assert (await remote.remaining()).epsilon < 50
            with pytest.raises(UnknownNameError):
                await remote.explain("SELECT nope FROM visits", epsilon=1)
            return list(answers)

    answers = asyncio.run(asked())
    assert all(abs(each.rows[0]["n"] - 360) < 400 for each in answers)


def test_a_server_that_is_not_there_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("discreet.client.remote.TRIES", 1)
    with pytest.raises(ServerError, match="cannot be reached"):
        connect("http://127.0.0.1:9", "discreet_x")


def test_the_command_asks_a_server(served: Served, tmp_path: Path) -> None:
    def run(*arguments: str) -> Ended:
        home = {"XDG_CONFIG_HOME": str(tmp_path), "DISCREET_SERVER": served.url}
        return run_command(*arguments, folder=tmp_path, environment={**os.environ, **home})

    refused = run("ask", QUERIES[0], "-e", "1")
    assert refused.returncode == 1
    assert "discreet login" in refused.stderr
    signed_in = run("login", served.url, "--token", served.tokens["ann"])
    assert signed_in.returncode == 0, signed_in.stderr
    kept = tmp_path / "discreet" / "credentials.json"
    assert kept.stat().st_mode & 0o777 == 0o600
    answer = run("ask", f"{QUERIES[0]} WHERE age > 5", "-e", "1")
    assert answer.returncode == 0, answer.stderr
    assert "Spent ε = 1" in answer.stdout
    assert "Remaining: ε" in run("budget").stdout
    assert "margin of error" in run("explain", QUERIES[0], "-e", "1").stdout
    assert run("ask", "SELECT * FROM visits", "-e", "1").returncode == 1
    assert run("login", served.url, "--out").returncode == 0
    assert run("budget").returncode == 1


# --------------------------------------------------------------------------- months


@pytest.fixture(scope="module")
def monthly(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Served, discreet.Account]]:
    """Serve a budget per month, charged by an analyst and the owner, and open the same here."""
    catalog = write_monthly(tmp_path_factory.mktemp("monthly"))
    with serving(catalog) as found:
        found.ask(in_month(2), epsilon=4).raise_for_status()
        found.ask(in_month(3), "boss", epsilon=7).raise_for_status()
        found.ask(in_month(3, "SUM(age) AS s"), "bob", epsilon="1/3").raise_for_status()
        with discreet.open(catalog) as curator:
            yield found, curator.as_analyst(found.tokens["ann"])


@pytest.mark.parametrize("kind", ["remote", "asyncio"])
def test_what_remains_by_month_is_the_same(
    monthly: tuple[Served, discreet.Account], kind: str
) -> None:
    served, local = monthly
    with closing(served.connect() if kind == "remote" else Waited(served)) as remote:
        found = remote.remaining_by_month()
        assert found == local.remaining_by_month()
        assert {name: each.epsilon for name, each in found.items()} == {
            "before 2024-02": 10,
            "2024-02": 6,
            "2024-03": Fraction(8, 3),
            "from 2024-04": 10,
        }
        assert remote.remaining.epsilon == Fraction(8, 3)
        explained = remote.explain(in_month(2), epsilon=1)
        assert explained.months == "2024-02"
        assert explained.protects == local.explain(in_month(2), epsilon=1).protects


def test_a_budget_that_is_not_per_month_has_no_months(curator: Any) -> None:
    assert curator.remaining_by_month() == {}


def test_owners_and_analysts_see_months_by_what_they_may_spend(
    monthly: tuple[Served, discreet.Account],
) -> None:
    def left(who: str) -> list[tuple[str, str, str]]:
        told = monthly[0].call("GET", f"{BASE}/budget", who).json()
        assert told["remaining"]["epsilon"] == min(each["epsilon"] for each in told["months"])
        return [
            (each["months"], each["epsilon_exact"], each["total_epsilon_exact"])
            for each in told["months"]
        ]

    names = ["before 2024-02", "2024-02", "2024-03", "from 2024-04"]
    assert left("boss") == list(zip(names, ["10", "6", "8/3", "10"], ["10"] * 4, strict=True))
    assert left("ann") == list(zip(names, ["10", "6", "8/3", "10"], ["50"] * 4, strict=True))
    assert left("bob") == list(zip(names, ["2", "2", "5/3", "2"], ["2"] * 4, strict=True))


def test_the_command_shows_months_of_a_server(
    monthly: tuple[Served, discreet.Account], tmp_path: Path
) -> None:
    served, _ = monthly
    signed_in = {"DISCREET_SERVER": served.url, "DISCREET_TOKEN": served.tokens["bob"]}
    environment = {**os.environ, "XDG_CONFIG_HOME": str(tmp_path), **signed_in}
    shown = run_command("budget", folder=tmp_path, environment=environment).stdout
    assert "2024-03          ε ≈ 1.66666 of 2" in shown
    told = run_command("budget", "--json", folder=tmp_path, environment=environment).stdout
    assert [each["epsilon"] for each in json.loads(told)["months"].values()][1] == 2


# --------------------------------------------------------------------------- series


@pytest.fixture(scope="module")
def chart(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Served, discreet.Account]]:
    """Serve two series whose ticks are released, and open the same catalog here."""
    catalog = write_clinic(tmp_path_factory.mktemp("series"))
    with serving(catalog) as found, discreet.open(catalog) as curator:
        for each in curator.all_series():
            each.tick()
        yield found, curator.as_analyst(found.tokens["ann"])


@pytest.fixture(params=["local", "remote", "asyncio"])
def reading(request: pytest.FixtureRequest, chart: tuple[Served, discreet.Account]) -> Any:
    served, local = chart
    if request.param == "local":
        yield local
        return
    with closing(served.connect() if request.param == "remote" else Waited(served)) as found:
        yield found


def test_series_are_read_in_the_same_way(
    reading: Any, chart: tuple[Served, discreet.Account]
) -> None:
    here = chart[1].series("visits by region")
    assert [each.name for each in reading.all_series()] == ["visits by region", "patients"]
    newest = reading.series("visits by region").read(last=2).to_arrow()
    assert newest == here.read().last(2).to_arrow()
    found = reading.series("Visits by REGION")
    assert found.name == "visits by region"
    assert found.status == here.status
    assert found.read() == here.read()
    assert found.read("tick", confidence=0.8) == here.read("tick", confidence=0.8)
    last = found.read("window", window=7, confidence=Fraction(2, 3))
    assert last.table == here.read("window", window=7, confidence=Fraction(2, 3)).table
    assert found.explain(confidence=0.9) == here.explain(confidence=0.9)
    assert not hasattr(found, "tick")


def test_what_cannot_be_read_of_a_series_is_told_in_the_same_words(reading: Any) -> None:
    with pytest.raises(SeriesError, match=r"no series 'patient'\. Did you mean patients"):
        reading.series("patient")
    with pytest.raises(SeriesError, match=r"no series '\.\.'"):
        reading.series("..")
    with pytest.raises(DiscreetError, match="window"):
        reading.series("patients").read("window")


def test_a_series_of_an_analyst_ends_with_the_token(tmp_path: Path) -> None:
    catalog, token = write_clinic(tmp_path), make_token()
    with open_books(catalog) as ledger:
        ledger.declare_analyst("ann", epsilon=1, token_hash=token.hash)
    with discreet.open(catalog) as curator:
        account = curator.as_analyst(token.text)
        assert account.series("patients").status.released == 0
        curator.ledger.declare_analyst("ann", epsilon=1, token_hash=token.hash, enabled=False)
        with pytest.raises(AccountError):
            account.series("patients")
