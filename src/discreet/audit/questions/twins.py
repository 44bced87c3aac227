"""Whole queries with one protection removed, which an audit must catch."""

from dataclasses import replace
from fractions import Fraction
from typing import NamedTuple

from discreet.audit.questions.alone import alone
from discreet.audit.questions.broken import (
    at_half_price,
    by_exact_threshold,
    if_present,
    in_order_of_the_data,
    summed_in_floats,
    with_noise_of,
    with_shared_noise,
    with_sharp_quantiles,
    without_empty_groups,
)
from discreet.audit.questions.experiments import Experiment, Open
from discreet.audit.questions.parts import (
    forgetting,
    prepared_for,
    undeclared,
    unlimited,
    with_bounds_of_the_data,
    with_data,
    with_engine,
    with_plan,
)
from discreet.audit.questions.relations import joined
from discreet.audit.questions.sequences import composed, repeated
from discreet.audit.questions.statistics import bounded, chosen, keyed, measured


class Broken(NamedTuple):
    """The planted bug, its experiment, and how its curators are made."""

    name: str
    of: str
    open: Open


BROKEN = (
    Broken("half of the noise", "COUNT(*)", with_noise_of(Fraction(1, 2))),
    Broken("half of the noise of a mean", "AVG and COUNT", with_noise_of(Fraction(1, 2))),
    Broken(
        "paid for 2 rows where 3 count",
        "30 rows where 3 count",
        with_noise_of(Fraction(2, 3)),
    ),
    Broken(
        "fan-out of a JOIN not paid for",
        "public JOIN, 1 row becomes 3",
        with_noise_of(Fraction(1, 3)),
    ),
    Broken("all rows kept", "30 rows where 3 count", prepared_for(1000)),
    Broken("1000 rows kept, alone", "1000 rows where 3 count, alone", prepared_for(1000)),
    Broken(
        "all rows count, per query",
        "30 rows where 3 count, per query",
        with_engine(unlimited),
    ),
    Broken("bounds of the data", "AVG of one far from others", with_bounds_of_the_data),
    Broken(
        "threshold without noise",
        "unknown keys of 3 others",
        with_plan(by_exact_threshold),
    ),
    Broken("keys shown if present", "unknown keys of 0 others", with_plan(if_present)),
    Broken("empty groups left out", "histogram", with_data(without_empty_groups)),
    Broken("rows in the order of the data", "histogram", with_data(in_order_of_the_data)),
    Broken("same noise in two groups", "histogram", with_plan(with_shared_noise)),
    Broken("median of too much epsilon", "MEDIAN", with_plan(with_sharp_quantiles)),
    Broken("drawn afresh for free", "asked twice", forgetting),
    Broken(
        "charged at half price",
        "4 questions, budget for 2",
        with_plan(at_half_price),
    ),
    Broken("sum in floats", "SUM that floats get wrong", with_data(summed_in_floats)),
    Broken("replaced for the price of removed", "histogram, replaced", undeclared),
)

MORE_RUNS = {"paid for 2 rows where 3 count": 15_000}
"""More runs for the bug that is hardest to detect."""


def broken_experiments() -> tuple[Experiment, ...]:
    """Return experiments whose claims are false, each for one reason."""
    found = {each.name: each for each in _whole()}
    return tuple(_twin(found[each.of], each) for each in BROKEN)


def _twin(experiment: Experiment, kind: Broken) -> Experiment:
    return replace(
        experiment,
        name=kind.name,
        open=kind.open,
        is_broken=True,
        runs=MORE_RUNS.get(kind.name, experiment.runs),
    )


def _whole() -> tuple[Experiment, ...]:
    return (
        *measured(),
        *chosen(),
        *bounded(),
        *keyed(),
        *joined(),
        *repeated(),
        *composed(),
        *alone(),
    )
