"""Bring the output on pages up to date: `python -m docs.refresh`, or with the names of pages.

Every example of every page is run, as `tests/test_docs.py` runs it, and the output that is shown is
replaced where it differs. An example that does not run is named, and its page stays as it is.
"""

import sys
from pathlib import Path

from docs.examples import ROOT, ExampleError, pages, refreshed


def refresh(page: Path) -> bool:
    """Rewrite the output on one page; return whether all of its examples ran."""
    name, text = str(page.relative_to(ROOT)), page.read_text(encoding="utf-8")
    try:
        found = refreshed(text, page.stem)
    except ExampleError as error:
        print(f"{name}: {error}", file=sys.stderr)  # noqa: T201 - a command
        return False
    if found != text:
        page.write_text(found, encoding="utf-8")
        print(f"{name}: rewritten")  # noqa: T201 - a command
    return True


if __name__ == "__main__":
    chosen = [ROOT / each for each in sys.argv[1:]] or pages()
    ended = [refresh(each) for each in chosen]
    sys.exit(not all(ended))
