"""Means of bounded numbers: exact channels, no bias, stated variance, samplers, refusals."""

from fractions import Fraction
from math import exp, sqrt
from typing import Any

import numpy as np
import pytest

from discreet.errors import HIDDEN, ParameterError, ReportError
from discreet.local.numeric import (
    Duchi,
    Hybrid,
    NumericClient,
    Piecewise,
    choose_numeric,
    estimate_mean,
)
from discreet.local.numeric.means import Kind, mean_influence, worst_variance
from discreet.local.numeric.values import FINE
from discreet.local.reports import Reports
from discreet.local.tallies import Tally
from tests.local.certify import is_certified
from tests.mechanisms.checks import is_covered
from tests.statistics import FALSE_ALARM, counts_misfit

KINDS: list[type[Kind]] = [Duchi, Piecewise, Hybrid]
EPSILONS = [Fraction(1, 10), Fraction(61, 100), Fraction(1), Fraction(3), Fraction(8)]


def small(kind: type[Kind], epsilon: Fraction) -> Kind:
    """Return a mechanism with few enough reports to list."""
    if kind is Duchi:
        return Duchi(epsilon=epsilon)
    return (
        Piecewise(epsilon=epsilon, grid=3) if kind is Piecewise else Hybrid(epsilon=epsilon, grid=3)
    )


