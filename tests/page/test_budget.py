"""Budget: what remains, what was asked and what it cost, requests; by whom on what for owners."""

import pytest
from playwright.sync_api import expect

from tests.page.windows import Windows
from tests.server.running import BASE, Served

pytestmark = pytest.mark.browser

COUNT = "SELECT COUNT(*) AS n FROM visits WHERE age > 7"


@pytest.fixture(scope="module", autouse=True)
def _asked(clinic: Served) -> None:
    clinic.ask(COUNT, epsilon=0.5)
    clinic.ask(COUNT, epsilon=0.5)
    clinic.ask("SELECT * FROM visits", epsilon=0.5)
    clinic.ask("SELECT COUNT(*) AS n FROM visits", who="boss", epsilon=1)


def test_analysts_see_what_remains_and_what_they_asked(windows: Windows) -> None:
    page = windows.open("/budget")
    mine = page.get_by_role("region", name="For you")
    expect(mine).to_contain_text("ε 49.5")
    expect(mine).to_contain_text("remaining of 50")
    expect(mine).to_contain_text("at least 495 queries")
    expect(page.get_by_role("region", name="Everyone together")).to_contain_text("ε 98.5")
    asked = page.get_by_role("region", name="What you asked")
    expect(asked.locator("tbody tr")).to_have_count(3)
    for name, count in (("Spent", 1), ("Free", 1), ("Rejected", 1)):
        asked.get_by_role("button", name=name).click()
        expect(asked.locator("tbody tr")).to_have_count(count)
    asked.get_by_role("button", name="Spent").click()
    asked.get_by_role("link", name=COUNT).click()
    page.wait_for_url("**/answers/clinic/*")


def test_analysts_request_more_and_see_the_decision(windows: Windows) -> None:
    page = windows.open("/budget", who="bob")
    page.get_by_role("button", name="Request more").first.click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("Your cap is ε 2 now")
    dialog.get_by_label("New cap").fill("5")
    dialog.get_by_label("Reason").fill("Six tables for the <b>winter</b> plan")
    dialog.get_by_role("button", name="Send the request").click()
    sent = page.get_by_role("region", name="Your requests")
    expect(sent).to_contain_text("a cap of ε 5 waiting")
    expect(sent).to_contain_text("“Six tables for the <b>winter</b> plan”")
    expect(dialog).to_be_hidden()
    served = windows.served
    (found,) = served.call("GET", f"{BASE}/requests", "bob").json()["requests"]
    decision = {"granted": True, "reason": "Go on"}
    served.call("POST", f"{BASE}/requests/{found['number']}/decision", "boss", json=decision)
    page.reload()
    expect(sent).to_contain_text("granted")
    expect(page.get_by_role("region", name="For you")).to_contain_text("remaining of 5")


def test_a_request_that_is_rejected_says_why(windows: Windows) -> None:
    windows.expected = ("422",)
    page = windows.open("/budget", who="bob")
    page.get_by_role("button", name="Request more").first.click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("New cap").fill("0")
    dialog.get_by_label("Reason").fill("Nothing")
    dialog.get_by_role("button", name="Send the request").click()
    expect(dialog.get_by_role("alert")).to_contain_text("epsilon")


def test_owners_see_who_spent_what(windows: Windows) -> None:
    page = windows.open("/budget", who="boss")
    total = page.get_by_role("region", name="Everyone together")
    expect(total.get_by_role("row", name="ann")).to_contain_text("ε 0.5")
    expect(total.get_by_role("img").first).to_have_attribute(
        "aria-label", "Of ε = 100: owner 1, ann 0.5, remaining 98.5"
    )
    spent = page.get_by_role("region", name="Who spent what")
    expect(spent.locator("tbody tr")).to_have_count(2)
    spent.get_by_label("Account").select_option("ann")
    expect(spent.locator("tbody tr")).to_have_count(1)
    expect(spent.locator("tbody tr")).to_contain_text(COUNT)


def test_it_fits_a_phone(windows: Windows) -> None:
    page = windows.open("/budget", who="boss", viewport={"width": 390, "height": 844})
    expect(page.get_by_role("region", name="What you asked")).to_be_visible()
    assert page.locator("main").evaluate("each => each.scrollWidth <= innerWidth")
