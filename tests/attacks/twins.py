"""Two neighbouring databases, and all that an analyst sees of either but the noisy numbers.

The table is p(id, pid, age, hiv, x, s, d); the victim is id 7. In one database the victim's row is
there, in the second it is gone, in the third its values are others. Each engine can hold them.
"""

import traceback
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from typing import Any

import pyarrow as pa

import discreet
from discreet.answer import Role
from discreet.curator import Curator
from discreet.errors import DiscreetError
from tests.attacks.watched import Watched, watch
from tests.engines.on_postgresql import stored
from tests.postgresql import shared_server
from tests.spark import shared_session

VICTIM = 7
SECRET = "SECRET-7"  # noqa: S105 - a value to look for
UNITS = 60


def person(number: int) -> dict[str, Any]:
    return {
        "id": number,
        "pid": SECRET if number == VICTIM else f"u{number}",
        "age": number % 90,
        "hiv": number == VICTIM,
        "x": -3.5 if number == VICTIM else number / 2,
        "s": SECRET if number == VICTIM else "abc"[number % 3],
        "d": date(2024, 1, 1 + number % 28),
    }


def changed(row: dict[str, Any]) -> dict[str, Any]:
    """Return the victim's row with every value changed."""
    return row | {"pid": "u7", "age": 8, "hiv": False, "x": 1e9, "s": "a", "d": date(2023, 5, 5)}


PEOPLE = [person(number) for number in range(UNITS)]
DATABASES = {
    "present": PEOPLE,
    "absent": [each for each in PEOPLE if each["id"] != VICTIM],
    "changed": [changed(each) if each["id"] == VICTIM else each for each in PEOPLE],
}

FIELDS: dict[str, pa.DataType] = {
    "id": pa.int64(),
    "pid": pa.string(),
    "age": pa.int64(),
    "hiv": pa.bool_(),
    "x": pa.float64(),
    "s": pa.string(),
    "d": pa.date32(),
}
SCHEMA = pa.schema(FIELDS)


@dataclass(frozen=True)
class Seen:
    """What an analyst sees of one question, noisy numbers apart."""

    error: str = ""
    words: str = ""
    columns: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    keys: tuple[tuple[Any, ...], ...] = ()
    charged: Fraction = Fraction(0)
    left: str = ""
    explained: str = ""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Twin:
    """One of the databases, opened, with its engine watched."""

    curator: Curator
    engine: Watched
    place: str = ""
    """What the table is called where it is stored, which is another name for each database."""

    def asked(self, sql: str, **target: Any) -> tuple[Seen, tuple[pa.Table, ...]]:
        """Ask, and return what is seen, and what the engine found for it before noise."""
        begun = len(self.engine.tables)
        seen = self.seen(sql, **target)
        return seen, tuple(each.unseal() for each in self.engine.tables[begun:])

    def seen(self, sql: str, **target: Any) -> Seen:
        """Ask and explain, and return what is seen; the engine must not fail."""
        wanted = target or {"epsilon": 1}
        found = self._asked(sql, wanted)
        assert self.engine.failures == [], sql
        return found

    def _asked(self, sql: str, target: dict[str, Any]) -> Seen:
        runs, before = self.engine.runs, self.curator.remaining
        try:
            explained = self._explained(sql, target)
            assert self.engine.runs == runs, "explaining reads no data"
            answer = self.curator.ask(sql, **target)
        except DiscreetError as error:
            assert self.engine.runs == runs, "a refusal reads no data"
            assert self.curator.remaining == before, "a refusal costs nothing"
            words = "".join(traceback.format_exception(error))
            assert SECRET not in words
            return Seen(
                error=type(error).__name__, words=f"{error}", left=str(self.curator.remaining)
            )
        assert (self.engine.runs == runs) is answer.price.is_free
        table = answer.to_arrow()
        keys = [
            column.to_pylist()
            for column, role in zip(table.columns, answer.roles, strict=True)
            if role is Role.KEY
        ]
        return Seen(
            columns=tuple(table.column_names),
            types=tuple(map(str, table.schema.types)),
            keys=tuple(zip(*keys, strict=True)) if keys else ((),) * table.num_rows,
            charged=answer.charged.epsilon,
            left=str(self.curator.remaining),
            explained=explained,
            notes=tuple(map(str, answer.notes)),
        )

    def _explained(self, sql: str, target: dict[str, Any]) -> str:
        told = str(self.curator.explain(sql, **target))
        return told.replace(self.place, "p") if self.place else told


def twin(name: str, *, kind: str = "duckdb", **arguments: Any) -> Twin:
    """Open one of the databases on an engine; all are declared alike."""
    table = pa.Table.from_pylist(DATABASES[name], schema=SCHEMA)
    declared: dict[str, Any] = {
        "name": "p",
        "unit": "id",
        "bounds": {"age": (0, 100), "x": (0, 100), "d": ("2024-01-01", "2024-12-31")},
        "values": {"s": ["a", "b", "c"]},
        "rows_per_unit": 1,
        "epsilon": 100_000,
        "delta": 0.01,
    }
    source, place = stored_as(kind, table)
    if place:
        declared["name"] = place
    curator = discreet.open(source, **(declared | arguments))
    return Twin(curator, watch(curator), place.replace(".", '"."'))


def stored_as(kind: str, table: pa.Table) -> tuple[Any, str]:
    """Return what an owner would open, and the name of the table there if it is not p."""
    if kind == "postgresql":
        return shared_server(), f"{stored({'p': table})}.p"
    return (shared_session().createDataFrame(table) if kind == "spark" else table), ""


def twins(kind: str = "duckdb", **arguments: Any) -> tuple[Twin, ...]:
    return tuple(twin(name, kind=kind, **arguments) for name in DATABASES)
