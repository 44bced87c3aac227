"""Twin databases of some thousand rows for random questions, and a curator of each on each engine.

Person 7 is in the first twin with a secret and hostile values, not in the second, and in the third
with other values. The tables are t and w (rows of units), c (rows that reach their unit through w),
r (each row a unit) and two public ones: p, whose keys match, and far, whose keys match nothing.
"""

from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from discreet.catalog import Catalog
from discreet.catalog.arguments import declare
from discreet.catalog.catalog import RowChoice, budget_from
from discreet.catalog.resolve import resolve
from discreet.curator import Curator
from discreet.engines.base import PreparedTables, ResourceLimits, as_prepared, scans_to_prepare
from discreet.engines.duckdb import DuckDbEngine
from discreet.engines.postgresql import PostgreSqlEngine
from discreet.engines.public_store import PublicStore
from discreet.engines.spark import SparkEngine
from discreet.ledger import SqliteLedger
from tests.engines.contract import Holder
from tests.engines.on_postgresql import stored
from tests.postgresql import shared_server
from tests.spark import shared_session

THREADS = ResourceLimits(threads=4)
PUBLIC = ("p", "far")
PRIVATE = ("t", "w", "c", "r")
PEOPLE = 250
VICTIM = 7

TEXTS = ["a", "A", "b", "", "é", "e\u0301", "İ", "ß", "ΑΣ", "a%b_c", "12", "1e400", "true", None]
TEXTS += ["2024-02-30", "2024-02-29", "\U0001f600", "x!y", "a\\b", " 7 ", "infinity", "{0}", "\t\n"]
HOSTILE: dict[str, Any] = {
    "i": 2**63 - 1,
    "j": -(2**63),
    "x": 1.7976931348623157e308,
    "y": float("nan"),
    "s": "no such value",
    "n": "\uffff" * 50 + "!%_\\",
    "d": date(1, 1, 1),
    "e": date(9999, 12, 31),
    "m": datetime(9999, 12, 31, 23, 59, 59, 999_999),
    "z": datetime(1, 1, 1, tzinfo=UTC),
    "b": None,
    "hiv": True,
}

SCHEMAS: Mapping[str, Mapping[str, pa.DataType]] = {
    "t": {
        "u": pa.int64(),
        "k": pa.int64(),
        "i": pa.int64(),
        "j": pa.int64(),
        "x": pa.float64(),
        "y": pa.float64(),
        "s": pa.string(),
        "n": pa.string(),
        "d": pa.date32(),
        "e": pa.date32(),
        "m": pa.timestamp("us"),
        "z": pa.timestamp("us", "UTC"),
        "b": pa.bool_(),
        "hiv": pa.bool_(),
    },
    "w": {"u": pa.int64(), "w_id": pa.int64(), "v": pa.float64(), "g": pa.string()},
    "c": {"w_id": pa.int64(), "q": pa.int64(), "h": pa.string()},
    "r": {"a": pa.int64(), "f": pa.float64(), "o": pa.string()},
    "p": {"k": pa.int64(), "name": pa.string(), "day": pa.date32(), "weight": pa.float64()},
    "far": {"k": pa.int64(), "label": pa.string()},
}


def _t(number: int) -> dict[str, Any]:
    return {
        "u": number % PEOPLE,
        "k": number * 7 % 12,
        "i": number * 13 % 101,
        "j": None if number % 17 == 0 else (number * 29 % 2001) - 1000,
        "x": number * 0.37 % 90 - 5,
        "y": None if number % 19 == 0 else (-1.0) ** number * 1.5 ** (number % 90),
        "s": ["old", "new", "odd"][number % 3],
        "n": TEXTS[number * 5 % len(TEXTS)],
        "d": date(2024, 1, 1) + timedelta(number * 11 % 366),
        "e": None if number % 23 == 0 else date(1900, 1, 1) + timedelta(number * 31),
        "m": datetime(2024, 1, 1) + timedelta(seconds=number * 12_345, microseconds=number),
        "z": datetime(2023, 6, 1, tzinfo=UTC) + timedelta(seconds=number * 54_321),
        "b": [True, False, None][number % 3],
        "hiv": False,
    }


def _rows(twin: str) -> dict[str, list[dict[str, Any]]]:
    t = [_t(number) for number in range(1200)]
    w = [
        {
            "u": number * 3 % PEOPLE,
            "w_id": number,
            "v": number * 1.3 % 500,
            "g": TEXTS[number * 3 % len(TEXTS)],
        }
        for number in range(1000)
    ]
    c = [{"w_id": n * 7 % 1000, "q": n % 40, "h": "uvw"[n % 3]} for n in range(1000)]
    r = [{"a": n % 10, "f": n / 8 - 30, "o": ["x", "y"][n % 2]} for n in range(1000)]
    if twin == "absent":
        own = {each["w_id"] for each in w if each["u"] == VICTIM}
        t, w = ([each for each in rows if each["u"] != VICTIM] for rows in (t, w))
        c = [each for each in c if each["w_id"] not in own]
    elif twin == "present":
        t = [each | HOSTILE if each["u"] == VICTIM else each for each in t]
    return {"t": t, "w": w, "c": c, "r": r} | _public()


