"""Write the notebooks of examples/course from the scripts there. `make docs` runs it.

A script is cut at lines `# %%`; a cell `# %% [markdown]` holds comments only. What comes before the
first cell is for the script.
"""

import json
import re
from pathlib import Path
from typing import TypeAlias

COURSE = Path(__file__).parent.parent / "examples" / "course"

Cell: TypeAlias = dict[str, object]


def notebook_from(script: str) -> str:
    """Return a script as a notebook without outputs, as JSON."""
    parts = re.split(r"^# %%(.*)\n", script, flags=re.MULTILINE)[1:]
    cells = [
        _cell(number, kind.strip(), body.strip())
        for number, (kind, body) in enumerate(zip(parts[::2], parts[1::2], strict=True))
    ]
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    content = {
        "cells": cells,
        "metadata": {"kernelspec": kernel, "language_info": {"name": "python"}},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    return json.dumps(content, indent=1, ensure_ascii=False) + "\n"


def _cell(number: int, kind: str, body: str) -> Cell:
    if kind == "[markdown]":
        text = "\n".join(line.removeprefix("#").removeprefix(" ") for line in body.splitlines())
        return {"cell_type": "markdown", "id": f"c{number}", "metadata": {}, "source": text}
    return {
        "cell_type": "code",
        "execution_count": None,
        "id": f"c{number}",
        "metadata": {},
        "outputs": [],
        "source": body,
    }


def write_notebooks() -> None:
    """Write a notebook beside each script of the course."""
    for script in sorted(COURSE.glob("*.py")):
        text = notebook_from(script.read_text(encoding="utf-8"))
        script.with_suffix(".ipynb").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    write_notebooks()
