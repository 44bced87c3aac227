"""Forms that grow in Spark: they have the rows that a full preparation of the files has."""

import random
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from discreet.catalog.resolve import read
from discreet.engines.growth import Anew, Grows, MadeAnew, Step
from discreet.engines.spark import SparkEngine, growing
from discreet.opening import copy_of, forget_catalog, is_copy_outdated, prepare_catalog
from discreet.opening.sources import form_of
from tests.spark import AT, shared_session

CATALOG = f"""
[budget]
epsilon = 1000

[source]
engine = "{AT}"

[tables.visits]
from = "visits-*.parquet"
unit = "who"
rows_per_unit = 3

[tables.pills]
from = "pills-*.parquet"
unit = "visits.who via visit"
rows_per_unit = 4
"""

PEOPLE = 1000


class Days:
    """Writes files of visits and pills, day by day."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.draws, self.day, self.visit = folder, random.Random(1), 0, 0
        for each in ("visits", "pills"):
            path = f'"{each}-*.parquet"'
            text = (folder / "discreet.toml").read_text() if self.day else CATALOG
            assert path in text
        (folder / "discreet.toml").write_text(
            CATALOG.replace('from = "', f'from = "{folder}/'), encoding="utf-8"
        )

    @property
    def catalog(self) -> Path:
        return self.folder / "discreet.toml"

    def add(self, rows: int) -> None:
        """Add a day: rows that are twice, of nobody, or of a visit that is yet to come."""
        visits = {
            "visit": pa.array(range(self.visit, self.visit + rows), pa.int64()),
            "who": pa.array([self._person() for _ in range(rows)], pa.string()),
            "cost": pa.array(
                [self.draws.choice([0.0, -0.0, 1.5, None]) for _ in range(rows)], pa.float64()
            ),
        }
        pq.write_table(pa.table(visits), self.folder / f"visits-{self.day:03}.parquet")
        ahead = self.visit + rows + rows // 3 + 1
        pills = {
            "visit": [self.draws.randrange(ahead) for _ in range(rows)],
            "drug": [self.draws.choice("abcé") for _ in range(rows)],
        }
        pq.write_table(pa.table(pills), self.folder / f"pills-{self.day:03}.parquet")
        self.visit += rows
        self.day += 1

    def _person(self) -> str | None:
        few = self.draws.random() < 0.2
        person = f"p{self.draws.randrange(20 if few else PEOPLE)}"
        return None if self.draws.random() < 0.02 else person


@pytest.fixture
def days(tmp_path: Path) -> Iterator[Days]:
    shared_session()
    yield Days(tmp_path)


def contents(catalog: Path) -> dict[str, Any]:
    """Return the rows that queries see of a form as multisets, and its numbers of units."""
    declared = read(catalog)
    tables = {each.name: each.source for each in declared.tables}
    form = form_of(declared, tables, copy_of(catalog))
    with closing(SparkEngine.open(AT, tables, form=form)) as engine:
        assert engine.is_prepared
        names = [f"__{each}_{name}" for each in ("kept", "every") for name in tables]
        return {
            name: Counter(map(repr, map(tuple, engine._session.table(name).collect())))
            for name in (*names, "__about_parts")
        }


def prepared(catalog: Path) -> list[Step]:
    told: list[Step] = []
    assert prepare_catalog(catalog, told=told.append)
    return told


def fresh(catalog: Path) -> dict[str, Any]:
    """Return what a full preparation of the same files makes."""
    forget_catalog(catalog)
    assert prepare_catalog(catalog)
    return contents(catalog)


def test_a_grown_form_is_what_a_full_preparation_makes(days: Days) -> None:
    days.add(3000)
    assert prepared(days.catalog) == []
    for rows in (30, 700, 2000):
        days.add(rows)
        assert is_copy_outdated(days.catalog)
        told = prepared(days.catalog)
        assert [type(each) for each in told] == [Grows, Grows], told
    grown = contents(days.catalog)
    assert len(grown["__every_visits"]) > len(grown["__kept_visits"])
    assert grown == fresh(days.catalog)
