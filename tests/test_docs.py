"""What the pages show is run: examples as doctests, the README as a new user would."""

import doctest
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGES = sorted(path for path in ROOT.glob("docs/**/*.md"))


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.stem)
def test_examples_on_the_pages_give_what_they_show(page: Path) -> None:
    # The closing fence of a block would count as output of its last example.
    text = page.read_text(encoding="utf-8").replace("```", "")
    example = doctest.DocTestParser().get_doctest(text, {}, page.stem, str(page), 0)
    report = doctest.DocTestRunner(verbose=False)
    assert report.run(example).failed == 0


def test_the_readme_runs_from_top_to_bottom(capsys: pytest.CaptureFixture[str]) -> None:
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    assert len(blocks) >= 2
    names: dict[str, object] = {}
    for block in blocks:
        exec(block, names)  # noqa: S102 - the README is this repository's own
    assert "epsilon" in capsys.readouterr().out


@pytest.mark.parametrize("page", [*PAGES, ROOT / "README.md"], ids=lambda path: path.stem)
def test_links_lead_somewhere(page: Path) -> None:
    links = re.findall(r"\]\(([^)#]+)\)", page.read_text(encoding="utf-8"))
    missing = [link for link in links if not (page.parent / link).exists()]
    assert missing == []
