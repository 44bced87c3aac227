"""A query on the page: its preview, its answer, its rejection, and what may come in between."""

import csv
import io
import json
import re
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from playwright.sync_api import Browser, Locator, Page, Route, expect

from tests.page.axe import breaches
from tests.page.windows import Windows
from tests.server.running import BASE, Served, serving, write_catalog

pytestmark = pytest.mark.browser

COUNT_OF = "SELECT {} FROM visits"
COUNT = "SELECT region, COUNT(*) AS visits FROM visits GROUP BY region"


def write(page: Page, sql: str) -> None:
    """Write a query into the editor, in place of the one that is there."""
    editor(page).click()
    page.keyboard.press("Control+A")
    page.keyboard.insert_text(sql)
    page.keyboard.press("Escape")


def editor(page: Page) -> Locator:
    return page.get_by_role("textbox", name=re.compile("Query in SQL"))


def shows(page: Page, sql: str) -> None:
    """Wait until the editor has this query."""
    expect(editor(page)).to_have_text(re.sub(r"\n", "", sql))


def strip(page: Page) -> Locator:
    return page.locator(".strip")


def run(page: Page) -> None:
    """Run the query once its preview is there; wait for the answer."""
    page.locator(".cell.go .run:enabled").click()
    expect(page.locator("#answer-title")).to_be_focused()


def opened(windows: Windows, sql: str = COUNT, who: str = "ann", epsilon: str = "0.5") -> Page:
    """Open the view with a query."""
    return windows.open(f"/?q={sql}&epsilon={epsilon}", who)


def test_a_newcomer_finds_a_query_that_works_and_runs_it(windows: Windows) -> None:
    page = windows.open()
    expect(strip(page)).to_contain_text("2 groups")
    run(page)
    expect(page.get_by_role("table")).to_contain_text("north")
    expect(page.locator(".receipt")).to_contain_text("Spent ε 0.1")
    expect(page.locator(".cell.go .run")).to_contain_text("Run, free")
    run(page)  # repeated
    expect(page.locator(".answer > header")).to_contain_text("saved answer, free")


def test_the_preview_follows_typing_the_slider_and_the_margin(windows: Windows) -> None:
    page = opened(windows)
    expect(strip(page)).to_contain_text("ε 0.5")
    expect(strip(page)).to_contain_text(re.compile("±1[0-9]in each group"))
    write(page, "SELECT COUNT(*) AS n FROM visits")
    expect(strip(page)).to_contain_text("one number")
    page.get_by_role("slider", name="Cost, epsilon").focus()
    page.keyboard.press("ArrowRight")
    expect(strip(page)).to_contain_text("ε 0.56")
    page.get_by_role("textbox", name="Cost, epsilon").fill("1")
    expect(strip(page)).to_contain_text("ε 1")
    page.keyboard.press("Alt+ArrowDown")
    expect(page.get_by_role("textbox", name="Cost, epsilon")).not_to_have_value("1")
    page.get_by_role("button", name="Set the margin").click()
    page.get_by_role("textbox", name="Margin of error of n").fill("50")
    expect(strip(page)).to_contain_text("±50")
    expect(page.locator(".terms")).to_contain_text("costs ε 0.")
    page.get_by_role("slider", name="Margin of error of n").focus()
    page.keyboard.press("ArrowLeft")
    expect(strip(page)).not_to_contain_text("±50")


def test_a_rejection_is_marked_and_fixed_by_a_click(windows: Windows) -> None:
    windows.expected = ("422",)
    page = opened(windows, "SELECT regoin, COUNT(*) FROM visits GROUP BY 1")
    card = page.locator(".rejection")
    expect(card).to_contain_text("Did you mean region?")
    expect(card).to_contain_text("Line 1, column 8.")
    expect(page.locator(".cm-lintRange-error")).to_have_text("regoin")
    expect(page.locator(".runbar .run, .cell.go .run").first).to_be_disabled()
    card.get_by_role("button", name="Write region").click()
    shows(page, "SELECT region, COUNT(*) FROM visits GROUP BY 1")
    expect(strip(page)).to_contain_text("2 groups")


