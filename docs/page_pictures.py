"""Take the pictures of the page from the demo's server: `python -m docs.page_pictures`."""

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from playwright.sync_api import Page, sync_playwright

FIGURES = Path(__file__).parent / "figures"
LINK = re.compile(r"(http://[^/\s]+)/#code=\w+")


@contextmanager
def demo() -> Iterator[re.Match[str]]:
    """Run the demo's server on any port; yield its sign-in link."""
    command = [sys.executable, "-m", "discreet", "serve", "--demo", "--port", "0"]
    with (
        TemporaryDirectory() as folder,
        subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True) as process,  # noqa: S603
    ):
        found = (LINK.search(line) for line in process.stdout or ())
        yield next(each for each in found if each)
        process.terminate()


def taken(page: Page, name: str) -> None:
    """Save what a window shows."""
    page.wait_for_load_state("networkidle")
    page.wait_for_timeout(500)  # charts and colours come to rest
    page.screenshot(path=FIGURES / f"page_{name}.png")


def main() -> None:
    """Sign in, ask, and take one picture of each view that the pages show."""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    with demo() as link, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1280, "height": 1060})
        page.goto(link[0])
        page.get_by_role("button", name=re.compile("^Run for")).first.click()
        page.locator(".chart svg").first.wait_for()
        taken(page, "ask")
        page.set_viewport_size({"width": 1280, "height": 800})
        page.get_by_role("button", name="A rejected query").click()
        page.get_by_role("button", name="Count them").wait_for()
        taken(page, "rejected")
        page.goto(f"{link[1]}/learn")
        page.get_by_role("button", name="Draw 100").click()
        taken(page, "learn")
        page.goto(f"{link[1]}/budget")
        page.get_by_role("button", name="Light or dark").click()
        taken(page, "budget")
        browser.close()


if __name__ == "__main__":
    main()
