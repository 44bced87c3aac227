"""Write the notebooks of examples from the scripts there. `make docs` runs it.

A script is cut at lines `# %%`; a cell `# %% [markdown]` holds comments only. A cell `# %%ask` or
`# %%explain` is a query in comments, and a comment `# %budget` inside of other cells is a magic of
the notebook. What comes before the first cell is for the script.
"""

import json
import re
from pathlib import Path
from typing import TypeAlias

EXAMPLES = Path(__file__).parent.parent / "examples"
COURSE = EXAMPLES / "course"
MAGICS = EXAMPLES / "notebook.py"

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
        text = _uncommented(body)
        return {"cell_type": "markdown", "id": f"c{number}", "metadata": {}, "source": text}
    is_query = kind.startswith(("ask", "explain"))
    source = f"%%{kind}\n{_uncommented(body)}" if is_query else MAGIC.sub("%", body)
    return {
        "cell_type": "code",
        "execution_count": None,
        "id": f"c{number}",
        "metadata": {},
        "outputs": [],
        "source": source,
    }


MAGIC = re.compile(r"^# %(?=\w)", re.MULTILINE)


def _uncommented(body: str) -> str:
    return "\n".join(line.removeprefix("#").removeprefix(" ") for line in body.splitlines())


def write_notebooks() -> None:
    """Write a notebook beside each script of the course, and beside that of the magics."""
    for script in (*sorted(COURSE.glob("*.py")), MAGICS):
        text = notebook_from(script.read_text(encoding="utf-8"))
        script.with_suffix(".ipynb").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    write_notebooks()