def test_keys_alone_lead_from_a_rejection_to_an_answer(windows: Windows) -> None:
    windows.expected = ("422",)
    page = windows.open()
    expect(strip(page)).to_be_visible()
    expect(editor(page)).to_be_visible()
    for _ in range(60):
        page.keyboard.press("Tab")
        if editor(page).evaluate("(each) => each.getRootNode().activeElement === each"):
            break
    page.keyboard.press("Control+A")
    page.keyboard.insert_text("SELECT * FROM visits WHERE age > 40")
    expect(page.locator(".rejection")).to_be_visible()
    page.keyboard.press("Escape")  # closes completions
    page.keyboard.press("Escape")
    page.keyboard.press("Tab")
    expect(page.get_by_role("button", name="Set the cost")).to_be_focused()
    expect(page.locator(".rejection .fix").first).to_have_text("Count them")
    page.keyboard.press("F8")
    page.keyboard.press("Enter")
    shows(page, "SELECT COUNT(*) AS nFROM visitsWHERE age > 40")
    expect(strip(page)).to_contain_text("one number")
    expect(page.locator(".preview.old")).to_have_count(0)
    page.keyboard.press("Control+Enter")
    expect(page.locator("#answer-title")).to_be_focused()
    page.keyboard.press("Alt+v")
    expect(page.locator(".split")).to_have_class(re.compile("show-table"))
    page.keyboard.press("Control+h")
    expect(page.get_by_role("button", name="History")).to_have_attribute("aria-pressed", "true")


def test_names_are_completed_and_inserted(windows: Windows) -> None:
    windows.expected = ("422",)
    page = opened(windows, "SELECT COUNT(*) FROM visits WHERE ")
    editor(page).click()
    page.keyboard.press("Control+End")
    page.keyboard.type("reg")
    option = page.get_by_role("option", name=re.compile("region"))
    expect(option).to_contain_text("north, south")
    page.wait_for_timeout(120)  # completions cannot be taken by accident right after they appear
    page.keyboard.press("Enter")
    page.keyboard.type(" = 'north' AND ")
    page.get_by_role("button", name=re.compile("Insert age")).click()
    page.keyboard.type(" > 5")
    shows(page, "SELECT COUNT(*) FROM visits WHERE region = 'north' AND age > 5")
    expect(strip(page)).to_contain_text("one number")


def test_too_little_budget_is_lowered_or_requested(windows: Windows) -> None:
    windows.expected = ("422",)
    assert windows.served.ask("SELECT COUNT(*) FROM visits", "bob", epsilon=1).status_code == 200
    page = opened(windows, "SELECT AVG(age) AS age FROM visits", "bob", "1.5")
    expect(page.locator(".cell.go .run")).to_have_text(re.compile("Not enough budget"))
    expect(page.locator(".covers.warn")).to_contain_text("This costs more than remains.")
    page.get_by_role("button", name="Request more").click()
    page.get_by_label("New cap, ε in total").fill("3")
    page.get_by_label("Reason").fill("A table by age")
    page.get_by_role("button", name="Send the request").click()
    expect(page.locator(".toast")).to_contain_text("Sent.")
    sent = windows.served.call("GET", f"{BASE}/requests", "boss").json()["requests"]
    assert [(each["account"], each["epsilon"]) for each in sent] == [("bob", 3.0)]
    page.get_by_role("button", name="Lower to ε 1").click()
    expect(page.locator(".cell.go .run")).to_have_text(re.compile("Run for ε 1"))
    run(page)
    page.get_by_role("textbox", name="Cost, epsilon").fill("0.5")
    write(page, "SELECT SUM(age) AS ages FROM visits")
    expect(page.locator(".covers.warn")).to_contain_text("The budget is used up.")


def test_unlikely_groups_are_confirmed_first(windows: Windows) -> None:
    windows.expected = ("409",)
    for counted in ("COUNT(*)", "COUNT(DISTINCT patient_id)"):
        assert windows.served.ask(COUNT_OF.format(counted), epsilon=5).is_success
    page = opened(
        windows, "SELECT city, COUNT(*) AS visits FROM visits GROUP BY city", epsilon="0.1"
    )
    expect(page.locator(".covers.warn")).to_contain_text("Probably no group would be shown")
    page.locator(".cell.go .run:enabled").click()
    alert = page.get_by_role("alert")
    expect(alert).to_contain_text("Nothing was spent.")
    alert.get_by_role("button", name="even so").click()
    expect(page.get_by_role("heading", name="No groups are shown")).to_be_visible()


@pytest.mark.parametrize(
    ("sql", "kind"),
    [
        ("SELECT COUNT(*) AS n FROM visits", "single"),
        (COUNT, "bars"),
        ("SELECT age, COUNT(*) AS n FROM visits GROUP BY age", "line"),
        ("SELECT region, age < 50 AS young, COUNT(*) AS n FROM visits GROUP BY 1, 2", "heat"),
        ("SELECT region, age, COUNT(*) AS n FROM visits GROUP BY region, age", "lines"),
    ],
)
def test_the_chart_follows_the_shape_of_the_answer(windows: Windows, sql: str, kind: str) -> None:
    page = windows.open("/", "boss")
    expect(strip(page)).to_be_visible()
    write(page, sql)
    expect(page.locator(".preview.old")).to_have_count(0)
    run(page)
    chart = page.locator(".figure .chart")
    expect(chart).to_have_attribute("data-kind", kind)
    label = chart.get_by_role("img").get_attribute("aria-label") or ""
    assert "±" in label


