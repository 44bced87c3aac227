"""Rows of units above the limit alone are ordered: the integers are those of ordering all rows.

Thousands of units, on every engine. Each way to tell units apart has a broken variant that is seen.
"""

import sys
from collections import defaultdict
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from itertools import count as count_from
from pathlib import Path
from threading import Lock
from time import monotonic
from typing import Any
from zlib import crc32

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from discreet.catalog.schema import Kind, PrivateTable
from discreet.engines.base import Engine, ResourceLimits
from discreet.engines.duckdb import DuckDbEngine
from discreet.engines.duckdb import heavy as kept_units
from discreet.engines.heavy import TableLocks, seconds_until
from discreet.engines.postgresql import heavy as postgresql_heavy
from discreet.engines.spark import SparkEngine
from discreet.engines.spark import heavy as spark_heavy
from discreet.engines.writer import UNIT, tables_counted
from discreet.engines.writer.heavy import division_of
from discreet.errors import EngineError
from discreet.query.expressions.facts import literal
from discreet.query.expressions.functions import call
from discreet.query.tree import (
    Call,
    ColumnOf,
    ContributionBounding,
    ExactQuery,
    Facts,
    GroupBounding,
    Interval,
    Join,
    JoinKind,
    NamedExpression,
    Ordering,
    Relation,
    Scan,
    Select,
    Window,
    WindowFunction,
)
from tests.attacks.clinic import spread
from tests.engines.contract import ENGINES, Row, exact_rows
from tests.engines.made import column, count, private
from tests.engines.on_postgresql import postgresql_engine
from tests.spark import shared_session

UNITS, ROWS = 3000, 15_000
LIMIT = 5
"""A third of all units have more rows."""


