"""Every view is accessible, in light and dark, on a phone, and asks nobody else for anything."""

import json
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.page.axe import breaches
from tests.page.windows import Windows

pytestmark = pytest.mark.browser

VIEWS = ("/", "/data", "/budget", "/series", "/boards", "/learn", "/owner", "/owner/add")
PHONE: Any = {"width": 390, "height": 844}
ZOOMED: Any = {"width": 640, "height": 450}
"""A window of 1280 by 900 at twice the size."""


def settled(page: Page) -> Page:
    """Wait until a view is drawn and nothing is loaded any more."""
    expect(page.get_by_role("navigation", name="Views")).to_be_visible()
    page.wait_for_load_state("networkidle")
    expect(page.locator("main h1, main h2").first).to_be_visible()
    return page


@pytest.mark.parametrize("path", VIEWS)
def test_a_view_is_accessible_light_and_dark_wide_and_narrow(windows: Windows, path: str) -> None:
    page = settled(windows.open(path, "boss"))
    for theme in ("light", "dark"):
        page.evaluate(f"document.documentElement.dataset.theme = '{theme}'")
        page.wait_for_timeout(200)  # colours change within 120 ms
        found = breaches(page)
        assert not found, (theme, json.dumps(found, indent=1))
    for width in (ZOOMED, PHONE):
        page.set_viewport_size(width)
        page.wait_for_timeout(300)  # charts are drawn again for the new width
        assert page.evaluate("document.documentElement.scrollWidth") <= width["width"]
    found = breaches(page)
    assert not found, json.dumps(found, indent=1)


def test_views_are_reached_by_keys(windows: Windows) -> None:
    page = settled(windows.open("/data", "boss"))
    for key, path in (
        ("b", "/budget"),
        ("s", "/series"),
        ("o", "/boards"),
        ("l", "/learn"),
        ("w", "/owner"),
    ):
        page.keyboard.press("g")
        page.keyboard.press(key)
        page.wait_for_url(f"**{path}")
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keyboard")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)


def test_the_theme_is_changed_and_kept(windows: Windows) -> None:
    page = settled(windows.open("/data"))
    page.get_by_role("button", name="Light or dark").click()
    page.reload()
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"


def test_analysts_see_no_room_of_the_owner(windows: Windows) -> None:
    page = settled(windows.open("/data", "ann"))
    expect(page.get_by_role("link", name="Owner")).to_have_count(0)


def test_an_unknown_playground_says_so(windows: Windows) -> None:
    page = windows.open("/learn/nothing-here")
    expect(page.locator("main")).to_contain_text("There is no such playground")


def test_an_address_that_is_not_well_formed_is_told(windows: Windows) -> None:
    windows.expected = ("404",)
    page = windows.open("/answers/%zz/x")
    expect(page.get_by_text("There is no answer here that you may see")).to_be_visible()
