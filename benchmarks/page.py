"""Put the last results of all benchmarks on the page docs/benchmark-tables.md."""

import json
import re
from collections.abc import Iterable
from shutil import copyfile

from benchmarks.environments import ROOT
from benchmarks.report import RESULTS

PAGE = ROOT / "docs" / "benchmark-tables.md"
HEADING = "## Results\n"


SECTION = "`python -m benchmarks {name}`\n"

FIGURES = ROOT / "docs" / "figures"


def write_page(names: Iterable[str]) -> None:
    """Replace the sections of these benchmarks by the tables in build/bench; keep the others."""
    before, heading, results = PAGE.read_text(encoding="utf-8").partition(HEADING)
    lead, sections = _sections(results)
    for name in names:
        sections[name] = f"{_machine_line(name)}{_figure(name)}{_tables(name)}"
    written = "".join(f"\n{SECTION.format(name=name)}{each}" for name, each in sections.items())
    PAGE.write_text(f"{before}{heading}{lead}{written}", encoding="utf-8")


def _sections(results: str) -> tuple[str, dict[str, str]]:
    """Return what stands above all sections, and by benchmark what stands below its command."""
    lead, *found = re.split(r"^`python -m benchmarks (\w+)`\n", results, flags=re.MULTILINE)
    texts = (each.rstrip("\n") + "\n" for each in found[1::2])
    return lead.rstrip("\n") + "\n", dict(zip(found[::2], texts, strict=True))


def _machine_line(name: str) -> str:
    facts = json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8"))["machine"]
    return (
        f"\n{facts['processor']}, {facts['cores']} cores; {facts['system']}, "
        f"Python {facts['python']}, NumPy {facts['numpy']}.\n"
    )


def _figure(name: str) -> str:
    """Copy the picture of a benchmark beside the page, if it drew one, and show it there."""
    drawn = RESULTS / f"{name}.svg"
    if not drawn.exists():
        return ""
    FIGURES.mkdir(exist_ok=True)
    copyfile(drawn, FIGURES / drawn.name)
    return f"\n![{name}](figures/{drawn.name})\n"


def _tables(name: str) -> str:
    """Return the tables without the padding that a terminal needs."""
    lines = (RESULTS / f"{name}.md").read_text(encoding="utf-8").splitlines()
    kept: list[str] = []
    for line in (each.strip() for each in lines):
        if line or (kept and kept[-1]):
            kept.append(" ".join(line.split()) if line.startswith("|") else line)
    return "\n" + "\n".join(kept).strip() + "\n"
