"""What axe finds wrong with the accessibility of a page."""

from collections import defaultdict
from typing import Any

from playwright.sync_api import Page

from tests.page.libraries import installed


def breaches(page: Page) -> dict[str, Any]:
    """Return what axe finds, by rule."""
    page.evaluate(installed().joinpath("axe-core", "axe.min.js").read_text() + ";null")
    found = page.evaluate("axe.run().then((found) => found.violations)")
    named: dict[str, Any] = defaultdict(list)
    for each in found:
        named[each["id"]] += [node["html"][:200] for node in each["nodes"]]
    return dict(named)