def test_an_answer_is_opened_by_history_and_link_and_downloaded(windows: Windows) -> None:
    windows.expected = ("404",)
    page = opened(windows, "SELECT region, AVG(age) AS age FROM visits GROUP BY region")
    run(page)
    page.get_by_role("button", name="99%").click()
    expect(page.get_by_role("columnheader", name="± 99%")).to_be_visible()
    downloads = {}
    for format_ in ("CSV", "Parquet"):
        page.get_by_role("button", name="Download or copy").click()
        with page.expect_download() as download:
            page.get_by_role("link", name=format_).click()
        downloads[format_] = Path(download.value.path()).read_bytes()
    rows = list(csv.reader(io.StringIO(downloads["CSV"].decode())))
    assert [each[0] for each in rows] == ["region", "north", "south"]
    assert pq.read_table(io.BytesIO(downloads["Parquet"])).num_rows == 2
    page.get_by_role("button", name="History").click()
    page.locator(".hist button").nth(0).click()
    expect(page.locator(".answer > header")).to_contain_text("saved answer, free")
    page.get_by_role("button", name="Download or copy").click()
    address = page.get_by_role("link", name="JSON").get_attribute("href") or ""
    id_ = re.search(r"answers/([^?]+)", address)
    assert id_ is not None
    for who in ("ann", "guest"):
        other = windows.open(f"/answers/clinic/{id_[1]}", who)
        expect(other.get_by_role("table")).to_contain_text("north")
    link = windows.open(f"/answers/clinic/{id_[1]}")
    link.get_by_role("link", name="Open in the editor").click()
    shows(link, "SELECT region, AVG(age) AS age FROM visits GROUP BY region")
    expect(link.locator(".cell.go .run")).to_contain_text("Run, free")
    nowhere = windows.open(f"/answers/clinic/{id_[1]}", "bob")
    expect(nowhere.locator("main")).to_contain_text("There is no answer here that you may see")


def test_the_query_and_the_answer_survive_a_reload_and_the_end_of_a_session(
    windows: Windows,
) -> None:
    windows.expected = ("401",)
    page = opened(windows, "SELECT COUNT(*) AS people FROM visits", epsilon="0.2")
    run(page)
    page.reload()
    expect(page.locator(".bignum")).to_contain_text("±")
    shows(page, "SELECT COUNT(*) AS people FROM visits")
    page.wait_for_load_state("networkidle")
    page.context.clear_cookies()
    page.get_by_role("link", name="Budget").first.click()
    page.get_by_label("Token").fill(windows.served.tokens["ann"])
    page.get_by_role("button", name="Sign in").click()
    page.get_by_role("link", name="Ask", exact=True).click()
    shows(page, "SELECT COUNT(*) AS people FROM visits")
    expect(page.get_by_role("textbox", name="Cost, epsilon")).to_have_value("0.2")


def test_a_raised_cost_shows_how_narrow_the_margin_would_be(windows: Windows) -> None:
    page = opened(windows, "SELECT COUNT(age) AS ages FROM visits", epsilon="0.2")
    run(page)
    page.get_by_role("textbox", name="Cost, epsilon").fill("1")
    expect(page.locator(".chart .ghost")).to_have_count(1)
    expect(page.locator(".legend")).to_contain_text("± at ε 1")


def test_approval_is_requested_with_the_query(windows: Windows) -> None:
    windows.expected = ("403",)
    page = opened(windows, epsilon="0.3")
    error = {"code": "approval_needed", "message": "This costs a lot", "remedy": "", "place": None}
    page.route("**/ask", lambda route: _reply(route, 403, {"error": error}))
    page.locator(".cell.go .run:enabled").click()
    page.get_by_role("button", name="Request approval").click()
    page.get_by_label("Reason").fill("For the report")
    page.get_by_role("button", name="Send the request").click()
    expect(page.locator(".toast")).to_contain_text("Sent.")
    sent = windows.served.call("GET", f"{BASE}/requests", "ann").json()["requests"]
    assert sent[-1]["query"]["sql"] == COUNT


def _reply(route: Route, status: int, content: object) -> None:
    route.fulfill(status=status, content_type="application/json", body=json.dumps(content))


def test_readers_see_that_they_may_not_spend(windows: Windows) -> None:
    page = windows.open("/", "guest")
    expect(page.locator("main")).to_contain_text("Your account may read saved answers")


