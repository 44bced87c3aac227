"""Which units may be heavy stays true while rows come and go: no unit counts beyond its limit."""

# ruff: noqa: S608 - schemas are the tests' own

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from threading import Thread
from typing import Any

import psycopg
import pyarrow as pa
import pytest

from discreet.engines.postgresql import PostgreSqlEngine, heavy
from discreet.engines.postgresql.tables import Stored
from discreet.query.expressions.facts import literal
from discreet.query.tree import ExactQuery
from tests.engines.made import column, count, private
from tests.engines.on_postgresql import stored
from tests.postgresql import shared_server
from tests.statements import unbound

pytestmark = pytest.mark.postgresql

UNITS, EACH, LIMIT = 2000, 3, 4
LATE = 12
"""So many rows come of each of a few units, which have more than their limit then."""


@dataclass(frozen=True, slots=True)
class Place:
    """A table of units with few rows, and whoever changes it."""

    schema: str
    engine: PostgreSqlEngine
    owner: "psycopg.Connection[Any]"

    @property
    def query(self) -> ExactQuery:
        table = replace(private(self.engine), rows_per_unit=LIMIT)
        return count(table, limit=LIMIT, keys=(column("region"),), sums=(literal(1),))

    def counted(self) -> int:
        found = self.engine.run(unbound(self.query), ()).unseal()
        assert found.column_names == ["k0", "s0"]
        return sum(int(each or 0) for each in found.column("s0").to_pylist())

    def bounded(self) -> int:
        """Return what is right: no unit counts more than its limit."""
        rows = f'SELECT least(count(*), {LIMIT}) AS n FROM "{self.schema}".visits'
        text = f"SELECT sum(n) FROM ({rows} GROUP BY patient_id) AS units"
        with psycopg.connect(shared_server()) as connection:
            (found,) = connection.execute(text).fetchone() or (0,)
        return int(found)

    def change(self, text: str) -> None:
        self.owner.execute(text.format(place=f'"{self.schema}".visits', schema=self.schema))


@pytest.fixture
def place() -> Iterator[Place]:
    owners = [unit for unit in range(UNITS) for _ in range(EACH)]
    regions = [number % 3 for number in range(UNITS * EACH)]
    schema = stored({"visits": pa.table({"patient_id": owners, "region": regions})})
    engine = PostgreSqlEngine.open(shared_server(), {"visits": f"{schema}.visits"})
    with psycopg.connect(shared_server(), autocommit=True) as owner:
        made = Place(schema, engine, owner)
        assert made.counted() == UNITS * EACH
        yield made
    engine.close()


COME = (
    "INSERT INTO {{place}} SELECT unit, 1 FROM generate_series({first}, {first} + 9) AS unit, "
    f"generate_series(1, {LATE})"
)


def come(first: int = 0) -> str:
    """Return the statement by which ten units get more rows than their limit."""
    return COME.format(first=first)


CHANGES = {
    "rows come": [come()],
    "rows come in a transaction": ["BEGIN", come(), "COMMIT"],
    "rows move to another unit": [
        "UPDATE {place} SET patient_id = 7 WHERE patient_id BETWEEN 20 AND 60"
    ],
    "the table is filled anew": [
        "BEGIN",
        "CREATE TEMP TABLE old AS SELECT * FROM {place}",
        "TRUNCATE {place}",
        "INSERT INTO {place} SELECT * FROM old",
        come(),
        "COMMIT",
    ],
    "another table takes its place": [
        'CREATE TABLE "{schema}".other AS SELECT * FROM {place}',
        come().replace("{place}", '"{schema}".other'),
        "DROP TABLE {place}",
        'ALTER TABLE "{schema}".other RENAME TO visits',
    ],
    "a table of old rows becomes a child": [
        'ALTER TABLE "{schema}".old_rows INHERIT {place}',
    ],
    "the table is written in another order": [
        "CREATE INDEX ON {place} (region)",
        come(),
        "VACUUM FULL {place}",
    ],
    "rows are frozen": [come(), "VACUUM FREEZE {place}"],
}


@pytest.mark.parametrize("name", CHANGES)
def test_units_that_become_heavy_are_bounded(place: Place, name: str) -> None:
    place.change('CREATE TABLE "{schema}".old_rows (patient_id bigint, region bigint)')
    place.change(come().replace("{place}", '"{schema}".old_rows'))
    assert place.counted() == UNITS * EACH  # counted after these rows were written
    for each in CHANGES[name]:
        place.change(each)
    assert place.counted() == place.bounded()
    assert place.counted() == place.bounded()


