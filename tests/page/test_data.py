"""Data: limits in words, what is public, coverage, synthetic rows and queries that are tried."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.page.windows import Windows
from tests.server.running import BASE, CATALOG, Served, serving, write_catalog

pytestmark = pytest.mark.browser

PUBLIC = """
[tables.cities]
from = "cities.csv"
public = true
key = "city"

[tables.cities.columns]
city = { type = "text" }
people = { type = "integer" }
"""


@pytest.fixture(scope="module")
def clinic(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """Serve the small clinic beside a public table."""
    folder: Path = tmp_path_factory.mktemp("clinic")
    catalog = write_catalog(folder)
    catalog.write_text(CATALOG.format(epsilon=100) + PUBLIC)
    (folder / "cities.csv").write_text("city,people\ncity 1,1000\n<b>city</b> 2,2000\n")
    with serving(catalog) as served:
        yield served


def test_a_table_says_who_is_protected_and_what_one_person_can_change(windows: Windows) -> None:
    page = windows.open("/data")
    table = page.get_by_role("region", name="visits")
    expect(table).to_contain_text("each patient_id")
    expect(table).to_contain_text("At most 3 rows of each patient_id are used.")
    columns = page.get_by_role("region", name="Columns")
    expect(columns.get_by_role("row", name="age")).to_contain_text("Values below 0 count as 0")
    expect(columns.get_by_role("row", name="region")).to_contain_text("north")
    expect(columns.get_by_role("row", name="city")).to_contain_text("Refers to cities")
    page.get_by_role("link", name="Ask about visits").click()
    page.wait_for_url("**/?q=SELECT%20region*")


def test_public_tables_are_marked_and_show_their_rows(windows: Windows) -> None:
    page = windows.open("/data")
    page.get_by_role("link", name="cities public").click()
    expect(page.get_by_role("region", name="cities")).to_contain_text("nobody")
    rows = page.get_by_role("region", name="Rows", exact=True).first
    expect(rows).to_contain_text("<b>city</b> 2")
    expect(page.get_by_text("Synthetic rows")).to_have_count(0)


def test_a_query_is_tried_on_synthetic_data_for_free(windows: Windows) -> None:
    windows.expected = ("422",)
    page = windows.open("/data")
    expect(page.get_by_role("region", name="Synthetic rows, not real")).to_contain_text("north")
    box = page.get_by_role("region", name="Try a query on synthetic data")
    box.get_by_role("button", name="Try it, free").click()
    expect(box).to_contain_text("Not real.")
    expect(box).to_contain_text("south")
    expect(box).to_contain_text("±")
    box.get_by_label("Query").fill("SELECT * FROM visits")
    page.keyboard.press("Control+Enter")
    expect(box.get_by_role("alert")).to_contain_text("individual rows")
    left = windows.served.call("GET", f"{BASE}/budget").json()["remaining"]
    assert left["epsilon"] == left["total_epsilon"]


def test_coverage_is_measured_after_its_cost_was_shown(windows: Windows) -> None:
    page = windows.open("/data")
    page.get_by_role("button", name="Measure it").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_role("button", name="Measure for ε 5")).to_be_visible()
    dialog.get_by_label("Cost, ε").fill("2")
    dialog.get_by_role("button", name="Measure for ε 2").click()
    table = page.get_by_role("region", name="visits")
    expect(table).to_contain_text("Measured for ε 2, with noise")
    expect(page.locator(".purse")).to_contain_text("48")


def test_readers_see_data_and_cannot_try(windows: Windows) -> None:
    page = windows.open("/data", who="guest", viewport={"width": 390, "height": 844})
    expect(page.get_by_role("region", name="Synthetic rows, not real")).to_contain_text("north")
    expect(page.get_by_role("button", name="Try it, free")).to_have_count(0)
    expect(page.get_by_role("link", name="Ask about visits")).to_have_count(0)
    assert page.locator("main").evaluate("each => each.scrollWidth <= innerWidth")
