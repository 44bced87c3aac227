"""What releases ticks: owners cannot stop the clock, and slow catalogs hold up no other."""

import asyncio
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from discreet.errors import BudgetError, SourceError
from discreet.opening import open_for_ticks
from discreet.server import ticking
from discreet.server.admission import STOPPING, reading_turns
from discreet.server.faults import CallError
from discreet.server.settings import ServerLimits, Settings
from discreet.server.sites import Site, open_site
from discreet.server.ticking import ALL, CLOCK, FIRST_PAUSE, Ticker
from tests.series.files import DAYS, write_clinic

REGIONS, PATIENTS = "visits by region", "patients"
LONG_AGO = datetime(2000, 1, 1, tzinfo=UTC)
BY_HAND = Settings(series=False)


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    """Return a catalog whose budget suffices for the first of two series."""
    found = open_site("clinic", write_clinic(tmp_path, budget=25))
    yield found
    found.close()


def released(site: Site) -> list[int]:
    return [each.status.released for each in site.curator.all_series()]


def pauses(ticker: Ticker, site: Site) -> dict[str, float]:
    own = ticker._of(site)
    return {name: each.again_at for name, each in own.pauses.items()}


def failures(ticker: Ticker, site: Site) -> dict[Any, Any]:
    found: Any = ticker.state(site)["failures"]
    return {each["series"]: each["code"] for each in found}


async def tick(ticker: Ticker, site: Site, until: datetime | None = None, who: str = "boss") -> Any:
    return await ticker.release(site, [], until, who)


# --------------------------------------------------------------------------- owners and the clock


def test_what_an_owner_does_changes_no_pause_of_the_clock(site: Site) -> None:
    async def act() -> None:
        ticker = Ticker({"clinic": site}, BY_HAND)
        with pytest.raises(BudgetError):
            await tick(ticker, site)
        assert failures(ticker, site) == {PATIENTS: "budget"}
        assert pauses(ticker, site) == {}
        with pytest.raises(BudgetError):
            await tick(ticker, site, who=CLOCK)
        (before,) = pauses(ticker, site).values()
        assert 0 < before - time.monotonic() <= FIRST_PAUSE
        with pytest.raises(BudgetError):
            await tick(ticker, site)
        assert pauses(ticker, site) == {PATIENTS: before}
        await ticker.stop()

    asyncio.run(act())


def test_an_earlier_moment_clears_no_failure(site: Site) -> None:
    async def act() -> None:
        ticker = Ticker({"clinic": site}, BY_HAND)
        with pytest.raises(BudgetError):
            await tick(ticker, site, who=CLOCK)
        before = pauses(ticker, site)
        assert await tick(ticker, site, LONG_AGO) == []
        assert failures(ticker, site) == {PATIENTS: "budget"}
        assert pauses(ticker, site) == before
        await ticker.stop()

    asyncio.run(act())


def test_data_that_are_back_clear_the_failure_and_leave_the_pause(site: Site) -> None:
    assert site.path is not None
    file = site.path.parent / "visits.csv"
    content = file.read_text()
    file.unlink()

    async def act() -> None:
        ticker = Ticker({"clinic": site}, BY_HAND)
        with pytest.raises(SourceError):
            await tick(ticker, site, who=CLOCK)
        before = pauses(ticker, site)
        assert set(before) == {ALL}
        file.write_text(content)
        await ticker.release(site, [REGIONS], None, "boss")
        assert (failures(ticker, site), pauses(ticker, site)) == ({}, before)
        await ticker.release(site, [REGIONS], None, CLOCK)
        assert pauses(ticker, site) == {}
        await ticker.stop()

    asyncio.run(act())


# --------------------------------------------------------------------------- the log


@pytest.mark.parametrize("who", [CLOCK, "boss"])
def test_the_log_names_the_series_and_the_reason(
    site: Site, who: str, caplog: pytest.LogCaptureFixture
) -> None:
    async def act() -> None:
        ticker = Ticker({"clinic": site}, BY_HAND)
        with pytest.raises(BudgetError):
            await tick(ticker, site, who=who)
        await ticker.stop()

    asyncio.run(act())
    (line,) = [each.getMessage() for each in caplog.records if each.levelname == "WARNING"]
    assert line.startswith("ticks of the series patients of clinic were not released: ")
    assert "budget" in line