def test_transactions_that_are_running_while_units_are_counted_are_seen_later(
    place: Place,
) -> None:
    with psycopg.connect(shared_server()) as late:
        late.execute("SELECT pg_current_xact_id()")
        with late.transaction():
            late.execute(come(0).format(place=f'"{place.schema}".visits'))
        place.change(come(500))
        assert place.counted() == place.bounded()
        late.commit()
    assert place.counted() == place.bounded()


def test_rows_that_go_while_units_are_counted_do_not_hide_heavy_units(place: Place) -> None:
    place.change(come())
    with psycopg.connect(shared_server()) as early:
        early.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
        seen_early = heavy.ServerSnapshot.of(early)
        place.change("DELETE FROM {place} WHERE patient_id < 10")
        place.engine._heavy._known.clear()
        assert place.counted() == place.bounded()
        (bits,) = place.engine._heavy._known.values()
        assert not bits.hold_at(seen_early)


def test_many_ask_while_rows_come(place: Place) -> None:
    """Rows come of units that have three; at every moment no unit may count more than four."""
    most, found = UNITS * LIMIT, list[int]()

    def ask() -> None:
        found.extend(place.counted() for _ in range(4))

    threads = [Thread(target=ask) for _ in range(4)]
    for each in threads:
        each.start()
    for first in range(0, 400, 10):
        place.change(come(first))
    for each in threads:
        each.join()
    assert len(found) == 16
    assert max(found) <= most
    assert place.counted() == place.bounded()


def test_tables_whose_rows_a_policy_hides_are_not_divided(place: Place) -> None:
    place.change("ALTER TABLE {place} ENABLE ROW LEVEL SECURITY")
    place.change("ALTER TABLE {place} FORCE ROW LEVEL SECURITY")
    with psycopg.connect(shared_server(), autocommit=True) as connection:
        role = f"reader_{place.schema}"
        connection.execute(f'CREATE ROLE "{role}" LOGIN')
        connection.execute(f'GRANT USAGE ON SCHEMA "{place.schema}" TO "{role}"')
        connection.execute(f'GRANT SELECT ON "{place.schema}".visits TO "{role}"')
        connection.execute(
            f'CREATE POLICY few ON "{place.schema}".visits FOR SELECT USING (region = 1)'
        )
        address = shared_server().replace("postgres:@", f"{role}:@")
        engine = PostgreSqlEngine.open(address, {"visits": f"{place.schema}.visits"})
        engine.run(unbound(place.query), ())
        assert not engine._heavy._known
        engine.close()


def test_tables_with_a_column_of_our_name_are_not_divided() -> None:
    schema = stored({"visits": pa.table({"patient_id": [1], "__fresh": [1], "region": [1]})})
    engine = PostgreSqlEngine.open(shared_server(), {"visits": f"{schema}.visits"})
    assert not engine._tables["visits"].is_plain
    engine.close()


def _never_fresh(self: Stored, **given: Any) -> str:
    return _selected(self, **given).replace("xidsend(xmin) >=", "xidsend(xmin) < '\\x' AND $2 >=")


_selected: Callable[..., str] = Stored.selected


def test_a_broken_engine_that_takes_no_row_for_fresh_is_seen(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Stored, "selected", _never_fresh)
    place.change(come())
    assert place.counted() == UNITS * EACH + 10 * LATE
    assert place.bounded() == UNITS * EACH + 10 * (LIMIT - EACH)


def test_numbers_of_transactions_that_are_about_to_begin_again_are_not_compared() -> None:
    near = heavy.CYCLE - heavy.LONGEST
    for first, holds in ((near - 1, True), (near, False), (heavy.CYCLE + 5, True)):
        seen = heavy.ServerSnapshot(server="one", first=first, next=first, running=frozenset())
        bits = heavy.Bits(seen=seen, columns="", bits=b"")
        assert bits.hold_at(seen) is holds
        later = replace(seen, next=first + heavy.LONGEST, first=first + heavy.LONGEST)
        assert not bits.hold_at(later)
        assert not bits.hold_at(replace(seen, server="another"))


def test_a_snapshot_must_see_what_the_counted_one_saw() -> None:
    counted = heavy.ServerSnapshot(server="one", first=5, next=9, running=frozenset({5}))
    assert counted.sees_all_of(counted)
    assert replace(counted, first=9, running=frozenset()).sees_all_of(counted)
    assert not replace(counted, running=frozenset({5, 7})).sees_all_of(counted)
    assert not replace(counted, next=8).sees_all_of(counted)
    assert replace(counted, next=12, running=frozenset({5, 10})).sees_all_of(counted)
