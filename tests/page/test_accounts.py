"""Two accounts in one browser: nothing of the first is shown to the second, or charged to it."""

import json

import pytest
from playwright.sync_api import Page, Route, expect

from tests.page.windows import Windows
from tests.server.running import BASE

pytestmark = pytest.mark.browser


COUNT = "SELECT region, COUNT(*) AS visits FROM visits GROUP BY region"


def opened(windows: Windows, sql: str = COUNT) -> Page:
    return windows.open(f"/?q={sql}&epsilon=0.5")


def sign_out(page: Page, who: str = "ann") -> None:
    page.get_by_role("button", name=f"Account {who}").click()
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_label("Token")).to_be_visible()


def sign_in(windows: Windows, page: Page, who: str) -> None:
    page.get_by_label("Token").fill(windows.served.tokens[who])
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("navigation", name="Views")).to_be_visible()


def test_signing_out_leaves_no_query_and_no_answer_behind(windows: Windows) -> None:
    page = opened(windows)
    page.locator(".cell.go .run:enabled").click()
    expect(page.locator("#answer-title")).to_be_focused()
    stored = "JSON.stringify(Object.entries({...sessionStorage, ...localStorage}))"
    assert "north" in page.evaluate(stored)
    sign_out(page)
    left = page.evaluate(stored)
    assert "north" not in left
    assert "SELECT" not in left


def test_signing_out_ends_a_session_that_another_window_began(windows: Windows) -> None:
    windows.expected = ("403",)
    page = windows.open()
    expect(page.get_by_role("navigation", name="Views")).to_be_visible()
    begun = page.context.request.post(
        f"{windows.served.url}/v1/session", data={"token": windows.served.tokens["ann"]}
    )
    assert begun.ok
    sign_out(page)
    page.reload()
    expect(page.get_by_label("Token")).to_be_visible()


def test_a_sign_out_that_did_not_reach_the_server_is_told(windows: Windows) -> None:
    windows.expected = ("ERR_FAILED",)
    page = windows.open()
    expect(page.get_by_role("navigation", name="Views")).to_be_visible()
    page.route("**/v1/session", lambda route: route.abort())
    page.get_by_role("button", name="Account ann").click()
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_text("You are still signed in").first).to_be_visible()
    expect(page.get_by_role("navigation", name="Views")).to_be_visible()


def test_a_query_that_waits_is_not_charged_to_whoever_signs_in_next(windows: Windows) -> None:
    windows.expected = ("429",)
    page = opened(windows, "SELECT COUNT(*) AS first_idea FROM visits")
    asked: list[str] = []

    def busy(route: Route) -> None:
        asked.append(route.request.method)
        reply = {"error": {"code": "too_many", "message": "Busy", "remedy": "", "place": None}}
        if len(asked) == 1:
            headers = {"Retry-After": "1", "Content-Type": "application/json"}
            route.fulfill(status=429, headers=headers, body=json.dumps(reply))
        else:
            route.continue_()

    page.route(f"**{BASE}/ask", busy)
    page.locator(".cell.go .run:enabled").click()
    expect(page.get_by_text("Busy").first).to_be_visible()
    sign_out(page)
    sign_in(windows, page, "bob")
    page.wait_for_timeout(800)
    assert asked == ["POST"]
    assert "first_idea" not in page.content()


def test_an_answer_that_comes_late_is_not_shown_to_whoever_signed_in_meanwhile(
    windows: Windows,
) -> None:
    page = opened(windows, "SELECT COUNT(*) AS late_idea FROM visits")
    held: list[Route] = []
    page.route(f"**{BASE}/ask", lambda route: held.append(route))  # noqa: PLW0108 - it is marked
    page.locator(".cell.go .run:enabled").click()
    page.wait_for_timeout(200)
    sign_out(page)
    sign_in(windows, page, "bob")
    for each in held:
        answer = windows.served.ask("SELECT COUNT(*) AS late_idea FROM visits", epsilon=0.5)
        headers = {"Content-Type": "application/json", "Discreet-Answer": "0" * 32}
        each.fulfill(status=200, headers=headers, body=answer.text)
    page.wait_for_timeout(300)
    assert "late_idea" not in page.content()
    assert "late_idea" not in page.evaluate("JSON.stringify({...sessionStorage})")


def test_a_reader_does_not_see_the_budget_of_whose_session_ended(windows: Windows) -> None:
    windows.expected = ("401",)
    page = windows.open("/learn")
    expect(page.locator(".purse")).to_be_visible()
    page.wait_for_load_state("networkidle")
    page.context.clear_cookies()
    page.get_by_role("link", name="Data").click()
    expect(page.get_by_label("Token")).to_be_visible()
    sign_in(windows, page, "guest")
    expect(page.locator(".purse")).to_have_count(0)
