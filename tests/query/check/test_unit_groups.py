"""Aggregates over all rows of a unit: what is known of them is what the data may hold."""

# ruff: noqa: S608 - the queries are the tests' own

import numpy as np
import pandas as pd
import pytest

import discreet
from discreet.errors import UnboundedError

VISITS = np.array([20, 40, 100] * 500)
"""How many rows each unit has: more than the contribution limit, which is 15."""


@pytest.fixture(scope="module")
def curator() -> discreet.Curator:
    unit = np.repeat(np.arange(len(VISITS)), VISITS)
    frame = pd.DataFrame({"u": unit, "x": np.ones(len(unit)), "k": ["a", "b"] * (len(unit) // 2)})
    return discreet.open(
        frame,
        name="visits",
        unit="u",
        rows_per_unit=15,
        bounds={"x": (0, 2)},
        values={"k": ["a", "b"]},
        epsilon=10**6,
        delta=1e-6,
    )


PER_UNIT = "(SELECT u, COUNT(*) AS n, SUM(x) AS s, COUNT(DISTINCT k) AS d FROM visits GROUP BY u)"


@pytest.mark.parametrize(
    ("aggregate", "exact"),
    [
        ("SUM(CLAMP(n - 15, 0, 85))", np.clip(VISITS - 15, 0, 85).sum()),
        ("AVG(LEAST(n, 60))", np.minimum(VISITS, 60).mean()),
        ("SUM(CLAMP(s, 0, 200))", VISITS.sum()),
        ("SUM(d)", 2 * len(VISITS)),
        ("COUNT(CASE WHEN n > 15 THEN 1 END)", len(VISITS)),
    ],
)
def test_numbers_per_unit_are_of_all_its_rows(
    curator: discreet.Curator, aggregate: str, exact: float
) -> None:
    answer = curator.ask(f"SELECT {aggregate} AS a FROM {PER_UNIT}", epsilon=50)
    assert answer.to_pandas()["a"][0] == pytest.approx(exact, rel=0.01)


@pytest.mark.parametrize("aggregate", ["AVG({})", "SUM({})", "MAX({})", "STDDEV({})"])
@pytest.mark.parametrize("column", ["n", "s"])
def test_a_number_of_rows_has_no_bound_of_its_own(
    curator: discreet.Curator, aggregate: str, column: str
) -> None:
    sql = f"SELECT {aggregate.format(column)} FROM {PER_UNIT}"
    with pytest.raises(UnboundedError) as caught:
        curator.explain(sql, epsilon=1)
    assert f"needs bounds for {column}, which this query computes" in str(caught.value)
    assert f"Write CLAMP({column}, low, high) in place of {column}" in str(caught.value)
    assert "catalog" not in str(caught.value)
    mended = f"SELECT {aggregate.format(f'CLAMP({column}, 0, 100)')} FROM {PER_UNIT}"
    assert curator.explain(mended, epsilon=1).price.epsilon == 1


def test_a_number_of_rows_with_a_bound_lists_its_groups(curator: discreet.Curator) -> None:
    sql = f"SELECT LEAST(n, 41) AS n, COUNT(*) AS units FROM {PER_UNIT} GROUP BY 1 ORDER BY 1"
    groups = curator.ask(sql, epsilon=50).to_pandas()
    assert groups["n"].tolist() == list(range(1, 42))
    assert dict(groups[groups["units"] > 100].to_numpy()) == {20: 500, 40: 500, 41: 500}
