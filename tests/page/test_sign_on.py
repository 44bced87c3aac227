"""People sign in on the page at a real OpenID provider."""

from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, expect

from tests.page.windows import Windows
from tests.server.providing import SECRET_VARIABLE, Provided, providing
from tests.server.running import Served, free_port, serving, write_catalog

pytestmark = pytest.mark.browser

FONTS = "https://fonts.googleapis.com"
"""What the form of the provider asks for, which has no icon either."""


@pytest.fixture(scope="module")
def provided(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Provided]:
    server = f"http://127.0.0.1:{free_port()}"
    with providing(tmp_path_factory.mktemp("provider"), server=server) as found:
        yield found


@pytest.fixture(scope="module")
def clinic(tmp_path_factory: pytest.TempPathFactory, provided: Provided) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("clinic")
    config = folder / "server.toml"
    config.write_text(provided.settings())
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(SECRET_VARIABLE, provided.secret)
        port = urlsplit(provided.server).port
        with serving(write_catalog(folder), "--config", str(config), port=port) as found:
            yield found


def test_a_person_signs_in_at_the_provider_and_is_known_after_a_reload(
    browser: Browser, clinic: Served, provided: Provided
) -> None:
    windows = Windows(browser=browser, served=clinic)
    windows.expected = (f"foreign: {provided.issuer}", f"foreign: {FONTS}", "404")
    page = windows.open(who=None)
    page.route(f"{FONTS}/**", lambda route: route.fulfill(body="", content_type="text/css"))
    page.get_by_role("link", name="Sign in with your organisation").click()
    page.wait_for_url(f"{provided.issuer}/**")
    page.locator("input[name=login]").fill("analysts-pia")
    page.locator("input[name=password]").fill("any")
    page.locator("[type=submit]").first.click()
    page.locator("[type=submit]").first.click()  # and consents
    expect(page.get_by_role("navigation", name="Views")).to_be_visible()
    assert page.url == f"{clinic.url}/"
    page.reload()
    page.get_by_role("button", name="Account oidc:analysts-pia, analyst").click()
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_label("Token")).to_be_visible()
    page.reload()
    expect(page.get_by_label("Token")).to_be_visible()
    windows.close()
