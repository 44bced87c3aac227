"""Sums of numbers that are sure to be small are added up as 64-bit integers."""

from typing import Any

import pyarrow as pa
import pytest

from discreet.engines.spark import SparkEngine, sql
from discreet.engines.writer import bounded
from discreet.engines.writer.bounded import SMALL
from discreet.query.expressions.facts import literal
from discreet.query.expressions.functions import call
from discreet.query.tree import ContributionBounding, ExactQuery
from tests.engines.contract import exact_rows
from tests.engines.made import column, count, private
from tests.spark import shared_session

pytestmark = pytest.mark.spark

UNITS, COST = 3000, 2**63 - 1
WIDE = "sum(CAST(`s0` AS DECIMAL(20, 0)))"


@pytest.fixture(scope="module")
def engine() -> Any:
    costs = pa.array([COST, -COST, None] * (UNITS // 3))
    table = pa.table({"patient_id": list(range(UNITS)), "cost": costs})
    return SparkEngine.open(shared_session(), {"visits": table})


def summed(engine: Any, low: int, high: int) -> ExactQuery:
    """Return the sum of costs between two numbers, over a third of rows each without one."""
    clamped = call("clamp", column("cost"), literal(low), literal(high))
    rows = private(engine)
    return count(rows, limit=1, sums=(clamped,), bounding=ContributionBounding.NONE)


@pytest.mark.parametrize(
    ("low", "high", "is_small"),
    [
        (0, SMALL, True),
        (-SMALL, SMALL, True),
        (0, SMALL + 1, False),
        (-SMALL - 1, 0, False),
        (-(2**63), 2**63 - 1, False),
    ],
)
def test_sums_are_exact_however_far_their_terms_can_be_from_zero(
    engine: Any, low: int, high: int, *, is_small: bool
) -> None:
    query = summed(engine, low, high)
    assert (WIDE not in sql(query)) is is_small
    third = UNITS // 3
    least = max(low, -COST)
    assert exact_rows(engine, query) == [(("s0", third * (min(high, COST) + least)),)]


def test_a_broken_writer_that_takes_all_terms_for_small_is_caught(
    engine: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its sum of positive numbers is negative."""
    right = exact_rows(engine, summed(engine, 0, COST))
    monkeypatch.setattr(bounded, "SMALL", 2**64)
    assert exact_rows(engine, summed(engine, 0, COST)) != right
