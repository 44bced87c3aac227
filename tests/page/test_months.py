"""A budget per month on the page: what remains by month, and which months a query is charged to."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.page.axe import breaches
from tests.page.windows import Windows
from tests.server.running import Served, in_month, serving, write_monthly

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def clinic(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """Serve a budget per month, with charges of an analyst and of the owner."""
    folder: Path = tmp_path_factory.mktemp("monthly")
    with serving(write_monthly(folder)) as served:
        served.ask(in_month(2), "bob", epsilon=0.5).raise_for_status()
        served.ask(in_month(3), "bob", epsilon=2).raise_for_status()
        served.ask(in_month(3), "boss", epsilon=7).raise_for_status()
        yield served


def preview_of(page: Page, sql: str) -> None:
    page.goto(f"{page.url.split('?')[0]}?q={sql}&epsilon=0.75")


def test_analysts_see_what_remains_by_month(windows: Windows) -> None:
    page = windows.open("/budget", who="bob")
    table = page.get_by_role("region", name="By month").get_by_role("table")
    expect(table.get_by_role("row")).to_have_count(5)
    rows = table.get_by_role("row").all_inner_texts()
    assert [" ".join(each.split()) for each in rows] == [
        "Months Spent Remaining",
        "before 2024-02 ε 2 of 2",
        "2024-02 ε 1.5 of 2",
        "2024-03 ε 0 of 2",
        "from 2024-04 ε 2 of 2",
    ]
    bars = table.get_by_role("img")
    expect(bars.nth(1)).to_have_attribute("aria-label", "Spent ε = 0.5 of 2")
    expect(page.get_by_role("region", name="For you")).to_contain_text("the least of any month")
    expect(page.locator("main")).to_contain_text("Spent for some months: 2024-03.")
    expect(page.locator("main")).not_to_contain_text("nothing new is answered.")
    expect(page.locator("main")).to_contain_text("about the data of any one person in one month")
    expect(page.locator(".purse")).to_contain_text("ε 0 remaining, least of any month")


def test_the_table_of_months_can_be_scrolled_with_keys(windows: Windows) -> None:
    page = windows.open("/budget", who="boss", viewport={"width": 1280, "height": 700})
    months = page.get_by_role("group", name="By month")
    page.get_by_role("link", name="Change caps").focus()
    for _ in range(10):
        page.keyboard.press("Tab")
        if months.evaluate("each => each === document.activeElement"):
            break
    expect(months).to_be_focused()
    assert breaches(page) == {}


def test_owners_see_amounts_of_accounts_that_are_not_of_one_month(windows: Windows) -> None:
    page = windows.open("/budget", who="boss")
    total = page.get_by_role("region", name="Everyone together")
    expect(total).to_contain_text("remaining of 10, the least of any month")
    expect(total).to_contain_text("added up over all months")
    bob = total.get_by_role("row", name="bob")
    expect(bob).to_contain_text("ε 2.5")
    expect(bob).to_contain_text("ε 2 a month")
    expect(bob.get_by_role("img")).to_have_count(0)
    page.goto(f"{windows.served.url}/owner")
    sets = page.get_by_role("region", name="Data sets")
    expect(sets).to_contain_text("ε 1 of 10 remaining, least of any month")
    expect(sets).to_contain_text("open")
    accounts = page.get_by_role("region", name="Accounts")
    expect(accounts.get_by_role("listitem").filter(has_text="bob")).to_contain_text(
        "ε 0 of 2 remaining, least of any month"
    )


def test_a_preview_says_which_months_are_charged_and_what_remains_for_them(
    windows: Windows,
) -> None:
    page = windows.open("/", who="bob")
    preview_of(page, in_month(2, "SUM(age) AS s"))
    strip = page.locator(".preview")
    expect(strip).to_contain_text("Charged to 2024-02. Protects the data of one patient_id in one")
    expect(strip).to_contain_text("leaves ε 0.75 of 2")
    expect(strip.get_by_role("button", name="Run for ε 0.75")).to_be_enabled()
    expect(page.locator(".purse")).to_contain_text("ε 0 remaining")
    preview_of(page, in_month(3, "SUM(age) AS s"))
    expect(strip).to_contain_text("The budget is used up for 2024-03.")
    expect(strip.get_by_role("button", name="Not enough budget")).to_be_disabled()
    preview_of(page, "SELECT SUM(age) AS s FROM visits WHERE arrived >= DATE '2024-04-01'")
    expect(strip).to_contain_text("Charged to 2024-04 and every later month.")
    expect(page.locator(".belief")).to_contain_text("is in the data of one month")


def test_an_answer_about_one_month_leaves_the_others_as_they_were(windows: Windows) -> None:
    page = windows.open("/", who="ann")
    expect(page.locator(".purse")).to_contain_text("ε 1 remaining")
    preview_of(page, in_month(6))
    page.get_by_role("button", name="Run for ε 0.75").first.click()
    receipt = page.locator(".receipt")
    expect(receipt).to_contain_text("Remaining ε 9.25 of 50 for the months that it read")
    expect(page.locator(".purse")).to_contain_text("ε 1 remaining, least of any month")


def test_the_view_of_data_says_that_months_are_protected(windows: Windows) -> None:
    page = windows.open("/data")
    expect(page.locator(".facts")).to_contain_text("one patient_id in one month")
    expect(page.locator(".facts")).to_contain_text("at most 3 rows in each month")
    expect(page.locator(".facts")).to_contain_text("that arrived in one month")
    expect(page.locator(".side")).to_contain_text("protects each patient_id, month by month")


def test_it_fits_a_phone(windows: Windows) -> None:
    page = windows.open("/budget", who="bob", viewport={"width": 390, "height": 844})
    expect(page.get_by_role("region", name="By month")).to_be_visible()
    assert page.locator("main").evaluate("each => each.scrollWidth <= innerWidth")
    assert page.locator("header.top").evaluate("each => each.scrollWidth <= innerWidth")
