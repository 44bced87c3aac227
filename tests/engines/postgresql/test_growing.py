"""Forms that grow on a server: they have the rows that a full preparation of the tables has."""

# ruff: noqa: S311, S608 - these draws protect nobody; names are made here

import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

import discreet
from discreet.engines.growth import Anew, Grows, MadeAnew, Step
from discreet.engines.postgresql import growing
from discreet.opening import copy_of, forget_catalog, is_copy_outdated, prepare_catalog
from tests.engines.on_postgresql import FLUSH, run, stored
from tests.postgresql import shared_server

CATALOG = """
[budget]
epsilon = 100000

[source]
engine = "env:CLINIC"

[tables.visits]
from = "{schema}.visits"
unit = "who"
rows_per_unit = 3

[tables.visits.columns]
cost = {{ bounds = [0, 10] }}

[tables.pills]
from = "{schema}.pills"
unit = "visits.who via visit"
rows_per_unit = 4
"""

TABLES = (
    "CREATE TABLE {0}.visits (visit int, who text, cost double precision, day date)",
    "CREATE TABLE {0}.pills (visit int, drug text)",
)

PEOPLE = 1500


class Days:
    """Adds visits and pills to tables of a server, day by day."""

    def __init__(self, schema: str, seed: int = 0) -> None:
        self.schema, self.draws, self.visit = schema, random.Random(seed), 0

    def add(self, rows: int) -> None:
        """Add rows: some twice, some of nobody, some of a visit that is yet to come."""
        visits = [
            (
                self.visit + n,
                self._person(),
                self.draws.choice([0.0, -0.0, 1.5, None]),
                "2026-01-02",
            )
            for n in range(rows)
        ]
        ahead = self.visit + rows + rows // 3 + 1
        pills = [(self.draws.randrange(ahead), self.draws.choice("abcé")) for _ in range(rows)]
        with psycopg.connect(shared_server()) as connection, connection.cursor() as cursor:
            for name, added in (("visits", visits), ("pills", pills)):
                with cursor.copy(f"COPY {self.schema}.{name} FROM STDIN") as copy:
                    for row in added:
                        copy.write_row(row)
            connection.execute(FLUSH)
        self.visit += rows

    def _person(self) -> str | None:
        few = self.draws.random() < 0.2
        person = f"p{self.draws.randrange(20 if few else PEOPLE)}"
        return None if self.draws.random() < 0.02 else person


@pytest.fixture
def schema() -> Iterator[str]:
    name = stored({})
    run(*(each.format(name) for each in TABLES))
    yield name
    run(f"DROP SCHEMA {name} CASCADE")


@pytest.fixture
def catalog(tmp_path: Path, schema: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv("CLINIC", shared_server())
    path = tmp_path / "discreet.toml"
    path.write_text(CATALOG.format(schema=schema))
    yield path
    path.write_text(CATALOG.format(schema=schema))
    forget_catalog(path)


OURS = """
SELECT schemaname, tablename FROM pg_tables WHERE schemaname IN ('discreet_kept', 'discreet_rest')
ORDER BY 1, 2
"""


def contents() -> dict[Any, Any]:
    """Return the rows of all forms of this server as multisets, and their numbers of units."""
    found: dict[Any, Any] = {}
    for place, name in run(OURS):
        table, _, mark = name.rpartition("_")
        found[place, table] = Counter(map(repr, run(f'SELECT * FROM {place}."{name}"')))
        parts = f'SELECT name, sum(units) FROM discreet_about."parts_{mark}" GROUP BY 1 ORDER BY 1'
        found["units"] = run(parts)
    return found


def fresh(catalog: Path) -> dict[Any, Any]:
    """Return what a full preparation of the same tables makes."""
    forget_catalog(catalog)
    assert prepare_catalog(catalog)
    return contents()


def prepared(catalog: Path) -> list[Step]:
    told: list[Step] = []
    assert prepare_catalog(catalog, told=told.append)
    return told


@pytest.mark.parametrize("seed", range(2))
def test_a_grown_form_is_what_a_full_preparation_makes(
    catalog: Path, schema: str, seed: int
) -> None:
    days = Days(schema, seed)
    days.add(4000)
    assert prepared(catalog) == []
    for rows in (40, 1, 900, 2500):
        days.add(rows)
        assert is_copy_outdated(catalog)
        told = prepared(catalog)
        assert [each.table for each in told if isinstance(each, Grows)] == ["visits", "pills"], told
    grown = contents()
    assert sum(grown["discreet_rest", "visits"].values()) > 100
    assert grown == fresh(catalog)
