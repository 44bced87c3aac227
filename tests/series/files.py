"""A small clinic whose visits arrive over days, as files: with two series over them."""

from datetime import UTC, date, datetime, timedelta
from pathlib import Path

DAYS = 12
"""Days of visits, the last of which was yesterday."""

CATALOG = """
[budget]
epsilon = {budget}

[tables.visits]
from = "visits.csv"
unit = "patient_id"
rows_per_unit = 5
arrival = "day"

[tables.visits.columns]
patient_id = {{ type = "integer" }}
region = {{ type = "text", values = ["north", "south"] }}
day = {{ type = "date" }}

[[series]]
name = "visits by region"
question = "SELECT region, COUNT(*) AS visits FROM visits GROUP BY region"
clock = "day"
first = {first}
ticks = 30
epsilon = 10
rows_per_unit = 3
{more}
[[series]]
name = "patients"
question = "SELECT COUNT(DISTINCT patient_id) AS patients FROM visits"
clock = "day"
first = {first}
ticks = 20
epsilon = 20
"""


def first_day() -> date:
    """Return the day on which both series begin."""
    return datetime.now(UTC).date() - timedelta(days=DAYS)


def write_visits(folder: Path, *, each_day: int = 40, days: int = DAYS) -> None:
    """Write the table: each day some patients come who were never there before."""
    rows = [
        f"{day * each_day + i},{('north', 'south')[i % 2]},{first_day() + timedelta(days=day)}"
        for day in range(days)
        for i in range(each_day)
    ]
    (folder / "visits.csv").write_text("\n".join(["patient_id,region,day", *rows]) + "\n")


def write_clinic(folder: Path, *, budget: float = 100, more: str = "") -> Path:
    """Write the table and the catalog; return the catalog."""
    folder.mkdir(parents=True, exist_ok=True)
    write_visits(folder)
    text = CATALOG.format(budget=budget, first=first_day(), more=more)
    (folder / "discreet.toml").write_text(text)
    return folder / "discreet.toml"
