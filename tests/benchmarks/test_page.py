"""The page of results: what was measured now is replaced, everything else stays."""

from pathlib import Path

import pytest

from benchmarks import page, report
from benchmarks.report import Figure, Report, Table

BEFORE = """# Benchmarks

Words.

## Results

Some processor.

`python -m benchmarks first`

### Old

`python -m benchmarks second`

### Kept
"""


def test_only_sections_that_were_run_are_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (page, report):
        monkeypatch.setattr(module, "RESULTS", tmp_path)
    monkeypatch.setattr(page, "FIGURES", tmp_path / "figures")
    monkeypatch.setattr(page, "PAGE", tmp_path / "page.md")
    page.PAGE.write_text(BEFORE)
    for name in ("first", "third"):
        (tmp_path / f"{name}.svg").write_text("<svg/>")
        table = Table(title=f"New {name}", columns=("what", "ms"), rows=[("a", Figure(1.5))])
        report.write(Report(name=name, tables=[table]))
    page.write_page(["first", "third"])
    written = page.PAGE.read_text()
    lines = [line for line in written.splitlines() if line.startswith(("#", "`", "Some", "!"))]
    assert lines == [
        "# Benchmarks",
        "## Results",
        "Some processor.",
        "`python -m benchmarks first`",
        "![first](figures/first.svg)",
        "### New first",
        "`python -m benchmarks second`",
        "### Kept",
        "`python -m benchmarks third`",
        "![third](figures/third.svg)",
        "### New third",
    ]
    assert (tmp_path / "figures" / "third.svg").exists()
    page.write_page(["first"])
    assert page.PAGE.read_text() == written
