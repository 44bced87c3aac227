"""The lectures as scripts and notebooks: they run, they draw, and they are the same."""

import json
import runpy
from pathlib import Path

import pytest

from docs.notebooks import COURSE, notebook_from

SCRIPTS = sorted(COURSE.glob("*.py"))


def test_every_lecture_has_a_script() -> None:
    golden = Path(__file__).parent / "golden" / "lectures.json"
    entries = json.loads(golden.read_text(encoding="utf-8"))
    assert len(SCRIPTS) == len({each["source"] for each in entries})


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_a_script_runs_and_draws(
    script: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(script), run_name="__main__")
    assert capsys.readouterr().out
    assert (tmp_path / "build/examples/course" / f"{script.stem}.png").exists()


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_a_notebook_is_what_make_docs_writes(script: Path) -> None:
    written = script.with_suffix(".ipynb").read_text(encoding="utf-8")
    assert written == notebook_from(script.read_text(encoding="utf-8"))


def test_the_cells_of_a_notebook_are_the_code_of_its_script() -> None:
    """So that a script that runs is a notebook that runs; each cell is whole by itself."""
    for script in SCRIPTS:
        cells = json.loads(notebook_from(script.read_text(encoding="utf-8")))["cells"]
        kinds = {cell["cell_type"] for cell in cells}
        assert kinds == {"markdown", "code"}
        for cell in cells:
            if cell["cell_type"] == "code":
                compile(cell["source"], cell["id"], "exec")
