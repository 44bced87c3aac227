"""Whole questions with one protection taken away: what an audit must catch."""

from dataclasses import replace
from fractions import Fraction
from typing import NamedTuple

from discreet.audit.questions import broken, parts, relations, sequences, statistics
from discreet.audit.questions.alone import alone
from discreet.audit.questions.experiments import Experiment, Open, opened


class Broken(NamedTuple):
    """What is broken, in which experiment, and how its curators are made."""

    name: str
    of: str
    open: Open


BROKEN = (
    Broken("half of the noise", "COUNT(*)", broken.with_noise_of(Fraction(1, 2))),
    Broken("half of the noise of a mean", "AVG and COUNT", broken.with_noise_of(Fraction(1, 2))),
    Broken(
        "paid for 2 rows where 3 count",
        "30 rows where 3 count",
        broken.with_noise_of(Fraction(2, 3)),
    ),
    Broken(
        "fan-out of a JOIN not paid for",
        "public JOIN, 1 row becomes 3",
        broken.with_noise_of(Fraction(1, 3)),
    ),
    Broken("all rows kept", "30 rows where 3 count", parts.prepared_for(1000)),
    Broken("1000 rows kept, alone", "1000 rows where 3 count, alone", parts.prepared_for(1000)),
    Broken(
        "all rows count, per query",
        "30 rows where 3 count, per query",
        parts.with_engine(parts.unlimited),
    ),
    Broken("bounds of the data", "AVG of one far from others", parts.with_bounds_of_the_data),
    Broken(
        "threshold without noise",
        "unknown keys of 3 others",
        parts.with_plan(broken.by_exact_threshold),
    ),
    Broken("keys shown if present", "unknown keys of 0 others", parts.with_plan(broken.if_present)),
    Broken("empty groups left out", "histogram", parts.with_data(broken.without_empty_groups)),
    Broken(
        "rows in the order of the data", "histogram", parts.with_data(broken.in_order_of_the_data)
    ),
    Broken("same noise in two groups", "histogram", parts.with_plan(broken.with_shared_noise)),
    Broken("drawn afresh for free", "asked twice", parts.forgetting),
    Broken(
        "charged at half price",
        "4 questions, budget for 2",
        parts.with_plan(broken.at_half_price),
    ),
    Broken("sum in floats", "SUM that floats get wrong", parts.with_data(broken.summed_in_floats)),
    Broken("replaced for the price of removed", "histogram, replaced", opened),
)

MORE_RUNS = {"paid for 2 rows where 3 count": 15_000}
"""Of what is hardest to see."""


def broken_experiments() -> tuple[Experiment, ...]:
    """Return experiments whose claims are false, each for one reason."""
    found = {each.name: each for each in _whole()}
    return tuple(_twin(found[each.of], each) for each in BROKEN)


def _twin(experiment: Experiment, kind: Broken) -> Experiment:
    declared = experiment.declared
    return replace(
        experiment,
        name=kind.name,
        open=kind.open,
        is_broken=True,
        runs=MORE_RUNS.get(kind.name, experiment.runs),
        declared={} if kind.open is opened else declared,
    )


def _whole() -> tuple[Experiment, ...]:
    return (
        *statistics.measured(),
        *statistics.bounded(),
        *statistics.keyed(),
        *relations.joined(),
        *sequences.repeated(),
        *sequences.composed(),
        *alone(),
    )