def _public() -> dict[str, list[dict[str, Any]]]:
    day = date(2024, 1, 1)
    return {
        "p": [
            {"k": n, "name": TEXTS[n % 6], "day": day + timedelta(30 * n), "weight": n / 4}
            for n in range(12)
        ],
        "far": [{"k": 10_000 + n, "label": "xyz"[n % 3]} for n in range(5)],
    }


TWINS = ("present", "absent", "changed")


@cache
def tables(twin: str) -> dict[str, pa.Table]:
    """Return all tables of a twin."""
    return {
        name: pa.Table.from_pylist(rows, schema=pa.schema(dict(SCHEMAS[name])))
        for name, rows in _rows(twin).items()
    }


@cache
def catalog(*, is_prepared: bool) -> Catalog:
    """Return what is declared of these tables, whose rows are chosen before or by a question."""
    if is_prepared:
        plain = catalog(is_prepared=False)
        source = replace(plain.source, row_choice=RowChoice.ONCE)
        return as_prepared(replace(plain, source=source))
    declared = declare(
        dict.fromkeys(SCHEMAS),
        epsilon=10**9,
        delta=0.5,
        question_delta=1e-6,
        unit={"t": "u", "w": "u", "c": "w.u via w_id", "r": "row"},
        rows_per_unit={"t": 5, "w": 4, "c": 6},
        public=PUBLIC,
        bounds={
            "t.k": (0, 11),
            "t.i": (0, 100),
            "t.x": (-5, 95),
            "t.d": ("2024-01-01", "2024-12-31"),
            "t.m": ("2024-01-01", "2024-12-31"),
            "w.v": (0, 500),
            "c.q": (0, 40),
            "r.a": (0, 9),
            "r.f": (-30, 100),
        },
        values={"t.s": ["old", "new", "odd"], "c.h": ["u", "v", "w"], "r.o": ["x", "y"]},
        nulls={"t.b": True},
    )
    with closing(DuckDbEngine.load(dict(tables("absent")))) as engine:
        return resolve(declared, engine.columns)


@cache
def public_store() -> PublicStore:
    """Return the public tables."""
    return PublicStore({name: tables("absent")[name] for name in PUBLIC})


def _embedded(held: Mapping[str, pa.Table], _: Path, *, is_prepared: bool) -> Holder:
    engine = DuckDbEngine.load(dict(held), limits=THREADS)
    if is_prepared:
        engine.prepare(scans_to_prepare(catalog(is_prepared=True)))
    return engine


def _on_server(held: Mapping[str, pa.Table], _: Path, *, is_prepared: bool) -> Holder:
    schema = stored(held)
    places = {name: f"{schema}.{name}" for name in held}
    if not is_prepared:
        return PostgreSqlEngine.open(shared_server(), places)
    form = PreparedTables(tables={name: places[name] for name in PRIVATE}, declared="")
    with closing(PostgreSqlEngine.open(shared_server(), places)) as plain:
        plain.prepare(form, scans_to_prepare(catalog(is_prepared=True)))
    return PostgreSqlEngine.open(shared_server(), places, form=form)


def _in_spark(held: Mapping[str, pa.Table], folder: Path, *, is_prepared: bool) -> Holder:
    if not is_prepared:
        return SparkEngine.open(shared_session(), held, public=PUBLIC)
    places = {name: str(folder / f"{name}.parquet") for name in held}
    for name, each in held.items():
        pq.write_table(each, places[name])
    private = {name: places[name] for name in PRIVATE}
    form = PreparedTables(tables=private, declared="", place=folder / "prepared")
    with closing(SparkEngine.open(shared_session(), places, public=PUBLIC)) as plain:
        plain.prepare(form, scans_to_prepare(catalog(is_prepared=True)))
    return SparkEngine.open(shared_session(), places, public=PUBLIC, form=form)


MAKERS = {"duckdb": _embedded, "postgresql": _on_server, "spark": _in_spark}


@contextmanager
def opened(kind: str, twin: str, folder: Path, *, is_prepared: bool) -> Iterator[Curator]:
    """Yield a curator of a twin on an engine of a kind; all are declared alike."""
    here = catalog(is_prepared=is_prepared)
    engine = MAKERS[kind](tables(twin), folder, is_prepared=is_prepared)
    ledger = SqliteLedger(":memory:", budget=budget_from(here.budget))
    with Curator(catalog=here, engine=engine, public=public_store(), ledger=ledger) as curator:
        yield curator
