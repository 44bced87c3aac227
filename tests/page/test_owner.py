"""The owner's room: requests, accounts, incidents, the ledger and the audit log."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, Route, expect

from tests.page.windows import Windows
from tests.server.running import BASE, Served, serving, write_catalog

pytestmark = pytest.mark.browser

MANY = "[limits]\nrequests_per_minute = 60000\nburst = 10000\n"


@pytest.fixture(scope="module")
def clinic(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """Serve the clinic to tests that call faster than people do."""
    folder = tmp_path_factory.mktemp("clinic")
    (folder / "server.toml").write_text(MANY)
    with serving(write_catalog(folder), "--config", str(folder / "server.toml")) as served:
        yield served


def ask_for(served: Served, who: str, epsilon: str, reason: str) -> None:
    body = {"reason": reason, "epsilon": epsilon}
    assert served.call("POST", f"{BASE}/requests", who, json=body).status_code == 201


def room(windows: Windows, **more: Any) -> Page:
    page = windows.open("/owner", "boss", **more)
    expect(page.get_by_role("heading", name="Owner's room")).to_be_visible()
    return page


def remaining(served: Served, who: str) -> float:
    found = served.call("GET", f"{BASE}/budget", who).json()["remaining"]
    return float(found["total_epsilon"])


def test_nothing_waits_and_nothing_failed(windows: Windows) -> None:
    page = room(windows)
    expect(page.get_by_text("Nothing waits for you.")).to_be_visible()
    expect(page.get_by_text("No incidents.")).to_be_visible()
    expect(page.get_by_role("link", name="See spending").first).to_have_attribute("href", "/budget")


def test_analysts_have_no_room(windows: Windows) -> None:
    page = windows.open("/owner", "ann")
    expect(page.get_by_text("This view is for the data owner")).to_be_visible()


def test_a_request_is_granted(windows: Windows, clinic: Served) -> None:
    ask_for(clinic, "bob", "3", "six tables by <region>")
    page = room(windows)
    expect(page.get_by_label("1 requests wait")).to_be_visible()
    expect(page.get_by_text("“six tables by <region>”")).to_be_visible()
    page.get_by_role("button", name="Grant ε 3 to bob").click()
    expect(page.get_by_text("Granted. bob may now spend ε 3 in total.")).to_be_visible()
    expect(page.get_by_text("Nothing waits for you.")).to_be_visible()
    expect(page.get_by_label("1 requests wait")).to_have_count(0)
    assert remaining(clinic, "bob") == 3


def test_another_amount_is_granted(windows: Windows, clinic: Served) -> None:
    ask_for(clinic, "bob", "9", "more")
    page = room(windows)
    page.get_by_role("button", name="Other amount for bob").click()
    page.get_by_label("Cap in total, ε").fill("4.5")
    page.get_by_role("button", name="Grant ε 4.5").click()
    expect(page.get_by_text("Granted. bob may now spend ε 4.5 in total.")).to_be_visible()
    assert remaining(clinic, "bob") == 4.5


def test_a_request_is_declined_with_a_reason(windows: Windows, clinic: Served) -> None:
    ask_for(clinic, "bob", "50", "all of it")
    page = room(windows)
    page.get_by_role("button", name="Decline the request of bob").click()
    page.get_by_label("Reason, for bob to read").fill("Not this year")
    page.get_by_role("button", name="Decline", exact=True).click()
    expect(page.get_by_text("Declined. bob sees your reason.")).to_be_visible()
    page.get_by_text("Decided before").click()
    expect(page.get_by_text("“Not this year”")).to_be_visible()
    answers = clinic.call("GET", f"{BASE}/requests", "bob").json()["requests"]
    assert answers[-1]["state"] == "declined"
    assert answers[-1]["answer"] == "Not this year"


def test_a_query_waits_with_its_cost(windows: Windows, clinic: Served) -> None:
    sql = "SELECT COUNT(*)\nFROM visits"
    body = {"reason": "for the board", "query": {"sql": sql, "epsilon": 0.5}}
    assert clinic.call("POST", f"{BASE}/requests", "ann", json=body).status_code == 201
    page = room(windows)
    expect(page.get_by_text("ann asks to run one query: ε = 0.5")).to_be_visible()
    expect(page.locator("pre", has_text="FROM visits")).to_be_visible()
    page.get_by_role("button", name="Let it run: the query of ann").click()
    expect(page.get_by_text("Granted. ann may run this query.")).to_be_visible()


def test_an_account_is_added_and_its_token_works_once_shown(
    windows: Windows, clinic: Served
) -> None:
    page = room(windows)
    page.get_by_role("button", name="Add an account").click()
    page.get_by_label("Name").fill("cleo")
    page.get_by_label("Cap, ε in total").fill("1.25")
    page.get_by_role("button", name="Add and show its token").click()
    token = page.get_by_label("Token", exact=True).inner_text()
    page.get_by_role("button", name="Done").click()
    expect(page.get_by_text("ε 0 of 1.25 spent")).to_be_visible()
    expect(page.get_by_text(token)).to_have_count(0)
    clinic.tokens["cleo"] = token
    assert remaining(clinic, "cleo") == 1.25

    page.get_by_role("button", name="Change cleo").click()
    page.get_by_role("button", name="Change the cap…").click()
    page.get_by_label("Cap, ε in total").fill("2")
    page.get_by_role("button", name="Change the cap", exact=True).click()
    expect(page.get_by_text("cleo may now spend ε 2 in total.")).to_be_visible()

    page.get_by_role("button", name="Change cleo").click()
    page.get_by_role("button", name="New token…").click()
    page.get_by_role("button", name="Make a new token").click()
    new = page.get_by_label("Token", exact=True).inner_text()
    page.get_by_role("button", name="Done").click()
    assert clinic.call("GET", "/v1/me", "cleo").status_code == 401
    clinic.tokens["cleo"] = new
    assert clinic.call("GET", "/v1/me", "cleo").status_code == 200

    page.get_by_role("button", name="Change cleo").click()
    page.get_by_role("button", name="Disable…").click()
    page.get_by_role("button", name="Disable", exact=True).click()
    expect(page.get_by_text("cleo is disabled.")).to_be_visible()
    assert clinic.call("GET", "/v1/me", "cleo").status_code == 401


def test_a_name_that_is_taken_is_said_in_the_dialog(windows: Windows) -> None:
    windows.expected = ("422", "403", "409")
    page = room(windows)
    page.get_by_role("button", name="Add an account").click()
    page.get_by_label("Name").fill("ann\N{ZERO WIDTH SPACE}\n")
    page.get_by_label("Cap, ε in total").fill("0")
    page.get_by_role("button", name="Add and show its token").click()
    expect(page.get_by_role("dialog").get_by_role("alert")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)


def test_the_ledger_is_verified_against_a_noted_head(windows: Windows) -> None:
    windows.expected = ("409",)
    page = room(windows)
    page.get_by_role("button", name="Verify").click()
    expect(page.get_by_text("Each entry follows from the one before.")).to_be_visible()
    head = page.get_by_label("Head of the ledger").inner_text()
    page.get_by_label("Head that you noted before").fill(head)
    page.get_by_role("button", name="Verify").click()
    expect(page.get_by_text("the entry that you noted is among them")).to_be_visible()
    page.get_by_label("Head that you noted before").fill("0" * 64)
    page.get_by_role("button", name="Verify").click()
    expect(page.get_by_role("alert")).to_contain_text("does not contain the entry")


def test_the_audit_log_is_paged_filtered_and_downloaded(windows: Windows, clinic: Served) -> None:
    for _ in range(30):
        clinic.call("POST", f"{BASE}/verify", "boss", json={})
    page = room(windows)
    expect(page.get_by_text("25 of 25 loaded lines")).to_be_visible()
    page.get_by_role("button", name="Show older lines").click()
    expect(page.locator(".log > li").nth(25)).to_be_visible()
    clinic.ask("SELECT COUNT(*) FROM visits", epsilon=1)
    page.get_by_role("button", name="Reload").click()
    page.get_by_label("Account", exact=True).select_option("ann")
    expect(page.get_by_text("1 of 25 loaded lines")).to_be_visible()
    with page.expect_download() as saved:
        page.get_by_role("button", name="JSON lines").click()
    assert saved.value.suggested_filename == "clinic-audit.jsonl"
    lines = Path(saved.value.path()).read_text().splitlines()
    numbers = [json.loads(each)["number"] for each in lines]
    assert numbers == list(range(1, len(lines) + 1))


def test_a_query_that_runs_is_shown_and_cancelled(windows: Windows) -> None:
    running = [
        {
            "number": 7,
            "account": "ann",
            "since": "2026-01-01T00:00:00+00:00",
            "question": "SELECT MEDIAN(age)\nFROM visits",
            "state": "running",
        }
    ]
    ended = []

    def reply(route: Route) -> None:
        if route.request.method == "DELETE":
            ended.append(route.request.url)
            running.clear()
            route.fulfill(status=204)
        else:
            route.fulfill(json={"running": running})

    page = windows.open("/", "boss")
    page.route("**/running*", reply)
    page.route("**/running/*", reply)
    page.goto(f"{windows.served.url}/owner")
    expect(page.locator("pre", has_text="MEDIAN(age)")).to_be_visible()
    page.get_by_role("button", name="Cancel the query of ann").click()
    page.get_by_role("button", name="Cancel the query", exact=True).click()
    expect(page.get_by_text("Cancelled. What was charged stays charged.")).to_be_visible()
    expect(page.get_by_text("Nothing runs now.")).to_be_visible()
    assert [each.rpartition("/")[2] for each in ended] == ["7"]


def test_an_account_that_a_failure_stopped_may_ask_again(windows: Windows) -> None:
    incident = {
        "number": 12,
        "written": "2026-01-01T00:00:00+00:00",
        "account": "ann",
        "failure": "time",
        "suspends": "account",
        "is_resumed": False,
        "about": {"question": "SELECT COUNT(*) FROM visits"},
    }
    windows.expected = ("404",)
    page = windows.open("/", "boss")
    page.route("**/incidents", lambda route: route.fulfill(json={"incidents": [incident]}))
    page.route("**/resume", lambda route: route.fulfill(status=204))
    page.goto(f"{windows.served.url}/owner")
    expect(page.get_by_text("A query ran longer than is allowed")).to_be_visible()
    expect(page.get_by_text("the account waits")).to_be_visible()
    again = page.get_by_role("button", name="Let ask again: ann")
    again.click()
    incident["is_resumed"] = True
    page.get_by_role("button", name="Let ask again", exact=True).click()
    expect(page.get_by_text("ann can ask again.")).to_be_visible()
    expect(page.get_by_text("No open incidents.")).to_be_visible()


def test_a_dialog_gives_the_focus_back(windows: Windows) -> None:
    page = room(windows)
    change = page.get_by_role("button", name="Change bob")
    change.focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Change the cap…")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog", name="Cap of bob")).to_be_visible()
    page.keyboard.press("Escape")
    expect(change).to_be_focused()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_it_fits_a_phone(windows: Windows, theme: str) -> None:
    page = room(windows, viewport={"width": 390, "height": 844}, color_scheme=theme)
    expect(page.get_by_role("heading", name="Audit log")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
