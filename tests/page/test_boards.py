"""Boards: saved answers side by side, added, arranged by keyboard, renamed and deleted."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.page.windows import Windows
from tests.server.running import BASE, Served, serving, write_catalog

pytestmark = pytest.mark.browser

BY_REGION = "SELECT region, COUNT(*) AS visits FROM visits GROUP BY region"
AVERAGE = "SELECT AVG(age) AS age FROM visits"


@pytest.fixture(scope="module", autouse=True)
def answers(clinic: Served) -> dict[str, str]:
    return {
        sql: clinic.ask(sql, epsilon=1).headers["Discreet-Answer"] for sql in (BY_REGION, AVERAGE)
    }


def saved(served: Served, who: str = "ann") -> dict[str, list[str]]:
    boards = served.call("GET", f"{BASE}/boards", who).json()["boards"]
    return {board["name"]: [each["title"] for each in board["cards"]] for board in boards}


def test_a_board_is_made_filled_arranged_renamed_and_deleted(windows: Windows) -> None:
    page, served = windows.open("/boards"), windows.served
    page.get_by_role("button", name="Create a board").click()
    page.get_by_label("Name").fill("Glance / <i>one</i>")
    page.get_by_role("button", name="Create the board").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Glance / <i>one</i>")
    page.get_by_role("button", name="Add a saved answer").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("button", name=f"Add {BY_REGION}").click()
    expect(dialog.get_by_text("on the board")).to_have_count(1)
    dialog.get_by_label("Search").fill("avg")
    dialog.get_by_role("button", name=f"Add {AVERAGE}").click()
    expect(dialog.get_by_role("button", name="Add SELECT")).to_have_count(0)
    dialog.get_by_role("button", name="Done").click()
    card = page.get_by_role("region", name="visits by region", exact=True)
    expect(card).to_contain_text("north")
    expect(card).to_contain_text("±")
    expect(card).to_contain_text("as of today")
    expect(card).to_contain_text("saved, free")
    assert saved(served) == {"Glance / <i>one</i>": ["visits by region", "age"]}
    page.get_by_role("button", name="Arrange").click()
    page.get_by_role("button", name="Move visits by region later").focus()
    page.keyboard.press("Enter")
    expect(page.locator(".board h2")).to_have_text(["age", "visits by region"])
    expect(page.get_by_role("button", name="Move visits by region earlier")).to_be_focused()
    card.get_by_role("button", name="Table").click()
    page.get_by_role("button", name="Boards").click()
    page.get_by_role("button", name="Rename this board").click()
    page.get_by_label("Name", exact=True).fill("Two")
    page.get_by_role("button", name="Rename", exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Two")
    assert saved(served) == {"Two": ["age", "visits by region"]}
    page.reload()
    expect(page.locator(".board h2")).to_have_text(["age", "visits by region"])
    page.get_by_role("button", name="Boards").click()
    page.get_by_role("button", name="Delete this board").click()
    page.get_by_role("button", name="Delete the board").click()
    expect(page.get_by_text("No boards yet")).to_be_visible()
    assert saved(served) == {}


def test_readers_have_boards_of_everyones_answers(windows: Windows) -> None:
    page = windows.open("/boards", who="guest", viewport={"width": 390, "height": 844})
    page.get_by_role("button", name="Create a board").click()
    page.get_by_label("Name").fill("For all")
    page.get_by_role("button", name="Create the board").click()
    page.get_by_role("button", name="Add a card").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("ann, today")
    dialog.get_by_role("button", name=f"Add {AVERAGE}").click()
    dialog.get_by_role("button", name="Done").click()
    expect(page.get_by_role("region", name="age")).to_contain_text("±")
    expect(page.get_by_text("Run again")).to_have_count(0)
    assert page.locator("main").evaluate("each => each.scrollWidth <= innerWidth")


@pytest.fixture(scope="module")
def moved(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """Serve data that changed since an answer was saved."""
    folder: Path = tmp_path_factory.mktemp("moved")
    catalog = write_catalog(folder)
    with serving(catalog) as served:
        id_ = served.ask(AVERAGE, epsilon=0.25).headers["Discreet-Answer"]
        card = {"answer": id_, "title": "Average age", "view": "both"}
        served.call("PUT", f"{BASE}/boards/Old", json={"cards": [card]})
    write_catalog(folder, without=3)
    with serving(catalog) as served:
        yield served


def test_a_card_says_that_the_data_changed_and_what_a_new_answer_costs(
    browser: Browser, moved: Served
) -> None:
    windows = Windows(browser=browser, served=moved)
    page = windows.open("/boards")
    card = page.get_by_role("region", name="Average age")
    expect(card).to_contain_text("The data changed")
    card.get_by_role("link", name="Run again: ε 0.25").click()
    page.wait_for_url("**/?q=SELECT+AVG*epsilon=0.25")
    windows.close()