STEPS = [0, 1, FINE // 7, FINE // 2, FINE // 8 * 5, FINE - 1, FINE]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("epsilon", EPSILONS, ids=str)
def test_the_channel_keeps_its_epsilon_exactly_and_wastes_none(
    kind: type[Kind], epsilon: Fraction
) -> None:
    mechanism = small(kind, epsilon)
    channel = [mechanism.chances(step) for step in STEPS]
    possible = [any(column) for column in zip(*channel, strict=True)]
    seen = [[p for p, is_seen in zip(row, possible, strict=True) if is_seen] for row in channel]
    assert is_certified(seen, epsilon)
    # The broken twin: odds that are rounded up instead of down are not kept.
    twin = [[p * Fraction(1 + 10**9, 10**9) if p == max(row) else p for p in row] for row in seen]
    assert not is_certified(twin, epsilon)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("epsilon", EPSILONS, ids=str)
def test_decoding_has_no_bias_at_all_and_the_stated_variance(
    kind: type[Kind], epsilon: Fraction
) -> None:
    mechanism = small(kind, epsilon)
    says = mechanism.decoded()
    for step in STEPS:
        law, share = mechanism.chances(step), Fraction(step, FINE)
        assert sum(p * x for p, x in zip(law, says, strict=True)) == share
        square = sum(p * x * x for p, x in zip(law, says, strict=True))
        stated = mechanism.variance(np.array([float(share)]))[0]
        assert stated == pytest.approx(float(square - share**2), rel=1e-9)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("step", [0, FINE // 7, FINE])
def test_reports_have_the_stated_law(kind: type[Kind], step: int) -> None:
    """A fresh seed cries wolf once in 10⁶; the broken twin is the law of a value nearby."""
    mechanism = small(kind, Fraction(1))
    low, high = map(float, mechanism.bounds)
    value = low + (high - low) * step / FINE
    reports = NumericClient(mechanism).report_many(np.full(200_000, value))
    counts = mechanism.tally(reports.rows)
    assert counts_misfit(counts, [float(p) for p in mechanism.chances(step)]) > FALSE_ALARM
    twin = mechanism.chances(FINE // 3)
    assert counts_misfit(counts, [float(p) for p in twin]) < FALSE_ALARM


@pytest.mark.parametrize("kind", KINDS)
def test_estimates_are_as_far_off_as_they_say(kind: type[Kind]) -> None:
    """A fresh seed cries wolf once in 10⁶ for bias, and about as often for the error."""
    mechanism = kind(epsilon=2, bounds=(-5, 15))
    people, trials = 400, 500
    values = np.linspace(-5, 15, people) ** 2 / 15
    true = float(values.mean())
    rows = NumericClient(mechanism).report_many(np.tile(values, trials)).rows
    found = []
    for each in np.split(rows, trials):
        tally = Tally(mechanism)
        tally.add(Reports(mechanism, each))
        found.append(estimate_mean(tally))
    means = np.array([each.mean for each in found])
    shares = (values + 5) / 20
    stated = 20 * sqrt(float(mechanism.variance(shares).mean()) / people)
    assert abs(means.mean() - true) < 4.9 * stated / sqrt(trials)
    assert means.std() == pytest.approx(stated, rel=4.9 / sqrt(2 * trials) * 1.5)
    # The people differ, which the standard error includes.
    assert stated < np.mean([each.standard_error for each in found]) < 1.5 * stated
    assert is_covered(sum(each.low <= true <= each.high for each in found), trials, 0.95)


def test_variances_are_those_of_the_papers() -> None:
    """Wang et al. 2019, equations 4 and 6, on [-1, 1]: a squared width of 4."""
    for epsilon in (0.5, 1.0, 2.0, 4.0):
        duchi = ((exp(epsilon) + 1) / (exp(epsilon) - 1)) ** 2
        assert 4 * worst_variance(Duchi(epsilon=epsilon)) == pytest.approx(duchi, rel=1e-6)
        half = exp(epsilon / 2)
        piecewise = 1 / (half - 1) + (half + 3) / (3 * (half - 1) ** 2)
        found = 4 * worst_variance(Piecewise(epsilon=epsilon))
        assert found == pytest.approx(piecewise, rel=2e-2)


def test_the_least_worst_variance_is_chosen() -> None:
    assert isinstance(choose_numeric(epsilon=0.3), Duchi)
    assert isinstance(choose_numeric(epsilon=2), Hybrid)
    for epsilon in (0.3, 1, 4):
        best = worst_variance(choose_numeric(epsilon=epsilon))
        assert best <= min(worst_variance(kind(epsilon=epsilon)) for kind in KINDS)


@pytest.mark.parametrize("kind", KINDS)
def test_one_malicious_report_moves_the_mean_by_no_more_than_stated(kind: type[Kind]) -> None:
    mechanism = kind(epsilon=1, bounds=(0, 10))
    honest = NumericClient(mechanism).report_many(np.full(999, 5.0))
    every = np.flatnonzero(np.ones(mechanism.cells)).astype(mechanism.row.kind)
    means = []
    for report in (every[:1], every[1:2], every[2:3], every[-1:]):
        if len(report):
            tally = Tally(mechanism)
            tally.add(honest)
            tally.add(Reports(mechanism, report))
            means.append(estimate_mean(tally).mean)
    most = mean_influence(mechanism, 1000)
    assert most * 0.9 < max(means) - min(means) <= most * (1 + 1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_tallies_merge_and_travel(kind: type[Kind]) -> None:
    mechanism = kind(epsilon=1)
    client, whole, part = NumericClient(mechanism), Tally(mechanism), Tally(mechanism)
    for values in (np.linspace(-1, 1, 50), np.zeros(30)):
        reports = client.report_many(values)
        whole.add(bytes(reports))
        other = Tally(mechanism)
        other.add(reports)
        part.merge(Tally.from_bytes(mechanism, bytes(other)))
    assert bytes(whole) == bytes(part)
    assert part.people == 80
    one = Tally(mechanism)
    one.add(client.report(0.5))
    assert one.people == 1
    assert estimate_mean(Tally(mechanism)).mean == 0


@pytest.mark.parametrize("kind", KINDS)
def test_counts_that_do_not_add_up_are_refused(kind: type[Kind]) -> None:
    mechanism = kind(epsilon=1)
    tally = Tally(mechanism)
    tally.add(NumericClient(mechanism).report_many([0.0] * 20))
    tally.people += 1
    with pytest.raises(ReportError, match="add up to"):
        estimate_mean(tally)
    tally.people -= 1
    tally.cells[:2] += [-30, 30]
    with pytest.raises(ReportError, match="add up to"):
        estimate_mean(tally)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "values", [[2.0], [float("nan")], [-1.5, 0], ["a"], [[0.0]], [None], [True], [float("inf")]]
)
def test_values_outside_are_refused_and_not_shown(kind: type[Kind], values: list[Any]) -> None:
    with pytest.raises(ParameterError, match="values must be numbers from -1 to 1") as caught:
        NumericClient(kind(epsilon=1)).report_many(values)
    assert str(HIDDEN) not in str(caught.value)
    assert "given" not in str(caught.value)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("epsilon", 0),
        ("epsilon", -1),
        ("epsilon", 31),
        ("epsilon", "1"),
        ("bounds", (1, 1)),
        ("bounds", (2, 1)),
        ("bounds", (10**9, 10**9 + Fraction(1, 10**9))),
        ("bounds", (0, float("inf"))),
        ("bounds", 3),
    ],
)
def test_bad_parameters_are_refused_by_name(kind: Any, name: str, value: Any) -> None:
    with pytest.raises(ParameterError, match=name):
        kind(**({"epsilon": 1, "bounds": (0, 1)} | {name: value}))


def test_reports_of_another_mechanism_or_of_none_are_refused() -> None:
    here, there = Piecewise(epsilon=1), Piecewise(epsilon=1, bounds=(0, 1))
    tally = Tally(here)
    with pytest.raises(ReportError, match="no reports of"):
        tally.add(NumericClient(there).report(0.5))
    with pytest.raises(ReportError, match="made by"):
        tally.add(NumericClient(there).report_many([0.5]))
    good = NumericClient(here).report(0.5)
    for bad in (good[:-1], good + b"\0", good[:8] + b"\xff\xff", b"", b"x" * 10):
        with pytest.raises(ReportError):
            tally.add(bad)
    assert tally.people == 0
    for bad in (b"", bytes(tally)[:-8], bytes(Tally(there)), bytes(tally)[:12] + b"\xff" * 8):
        with pytest.raises(ReportError):
            Tally.from_bytes(here, bad)
