"""What a series counts at each tick: the first rows of each unit by arrival, on every engine."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from discreet.engines.base import Engine
from discreet.engines.duckdb import DuckDbEngine
from discreet.errors import DiscreetError
from tests.engines.contract import ENGINES
from tests.series.made import (
    BY_CLINIC,
    CLINICS,
    DECLARED,
    FIRST,
    TICKS,
    Visit,
    counted,
    exact_increments,
    increments_over,
    plan_over,
    table_of,
    visits,
)


def _engine(rows: list[Visit], **given: Any) -> Engine:
    return DuckDbEngine.load({"visits": table_of(rows, **given)})


def _without_ties(rows: list[Visit]) -> list[Visit]:
    """Return rows of which no two have the same time."""
    return [
        each if each.arrived is None else replace(each, arrived=each.arrived + timedelta(seconds=n))
        for n, each in enumerate(rows)
    ]


@pytest.mark.parametrize("name", ENGINES)
@pytest.mark.parametrize(("most", "in_tick"), [(1, None), (3, None), (4, 1)])
def test_the_first_rows_of_each_unit_count_in_the_tick_in_which_they_arrive(
    name: str, most: int, in_tick: int | None
) -> None:
    rows = _without_ties(visits(400, seed=1, patients=40))
    _, (counts, _) = increments_over(name, rows, rows_per_unit=most, rows_per_tick=in_tick)
    expected = counted(rows, most, in_tick)
    assert sum(expected.values()) > 5
    for tick in range(1, TICKS + 1):
        for place, clinic in enumerate(CLINICS):
            assert counts[tick - 1, place] == expected[tick, clinic]


@pytest.mark.parametrize("kind", [pa.timestamp("us", tz="UTC"), pa.date32()], ids=str)
@pytest.mark.parametrize("name", ENGINES)
def test_arrival_times_of_every_type_count_alike(name: str, kind: pa.DataType) -> None:
    rows = _without_ties(visits(300, seed=2))
    _, (counts, _) = increments_over(name, rows, kind=kind, rows_per_unit=99)
    expected = counted(rows, 99)
    sums = {clinic: sum(n for (_, at), n in expected.items() if at == clinic) for clinic in CLINICS}
    assert list(counts.sum(axis=0)) == [sums[each] for each in CLINICS]


@pytest.mark.parametrize("clock", ["hour", "week", "month"])
def test_ticks_of_every_clock_add_up_to_the_same(clock: str) -> None:
    rows = _without_ties(visits(300, seed=3))
    first = FIRST if clock != "month" else datetime(2026, 1, 1)
    ticks = {"hour": TICKS * 24, "week": 3, "month": 1}[clock]
    engine = _engine(rows)
    plan = plan_over(engine, clock=clock, first=first, ticks=ticks, rows_per_unit=999)
    counts, _ = exact_increments(engine, plan, ticks)
    known = [each for each in rows if each.patient is not None and each.clinic in CLINICS]
    end = plan.policy.start(ticks + 1)
    assert counts.sum() == sum(
        each.arrived is not None and first <= each.arrived < end for each in known
    )


@pytest.mark.parametrize("name", ENGINES)
def test_rows_that_arrive_later_never_change_earlier_ticks(name: str) -> None:
    rows = visits(400, seed=4, patients=150)
    middle = FIRST + timedelta(days=TICKS // 2)
    before = [each for each in rows if each.arrived is None or each.arrived < middle]
    sql = "SELECT clinic, COUNT(*) AS n, COUNT(DISTINCT patient) AS p FROM visits GROUP BY clinic"
    terms: dict[str, Any] = {"question": sql, "rows_per_unit": 2}
    found = [increments_over(name, table, **terms)[1] for table in (before, rows[::-1])]
    for early, late in zip(*found, strict=True):
        assert (early[: TICKS // 2] == late[: TICKS // 2]).all()
        assert early[TICKS // 2 :].sum() == 0 < late[TICKS // 2 :].sum()


QUESTIONS = {
    "counts and sums": {"question": BY_CLINIC},
    "one a tick": {"question": BY_CLINIC, "rows_per_tick": 1},
    "units by group": {
        "question": "SELECT clinic, COUNT(DISTINCT patient) AS p FROM visits GROUP BY clinic",
    },
    "units": {"question": "SELECT COUNT(DISTINCT patient) AS p FROM visits"},
    "filtered": {"question": "SELECT COUNT(cost) AS n FROM visits WHERE cost > 2"},
}


@pytest.mark.parametrize("name", ENGINES)
@pytest.mark.parametrize("terms", QUESTIONS.values(), ids=QUESTIONS)
def test_no_unit_moves_a_series_by_more_than_is_charged_for_it(
    name: str, terms: dict[str, Any]
) -> None:
    for seed in range(3 if name == "duckdb" else 1):
        others = visits(60, seed=seed)
        unit = [replace(each, patient=99) for each in visits((60, 1, 9)[seed], seed + 50)]
        mixed = [*unit[::2], *others, *unit[1::2]]
        plan, before = increments_over(name, others, **terms)
        increments = (before, increments_over(name, mixed, **terms)[1])
        for measure, without, with_unit in zip(plan.measures, *increments, strict=True):
            moved = (with_unit - without).astype(np.int64)
            mechanism = measure.mechanism
            assert np.abs(moved).sum() <= mechanism.rows_per_unit * mechanism.magnitude
            if mechanism.rows_per_tick is not None:
                in_one = np.abs(moved).sum(axis=1).max()
                assert in_one <= mechanism.rows_per_tick * mechanism.magnitude


JOINED = "SELECT COUNT(*) AS n, SUM(w.x) AS x FROM visits v, (VALUES (1), (5), (9)) w(x)"


@pytest.mark.parametrize("name", ENGINES)
@pytest.mark.parametrize("unit", ["patient", "row"])
def test_rows_that_a_join_makes_of_one_row_are_limited(name: str, unit: str) -> None:
    rows = [Visit(patient=n, clinic="north", cost=1, arrived=FIRST) for n in range(4)]
    terms: dict[str, Any] = {
        "declared": {**DECLARED, "unit": unit},
        "question": JOINED,
        "rows_per_unit": 2,
    }
    plan, (counts, sums) = increments_over(name, rows, **terms)
    _, (fewer, less) = increments_over(name, rows[:-1], **terms)
    for measure, moved in zip(plan.measures, (counts - fewer, sums - less), strict=True):
        mechanism = measure.mechanism
        assert mechanism.rows_per_unit == 2
        assert 0 < np.abs(moved).sum() <= 2 * mechanism.magnitude


def test_a_joined_row_that_is_a_unit_must_say_how_many_rows_count() -> None:
    engine = _engine(visits(5, seed=0))
    with pytest.raises(DiscreetError, match="must say how many rows of a unit count"):
        plan_over(engine, declared={**DECLARED, "unit": "row"}, question=JOINED, rows_per_unit=None)


def test_a_column_with_our_name_for_arrival_times_changes_nothing() -> None:
    rows = _without_ties(visits(200, seed=9, patients=40))
    table = table_of(rows)
    odd = table.append_column(
        "__arrived", table.column("arrived").take(pa.array(range(len(rows))[::-1]))
    )
    found = []
    for each, sql in (
        (table, "SELECT COUNT(cost) AS n FROM visits"),
        (odd, "SELECT COUNT(CASE WHEN __arrived IS NULL THEN cost ELSE cost END) AS n FROM visits"),
    ):
        engine = DuckDbEngine.load({"visits": each})
        plan = plan_over(engine, question=sql, rows_per_unit=2)
        found.append(exact_increments(engine, plan, TICKS)[0])
    assert (found[0] == found[1]).all()


def test_a_series_without_the_limit_by_arrival_would_be_caught() -> None:
    """The broken twin of the test above: rows of a unit are not limited at all."""
    others = visits(60, seed=0)
    unit = [replace(each, patient=99) for each in visits(60, seed=50)]
    found = []
    for rows in (others, others + unit):
        engine = _engine(rows)
        plan = plan_over(engine)
        unlimited = replace(plan, policy=replace(plan.policy, rows_per_unit=10**6))
        found.append(exact_increments(engine, unlimited, TICKS))
    moved = np.abs(found[1][0] - found[0][0]).sum()
    assert moved > plan.measures[0].mechanism.rows_per_unit


def test_a_patient_counts_once_where_it_first_appears() -> None:
    rows = _without_ties(visits(300, seed=8))
    engine = _engine(rows)
    plan = plan_over(engine, question="SELECT COUNT(DISTINCT patient) AS p FROM visits")
    (units,) = exact_increments(engine, plan, TICKS)
    end = FIRST + timedelta(days=TICKS)
    first: dict[int, datetime] = {}
    for each in rows:
        if each.patient is not None and each.arrived is not None and FIRST <= each.arrived < end:
            first[each.patient] = min(each.arrived, first.get(each.patient, each.arrived))
    expected = [(at - FIRST) // timedelta(days=1) for at in first.values()]
    assert units[:, 0].tolist() == [expected.count(tick) for tick in range(TICKS)]
    assert plan.measures[0].mechanism.rows_per_unit == 1


def test_sums_are_clamped_and_counted_in_their_own_steps() -> None:
    at = FIRST + timedelta(hours=1)
    rows = [
        Visit(patient=number, clinic="north", cost=cost, arrived=at)
        for number, cost in enumerate([99, -5, 7, None])
    ]
    engine = _engine(rows)
    plan = plan_over(engine)
    counts, sums = exact_increments(engine, plan, 1)
    assert counts[0, 0] == 4
    assert sums[0, 0] * plan.measures[1].unit == 10 + 0 + 7


def test_with_replace_neighbours_twice_as_many_rows_move() -> None:
    engine = _engine(visits(5, seed=0))
    plan = plan_over(engine, declared={**DECLARED, "neighbours": "replace"}, rows_per_tick=1)
    mechanism = plan.measures[0].mechanism
    assert (mechanism.rows_per_unit, mechanism.rows_per_tick) == (6, 2)


def test_a_moment_with_an_offset_is_taken_by_utc() -> None:
    engine = _engine(visits(5, seed=0))
    first = datetime(2026, 1, 5, tzinfo=UTC).astimezone()
    assert plan_over(engine, first=first).policy.first == FIRST


REJECTED = {
    "SELECT clinic, AVG(cost) AS a FROM visits GROUP BY clinic": "A series cannot have AVG",
    "SELECT patient % 7 AS p, COUNT(*) AS n FROM visits GROUP BY p": (
        "The groups of a series must be declared"
    ),
    "SELECT COUNT(*) AS n FROM visits ORDER BY 1": "one SELECT with GROUP BY columns",
    "SELECT COUNT(*) + 1 AS n FROM visits": "one SELECT with GROUP BY columns",
    "SELECT COUNT(*) AS n FROM visits v JOIN visits w ON v.patient = w.patient": (
        "must read one private table"
    ),
    "SELECT COUNT(*) AS n FROM (SELECT patient, COUNT(*) AS k FROM visits GROUP BY patient)": (
        "must read one private table"
    ),
    "SELECT COUNT(*) AS n FROM visits GROUP BY clinic": "must show all columns",
    "SELECT 1 AS n": "one SELECT with GROUP BY columns",
    "SELECT COUNT(*) AS n, SUM(cost) AS n_margin FROM visits": "two columns called n_margin",
    "SELECT clinic AS tick, COUNT(*) AS n FROM visits GROUP BY clinic": "two columns called tick",
    "SELECT COUNT(*) AS n FROM visits v WHERE NOT EXISTS (SELECT 1 FROM visits w WHERE "
    "w.patient = v.patient AND w.arrived > v.arrived)": "must decide about each row by itself",
    "SELECT COUNT(*) AS n FROM visits WHERE patient IN (SELECT patient FROM visits WHERE cost > 9)"
    "": "must decide about each row by itself",
    "SELECT COUNT(*) FILTER (WHERE EXISTS (SELECT 1 FROM visits w WHERE w.patient = v.patient AND "
    "w.cost > 9)) AS n FROM visits v": "must decide about each row by itself",
    "SELECT MEDIAN(cost) AS m FROM visits": "A series cannot have MEDIAN",
}


@pytest.mark.parametrize("sql", REJECTED)
def test_a_query_that_cannot_be_a_series_is_rejected_with_a_fix(sql: str) -> None:
    engine = _engine(visits(5, seed=0))
    with pytest.raises(DiscreetError) as caught:
        plan_over(engine, question=sql)
    assert REJECTED[sql] in str(caught.value)


def test_a_table_without_arrival_times_has_no_series() -> None:
    engine = _engine(visits(5, seed=0))
    declared = {name: value for name, value in DECLARED.items() if name != "arrival"}
    with pytest.raises(DiscreetError, match="visits has no arrival column"):
        plan_over(engine, declared=declared)


def test_a_series_must_say_how_many_rows_of_a_unit_count() -> None:
    engine = _engine(visits(5, seed=0))
    with pytest.raises(DiscreetError, match="must say how many rows of a unit count"):
        plan_over(engine, rows_per_unit=None)


def test_hours_need_timestamps() -> None:
    engine = _engine(visits(5, seed=0), arrival=pa.date32())
    with pytest.raises(DiscreetError, match="needs timestamps"):
        plan_over(engine, clock="hour")