def test_the_log_has_no_words_of_foreign_errors(
    site: Site, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fails(*_: Any, **__: Any) -> None:
        raise RuntimeError("patient 17")

    monkeypatch.setattr(ticking, "open_for_ticks", fails)
    caplog.set_level("INFO")

    async def act() -> None:
        ticker = Ticker({"clinic": site}, BY_HAND)
        with pytest.raises(RuntimeError):
            await tick(ticker, site)
        await ticker.stop()

    asyncio.run(act())
    assert "ticks of all series of clinic were not released: RuntimeError" in caplog.text
    assert "patient 17" not in caplog.text


def test_a_suspension_says_what_the_owner_does(site: Site) -> None:
    ticker = Ticker({"clinic": site}, BY_HAND)
    ticker._of(site).note(PATIENTS, "suspended", "boss")
    told: Any = ticker.state(site)["failures"]
    (failure,) = told
    assert "discreet ledger incidents" in failure["remedy"]


# --------------------------------------------------------------------------- several catalogs


def test_a_slow_catalog_holds_up_no_other_and_none_that_is_added(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    go_on = Event()
    names = ("slow", "quick", "added")
    sites = {name: open_site(name, write_clinic(tmp_path / name)) for name in names}

    def opened(path: Path, **terms: Any) -> Any:
        if path.parent.name == "slow":
            go_on.wait(30)
        return open_for_ticks(path, **terms)

    monkeypatch.setattr(ticking, "open_for_ticks", opened)
    monkeypatch.setattr(ticking, "LOOK_FOR_SITES", 0.05)

    async def until_released(name: str) -> None:
        async with asyncio.timeout(20):
            while released(sites[name]) != [DAYS, DAYS]:
                await asyncio.sleep(0.05)

    async def act() -> None:
        served = {name: sites[name] for name in ("slow", "quick")}
        ticker = Ticker(served, Settings())
        ticker.start()
        try:
            await until_released("quick")
            served["added"] = sites["added"]
            await until_released("added")
            assert released(sites["slow"]) == [0, 0]
            go_on.set()
            await until_released("slow")
        finally:
            go_on.set()
            await ticker.stop()

    asyncio.run(act())
    for each in sites.values():
        each.close()


# --------------------------------------------------------------------------- stopping


def test_calls_that_wait_open_no_data_after_the_stop(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    is_open, go_on, opened = Event(), Event(), []

    def slow(path: Path, **terms: Any) -> Any:
        opened.append(path)
        is_open.set()
        go_on.wait(30)
        return open_for_ticks(path, **terms)

    monkeypatch.setattr(ticking, "open_for_ticks", slow)

    async def act() -> list[Any]:
        ticker = Ticker({"clinic": site}, BY_HAND)
        calls = [asyncio.create_task(tick(ticker, site)) for _ in range(3)]
        await asyncio.to_thread(is_open.wait, 30)
        stopped = asyncio.create_task(ticker.stop())
        await asyncio.sleep(0)
        go_on.set()
        await stopped
        assert failures(ticker, site) == {}
        return await asyncio.gather(*calls, return_exceptions=True)

    assert asyncio.run(act()) == [STOPPING] * 3
    assert len(opened) == 1
    assert released(site) == [0, 0]


# --------------------------------------------------------------------------- reading


def test_one_account_reads_one_series_at_a_time_and_keeps_no_other_out() -> None:
    async def act() -> None:
        turns = reading_turns(ServerLimits(seconds=1, running=2, running_per_account=4))
        async with turns.turn("ann"):
            async with turns.turn("bob"):
                pass
            with pytest.raises(CallError, match="waited too long"):
                async with turns.turn("ann"):
                    pass

    asyncio.run(act())
