"""Exact answers, inferred from the last bits of floating-point noise (Mironov 2012)."""

from collections.abc import Sequence
from fractions import Fraction
from functools import partial
from math import sqrt

import numpy as np

from discreet.attacks.defences import allowed_for_values
from discreet.attacks.outcome import Outcome
from discreet.attacks.people import made_up
from discreet.attacks.reachable import FloatNoise
from discreet.attacks.targets import KnownDefence, Progress
from discreet.attacks.trials import Trial, tally
from discreet.parameters import whole

PEOPLE, QUERIES, TRIALS = 20, 8, 100


def floating_point(
    defence: KnownDefence,
    *,
    queries: int = QUERIES,
    people: int = PEOPLE,
    trials: int = TRIALS,
    progress: Progress | None = None,
) -> Outcome:
    """Return how often a secret is guessed from outputs that only one exact count can give.

    The count of one person with the secret is 0 or 1. Textbook noise of scale b gives z from 0 if
    z = fl(b ln u) for some u, and from 1 if z = fl(1 + fl(b ln u)). Of 100 outputs, about 65 pass
    only one of these tests, for any epsilon. If the last bits reveal nothing, the attacker guesses
    by the size of the answer. Then up to e^(2 epsilon) / (1 + e^(2 epsilon)) of the guesses may be
    right: changing a value removes one person and adds one.
    """
    noise = FloatNoise(scale=_scale(defence))
    most = whole("queries", queries, least=1)
    found = tally(
        defence,
        partial(_trial, whole("people", people, least=1), most, noise),
        trials=whole("trials", trials, least=1),
        at=tuple(range(1, most + 1)),
        progress=progress,
    )
    return found.outcome("floating-point", defence, allowed=allowed_for_values(defence))


def _trial(size: int, queries: int, noise: FloatNoise) -> Trial:
    people = made_up(size)
    scheme = people.scheme
    # All queries count the same, each with different SQL, so none returns a saved answer.
    conditions = (scheme.among([0, *range(size, size + more)]) for more in range(queries))

    def log_odds(answers: Sequence[float]) -> float:
        return float(noise.log_odds(np.asarray(answers, float), 1.0, 0.0).sum())

    return Trial(
        people=people,
        truth=bool(people.secrets[0]),
        questions=[scheme.count(each, scheme.secret.sql) for each in conditions],
        log_odds=log_odds,
    )


def _scale(defence: KnownDefence) -> float:
    """Return the scale of the noise, 1 / epsilon, for an epsilon with few decimals."""
    if not defence.spread:
        return 1.0
    return float(1 / Fraction(f"{sqrt(2) / defence.spread:.12g}"))
