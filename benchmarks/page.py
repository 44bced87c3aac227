"""Put the last results of all benchmarks on the page docs/benchmarks.md."""

import json
from collections.abc import Iterable

from benchmarks.environments import ROOT
from benchmarks.report import RESULTS

PAGE = ROOT / "docs" / "benchmarks.md"
HEADING = "## Results\n"


def write_page(names: Iterable[str]) -> None:
    """Replace what follows the heading of results by the tables in build/bench."""
    before, heading, _ = PAGE.read_text(encoding="utf-8").partition(HEADING)
    parts = [before + heading, _machine_line(next(iter(names := list(names))))]
    parts += [f"\n`python -m benchmarks {name}`\n{_tables(name)}" for name in names]
    PAGE.write_text("".join(parts), encoding="utf-8")


def _machine_line(name: str) -> str:
    facts = json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8"))["machine"]
    return (
        f"\n{facts['processor']}, {facts['cores']} cores; {facts['system']}, "
        f"Python {facts['python']}, NumPy {facts['numpy']}.\n"
    )


def _tables(name: str) -> str:
    """Return the tables without the padding that a terminal needs."""
    lines = (RESULTS / f"{name}.md").read_text(encoding="utf-8").splitlines()
    kept: list[str] = []
    for line in (each.strip() for each in lines):
        if line or (kept and kept[-1]):
            kept.append(" ".join(line.split()) if line.startswith("|") else line)
    return "\n" + "\n".join(kept).strip() + "\n"
