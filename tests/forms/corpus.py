"""The questions of `tests/golden/forms`: a file for each form of SQL, on the tables of a clinic."""

import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

FORMS = Path(__file__).parent.parent / "golden" / "forms"


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """A question that is answered as plain SQL answers it."""

    form: str
    sql: str
    plain: str
    """What plain DuckDB is asked: the same, unless the question is not DuckDB's SQL."""
    how: dict[str, Any] = field(default_factory=dict)
    """Further arguments of `ask`."""

    def __str__(self) -> str:
        return f"{self.form}: {self.sql[:70]}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """A question beside them that is rejected before any data is read."""

    form: str
    sql: str
    error: str
    says: str
    how: dict[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"{self.form}: {self.sql[:70]}"


def _read(kind: str) -> list[tuple[str, dict[str, Any]]]:
    return [
        (path.stem, each)
        for path in sorted(FORMS.glob("*.toml"))
        for each in tomllib.loads(path.read_text(encoding="utf-8")).get(kind, ())
    ]


ANSWERED = [
    Answered(
        form=form,
        sql=each["sql"],
        plain=each.get("plain", each["sql"]),
        how=each.get("how", {}),
    )
    for form, each in _read("answer")
]

REFUSED = [
    Refused(
        form=form,
        sql=each["sql"],
        error=each["error"],
        says=each["says"],
        how=each.get("how", {}),
    )
    for form, each in _read("refuse")
]
