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

import discreet
from discreet.demo import write_clinic
from discreet.ledger import make_token

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


@contextmanager
def with_series() -> Iterator[tuple[str, str]]:
    """Serve the series of the guide about growing tables; yield the address and a token."""
    guide = (Path(__file__).parent / "how-to" / "grow-every-day.md").read_text("utf-8")
    (catalog,) = re.findall(r'```toml title="discreet.toml"\n(.*?)```', guide, re.DOTALL)
    token = make_token()
    with TemporaryDirectory() as folder:
        path = write_clinic(Path(folder))
        path.write_text(catalog, encoding="utf-8")
        with discreet.open(path) as curator:
            curator.ledger.declare_analyst("clinic", token_hash=token.hash, role="owner")
            for each in curator.all_series():
                each.tick()
        command = [sys.executable, "-m", "discreet", "serve", f"clinic={path}", "--port", "0"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:  # noqa: S603
            served = (re.search(r" at (http\S+)\. ", line) for line in process.stdout or ())
            yield next(each[1] for each in served if each), token.text
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
    with with_series() as (address, token), sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1280, "height": 740})
        page.goto(address)
        page.get_by_label(re.compile("token", re.IGNORECASE)).first.fill(token)
        page.keyboard.press("Enter")
        page.get_by_role("link", name="Series").click()
        page.locator("svg path").first.wait_for()
        taken(page, "series")
        browser.close()


if __name__ == "__main__":
    main()
