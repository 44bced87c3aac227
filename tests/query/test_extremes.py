"""Planning never fails in its own words: whatever constants a question states, it is refused."""

# ruff: noqa: S608 - questions are made here

from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, date, datetime
from fractions import Fraction
from itertools import islice
from typing import Any

import pyarrow as pa
import pytest

from discreet.curator import Curator
from discreet.errors import DiscreetError
from discreet.query.expressions import intervals
from discreet.query.expressions.facts import literal
from discreet.query.expressions.functions import FUNCTIONS, call
from discreet.query.expressions.intervals import at
from discreet.query.expressions.literals import number_from_text
from discreet.query.plan.plan import EpsilonTarget
from discreet.query.questions import DeclaredGroups
from tests.curated import curator_of
from tests.query.extremes import EVERY, PRICES, Chances, any_question, of_function


@pytest.fixture(scope="module")
def curator() -> Iterator[Curator]:
    moment = datetime(2020, 1, 1)
    columns: dict[str, Any] = {
        "patient_id": pa.array([1, 2], pa.int64()),
        "i": pa.array([1, 2], pa.int64()),
        "j": pa.array([1, 2], pa.int64()),
        "x": pa.array([1.0, 2.0]),
        "y": pa.array([1.0, 2.0]),
        "d": pa.array([date(2020, 1, 1)] * 2),
        "s": pa.array([moment] * 2),
        "z": pa.array([moment.replace(tzinfo=UTC)] * 2),
        "t": pa.array(["a", "b"]),
        "b": pa.array([True, False]),
    }
    found = curator_of(pa.table(columns), bounds={"i": (-5, 95), "x": (0, 1)}, delta=1e-6)
    yield found
    found.close()


def is_planned(curator: Curator, question: str, price: dict[str, Any]) -> bool:
    """Return whether a question is planned, not refused; all that is raised besides is a bug."""
    with suppress(DiscreetError):
        curator.explain(question, **price)
        return True
    return False


def test_every_function_is_tried() -> None:
    assert set(FUNCTIONS) <= EVERY


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_a_function_of_extremes_is_planned_or_refused(name: str, curator: Curator) -> None:
    chance = Chances(name)
    tried = (
        is_planned(curator, of_function(name, chance), chance.one_of(PRICES)) for _ in range(40)
    )
    assert [*islice(tried, 10), any(tried)][-1]


def test_any_question_of_extremes_is_planned_or_refused(curator: Curator) -> None:
    chance = Chances(13)
    planned = [is_planned(curator, any_question(chance), chance.one_of(PRICES)) for _ in range(150)]
    assert any(planned)
    assert not all(planned)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_many_questions_of_extremes_are_planned_or_refused(curator: Curator, seed: int) -> None:
    chance = Chances(seed)
    planned = [
        is_planned(curator, any_question(chance), chance.one_of(PRICES)) for _ in range(2500)
    ]
    assert any(planned)


@pytest.mark.parametrize(
    "question",
    [
        "SELECT SUM(j // CAST(-1e300 AS USMALLINT)) FROM visits",
        f"SELECT COUNT(*) FROM visits WHERE CAST({'9' * 399} AS DOUBLE) > y",
        "SELECT SUM(clamp(y, -1e300, 1e308)) FROM visits",
        "SELECT PERCENTILE_CONT(1e999999999) WITHIN GROUP (ORDER BY x) FROM visits",
        "SELECT SUM(CAST(x AS DECIMAL(1e9))) FROM visits",
        f"SELECT i, COUNT(*) FROM visits GROUP BY {'9' * 5000}",
        f"SELECT SUM({'power(' * 12}0.3 * x{', 63)' * 12}) FROM visits",
        "SELECT MODE(q) FROM (SELECT patient_id, t AS q FROM visits)",
    ],
)
def test_what_once_failed_while_planning_does_not(question: str, curator: Curator) -> None:
    assert is_planned(curator, question, {"epsilon": 1e-6}) in (True, False)


@pytest.mark.parametrize(
    ("condition", "where", "groups"),
    [
        ("j = -9223372036854775809", "TRUE", [(1,), (2,)]),
        ("j = -9223372036854775808", "TRUE", [(1,), (2,)]),
        ("j < 18446744073709551616", "TRUE", [(1,)]),
        ("j < 9223372036854775807", "TRUE", [(1,), (2,)]),
        ("j > 5", "j > 9223372036854775807", []),
        ("j > 5", "j < -9223372036854775808", []),
    ],
)
def test_an_integer_is_not_tried_beyond_64_bits(
    curator: Curator, condition: str, where: str, groups: list[tuple[int, ...]]
) -> None:
    key = f"abs(CASE WHEN {condition} THEN floor(1.5) ELSE floor(2.5) END)"
    query = f"SELECT {key}, COUNT(*) FROM visits WHERE {where} GROUP BY 1"
    plan = curator._planner.draft(query, EpsilonTarget(1), curator.catalog)
    known = plan.releases[0].aggregation.groups
    assert isinstance(known, DeclaredGroups)
    assert sorted(known.rows) == groups


def test_a_cast_that_nothing_survives_still_has_an_interval() -> None:
    for value in (-1e300, 1e300, -1, 70_000, -(2**63)):
        found = call("to_integer", literal(value), literal(0), literal(65_535)).facts
        low, high = found.interval.low, found.interval.high
        assert low is not None
        assert high is not None
        assert 0 <= low <= high <= 65_535
        assert found.nullable


def test_powers_of_powers_stay_short() -> None:
    found = intervals.between(Fraction(1, 10), Fraction(3, 10))
    for _ in range(6):
        found = intervals.power(found, Fraction(64))
    assert found.low is not None
    assert found.high is not None
    assert 0 <= found.low <= found.high
    assert found.high.denominator.bit_length() <= intervals.LONGEST
    assert intervals.power(at(2), Fraction(64)) == at(2**64)


def test_a_number_that_no_floating_point_number_is_near_is_none() -> None:
    most = 2**1024 - 2**970
    assert number_from_text(str(most)) is None
    assert number_from_text(f"{most}.0") is None
    assert number_from_text(str(most - 1)) == most - 1
