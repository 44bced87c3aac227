"""Golden files of what is stored: read, compared, and written only when somebody says which."""

import json
from pathlib import Path
from typing import Any

GOLDEN = Path(__file__).parent.parent / "golden" / "stored"


def golden_text(name: str) -> str:
    """Return a golden file."""
    return (GOLDEN / name).read_text(encoding="utf-8")


def golden(name: str) -> Any:
    """Return what a golden file of JSON holds."""
    return json.loads(golden_text(name))


def json_text(content: object) -> str:
    """Return JSON that shows in a diff what changed."""
    return json.dumps(content, indent=1, ensure_ascii=False) + "\n"
