"""Copies that grow: what comes out is what a full preparation of the same files makes."""

# ruff: noqa: S311 - these draws protect nobody

import csv
import os
import random
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import discreet
from discreet.engines.duckdb import growing
from discreet.engines.growth import Anew, Grows, MadeAnew, Step
from discreet.opening import copy_of, forget_catalog, is_copy_outdated, prepare_catalog

CATALOG = """
[budget]
epsilon = 100000
delta = 1e-3

[tables.visits]
from = "visits-*.parquet"
unit = "who"
rows_per_unit = 3

[tables.visits.groups_per_unit]
sex = 1

[tables.visits.columns]
cost = { bounds = [0, 10] }
sex = { values = ["f", "m"] }

[tables.pills]
from = "pills-*.parquet"
unit = "visits.who via visit"
rows_per_unit = 4

[tables.sales]
from = "sales-*.csv"
unit = "buyer"
rows_per_unit = 2

[tables.sales.columns]
price = { bounds = [0, 100] }

[tables.log]
from = "log.csv"
unit = "who"
rows_per_unit = 5

[tables.steps]
from = "steps-*.csv"
unit = "row"

[tables.rooms]
from = "rooms.csv"
public = true
"""

PEOPLE = 1500


class Days:
    """Writes files of visits, pills and sales, day by day."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.folder, self.draws, self.day, self.visit = folder, random.Random(seed), 0, 0
        (folder / "discreet.toml").write_text(CATALOG)
        (folder / "rooms.csv").write_text("room,floor\n1,0\n2,1\n2,2\n")
        (folder / "log.csv").write_text("who,told,n\n", newline="")

    @property
    def catalog(self) -> Path:
        return self.folder / "discreet.toml"

    def add(self, rows: int) -> None:
        """Add files of one more day; some rows are twice, of nobody, or of a visit to come."""
        who = [self._person() for _ in range(rows)]
        numbers = list(range(self.visit, self.visit + rows))
        reals = [0.0, -0.0, 1.5, 9.75, float("nan"), None, 12.0]
        visits = {
            "visit": pa.array(numbers, pa.int64()),
            "who": pa.array(who, pa.string()),
            "cost": pa.array([self.draws.choice(reals) for _ in who], pa.float64()),
            "sex": pa.array([self.draws.choice(["f", "m", None]) for _ in who], pa.string()),
        }
        pq.write_table(pa.table(visits), self.folder / f"visits-{self.day:03}.parquet")
        of = [self.draws.randrange(self.visit + rows + rows // 3 + 1) for _ in range(rows)]
        pills = {"visit": of, "drug": [self.draws.choice("abcé") for _ in of]}
        pq.write_table(pa.table(pills), self.folder / f"pills-{self.day:03}.parquet")
        self._write("sales", ["buyer", "price", "told"], (self._sale() for _ in range(rows)))
        self._write("steps", ["x", "y"], ((n % 5, "abc"[n % 3]) for n in range(rows // 4)))
        with (self.folder / "log.csv").open("a", newline="") as log:
            csv.writer(log, lineterminator="\n").writerows(
                (self._person(), self.draws.choice(["a\nb", 'say "x"', "c,d", ""]), n % 4)
                for n in range(rows)
            )
        self.visit += rows
        self.day += 1

    def _person(self) -> str | None:
        if self.draws.random() < 0.02:
            return None
        few = self.draws.random() < 0.2
        return f"p{self.draws.randrange(20 if few else PEOPLE)}"

    def _sale(self) -> tuple[Any, ...]:
        is_whole = self.draws.random() < 0.9 if self.day else False
        price = self.draws.randrange(100) if is_whole else self.draws.choice([0.5, -0.0, ""])
        return self.draws.randrange(PEOPLE), price, self.draws.choice(["x", "1", "é", ""])

    def _write(self, name: str, columns: list[str], rows: Iterable[Iterable[Any]]) -> None:
        file = self.folder / f"{name}-{self.day:03}.csv"
        with file.open("w", newline="", encoding="utf-8") as opened:
            csv.writer(opened, lineterminator="\n").writerows([columns, *rows])


FORMS = """
SELECT schema_name || '.' || table_name FROM duckdb_tables()
WHERE schema_name IN ('kept', 'rest', 'main', 'waiting') ORDER BY 1
"""


def contents(catalog: Path) -> dict[str, Any]:
    """Return all that queries can see of a copy: rows as multisets, numbers of units, columns."""
    with duckdb.connect(str(copy_of(catalog)), read_only=True) as copy:
        named = [name for (name,) in copy.execute(FORMS).fetchall()]
        found: dict[str, Any] = {
            name: (
                copy.execute(f"DESCRIBE {name}").fetchall(),
                Counter(map(repr, copy.execute(f"FROM {name}").fetchall())),
            )
            for name in named
        }
        for about in (
            "SELECT name, sum(units) FROM about.parts GROUP BY name ORDER BY name",
            "SELECT name, told FROM about.columns ORDER BY name",
            "SELECT key, contents, made_by FROM about.copy",
            "SELECT name, number, size, digest FROM about.files ORDER BY name, number",
        ):
            found[about] = copy.execute(about).fetchall()
    return found


def fresh(catalog: Path) -> dict[str, Any]:
    """Return what a full preparation of the same files makes; the copy that grew is gone then."""
    forget_catalog(catalog)
    assert prepare_catalog(catalog)
    return contents(catalog)


def prepared(catalog: Path) -> list[Step]:
    """Prepare, and return what was told."""
    told: list[Step] = []
    assert prepare_catalog(catalog, told=told.append)
    return told


ALL_GROW = {"visits", "pills", "sales", "log", "steps"}


@pytest.mark.parametrize("seed", range(2))
def test_a_grown_copy_is_what_a_full_preparation_makes(tmp_path: Path, seed: int) -> None:
    days = Days(tmp_path, seed)
    days.add(6000)
    assert prepared(days.catalog) == []
    for rows in (60, 1, 900, 2500):
        days.add(rows)
        assert is_copy_outdated(days.catalog)
        told = prepared(days.catalog)
        assert {each.table for each in told if isinstance(each, Grows)} == ALL_GROW, told
        assert not any(isinstance(each, MadeAnew) for each in told), told
        assert not is_copy_outdated(days.catalog)
    grown = contents(days.catalog)
    assert grown == fresh(days.catalog)