def test_on_a_phone_nothing_scrolls_sideways_and_the_chart_is_first(windows: Windows) -> None:
    page = windows.open("/", viewport={"width": 390, "height": 844})
    page.locator(".runbar .run:enabled").click()
    expect(page.locator("#answer-title")).to_be_focused()
    chart, table = page.locator(".figure").bounding_box(), page.locator(".tabled").bounding_box()
    assert chart is not None
    assert table is not None
    assert chart["y"] < table["y"]
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.get_by_role("button", name="Tables, history and saved queries").click()
    expect(page.get_by_role("button", name=re.compile("Insert region"))).to_be_visible()


def test_a_query_goes_on_after_the_server_was_restarted(browser: Browser, tmp_path: Path) -> None:
    catalog = write_catalog(tmp_path)
    with serving(catalog) as first:
        windows = Windows(browser=browser, served=first, expected=("Failed to load", "503"))
        page = windows.open()
        expect(strip(page)).to_contain_text("2 groups")
        port = int(first.url.rpartition(":")[2])
    page.locator(".cell.go .run:enabled").click()
    expect(page.locator(".running")).to_contain_text("The connection was lost")
    second: Served
    with serving(catalog, port=port) as second:
        expect(page.get_by_role("table")).to_contain_text("north")
        assert second.call("GET", f"{BASE}/budget").json()["remaining"]["epsilon"] == 49.9
        windows.close()


def test_answers_and_rejections_are_accessible(windows: Windows) -> None:
    windows.expected = ("422", "404")
    page = opened(windows)
    run(page)
    page.wait_for_timeout(400)  # until the answer has risen
    assert not breaches(page)
    page.get_by_role("button", name="History").click()
    expect(page.locator(".hist button").first).to_be_visible()
    page.get_by_role("button", name="Add to board").click()
    expect(page.get_by_role("dialog", name="Add to board")).to_be_visible()
    page.keyboard.press("Escape")
    write(page, "SELECT * FROM visits")
    expect(page.locator(".rejection .fix").first).to_be_visible()
    page.evaluate("document.documentElement.dataset.theme = 'dark'")
    page.wait_for_timeout(300)
    assert not breaches(page)


def test_another_account_in_the_same_window_sees_nothing_of_it(windows: Windows) -> None:
    page = opened(windows, "SELECT COUNT(*) AS secret_idea FROM visits")
    run(page)
    page.get_by_role("link", name="Data").click()
    page.get_by_role("link", name="Ask", exact=True).click()
    shows(page, "SELECT COUNT(*) AS secret_idea FROM visits")
    expect(page.locator(".bignum")).to_be_visible()
    page.get_by_role("button", name="Account ann").click()
    page.get_by_role("button", name="Sign out").click()
    page.get_by_label("Token").fill(windows.served.tokens["boss"])
    page.get_by_role("button", name="Sign in").click()
    expect(strip(page)).to_be_visible()
    expect(editor(page)).not_to_contain_text("secret_idea")
    expect(page.locator(".bignum")).to_have_count(0)


def test_a_reply_that_was_cut_off_is_no_preview(windows: Windows) -> None:
    page = opened(windows, "SELECT COUNT(*) FROM visits")
    page.route("**/explain", lambda route: route.fulfill(content_type="application/json", body="{"))
    write(page, "SELECT COUNT(city) FROM visits")
    expect(page.get_by_text("There is no preview at the moment.")).to_be_visible()
    page.unroute("**/explain")
    page.get_by_role("button", name="Try again").click()
    expect(strip(page)).to_contain_text("one number")


def test_a_query_is_saved_and_its_answer_put_on_a_board(windows: Windows) -> None:
    page = opened(windows, "SELECT COUNT(city) AS cities FROM visits")
    run(page)
    page.keyboard.press("Control+s")
    expect(page.get_by_role("textbox", name="Name of the query")).to_be_focused()
    page.keyboard.type("Rows with a city")
    page.keyboard.press("Control+s")
    expect(page.locator(".toast")).to_contain_text("Saved as Rows with a city.")
    page.get_by_role("button", name="Saved").click()
    write(page, "SELECT COUNT(*) FROM visits")
    page.get_by_role("button", name=re.compile("^Rows with a city")).click()
    shows(page, "SELECT COUNT(city) AS cities FROM visits")
    page.get_by_role("button", name="Remove Rows with a city").click()
    expect(page.locator(".rail")).to_contain_text("Nothing saved yet")
    page.get_by_role("button", name="Add to board").click()
    page.get_by_label("Name of the board").fill("Overview")
    page.get_by_role("button", name="Add", exact=True).click()
    expect(page.locator(".toast")).to_contain_text("Added to Overview.")
    boards = windows.served.call("GET", f"{BASE}/boards").json()["boards"]
    assert [(each["name"], len(each["cards"])) for each in boards] == [("Overview", 1)]
