"""Limits on the groups of a unit, on every engine: by a query, and in prepared tables."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from discreet.catalog.schema import Kind, PrivateTable
from discreet.engines.base import Engine, PreparedTables, as_prepared, scans_to_prepare
from discreet.engines.duckdb import DuckDbEngine
from discreet.engines.duckdb.dialect import DUCKDB
from discreet.engines.postgresql import PostgreSqlEngine
from discreet.engines.spark import SparkEngine
from discreet.engines.writer import write_query
from discreet.query.expressions.facts import literal
from discreet.query.tree import ContributionBounding, ExactQuery, GroupBounding, Scan
from tests.engines.contract import ENGINES, engine_of, exact_rows
from tests.engines.made import column, count, exact, private
from tests.engines.on_postgresql import stored
from tests.engines.prepared import catalog_of
from tests.postgresql import shared_server
from tests.spark import shared_session

GROUPS: list[str | None] = [None, "", "a", "A", "é", "b"]


def crowd() -> list[tuple[int, str | None, int]]:
    """Return rows of units in one to six groups, some with several rows in a group."""
    return [
        (unit, GROUPS[(place * 7 + unit) % 6], place)
        for unit in range(9)
        for place in range(2 * (unit % 6) + 1)
    ]


def table_of(rows: Sequence[tuple[int, str | None, int]]) -> pa.Table:
    units, groups, costs = (list(each) for each in zip(*rows, strict=True))
    return pa.table(
        {
            "patient_id": pa.array(units, pa.int64()),
            "region": pa.array(groups, pa.string()),
            "cost": pa.array(costs, pa.int64()),
        }
    )


def by_region(table: PrivateTable, most: int, limit: int = 100, **fields: Any) -> ExactQuery:
    given: dict[str, Any] = {
        "keys": (column("region", Kind.TEXT),),
        "units": True,
        "group_bounding": GroupBounding(most=most, keys=1),
        **fields,
    }
    return count(table, limit=limit, **given)


def groups_of_each(engine: Engine, query: ExactQuery) -> dict[int, Counter[Any]]:
    """Return the rows of each unit by group, from the same query with the unit as a second key."""
    also = replace(query, keys=(*query.keys, column("patient_id")), units=False)
    found: dict[int, Counter[Any]] = {}
    for row in exact(engine, also):
        found.setdefault(row["k1"], Counter())[row["k0"]] += int(row["s0"])
    return found


@pytest.mark.parametrize("kind", ENGINES)
def test_a_unit_counts_in_no_more_groups_than_the_limit_and_loses_no_row_of_those(
    kind: str,
) -> None:
    rows = crowd()
    with closing(engine_of(kind, {"visits": table_of(rows)})) as engine:
        table = private(engine)
        whole = {unit: Counter(group for u, group, _ in rows if u == unit) for unit, _, _ in rows}
        for most in (1, 2, 5, 6):
            found = groups_of_each(engine, by_region(table, most))
            assert found.keys() == whole.keys()
            for unit, groups in found.items():
                assert len(groups) == min(most, len(whole[unit]))
                assert all(groups[each] == whole[unit][each] for each in groups)
        some = groups_of_each(engine, by_region(table, 2, limit=3))
        assert all(len(each) <= 2 and each.total() <= 3 for each in some.values())


@pytest.mark.parametrize("kind", ENGINES)
def test_units_and_rows_choose_the_same_groups(kind: str) -> None:
    """COUNT(DISTINCT unit) is bounded by groups alone; rows are bounded by groups, then by rows."""
    with closing(engine_of(kind, {"visits": table_of(crowd())})) as engine:
        table = private(engine)
        rows = exact(engine, by_region(table, 2))
        units = exact(
            engine,
            by_region(
                table,
                2,
                limit=2,
                sums=(),
                bounding=ContributionBounding.UNITS_ONLY,
                group_bounding=None,
            ),
        )
        assert [(row["k0"], row["units"]) for row in rows] == [
            (row["k0"], row["units"]) for row in units
        ]


@pytest.mark.parametrize("kind", ENGINES)
def test_no_unit_moves_numbers_of_units_by_more_than_the_limit(kind: str) -> None:
    """All neighbours of a small table, by brute force: L1 is min(g, groups) and is reached."""
    rows = crowd()
    for most, limit in product((1, 2, 3), (2, 9)):
        farthest = Counter[str]()
        for gone in {unit for unit, _, _ in rows}:
            others = [each for each in rows if each[0] != gone]
            moved = _moved(kind, rows, others, most, limit)
            farthest["units"] = max(farthest["units"], moved["units"])
            farthest["rows"] = max(farthest["rows"], moved["rows"])
            if kind != "duckdb" and gone >= 5:
                break
        assert farthest["units"] == min(most, limit)
        assert farthest["rows"] <= limit


def _moved(
    kind: str, here: list[Any], there: list[Any], most: int, limit: int
) -> Mapping[str, int]:
    sides = []
    for rows in (here, there):
        with closing(engine_of(kind, {"visits": table_of(rows)})) as engine:
            found = exact(engine, by_region(private(engine), most, limit))
            sides.append({row["k0"]: (row["units"], int(row["s0"])) for row in found})
    keys = sides[0].keys() | sides[1].keys()
    pairs = [(sides[0].get(each, (0, 0)), sides[1].get(each, (0, 0))) for each in keys]
    return {
        "units": sum(abs(a[0] - b[0]) for a, b in pairs),
        "rows": sum(abs(a[1] - b[1]) for a, b in pairs),
    }


@pytest.mark.parametrize("kind", ENGINES)
def test_the_group_is_made_of_the_first_keys_alone(kind: str) -> None:
    """As for a mode, whose values are keys of the query and not of the group."""
    with closing(engine_of(kind, {"visits": table_of(crowd())})) as engine:
        query = by_region(private(engine), 1, keys=(column("region", Kind.TEXT), column("cost")))
        one = groups_of_each(engine, by_region(private(engine), 1))
        assert sum(int(row["s0"]) for row in exact(engine, replace(query, units=False))) == sum(
            each.total() for each in one.values()
        )


# --------------------------------------------------------------------------- prepared tables


def prepared_duckdb(rows: list[Any], limit: int, limits: Any) -> tuple[DuckDbEngine, PrivateTable]:
    engine = DuckDbEngine.load({"visits": table_of(rows)})
    table = replace(private(engine), rows_per_unit=limit, groups_per_unit=limits)
    engine.prepare(scans_to_prepare(catalog_of(table)))
    (found,) = as_prepared(catalog_of(table)).tables
    assert isinstance(found, PrivateTable)
    return engine, found


def limited(table: PrivateTable, most: int) -> ExactQuery:
    scan = Scan(table=table, is_bounded=True, group_limits=(("region", most),))
    query = by_region(table, most, limit=table.rows_per_unit, group_bounding=None, is_bounded=True)
    return replace(query, rows=scan)


def test_stored_ranks_choose_what_a_query_chooses_of_the_kept_rows() -> None:
    """Ranks are read where they are stored; where they are not, the same SQL computes them."""
    engine, table = prepared_duckdb(crowd(), 4, (("region", 1),))
    with closing(engine):
        for most in (1, 2, 3):
            read = limited(table, most)
            assert '"region by rank" <=' in engine.bind(read).sql
            assert "dense_rank" not in engine.bind(read).sql
            again = replace(
                read,
                rows=Scan(table=table, is_bounded=True),
                group_bounding=GroupBounding(most=most, keys=1),
            )
            assert exact_rows(engine, read) == exact_rows(engine, again)
    other, bare = prepared_duckdb(crowd(), 4, None)
    with closing(other):
        assert "dense_rank" in other.bind(limited(bare, 2)).sql
        assert len(exact_rows(other, limited(bare, 2))) > 1


def prepared_on_server(rows: list[Any], _: Path) -> tuple[Engine, PrivateTable]:
    places = {"visits": f"{stored({'visits': table_of(rows)})}.visits"}
    form = PreparedTables(tables=places, declared="")
    with closing(PostgreSqlEngine.open(shared_server(), places)) as plain:
        table = replace(private(plain), rows_per_unit=4)
        plain.prepare(form, scans_to_prepare(catalog_of(table)))
    return PostgreSqlEngine.open(shared_server(), places, form=form), table


def prepared_in_files(rows: list[Any], folder: Path) -> tuple[Engine, PrivateTable]:
    places = {"visits": str(folder / "visits.parquet")}
    pq.write_table(table_of(rows), places["visits"])
    form = PreparedTables(tables=places, declared="", place=folder / "prepared")
    with closing(SparkEngine.open(shared_session(), places)) as plain:
        table = replace(private(plain), rows_per_unit=4)
        plain.prepare(form, scans_to_prepare(catalog_of(table)))
    return SparkEngine.open(shared_session(), places, form=form), table


@pytest.mark.parametrize(
    "made_by",
    [
        pytest.param(prepared_on_server, marks=pytest.mark.postgresql),
        pytest.param(prepared_in_files, marks=pytest.mark.spark),
    ],
)
def test_prepared_tables_on_servers_are_limited_before_any_filter(
    made_by: Callable[[list[Any], Path], tuple[Engine, PrivateTable]], tmp_path: Path
) -> None:
    engine, bare = made_by(crowd(), tmp_path)
    (table,) = as_prepared(catalog_of(bare)).tables
    assert isinstance(table, PrivateTable)
    with closing(engine):
        for most in (1, 2):
            found = groups_of_each(engine, limited(table, most))
            assert len(found) == 9
            assert all(len(each) <= most and each.total() <= 4 for each in found.values())
            assert max(map(len, found.values())) == most


def test_the_unit_is_part_of_the_order_of_its_groups() -> None:
    """Units with the same groups do not all lose the same one."""
    rows = [(unit, group, 1) for unit in range(60) for group in ("a", "b", "c")]
    engine = DuckDbEngine.load({"visits": table_of(rows)})
    with closing(engine):
        found = exact(engine, by_region(private(engine), 1))
        assert [row["k0"] for row in found] == ["a", "b", "c"]
        assert sum(row["units"] for row in found) == 60


def test_no_limit_writes_what_was_written_before() -> None:
    engine = DuckDbEngine.load({"visits": table_of(crowd())})
    with closing(engine):
        plain = count(private(engine), keys=(column("region", Kind.TEXT),), sums=(literal(1),))
        assert "dense_rank" not in write_query(plain, DUCKDB)
