"""Numbers of units that a condition picks: a unit counts once, however many rows it has."""

from collections.abc import Sequence
from typing import Any

import pytest

from discreet.curator import Curator
from discreet.mechanisms.geometric import Geometric
from discreet.query.plan import PlannedRelease
from discreet.query.plan.plan import EpsilonTarget
from tests.curated import curator_of
from tests.statements import unbound

UNITS = 12
ROWS = [(i % UNITS, i * 7 % 50, ("n", "s")[i // UNITS % 2]) for i in range(10 * UNITS)]
DECLARED: dict[str, Any] = {
    "rows_per_unit": 5,
    "values": {"region": ["n", "s"]},
    "bounds": {"age": (0, 50)},
}

COUNTS = {
    "COUNT(DISTINCT patient_id)": 0,
    "approx_count_distinct(patient_id)": 0,
    "COUNT(DISTINCT patient_id) FILTER (WHERE age >= 47)": 47,
    "approx_count_distinct(patient_id) FILTER (WHERE age >= 47)": 47,
    "COUNT(DISTINCT CASE WHEN age >= 47 THEN patient_id END)": 47,
}
"""Each with the least age that counts."""


def curator(rows: Sequence[tuple[int, int, str]] = ROWS) -> Curator:
    ids, ages, regions = zip(*rows, strict=True)
    return curator_of({"patient_id": ids, "age": ages, "region": regions}, **DECLARED)


def sensitivity(made: Curator, sql: str) -> int:
    (measure,) = planned(made, sql).components
    assert isinstance(measure.noise, Geometric)
    return measure.noise.event.sensitivity


def planned(made: Curator, sql: str) -> PlannedRelease:
    (release,) = made._planner.draft(sql, EpsilonTarget(1), made.catalog).releases
    return release


def counted(made: Curator, sql: str) -> list[int]:
    """Return the exact numbers of all groups."""
    (query,) = planned(made, sql).queries
    found: list[Any] = made._engine.run(unbound(query), ()).unseal().column(-1).to_pylist()
    return found


@pytest.mark.parametrize("what", COUNTS)
def test_a_unit_moves_a_number_of_units_by_one_and_is_priced_so(what: str) -> None:
    sql = f"SELECT {what} AS n FROM visits"  # noqa: S608
    whole = curator()
    assert sensitivity(whole, sql) == 1
    (true,) = counted(whole, sql)
    assert true == len({unit for unit, age, _ in ROWS if age >= COUNTS[what]}) > 3
    for unit in (0, 1, 7):
        (less,) = counted(curator([each for each in ROWS if each[0] != unit]), sql)
        assert 0 <= true - less <= 1


def test_in_each_of_two_groups_it_counts_once() -> None:
    made = curator()
    for what in COUNTS:
        sql = f"SELECT region, {what} AS n FROM visits GROUP BY region"  # noqa: S608
        assert sensitivity(made, sql) == 2


def test_other_values_of_a_unit_are_as_many_as_its_rows() -> None:
    made, mixed = curator(), "CASE WHEN age > 4 THEN patient_id ELSE 0 END"
    for value in ("age + patient_id", mixed):
        assert sensitivity(made, f"SELECT COUNT(DISTINCT {value}) AS n FROM visits") == 5  # noqa: S608
