"""Series on the page: a list, a chart that is read by keyboard, numbers, a button for owners."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect

from tests.page.axe import breaches
from tests.page.windows import Windows
from tests.series.files import DAYS, write_clinic
from tests.server.held import limits_of
from tests.server.running import Served, serving

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """Serve series whose ticks the owner releases."""
    folder = tmp_path_factory.mktemp("series")
    option, file = limits_of(folder, "")
    (folder / "server.toml").write_text(f"series = false\n{(folder / 'server.toml').read_text()}")
    with serving(write_clinic(folder), option, file) as found:
        yield found


@pytest.fixture
def charts(browser: Browser, place: Served) -> Iterator[Windows]:
    found = Windows(browser=browser, served=place)
    yield found
    found.close()


def test_an_owner_releases_ticks_and_reads_them_with_the_keyboard(charts: Windows) -> None:
    page = charts.open("/series", "boss")
    expect(page.get_by_text("No tick is released yet")).to_be_visible()
    expect(page.get_by_text("This server does not release ticks by itself.")).to_be_visible()
    page.get_by_role("button", name="Release now for ε 10").click()
    expect(page.locator(".series-chart svg[role=img]")).to_be_visible()
    expect(page.get_by_text(f"{DAYS} of 30 days are released")).to_be_visible()
    tick = page.get_by_role("slider", name="Tick")
    last = tick.get_attribute("aria-valuetext") or ""
    assert "north" in last
    assert "±" in last
    tick.focus()
    page.keyboard.press("ArrowLeft")
    expect(page.locator(".reader p")).not_to_have_text(last)
    page.get_by_role("group", name="Lines").get_by_role("button", name="north").press("Enter")
    expect(page.locator(".series-chart .chart .s0")).to_have_count(0)
    expect(page.locator(".series-chart .chart .s1")).to_have_count(1)
    page.get_by_role("button", name="Last 7 days").press("Enter")
    expect(page.get_by_role("heading", name="Last 7 days")).to_be_visible()
    with page.expect_download() as saved:
        page.get_by_role("link", name="CSV").click()
    text = saved.value.path().read_text()
    assert text.splitlines()[0] == "tick,region,visits,visits_margin"
    assert saved.value.suggested_filename == "visits by region.csv"
    table = page.get_by_role("table", name="Last 7 days")
    expect(table.get_by_role("row")).to_have_count(1 + 2 * DAYS)
    for theme in ("light", "dark"):
        page.evaluate(f"document.documentElement.dataset.theme = '{theme}'")
        page.wait_for_timeout(200)
        assert not breaches(page)
    page.set_viewport_size({"width": 390, "height": 844})
    page.wait_for_timeout(300)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert not breaches(page)


def test_readers_see_what_a_series_costs_and_no_button_to_release_it(charts: Windows) -> None:
    page = charts.open("/series?name=patients", "guest")
    expect(page.get_by_role("heading", level=1)).to_have_text("patients")
    expect(page.get_by_text("ε 20")).to_be_visible()
    expect(page.get_by_text("Protects all data of one patient_id")).to_be_visible()
    expect(page.get_by_role("table", name="Margins of error at 95% confidence")).to_be_visible()
    expect(page.get_by_role("button", name="Release now")).to_have_count(0)
