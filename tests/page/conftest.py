"""A browser, a server, and windows that fail a test by any error, foreign call or broken policy."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, sync_playwright

from tests.page.windows import Windows
from tests.server.running import Served, serving, write_catalog
from tests.services import require_marker

FLAGS = (
    "--no-sandbox",  # as root, and in containers
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Keep the tests of one file in one process: they share a server."""
    for item in items:
        if "tests/page" in item.nodeid:
            item.add_marker(pytest.mark.xdist_group(item.nodeid.partition("::")[0]))


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Run a browser for one file of tests: other tests must not meet its running loop."""
    require_marker("browser")
    path = shutil.which("chromium") or shutil.which("chromium-browser")
    assert path, "The tests of the page need Chromium: sudo apt-get install -y chromium"
    with sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=path, args=list(FLAGS))
        yield found
        found.close()


@pytest.fixture(scope="module")
def clinic(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """Serve the small clinic for one file of tests."""
    folder: Path = tmp_path_factory.mktemp("clinic")
    with serving(write_catalog(folder)) as served:
        yield served


@pytest.fixture
def windows(browser: Browser, clinic: Served) -> Iterator[Windows]:
    """Yield windows of the browser, whose errors fail the test when it ends."""
    found = Windows(browser=browser, served=clinic)
    yield found
    found.close()
