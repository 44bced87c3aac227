"""What noise does over many draws (cases S10, S14, N11): as wide as declared, and no wider."""

# ruff: noqa: S608 - questions are made, not taken from anyone

from collections.abc import Iterator
from fractions import Fraction
from math import exp, sqrt

import numpy as np
import pyarrow as pa
import pytest
from scipy.stats import beta

import discreet
from discreet.curator import Curator
from discreet.mechanisms.geometric import Geometric
from tests.attacks.plans import plan_of, released
from tests.statements import unbound

DRAWS = 10_000
"""Groups of one question: each gets noise of its own."""

UNITS_IN_EACH = 3


@pytest.fixture(scope="module")
def curator() -> Iterator[Curator]:
    """Three units in each of so many groups, all of them with x = 30."""
    units = range(DRAWS * UNITS_IN_EACH)
    groups = [unit // UNITS_IN_EACH for unit in units]
    table = pa.table({"unit": list(units), "g": groups, "x": [30.0 for _ in units]})
    bounds = {"g": (0, DRAWS - 1), "x": (0, 100)}
    with discreet.open(
        table, name="t", unit="unit", bounds=bounds, rows_per_unit=1, epsilon=1_000, delta=0.5
    ) as opened:
        yield opened


@pytest.mark.parametrize(
    "statistic", ["COUNT(*)", "SUM(x)", "AVG(x)", "VARIANCE(x)", "STDDEV(x)", "AVG(x), COUNT(*)"]
)
def test_s10_noise_is_as_wide_as_the_plan_declares(curator: Curator, statistic: str) -> None:
    """The deviation of 10 000 draws is within 5 % of the law's; that of Laplace strays by 1.1 %."""
    plan = plan_of(curator, f"SELECT g, {statistic} FROM t GROUP BY g")
    (planned,) = plan.releases
    table = released(curator, plan).rows
    first = len(planned.aggregation.keys) + len(planned.estimators)
    columns = iter(range(first, table.num_columns))
    for each in planned.components:
        assert isinstance(each.noise, Geometric)
        declared = _deviation(each.noise.scale)
        for _ in each.measure.cells:
            drawn = np.asarray(table.column(next(columns)).to_numpy(), float)
            assert drawn.std() == pytest.approx(declared, rel=0.05)
    assert next(columns, None) is None


def _deviation(scale: Fraction) -> float:
    """Return the deviation of discrete Laplace noise: √2 α^½ / (1 - α), α = exp(-1/scale)."""
    alpha = exp(-1 / scale)
    return sqrt(2 * alpha) / (1 - alpha)


@pytest.mark.parametrize(("statistic", "widest"), [("COUNT(*)", 1), ("SUM(x)", 100)])
def test_s10_noise_covers_what_one_unit_can_move(
    curator: Curator, statistic: str, widest: int
) -> None:
    """One unit moves a count by 1 and a sum by its bounds: so wide is the scale at epsilon 1.

    Laplace's sample deviation over 10 000 draws strays by 1.1 % of itself: 6 % is five of those.
    """
    plan = plan_of(curator, f"SELECT g, {statistic} AS y FROM t GROUP BY g")
    drawn = np.asarray(released(curator, plan).rows.column("a0").to_numpy(), float)
    law = _deviation(Fraction(1)) if widest == 1 else sqrt(2) * widest
    assert drawn.std() == pytest.approx(law, rel=0.06)


def test_s10_a_mean_is_noisy_by_a_sum_and_a_count(curator: Curator) -> None:
    """An average of n = 3 at epsilon 1 cannot be known: its law is wide, within the bounds."""
    answer = curator.ask("SELECT g, AVG(x) AS y, VARIANCE(x) AS v FROM t GROUP BY g", epsilon=1)
    means = np.asarray(answer.to_arrow().column("y").to_numpy(), float)
    assert means.std() > 10
    assert 0 <= means.min() <= means.max() <= 100
    assert np.asarray(answer.to_arrow().column("v").to_numpy(), float).min() >= 0


@pytest.mark.parametrize("statistic", ["COUNT(*)", "SUM(x)"])
@pytest.mark.parametrize("epsilon", ["0.1", "1", "3"])
def test_n11_half_widths_cover_as_often_as_they_say(
    curator: Curator, statistic: str, epsilon: str
) -> None:
    """Of 10 000 numbers 95 % are within their ± (whole numbers: at least), to 1 in a hundred."""
    exact = UNITS_IN_EACH * (1 if statistic == "COUNT(*)" else 30)
    sql = f"SELECT g, {statistic} AS y FROM t GROUP BY g"
    answer = curator.ask(sql, epsilon=Fraction(epsilon))
    off = np.abs(np.asarray(answer.to_arrow().column("y").to_numpy(), float) - exact)
    widths = np.asarray(answer.margins["y"], float)
    assert len(set(widths)) == 1  # follows from the public scale alone
    covered = (off <= widths).mean()
    assert covered > 0.94
    if statistic == "SUM(x)":
        assert covered < 0.96


def test_s14_a_group_of_one_person_is_shown_with_probability_delta_at_most() -> None:
    """100 000 groups of one person each, delta = 1 %: few are shown."""
    groups, delta = 100_000, 0.01
    table = pa.table({"unit": list(range(groups)), "s": [f"name {n}" for n in range(groups)]})
    with discreet.open(
        table, name="t", unit="unit", rows_per_unit=1, epsilon=100, delta=0.5
    ) as opened:
        answer = opened.ask("SELECT s, COUNT(*) AS n FROM t GROUP BY s", epsilon=1, delta=delta)
        plan = plan_of(opened, "SELECT s, COUNT(*) AS n FROM t GROUP BY s", delta=delta)
    shown = len(answer.rows)
    # Clopper and Pearson's lower bound at one in a million: above delta, it would be refuted.
    refuted = beta.ppf(1e-6, shown, groups - shown + 1) if shown else 0.0
    assert refuted <= delta
    selection = plan.releases[0].key_selection
    assert selection is not None
    assert selection.mechanism.keep_probability(1) <= delta
    assert shown > 0  # else the test sees nothing


def test_s14_no_person_spreads_over_more_groups_than_are_paid_for() -> None:
    """With ten rows each, a unit is in ten groups at most, and all together cost delta."""
    table = pa.table({"unit": [1] * 5_000, "s": [f"name {n}" for n in range(5_000)]})
    with discreet.open(table, name="t", unit="unit", epsilon=100, delta=0.5) as opened:
        plan = plan_of(opened, "SELECT s, COUNT(*) FROM t GROUP BY s", delta=0.01)
        (planned,) = plan.releases
        exact = opened._engine.run(unbound(planned.queries[0]), ()).unseal()
    assert planned.key_selection is not None
    assert planned.key_selection.mechanism.groups == 10
    assert exact.num_rows == 10
    assert 1 - (1 - planned.key_selection.mechanism.keep_probability(1)) ** 10 <= 0.01
