"""Two years of days through a server: `python examples/series/two_years.py`.

A clinic's table grows every day, and three charts are shown every day. Each chart is charged once.
The example writes the rows of a day into the file, has the server release the day, and reads the
charts as an analyst does. In real life the server releases every day by itself when it has ended;
here its clock is off, and the owner calls once for each day that is played.
"""
# ruff: noqa: T201 - an example prints

import argparse
import csv
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

import httpx

import discreet
from discreet.ledger import make_token

FIRST = date(2024, 1, 1)
REGIONS = ("east", "north", "south")

CATALOG = """
[budget]
epsilon = 4.0
delta = 1e-6

[tables.visits]
from = "visits.csv"
unit = "patient"
rows_per_unit = 5
arrival = "day"

[tables.visits.columns]
patient = { type = "integer" }
region  = { type = "text", values = ["east", "north", "south"] }
cost    = { type = "real", bounds = [0, 500], step = 0.01 }
day     = { type = "date" }

[[series]]
name = "patients so far"
question = "SELECT COUNT(DISTINCT patient) AS patients FROM visits"
clock = "day"
first = 2024-01-01
ticks = 3653
epsilon = 1.0

[[series]]
name = "visits by region"
question = "SELECT region, COUNT(*) AS visits FROM visits GROUP BY region"
clock = "day"
first = 2024-01-01
ticks = 3653
epsilon = 1.0
rows_per_unit = 3

[[series]]
name = "cost"
question = "SELECT SUM(cost) AS cost FROM visits"
clock = "week"
first = 2024-01-01
ticks = 520
epsilon = 1.0
rows_per_unit = 3
"""


def visits_of(day: int) -> list[tuple[int, str, float, date]]:
    """Return the visits of a day: more of them in winter, and always some new patients."""
    at = FIRST + timedelta(days=day)
    count = 60 + (30 if at.month in (1, 2, 11, 12) else 0) + day * 7919 % 13
    return [
        (
            (day * 104_729 + visit * 15_485_863) % (4000 + 10 * day),
            REGIONS[(day + visit * visit) % 3],
            5 + day * visit * 37 % 19_500 / 100,
            at,
        )
        for visit in range(count)
    ]


@contextmanager
def serving(catalog: Path, settings: Path) -> Iterator[str]:
    """Serve a catalog in a process of its own, and yield its address."""
    command = ["-m", "discreet", "serve", f"clinic={catalog}", "--port", "0", "--config"]
    with subprocess.Popen(  # noqa: S603 - our own program
        [sys.executable, *command, str(settings)], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None  # noqa: S101 - it is a pipe
        try:
            for line in process.stdout:
                if line.startswith("Serving"):
                    yield line.partition(" at ")[2].partition(". ")[0]
                    break
        finally:
            process.terminate()


def play(days: int, folder: Path) -> None:
    """Play days one after the other, and say what the charts show in the end."""
    catalog, settings, data = (
        folder / each for each in ("discreet.toml", "server.toml", "visits.csv")
    )
    catalog.write_text(CATALOG, encoding="utf-8")
    settings.write_text("series = false\n", encoding="utf-8")
    data.write_text("patient,region,cost,day\n", encoding="utf-8")
    owner, analyst = make_token(), make_token()
    with discreet.open(catalog) as curator:
        curator.ledger.declare_analyst("clinic", token_hash=owner.hash, role="owner")
        curator.ledger.declare_analyst("analyst", token_hash=analyst.hash, epsilon=1)

    began = perf_counter()
    with serving(catalog, settings) as url, httpx.Client(base_url=url, timeout=120) as client:
        client.headers["Authorization"] = f"Bearer {owner.text}"
        for day in range(days):
            with data.open("a", encoding="utf-8", newline="") as file:
                csv.writer(file, lineterminator="\n").writerows(visits_of(day))
            until = datetime.combine(FIRST + timedelta(days=day + 1), datetime.min.time())
            body = {"until": until.isoformat() + "Z"}
            client.post("/v1/catalogs/clinic/series/tick", json=body).raise_for_status()
            if day % 100 == 99:
                print(f"{day + 1} days in {perf_counter() - began:.0f} s")
        with discreet.connect(url, token=analyst.text, catalog="clinic") as charts:
            for each in charts.all_series():
                if each.status.released:
                    print(each.read(), end="\n\n")
            print("Left for other queries:", charts.remaining)
    tell_truth(days)
    with discreet.open(catalog) as curator:
        charges = [each for each in curator.ledger.entries() if each.kind == "charge"]
        print(f"{len(charges)} charges for {days} days of three charts")
        curator.ledger.verify()


def tell_truth(days: int) -> None:
    """Print what only the owner knows, to compare."""
    rows = [visit for day in range(days) for visit in visits_of(day)]
    patients = len({patient for patient, *_ in rows})
    used: dict[int, int] = {}
    counted = dict.fromkeys(REGIONS, 0)
    for patient, region, *_ in rows:
        used[patient] = used.get(patient, 0) + 1
        counted[region] += used[patient] <= 3
    print(f"In truth: {patients:,} patients, {len(rows):,} visits")
    print("The first three visits of each patient, by region:", counted)


def main(arguments: list[str] | None = None) -> None:
    """Play two years, or as many days as --days says."""
    parser = argparse.ArgumentParser(description="Play days through a server")
    parser.add_argument("--days", type=int, default=731)
    days = parser.parse_args(arguments).days
    with TemporaryDirectory() as folder:
        play(days, Path(folder))


if __name__ == "__main__":
    main()
