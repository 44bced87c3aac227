"""The page in a browser: what is sent, and how soon something is seen, without anything kept."""

import gzip
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import quantiles
from tempfile import TemporaryDirectory
from typing import Any

from playwright.sync_api import Browser, Page, sync_playwright

from benchmarks.environments import ROOT
from benchmarks.report import Figure, Report, Say, Table, Target
from benchmarks.server import Served, catalog_in, serving

OPENED = 15
"""So many new windows are opened, each with an empty cache."""

VIEWS = ("/", "/data", "/budget", "/boards", "/learn")
PAGE = ROOT / "src" / "discreet" / "page"
MOST_KB, MOST_MS = 300, 1000

PAINT = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? null"
SENT = """performance.getEntries()
  .filter((each) => each.transferSize && !each.name.includes("/v1/"))
  .reduce((sum, each) => sum + each.encodedBodySize, 0)"""


def run(say: Say) -> Report:
    """Open the page many times and measure."""
    with (
        TemporaryDirectory(prefix="discreet-page-", dir=ROOT) as folder,
        serving(catalog_in(Path(folder) / "served")) as served,
        _browser() as browser,
    ):
        say("sizes")
        rows = [(each, *_opened(browser, served, each)) for each in VIEWS]
        say(f"{OPENED} windows")
        times = [_first_times(browser, served) for _ in range(OPENED)]
    paint, preview = (quantiles([each[at] for each in times], n=20) for at in (0, 1))
    whole = _packed()
    return Report(
        name="browser",
        tables=[
            Table(
                title="What is sent for the first view that is opened: kB, compressed",
                columns=("view", "kB", "calls"),
                rows=[
                    (name, Figure(sent / 1000), Figure(calls, digits=2))
                    for name, sent, calls in rows
                ],
                notes=[f"All files of the page together: {whole / 1000:.0f} kB, compressed."],
            ),
            Table(
                title="Ask, in a new window with an empty cache: ms",
                columns=("what", "p50", "p95"),
                rows=[
                    ("first paint", Figure(paint[9]), Figure(paint[18])),
                    ("the first preview is shown", Figure(preview[9]), Figure(preview[18])),
                ],
                notes=["Browser and server share the cores of this machine."],
            ),
        ],
        targets=[
            Target(
                sentence="all files of the page, compressed",
                measured=whole / 1000,
                unit="kB",
                most=MOST_KB,
            ),
            Target(sentence="first paint (p50)", measured=paint[9], unit="ms", most=MOST_MS),
        ],
    )


def _packed() -> int:
    """Return the bytes of all files as they are sent, licences aside."""
    files = (each for each in PAGE.rglob("*") if each.is_file() and each.suffix != ".txt")
    return sum(len(gzip.compress(each.read_bytes())) for each in files)


@contextmanager
def _browser() -> Iterator[Browser]:
    path = shutil.which("chromium") or shutil.which("chromium-browser")
    if path is None:
        raise RuntimeError("This benchmark needs Chromium: sudo apt-get install -y chromium")
    with sync_playwright() as playwright:
        found = playwright.chromium.launch(
            executable_path=path, args=["--no-sandbox", "--disable-gpu", "--no-first-run"]
        )
        yield found
        found.close()


@contextmanager
def _window(browser: Browser, served: Served, path: str) -> Iterator[Page]:
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    context.request.post(f"{served.url}/v1/session", data={"token": served.rich})
    page = context.new_page()
    page.goto(f"{served.url}{path}")
    page.wait_for_selector("nav.nav")
    yield page
    context.close()


def _opened(browser: Browser, served: Served, path: str) -> tuple[int, int]:
    """Return the bytes and the number of files that a view needs."""
    with _window(browser, served, path) as page:
        page.wait_for_load_state("networkidle")
        count = "performance.getEntriesByType('resource').filter((e) => !e.name.includes('/v1/'))"
        return int(page.evaluate(SENT)), int(page.evaluate(f"{count}.length")) + 1


def _first_times(browser: Browser, served: Served) -> tuple[float, float]:
    """Return when something was painted, and when the cost of a query was shown."""
    with _window(browser, served, "/") as page:
        page.wait_for_selector(".preview .strip")
        shown: Any = page.evaluate("performance.now()")
        return float(page.evaluate(PAINT)), float(shown)
