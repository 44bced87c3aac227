"""The lectures as scripts and notebooks: they run, they draw, and they are the same."""

import json
import runpy
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

from docs.notebooks import COURSE, MAGICS, notebook_from

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


@pytest.mark.parametrize("script", [*SCRIPTS, MAGICS], ids=lambda path: path.stem)
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


def test_the_notebook_of_the_magics_runs_in_a_real_kernel(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    monkeypatch.setenv("JUPYTER_RUNTIME_DIR", str(tmp_path))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    notebook: Any = nbformat.reads(MAGICS.with_suffix(".ipynb").read_text("utf-8"), as_version=4)  # type: ignore[no-untyped-call]
    wrong = nbformat.v4.new_code_cell("%%ask --epsilom 1\nSELECT 1", metadata=MAY_FAIL)  # type: ignore[no-untyped-call]
    notebook.cells.append(wrong)
    client = NotebookClient(notebook, kernel_name="python3", timeout=120)
    client.execute()
    preview, answer, read, older, budget, failed = [
        cell.outputs for cell in notebook.cells if cell.get("outputs")
    ]
    assert "nothing was spent" in preview[0].data["text/html"]
    assert [sorted(each.data) for each in answer] == [
        ["image/png", "text/plain"],
        ["text/html", "text/plain"],
    ]
    assert "±" in answer[1].data["text/html"]
    assert "north" in read[0].text
    assert "±200" in older[0].data["text/plain"].replace(" ", "")
    assert "of 3" in budget[0].data["text/plain"]
    assert [each.get("text") for each in failed] == [
        "UsageError: There is no option --epsilom. Did you mean --epsilon?\n"
    ]


MAY_FAIL = {"tags": ["raises-exception"]}
