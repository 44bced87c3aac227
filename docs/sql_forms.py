"""Write the tables of docs/reference/sql.md: which forms of SQL are answered, and which are not.

Forms are rows of docs/sql_forms.toml, each with queries. The checker is asked about aggregates.
"""

import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from docs.sql_aggregates import aggregates_table

PAGE = Path(__file__).parent / "reference" / "sql.md"
FORMS = Path(__file__).parent / "sql_forms.toml"
REGION = re.compile(r"(<!-- table: (\w+) -->\n).*?(<!-- end of table -->)", re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """A query, and the error that it is rejected with, if it is."""

    sql: str
    error: str | None = None
    how: Mapping[str, Any]
    """Further arguments of `explain`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """A row of a table: what is written, what becomes of it, and queries that show it."""

    section: str
    form: str
    outcome: str
    examples: tuple[Example, ...]

    def __str__(self) -> str:
        return f"{self.section}: {self.form[:50]}"


@cache
def forms() -> tuple[Form, ...]:
    """Return all rows of all tables, as docs/sql_forms.toml has them."""
    read = tomllib.loads(FORMS.read_text(encoding="utf-8"))
    return tuple(_form(section, each) for section, rows in read.items() for each in rows)


def _form(section: str, row: Mapping[str, Any]) -> Form:
    answered = [_example(each) for each in row.get("answered", ())]
    rejected = [_example(*each) for each in row.get("rejected", ())]
    return Form(
        section=section,
        form=row["form"],
        outcome=_outcome(row),
        examples=(*answered, *rejected),
    )


def _example(query: str | Mapping[str, Any], error: str | None = None) -> Example:
    if isinstance(query, str):
        return Example(sql=query, error=error, how={})
    return Example(sql=query["sql"], error=error, how=query["how"])


def _outcome(row: Mapping[str, Any]) -> str:
    """Return what becomes of a form, and check that the row has queries for it."""
    match sorted(row.keys() - {"form"}):
        case ["answered"]:
            return "answered"
        case ["answered", "note"]:
            return f"answered: {row['note']}"
        case ["answered", "if", "rejected"] if row["answered"] and row["rejected"]:
            return f"answered if {row['if']}"
        case ["because", "rejected"]:
            return f"rejected: {row['because']}"
    raise ValueError(f"{row['form']} is neither answered, nor answered if, nor rejected")


def forms_table(section: str) -> Iterator[str]:
    """Yield the lines of the table of a section."""
    yield "| SQL | |"
    yield "|---|---|"
    for each in forms():
        if each.section == section:
            yield f"| {_cell(each.form)} | {_cell(each.outcome)} |"


COMPUTED: Mapping[str, Callable[[], Iterator[str]]] = {"aggregates": aggregates_table}
"""Tables that are not rows of a file."""


def sql_page() -> str:
    """Return docs/reference/sql.md with its tables as they are now."""
    return REGION.sub(_with_table, PAGE.read_text(encoding="utf-8"))


def _with_table(region: re.Match[str]) -> str:
    name = region[2]
    lines = COMPUTED[name]() if name in COMPUTED else forms_table(name)
    return region[1] + "\n" + "\n".join(lines) + "\n\n" + region[3]


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
