"""A file of people and its catalog, for tests that open them."""

from pathlib import Path

AGES = "who,age,day\n" + "".join(f"{i},{20 + i % 50},2024-01-{1 + i % 28:02}\n" for i in range(300))

CATALOG = """
[budget]
epsilon = 100

[tables.people]
from = "people.csv"
unit = "who"
rows_per_unit = 1

[tables.people.columns]
who = { type = "integer" }
age = { type = "integer", bounds = [0, 120] }
day = { type = "date", bounds = [2024-01-01, 2024-12-31] }
"""

COUNT = "SELECT COUNT(*) AS n FROM people"


def written(folder: Path, text: str) -> Path:
    (folder / "people.csv").write_text(text, encoding="utf-8")
    (folder / "discreet.toml").write_text(CATALOG, encoding="utf-8")
    return folder / "discreet.toml"


def declare(catalog: Path, section: str) -> None:
    catalog.write_text(f"{CATALOG}\n{section}\n", encoding="utf-8")
