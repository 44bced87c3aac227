"""Playgrounds in a browser: each opens, a control moves a figure, and attacks run to their end."""

import pytest
from playwright.sync_api import Page, expect

from tests.page.windows import Windows

pytestmark = pytest.mark.browser

PLAYGROUNDS = {
    "neighbours": ("Two neighbours", "Cost ε", "Margin of error, 95%"),
    "error": ("Error against ε", "Cost ε", "Laplace"),
    "belief": ("Belief before and after", "Belief before", "After, at most"),
    "crowd": ("Randomized response", "Cost ε", "A report is true with"),
    "auction": ("The auction", "Highest bid", "Best revenue"),
    "noisy-max": ("Noisy max", "Cost ε", "The largest is named"),
    "stream": ("Sparse vector", "Cost ε of the run", "Each hit uses"),
    "composition": ("Composition", "Cost of each answer", "The smallest proved total"),
}
"""For each address: its heading, a slider, and a figure that the slider moves."""


def figure(page: Page, words: str) -> str:
    """Return the value of a figure."""
    row = page.locator(".figures > div", has=page.get_by_text(words, exact=True))
    return row.locator("dd").inner_text()


def move(page: Page, slider: str, key: str = "PageUp") -> None:
    """Move a slider by the keyboard."""
    page.get_by_role("slider", name=slider, exact=True).press(key)


def settled(page: Page) -> None:
    """Wait until the stage shows what the controls say."""
    expect(page.locator(".stage[aria-busy=false] .chart svg").first).to_be_visible()


def test_every_playground_opens_and_a_control_moves_a_figure(windows: Windows) -> None:
    page = windows.open("/learn", who="guest")
    for address, (title, slider, words) in PLAYGROUNDS.items():
        page.get_by_role("navigation", name="Playgrounds").get_by_role("link", name=title).click()
        expect(page).to_have_url(f"{windows.served.url}/learn/{address}")
        expect(page.get_by_role("heading", name=title, level=2)).to_be_visible()
        settled(page)
        before = figure(page, words)
        move(page, slider)
        row = page.locator(".figures > div", has=page.get_by_text(words, exact=True))
        expect(row.locator("dd")).not_to_have_text(before)
        assert page.locator(".stage svg[role=img]").first.get_attribute("aria-label")


def test_lectures_stand_below_their_playground(windows: Windows) -> None:
    page = windows.open("/learn/crowd")
    expect(page.get_by_text("ε = ln 3 = 1.0986")).to_be_visible()
    page.get_by_role("link", name="Two neighbours").click()
    expect(page.get_by_text("the likelihood ratio is at most e^ε = 2.718")).to_be_visible()


def test_draws_fall_as_dots_and_are_counted(windows: Windows) -> None:
    page = windows.open("/learn", reduced_motion="reduce")
    for kind in ("Geometric", "Laplace", "Gaussian", "Staircase"):
        page.get_by_role("button", name=kind).click()
        settled(page)
        page.get_by_role("button", name="Draw 100").click()
        expect(page.locator(".figures dt", has_text="Drawn without, with you")).to_be_visible()
        drawn = figure(page, "Drawn without, with you").split(", ")
        assert sum(int(each) for each in drawn) == 100
        assert figure(page, page.locator("dt", has_text="After the answer").inner_text())
    page.get_by_role("button", name="Clear").click()
    expect(page.locator(".drop")).to_have_count(0)


def test_choices_and_beliefs_are_drawn_by_the_server(windows: Windows) -> None:
    page = windows.open("/learn/belief")
    page.get_by_role("button", name="Release a noisy count").click()
    expect(page.get_by_text("In fact")).to_be_visible()
    page.get_by_role("link", name="The auction").click()
    page.get_by_role("button", name="Choose 50").click()
    expect(page.locator("circle.drop").first).to_be_visible()
    page.get_by_role("link", name="Noisy max").click()
    page.get_by_role("button", name="Name 100").click()
    expect(page.get_by_text("100 times")).to_be_visible()
    page.get_by_role("link", name="Randomized response").click()
    page.get_by_role("checkbox", name="ring those whose coin lied").check()
    expect(page.locator("circle.lied").first).to_be_visible()


def test_a_stream_runs_until_its_hits_are_used(windows: Windows) -> None:
    page = windows.open("/learn/stream", reduced_motion="reduce")
    expect(page.locator("dt", has_text="The run")).to_be_visible()
    expect(page.get_by_role("img", name="of 3 hits")).to_be_visible()


def test_an_attack_runs_to_its_end(windows: Windows) -> None:
    page = windows.open("/learn/reconstruction")
    page.get_by_role("button", name="Start the attack").click()
    expect(page.get_by_role("progressbar")).to_be_visible()
    expect(page.get_by_role("button", name="Attack again")).to_be_visible(timeout=60_000)
    assert figure(page, "Exact answers") == "100% right"
    assert figure(page, "Discreet").endswith("% right")
    expect(page.get_by_text("the attack succeeds").first).to_be_visible()
    expect(page.get_by_text("stopped answering after 10 queries")).to_be_visible()


def test_an_attack_stops_when_told_and_when_left(windows: Windows) -> None:
    page = windows.open("/learn/averaging")
    page.get_by_role("button", name="Start the attack").click()
    page.get_by_role("button", name="Stop").click()
    expect(page.get_by_role("button", name="Start the attack")).to_be_visible()
    page.get_by_role("button", name="Start the attack").click()
    page.get_by_role("link", name="Differencing").click()
    expect(page.get_by_role("heading", name="Differencing")).to_be_visible()


def test_a_playground_that_does_not_exist_says_so(windows: Windows) -> None:
    page = windows.open("/learn/nothing")
    expect(page.get_by_text("There is no such playground")).to_be_visible()


def test_no_playground_scrolls_sideways_on_a_phone(windows: Windows) -> None:
    page = windows.open(
        "/learn",
        viewport={"width": 390, "height": 844},
        color_scheme="dark",
        reduced_motion="reduce",
    )
    pick = page.get_by_role("combobox")
    for address in (*PLAYGROUNDS, "averaging", "differencing", "reconstruction"):
        pick.select_option(address)
        expect(page).to_have_url(f"{windows.served.url}/learn/{address}")
        settled(page)
        assert page.evaluate("document.documentElement.scrollWidth") <= 390, address
