"""People sign in with a token or a link, and stay signed in after a reload."""

import pytest
from playwright.sync_api import expect

from tests.page.windows import Windows

pytestmark = pytest.mark.browser


def test_a_token_signs_in_and_out(windows: Windows) -> None:
    page = windows.open(who=None)
    page.get_by_label("Token").fill(windows.served.tokens["ann"])
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("navigation", name="Views")).to_be_visible()
    page.reload()
    expect(page.get_by_role("navigation", name="Views")).to_be_visible()
    page.get_by_role("button", name="Account ann").click()
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_label("Token")).to_be_visible()


def test_a_wrong_token_is_told_in_one_sentence(windows: Windows) -> None:
    windows.expected = ("401",)
    page = windows.open(who=None)
    page.get_by_label("Token").fill("discreet_0000000000000000_wrong")
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("alert")).to_have_text(
        "This token is not valid. Ask the data owner for a new one."
    )


def test_a_used_or_wrong_link_says_what_to_do(windows: Windows) -> None:
    windows.expected = ("401",)
    page = windows.open(f"/#code={'0' * 64}", who=None)
    expect(
        page.get_by_text("This sign-in link was used before or has expired").first
    ).to_be_visible()
    assert "code" not in page.url
