"""Adding data: choose a file, say who is protected, see what it does, open it, ask it."""

import json
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.page.windows import Windows
from tests.server.offered import write_settings, write_trips
from tests.server.running import Served, serving, write_catalog

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def clinic(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """Serve the clinic beside some files that can be added."""
    folder = tmp_path_factory.mktemp("clinic")
    config = write_settings(folder)
    for each in ("rest", "taken", "trips", "walks"):
        write_trips(folder / "data" / f"{each}.csv")
    with serving(write_catalog(folder / "clinic"), "--config", str(config)) as served:
        body = {"name": "taken", "source": {"file": "data/taken.csv"}, "unit": None, "epsilon": 1}
        assert served.call("POST", "/v1/datasets", "boss", json=body).status_code == 201
        yield served


def opened(windows: Windows, name: str, width: int = 1280) -> Page:
    page = windows.open("/owner/add", "boss", viewport={"width": width, "height": 900})
    page.get_by_label("Data on the server").select_option(label=f"data/{name}.csv")
    expect(page.get_by_role("heading", name="What is public about the columns")).to_be_visible()
    return page


def test_a_file_becomes_a_data_set_that_answers(windows: Windows, clinic: Served) -> None:
    page = opened(windows, "trips")
    expect(page.get_by_label("Name of the data set")).to_have_value("trips")
    expect(page.get_by_role("radio", name="rider_id")).to_be_checked()
    effects = page.get_by_role("complementary", name="What your choices do")
    expect(effects.get_by_text("±150", exact=True)).to_be_visible()
    page.get_by_label("Rows of each rider", exact=True).fill("4")
    expect(effects.get_by_text("±60", exact=True)).to_be_visible()
    page.get_by_label("minutes lowest").fill("0")
    page.get_by_label("minutes highest").fill("120")
    expect(effects.get_by_text("Noise in an average of minutes")).to_be_visible()
    page.get_by_label("Values of town").fill('Aba, "Ebo"')
    page.get_by_role("radio", name="ε 3").check(force=True)
    expect(effects.get_by_text("15 at ε 0.2")).to_be_visible()
    page.get_by_role("button", name="Open the data set").click()
    expect(page.get_by_role("heading", name="trips is open")).to_be_visible()
    expect(page.get_by_text("ε 3 of 3")).to_be_visible()
    page.get_by_role("button", name="Ask about trips").click()
    expect(page.get_by_role("button", name="Catalog trips")).to_be_visible()
    body = {"sql": "SELECT town, AVG(minutes) AS m FROM trips GROUP BY town", "epsilon": 1}
    reply = clinic.call("POST", "/v1/catalogs/trips/ask", "boss", json=body)
    assert reply.status_code == 200
    page.reload()
    expect(page.get_by_role("button", name="Catalog trips")).to_be_visible()


def test_the_best_limit_is_found_for_a_stated_cost(windows: Windows) -> None:
    page = opened(windows, "walks")
    page.get_by_label("ε in total").fill("20")
    page.get_by_role("button", name="Find it for ε 0.05").click()
    expect(page.get_by_text("The best limit will be found privately")).to_be_visible()
    page.get_by_role("button", name="Open the data set").click()
    expect(page.get_by_role("heading", name="walks is open")).to_be_visible()
    expect(page.get_by_text("ε 20 of 20")).to_have_count(0)
    expect(page.get_by_text("ε 0.05").first).to_be_visible()


def test_what_the_catalog_rejects_is_said_beside_the_button(windows: Windows) -> None:
    windows.expected = ("422",)
    page = windows.open("/owner/add", "boss")
    page.get_by_label("Data on the server").select_option(index=1)
    expect(page.get_by_label("minutes lowest")).to_be_visible()
    page.get_by_label("Name of the data set").fill("wrong")
    page.get_by_label("minutes lowest").fill("9")
    page.get_by_label("minutes highest").fill("1")
    page.get_by_role("button", name="Open the data set").click()
    expect(page.get_by_role("alert")).to_contain_text("minutes")


def test_files_in_use_are_not_offered(windows: Windows) -> None:
    page = windows.open("/owner/add", "boss")
    expect(page.get_by_text("in a data set already")).to_be_visible()
    assert "taken" not in json.dumps(
        page.get_by_label("Data on the server").locator("option").all_inner_texts()
    )


def test_analysts_cannot_add_data(windows: Windows) -> None:
    page = windows.open("/owner/add", "ann")
    expect(page.get_by_text("This view is for data owners")).to_be_visible()


def test_the_page_says_how_adding_is_turned_on(
    windows: Windows, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("off")
    with serving(write_catalog(folder)) as served:
        windows.served = served
        page = windows.open("/owner/add", "boss", url=served.url)
        expect(page.get_by_text("turned off on this server")).to_be_visible()
        expect(page.get_by_text("add_data_from")).to_be_visible()


def test_it_fits_a_phone(windows: Windows) -> None:
    page = windows.open("/owner/add", "boss", viewport={"width": 390, "height": 844})
    page.get_by_label("Data on the server").select_option(index=1)
    expect(page.get_by_text("Queries that the budget allows")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