def visits(units: int = UNITS, rows: int = ROWS) -> pa.Table:
    """Return rows of many units, of which few have many."""
    owners = [spread(n, units) ** 2 // units for n in range(rows)]
    return pa.table(
        {
            "patient_id": pa.array([None if n % 97 == 0 else u for n, u in enumerate(owners)]),
            "region": pa.array(
                [[None, "n", "ß", "s:1", ""][spread(n + 9, 5)] for n in range(rows)]
            ),
            "cost": pa.array([None if n % 17 == 0 else spread(n + 5, 9) - 2 for n in range(rows)]),
            "minutes": pa.array([spread(n + 7, 50) / 4 for n in range(rows)]),
        }
    )


def patients(units: int = UNITS) -> pa.Table:
    """Return rows of the same units; some have two, and some none."""
    owners = [n for n in range(units) for _ in range((1, 1, 2, 0, 1)[n % 5])]
    return pa.table(
        {
            "patient_id": pa.array(owners),
            "sex": pa.array([["f", "m"][n % 2] for n in range(len(owners))]),
        }
    )


def in_files(tables: dict[str, pa.Table], folder: Path) -> SparkEngine:
    """Return an engine of Parquet files, whose changes are seen."""
    for name, table in tables.items():
        pq.write_table(table, folder / f"{name}.parquet")
    places = {name: str(folder / f"{name}.parquet") for name in tables}
    return SparkEngine.open(shared_session(), places)


@pytest.fixture(scope="module", params=ENGINES)
def engine(request: pytest.FixtureRequest, tmp_path_factory: Any) -> Iterator[Any]:
    tables = {"visits": visits(), "patients": patients()}
    made: Any
    match request.param:
        case "spark":
            made = in_files(tables, tmp_path_factory.mktemp("spark"))
        case "postgresql":
            made = postgresql_engine(tables)
        case _:
            made = DuckDbEngine.load(dict(tables))
    yield made
    made.close()


def limited(engine: Engine, name: str = "visits", rows: int = LIMIT) -> PrivateTable:
    return replace(private(engine, name), rows_per_unit=rows)


def not_divided(engine: Any) -> Any:
    """Return the engine's SQL without any knowledge of units: all rows are ordered."""
    return replace(engine._dialect, heavy=None, fresh="")


def ordered_rows(engine: Any, query: ExactQuery, monkeypatch: pytest.MonkeyPatch) -> list[Row]:
    """Return what the query gives where rows of all units are ordered."""
    with monkeypatch.context() as patch:
        patch.setattr(engine, "_dialect", not_divided(engine))
        return exact_rows(engine, query)


# --------------------------------------------------------------------------- forms

REGION, COST = column("region", Kind.TEXT), column("cost")
MINUTES = column("minutes", Kind.REAL, interval=Interval())


def of_visits(engine: Engine, **fields: Any) -> ExactQuery:
    return count(limited(engine), limit=LIMIT, **fields)


def filtered(engine: Engine) -> Relation:
    names = {"region": Kind.TEXT, "cost": Kind.INTEGER}
    columns = tuple(
        NamedExpression(name=name, expression=column(name, kind)) for name, kind in names.items()
    )
    where = call("greater", column("cost"), literal(1))
    return Select(source=Scan(table=limited(engine)), name="v", columns=columns, where=where)


def joined(engine: Engine, most: int = 1) -> Relation:
    """Return visits beside the patients: most · 5 rows of a unit if neither exceeds its limit."""
    sex = ColumnOf(source="p", name="sex", facts=Facts(kind=Kind.TEXT))
    columns = (
        NamedExpression(name="region", expression=sex),
        NamedExpression(name="cost", expression=COST),
    )
    partner = Scan(table=limited(engine, "patients", most))
    join = Join(kind=JoinKind.LEFT, source=partner, name="p", on=literal(True))
    return Select(source=Scan(table=limited(engine)), name="v", joins=(join,), columns=columns)


def first_rows(engine: Engine) -> Relation:
    """Return the first rows of each unit, by cost."""
    number = Window(
        function=WindowFunction.ROW_NUMBER,
        arguments=(),
        partition=(),
        order=(Ordering(expression=COST),),
        frame="whole",
        facts=Facts(kind=Kind.INTEGER),
    )
    only = call("less_or_equal", number, literal(3))
    source = filtered(engine)
    assert isinstance(source, Select)
    columns = tuple(
        NamedExpression(name=each.name, expression=column(each.name, each.expression.facts.kind))
        for each in source.columns
    )
    return Select(source=source, name="v", columns=columns, qualify=only)


SUMS = {"sums": (literal(1), COST)}
GROUPED = GroupBounding(most=2, keys=1)

FORMS: dict[str, Callable[[Engine], ExactQuery]] = {
    "all rows": of_visits,
    "all rows and units": lambda e: of_visits(e, units=True),
    "all units": lambda e: of_visits(
        e, sums=(), units=True, bounding=ContributionBounding.UNITS_ONLY
    ),
    "sums": lambda e: of_visits(e, **SUMS),
    "by text": lambda e: of_visits(e, keys=(REGION,), units=True, **SUMS),
    "by number": lambda e: of_visits(e, keys=(COST, REGION), **SUMS),
    "cells": lambda e: of_visits(e, sums=(), keys=(REGION,), cell=COST),
    "units by text": lambda e: of_visits(
        e, sums=(), keys=(REGION,), units=True, bounding=ContributionBounding.UNITS_ONLY
    ),
    "in few groups": lambda e: of_visits(
        e, keys=(REGION,), units=True, group_bounding=GROUPED, **SUMS
    ),
    "units in few groups": lambda e: of_visits(
        e, sums=(), keys=(REGION,), units=True, group_bounding=GROUPED
    ),
    "few groups and cells": lambda e: of_visits(
        e, sums=(), keys=(REGION,), cell=COST, group_bounding=GROUPED
    ),
    "some rows": lambda e: count(filtered(e), limit=LIMIT, keys=(REGION,), **SUMS),
    "number of some rows": lambda e: count(filtered(e), limit=LIMIT),
    "joined": lambda e: count(joined(e), limit=LIMIT, keys=(REGION,), **SUMS),
    "joined, more rows": lambda e: count(joined(e, 2), limit=2 * LIMIT, keys=(REGION,), **SUMS),
    "first rows": lambda e: count(first_rows(e), limit=3, keys=(REGION,), is_bounded=True, **SUMS),
}


@pytest.mark.parametrize("form", FORMS)
def test_integers_are_those_of_ordering_all_rows(
    engine: Any, form: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    query = FORMS[form](engine)
    is_found = bool(tables_counted(query, engine._dialect))
    assert is_found or (form, engine.dialect) == ("all units", "postgresql")  # whose rows go on
    assert exact_rows(engine, query) == ordered_rows(engine, query, monkeypatch)


def test_threads_that_ask_first_see_the_same(engine: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    table = limited(engine, rows=LIMIT + 1)  # which nobody has counted yet
    query = count(table, limit=LIMIT + 1, keys=(REGION,), **SUMS)
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: exact_rows(engine, query), range(16)))
    assert found == [ordered_rows(engine, query, monkeypatch)] * 16


def telling(engine: Any, patch: pytest.MonkeyPatch, condition: str) -> None:
    """Have an engine take the units for heavy that meet a condition."""
    patch.setattr(type(engine._dialect.heavy), "test", lambda *_: condition)
    patch.setattr(type(engine._dialect.heavy), "rows", lambda *_: None)


def sparse() -> pa.Table:
    """Return visits half of which have no cost: many units have a region without any cost."""
    chances = [crc32(str(n).encode()) for n in range(4 * UNITS)]
    return pa.table(
        {
            "patient_id": pa.array([n % UNITS for n in range(4 * UNITS)]),
            "region": pa.array(["nswe"[each % 4] for each in chances]),
            "cost": pa.array([None if each & 64 else 1 for each in chances]),
        }
    )


def test_groups_are_chosen_before_rows_without_a_cell_are_left_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """On one engine: what is written is the same for all."""
    engine = DuckDbEngine.load({"visits": sparse()})
    query = FORMS["few groups and cells"](engine)
    assert exact_rows(engine, query) == ordered_rows(engine, query, monkeypatch)
    engine.close()


def test_kept_rows_are_not_limited_by_how_many_are_numbered() -> None:
    """A unit has more kept rows than one, also where the first alone of each unit is taken."""
    engine = DuckDbEngine.load({"visits": visits(20, 100), "patients": patients(20)})
    kept, others = Scan(table=limited(engine), is_bounded=True), Scan(table=limited(engine))
    join = Join(kind=JoinKind.INNER, source=others, name="p", on=literal(True))
    columns = (NamedExpression(name="cost", expression=COST),)
    first = first_rows(engine)
    assert isinstance(first, Select)
    assert isinstance(first.qualify, Call)
    only = replace(first.qualify, arguments=(first.qualify.arguments[0], literal(1)))
    for source, is_divided in ((kept, False), (others, True)):
        inner = Select(source=source, name="v", joins=(join,), columns=columns)
        rows = Select(source=inner, name="v", columns=columns, qualify=only)
        query = count(rows, limit=1, is_bounded=True)
        assert (division_of(query) is not None) is is_divided
    engine.close()


def test_units_are_counted_once_if_an_interruption_comes_after_they_were(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    engine = DuckDbEngine.load({"visits": visits()})
    query = FORMS["all rows and units"](engine)
    (table,) = tables_counted(query, engine._dialect)
    engine._heavy.count((table,), monotonic() + 60)
    engine._heavy._counted.clear()  # as if it had been interrupted before it was noted
    assert exact_rows(engine, query) == ordered_rows(engine, query, monkeypatch)
    engine.close()


# --------------------------------------------------------------------------- while others count


def limits_of(engine: Any) -> tuple[Any, str]:
    """Return what has the limits of an engine, and what they are called there."""
    if isinstance(engine, SparkEngine):
        return engine, "_limits"
    return (engine._store if isinstance(engine, DuckDbEngine) else engine._sessions), "limits"


def locks_of(engine: Any) -> Any:
    return getattr(engine._heavy, "_locks", None) or engine._heavy._counting


def test_whoever_asks_about_other_tables_does_not_wait_for_those_who_count(engine: Any) -> None:
    """Neither does who only asks what a query would cost."""
    query, other = (
        FORMS["by text"](engine),
        count(limited(engine, "patients", 1), limit=1, sums=(literal(1),)),
    )
    with locks_of(engine).held(tables_counted(query, engine._dialect), monotonic() + 60):
        engine.bind(query)
        with ThreadPoolExecutor(1) as pool:
            assert pool.submit(exact_rows, engine, other).result(timeout=60)


def test_who_waits_too_long_for_those_who_count_is_late(
    engine: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    query = FORMS["joined"](engine)
    statement = engine.bind(query)
    holder, name = limits_of(engine)
    monkeypatch.setattr(holder, name, ResourceLimits(timeout=0.2))
    monkeypatch.setattr(engine._heavy, "_counted", {}, raising=False)
    monkeypatch.setattr(engine._heavy, "_shown", defaultdict(bool), raising=False)
    with (
        locks_of(engine).held(tables_counted(query, engine._dialect), monotonic() + 60),
        pytest.raises(EngineError) as raised,
    ):
        engine.run(statement, ())
    assert raised.value.failure == "time"


@pytest.mark.postgresql
def test_a_transaction_does_not_wait_until_the_server_ends_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Rows of all units are ordered then."""
    engine = postgresql_engine({"visits": visits()})
    query = FORMS["by text"](engine)
    right = ordered_rows(engine, query, monkeypatch)
    monkeypatch.setattr(postgresql_heavy, "PATIENCE", 0.1)
    monkeypatch.setattr(engine._heavy, "wait", lambda *_: None)
    with locks_of(engine).held(tables_counted(query, engine._dialect), monotonic() + 60):
        assert exact_rows(engine, query) == right
        assert not engine._heavy._known
    engine.close()


class PlainLocks(TableLocks):
    """Broken: what was taken is given back only if nothing comes between."""

    @contextmanager
    def held(self, tables: Any, until: float) -> Iterator[None]:
        with ExitStack() as stack:
            for name in sorted({each.name for each in tables}):
                lock = vars(self).setdefault(name, Lock())
                if not lock.acquire(timeout=seconds_until(until)):
                    raise TimeoutError
                stack.callback(lock.release)
            yield


@dataclass(frozen=True)
class Named:
    """What is held has a name."""

    name: str


PAIR: Any = (Named("visits"), Named("patients"))


def are_free_after_interruptions(made: type[TableLocks]) -> bool:
    """Return whether tables can be held again after an interruption at each possible moment."""
    for moment in count_from(1):
        locks, is_over = made(), False
        try:
            with interrupted_at(moment), locks.held(PAIR, monotonic() + 60):
                pass
            is_over = True
        except KeyboardInterrupt:
            pass
        try:
            with locks.held(PAIR, monotonic()):
                pass
        except TimeoutError:
            return False
        if is_over:
            assert moment > 20
            return True
    raise AssertionError


@contextmanager
def interrupted_at(moment: int) -> Iterator[None]:
    """Raise KeyboardInterrupt at one of the moments at which Python looks for signals.

    These are when a function begins and when one that is written in C has returned.
    """
    left = [moment]

    def step(_: Any, event: str, __: Any) -> None:
        left[0] -= event in ("call", "c_return")
        if left[0] == 0:
            left[0] = -1
            raise KeyboardInterrupt

    sys.setprofile(step)
    try:
        yield
    finally:
        sys.setprofile(None)


def test_an_interruption_at_any_moment_leaves_no_table_held() -> None:
    """Locks that are given back one after the other are seen to stay."""
    assert are_free_after_interruptions(TableLocks)
    assert not are_free_after_interruptions(PlainLocks)


def test_none_of_the_first_rows_are_none_of_a_light_unit(engine: Any) -> None:
    rows = first_rows(engine)
    assert isinstance(rows, Select)
    assert isinstance(rows.qualify, Call)
    none = replace(rows.qualify, arguments=(rows.qualify.arguments[0], literal(0)))
    query = count(replace(rows, qualify=none), limit=1, is_bounded=True)
    assert dict(exact_rows(engine, query)[0])["s0"] == 0


BOUNDED = [
    form
    for form in FORMS
    if form not in ("all rows", "all rows and units", "all units", "units by text")
]
"""Forms that show it if no unit is bounded: five of five regions are not too many, and numbers of
a whole table are counted apart."""


@pytest.mark.parametrize("form", BOUNDED)
def test_a_broken_engine_that_takes_no_unit_for_heavy_is_seen(
    engine: Any, form: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    query = FORMS[form](engine)
    right = ordered_rows(engine, query, monkeypatch)
    telling(engine, monkeypatch, "(1 = 0)")
    assert exact_rows(engine, query) != right


def test_units_that_are_taken_for_heavy_by_mistake_change_nothing(
    engine: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    query = FORMS["by text"](engine)
    right = exact_rows(engine, query)
    telling(engine, monkeypatch, f"({UNIT} IS NOT NULL)")
    assert exact_rows(engine, query) == right


@pytest.mark.parametrize("share", [1, 10**9])
def test_rows_of_heavy_units_are_kept_only_where_they_are_few(
    share: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Kept or not, the integers are the same."""
    monkeypatch.setattr(kept_units, "SHARE", share)
    engine = DuckDbEngine.load({"visits": visits(), "patients": patients()})
    for form, made in FORMS.items():
        query = made(engine)
        assert exact_rows(engine, query) == ordered_rows(engine, query, monkeypatch), form
    with engine._store.cursor() as cursor:
        listed = cursor.execute(
            "SELECT sum(estimated_size) FROM duckdb_tables() "
            "WHERE schema_name = 'heavy' AND table_name LIKE '%rows'"
        ).fetchall()
    assert (int(listed[0][0]) > 0) is (share == 1)
    engine.close()


def test_what_bounds_light_units_no_closer_than_the_query_is_not_divided() -> None:
    engine = DuckDbEngine.load({"visits": visits(20, 100)})
    looser = count(limited(engine, rows=LIMIT + 1), limit=LIMIT)
    assert division_of(looser) is None
    assert division_of(count(limited(engine), limit=LIMIT)) is not None
    engine.close()


@pytest.mark.spark
def test_equal_units_of_different_types_have_the_same_bit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whole numbers of decimals and others: also a broken engine that hashes types is seen."""
    decimal = patients().column("patient_id").cast(pa.decimal128(20, 0))
    partners = patients().set_column(0, "patient_id", decimal)
    engine = in_files({"visits": visits(), "patients": partners}, tmp_path)
    query = FORMS["joined"](engine)
    right = ordered_rows(engine, query, monkeypatch)
    assert exact_rows(engine, query) == right
    engine.close()
    monkeypatch.setattr(spark_heavy, "_hashed", lambda unit, _: f"xxhash64({unit})")
    engine = in_files({"visits": visits(), "patients": partners}, tmp_path)
    assert exact_rows(engine, query) != right
    engine.close()


# --------------------------------------------------------------------------- files that change


@pytest.mark.spark
def test_files_that_change_in_spark_are_read_as_they_are_then(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also a broken engine that does not look at the files again is seen."""
    engine = in_files({"visits": visits(200, 600)}, tmp_path)
    query = count(limited(engine), limit=LIMIT, **SUMS)
    exact_rows(engine, query)
    light = pa.array([7_000] * 600, pa.int64())
    pq.write_table(visits(200, 600).set_column(0, "patient_id", light), tmp_path / "visits.parquet")
    assert exact_rows(engine, query)[0][0] == ("s0", LIMIT)
    monkeypatch.setattr(type(engine._heavy), "are_same", lambda *_: True)
    assert exact_rows(engine, query)[0][0] == ("s0", 600)
    engine.close()


@pytest.mark.spark
def test_units_of_other_files_are_forgotten_when_the_files_come_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Files with their old times, as `mv` leaves them; a broken engine keeps what it counted."""
    table, other = visits(200, 600), tmp_path / "other.parquet"
    light = table.set_column(0, "patient_id", pa.array(range(9_000, 9_600), pa.int64()))

    def swapped_back(engine: SparkEngine) -> Any:
        query = count(limited(engine), limit=LIMIT, **SUMS)
        file, kept = tmp_path / "visits.parquet", tmp_path / "kept"
        pq.write_table(light, other)
        file.rename(kept)
        other.rename(file)
        assert dict(exact_rows(engine, query)[0])["s0"] == light.num_rows
        kept.replace(file)
        found = exact_rows(engine, query)
        engine.close()
        return found

    heavy_rows = table.set_column(0, "patient_id", pa.array([7_000] * 600, pa.int64()))
    found = swapped_back(in_files({"visits": heavy_rows}, tmp_path))
    assert dict(found[0])["s0"] == LIMIT
    broken = in_files({"visits": heavy_rows}, tmp_path)
    ask, same = type(broken._heavy).are_same, iter([True, False])
    monkeypatch.setattr(
        type(broken._heavy), "are_same", lambda *each: next(same, None) or ask(*each)
    )
    assert dict(swapped_back(broken)[0])["s0"] == 600
