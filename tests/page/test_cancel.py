"""Cancelling queries in the owner's room, while a server runs one and lets another wait."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from playwright.sync_api import expect

from tests.page.windows import Windows
from tests.server.held import Hold, held_process, limits_of, spent_by, wait_for
from tests.server.running import Served, running, write_catalog

pytestmark = pytest.mark.browser

COUNT = "SELECT COUNT(*) AS n FROM visits"


@pytest.fixture(scope="module")
def hold(tmp_path_factory: pytest.TempPathFactory) -> Hold:
    return Hold(tmp_path_factory.getbasetemp() / "held-clinic")


@pytest.fixture(scope="module")
def clinic(tmp_path_factory: pytest.TempPathFactory, hold: Hold) -> Iterator[Served]:
    """Serve the clinic, one query at a time, and hold the one that runs once `hold` is armed."""
    folder = tmp_path_factory.getbasetemp() / "held-clinic"
    catalog = write_catalog(folder)
    with held_process(catalog, "run", *limits_of(folder, "running = 1")) as served:
        yield served
        hold.release()


def test_a_query_that_waits_is_dropped_and_one_that_runs_ends_without_its_analyst(
    windows: Windows, clinic: Served, hold: Hold
) -> None:
    windows.expected = ("409",)
    analyst = windows.open("/", "bob")
    button = analyst.get_by_role("button", name="Run for").locator("visible=true")
    expect(button).to_be_enabled()
    with ThreadPoolExecutor() as pool:
        hold.arm()
        runs = pool.submit(clinic.ask, COUNT, epsilon=1)
        hold.wait_until_reached()
        button.click()
        wait_for(lambda: len(running(clinic)) == 2)

        owner = windows.open("/owner", "boss")
        expect(owner.get_by_text("1 of them wait for a turn")).to_be_visible()
        owner.get_by_role("button", name="Cancel the query of bob").click()
        expect(owner.get_by_text("It has not begun: nothing is charged.")).to_be_visible()
        owner.get_by_role("button", name="Cancel the query", exact=True).click()
        expect(owner.get_by_text("Cancelled. Nothing was charged.")).to_be_visible()
        expect(owner.get_by_role("button", name="Cancel the query of bob")).to_have_count(0)
        expect(analyst.get_by_text("cancelled")).to_be_visible()
        assert spent_by(clinic, "bob", 2) == 0

        owner.get_by_role("button", name="Cancel the query of ann").click()
        owner.get_by_role("button", name="Cancel the query", exact=True).click()
        expect(owner.get_by_text("Cancelled. What was charged stays charged.")).to_be_visible()
        expect(owner.get_by_text("cancelled: runs to its end")).to_be_visible()
        expect(owner.get_by_role("button", name="Cancel the query of ann")).to_have_count(0)
        assert runs.result().status_code == 409
        hold.release()
    wait_for(lambda: running(clinic) == [])
    assert spent_by(clinic) == 1
