"""Means of bounded numbers: errors, influence, tallies, and which mechanism is chosen."""

from math import exp, sqrt

import numpy as np
import pytest

from discreet.errors import ReportError
from discreet.local import (
    Client,
    Duchi,
    Hybrid,
    Piecewise,
    Reports,
    Server,
    choose_mean,
    mean_influence,
)
from discreet.local.means import MeanMechanism, worst_variance
from tests.mechanisms.checks import is_covered

KINDS: list[type[MeanMechanism]] = [Duchi, Piecewise, Hybrid]


@pytest.mark.parametrize("kind", KINDS)
def test_estimates_are_as_far_off_as_they_say(kind: type[MeanMechanism]) -> None:
    """A fresh seed cries wolf once in 10⁶ for bias, and about as often for the error."""
    mechanism = kind(epsilon=2, bounds=(-5, 15))
    people, trials = 400, 500
    values = np.linspace(-5, 15, people) ** 2 / 15
    true = float(values.mean())
    rows = Client(mechanism).report_many(np.tile(values, trials)).rows
    found = []
    for each in np.split(rows, trials):
        server = Server(mechanism)
        server.add(Reports(mechanism, each))
        found.append(server.estimate())
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
    assert isinstance(choose_mean(epsilon=0.3), Duchi)
    assert isinstance(choose_mean(epsilon=2), Hybrid)
    for epsilon in (0.3, 1, 4):
        best = worst_variance(choose_mean(epsilon=epsilon))
        assert best <= min(worst_variance(kind(epsilon=epsilon)) for kind in KINDS)


@pytest.mark.parametrize("kind", KINDS)
def test_one_malicious_report_moves_the_mean_by_no_more_than_stated(
    kind: type[MeanMechanism],
) -> None:
    mechanism = kind(epsilon=1, bounds=(0, 10))
    honest = Client(mechanism).report_many(np.full(999, 5.0))
    every = np.flatnonzero(np.ones(mechanism.counters)).astype(mechanism.report_format.dtype)
    means = []
    for report in (every[:1], every[1:2], every[2:3], every[-1:]):
        if len(report):
            server = Server(mechanism)
            server.add(honest)
            server.add(Reports(mechanism, report))
            means.append(server.estimate().mean)
    most = mean_influence(mechanism, 1000)
    assert most * 0.9 < max(means) - min(means) <= most * (1 + 1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_tallies_merge_and_travel(kind: type[MeanMechanism]) -> None:
    mechanism = kind(epsilon=1)
    client, whole, part = Client(mechanism), Server(mechanism), Server(mechanism)
    for values in (np.linspace(-1, 1, 50), np.zeros(30)):
        reports = client.report_many(values)
        whole.add(bytes(reports))
        other = Server(mechanism)
        other.add(reports)
        part.merge(Server.from_bytes(mechanism, bytes(other)))
    assert bytes(whole) == bytes(part)
    assert part.people == 80
    one = Server(mechanism)
    one.add(client.report(0.5))
    assert one.people == 1
    assert Server(mechanism).estimate().mean == 0


@pytest.mark.parametrize("kind", KINDS)
def test_counts_that_do_not_add_up_are_refused(kind: type[MeanMechanism]) -> None:
    mechanism = kind(epsilon=1)
    server = Server(mechanism)
    server.add(Client(mechanism).report_many([0.0] * 20))
    server.tally.people += 1
    with pytest.raises(ReportError, match="add up to"):
        server.estimate()
    server.tally.people -= 1
    server.tally.counters[:2] += [-30, 30]
    with pytest.raises(ReportError, match="add up to"):
        server.estimate()
