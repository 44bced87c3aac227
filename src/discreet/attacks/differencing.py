"""Differencing: two counts of which one leaves out a single person."""

from collections.abc import Iterator, Sequence
from enum import Enum
from functools import partial

import numpy as np

from discreet.attacks.averaging import VICTIM
from discreet.attacks.defences import allowed_for_values
from discreet.attacks.outcome import Outcome
from discreet.attacks.people import Make, Scheme, made_up
from discreet.attacks.targets import KnownDefence, Progress
from discreet.attacks.trials import Trial, steps_to, tally
from discreet.noise import bernoulli
from discreet.parameters import whole

PEOPLE, QUERIES, TRIALS = 50, 64, 60


class Way(Enum):
    """How a pair of counts is asked for once more."""

    REPEATED = "repeated"
    """In the same words: for noise that is drawn anew."""

    REWORDED = "reworded"
    """In other words that mean the same, for noise that follows from the words."""

    SUBSETS = "subsets"
    """About other random halves of the people, for rounding: some half is counted at its edge."""


def differencing(  # noqa: PLR0913 - each is a thing that the command may say
    defence: KnownDefence,
    *,
    people: int = PEOPLE,
    queries: int = QUERIES,
    trials: int = TRIALS,
    by: Way | None = None,
    make: Make = made_up,
    progress: Progress | None = None,
) -> Outcome:
    """Return how often one person's secret is told by counts with and without that person.

    The attacker knows nobody's secret. One pair of exact counts is enough. Noise of standard
    deviation s takes about 8 s² pairs; rounding to multiples of m is beaten by random halves, of
    which one in m has its count where the person makes the difference. By default pairs are asked
    again in the way that the defence is weak against.
    """
    way = by or (Way.SUBSETS if defence.is_fixed else Way.REWORDED)
    pairs = steps_to(max(1, whole("queries", queries, least=2) // 2))
    found = tally(
        defence,
        partial(_trial, defence, whole("people", people, least=2), pairs[-1], way, make),
        trials=whole("trials", trials, least=1),
        at=[2 * each for each in pairs],
        progress=progress,
    )
    return Outcome(
        attack="differencing",
        against=defence.name,
        steps=found.steps,
        chance=0.5,
        allowed=allowed_for_values(defence),
        refused_after=found.refused_after,
        epsilon=defence.epsilon,
    )


def _trial(defence: KnownDefence, people: int, pairs: int, way: Way, make: Make) -> Trial:
    asked = make(people)
    edge = 0.0 if defence.is_fixed else 0.5
    return Trial(
        people=asked,
        truth=bool(asked.secrets[VICTIM]),
        questions=[
            each for pair in range(pairs) for each in _pair(asked.scheme, people, pair, way)
        ],
        log_odds=partial(_beyond, edge),
    )


def _pair(scheme: Scheme, people: int, number: int, way: Way) -> Iterator[str]:
    """Yield the question about everyone, and the one that leaves out the victim."""
    secret = scheme.secret.sql
    if way is Way.SUBSETS:
        half = np.flatnonzero(bernoulli(0.5, people))
        others = [int(each) for each in half if each != VICTIM]
        # Someone who is not there keeps the list from being empty.
        yield scheme.count(secret, scheme.among([VICTIM, *others, people]))
        yield scheme.count(secret, scheme.among([*others, people]))
        return
    # Leaving out someone who is not there changes the words and nothing else.
    nobody = [scheme.all_but(people + number)] if way is Way.REWORDED else []
    yield scheme.count(secret, *nobody)
    yield scheme.count(secret, scheme.all_but(VICTIM), *nobody)


def _beyond(edge: float, answers: Sequence[float]) -> float:
    """Return how far differences of pairs are above the edge between no and one person.

    Where nothing is left to chance, any difference at all shows that there is a person.
    """
    pairs = len(answers) // 2
    if not pairs:
        return 0.0
    differences = np.array(answers[: 2 * pairs : 2]) - np.array(answers[1 : 2 * pairs : 2])
    beyond = float(differences.mean()) - edge
    return -1.0 if beyond == 0 and edge == 0 else beyond
