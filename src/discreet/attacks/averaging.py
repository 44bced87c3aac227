"""Averaging: the same query repeated until the noise averages out.

The attacker knows everything except one person's secret, so a count is one of two numbers.
"""

from collections.abc import Sequence
from enum import Enum
from functools import partial
from math import exp, isinf

from discreet.attacks.defences import allowed_for_values
from discreet.attacks.people import Make, synthetic_people
from discreet.attacks.targets import KnownDefence, Progress, accepts_old_defences
from discreet.attacks.trials import Outcome, Trial, steps_to, tally
from discreet.parameters import integer
from discreet.utility import posterior, uniform

VICTIM = 0
"""The number of the person under attack. Secrets are independent of these numbers."""

PEOPLE, QUERIES, TRIALS = 50, 32, 50


class Inference(Enum):
    """How the attacker combines many answers."""

    MEAN = "mean"
    """The count that is nearer to the mean of the answers."""

    BELIEF = "belief"
    """The likelier count given all answers, by Bayes' rule: the noise distribution is known."""


@accepts_old_defences
def averaging(  # noqa: PLR0913 - each is an option of the command
    defence: KnownDefence,
    *,
    people: int = PEOPLE,
    queries: int = QUERIES,
    trials: int = TRIALS,
    by: Inference = Inference.BELIEF,
    make: Make = synthetic_people,
    progress: Progress | None = None,
) -> Outcome:
    """Return how often one person's secret is guessed from the same count, repeated many times.

    If noise of standard deviation s is drawn again for each answer, the error after k answers is
    s / √k. The mean of 4 s² answers is right five times out of six, and that of 16 s² 98 times out
    of 100. If answers are saved, repeating the query reveals nothing more.
    """
    at = steps_to(integer("queries", queries, least=1))
    found = tally(
        defence,
        partial(_trial, defence, integer("people", people, least=1), at[-1], by, make),
        trials=integer("trials", trials, least=1),
        at=at,
        progress=progress,
    )
    return found.outcome("averaging", defence, allowed=allowed_for_values(defence))


def _trial(defence: KnownDefence, people: int, queries: int, by: Inference, make: Make) -> Trial:
    asked = make(people)
    secrets = asked.secrets
    known = int(secrets.sum()) - int(secrets[VICTIM])
    evidence = (
        partial(_beyond_mean, known)
        if by is Inference.MEAN
        else partial(_beyond_belief, defence, known)
    )
    return Trial(
        people=asked,
        truth=bool(secrets[VICTIM]),
        questions=[asked.scheme.count(asked.scheme.secret.sql)] * queries,
        log_odds=evidence,
    )


def _beyond_mean(known: int, answers: Sequence[float]) -> float:
    """Return how far the mean is above the midpoint of the two counts."""
    return sum(answers) / len(answers) - known - 0.5 if answers else 0.0


def _beyond_belief(defence: KnownDefence, known: int, answers: Sequence[float]) -> float:
    """Return how far the probability of the larger count is above one half."""
    return belief(defence, known, answers) - 0.5


def belief(defence: KnownDefence, known: int, answers: Sequence[float]) -> float:
    """Return the posterior probability that the count is known + 1, given the answers.

    The noise of the answers is independent. Before them, known and known + 1 were equally likely.
    Answers that neither count can give change nothing.
    """
    surprise = {
        count: sum(defence.negative_log_likelihood(each, count) for each in answers)
        for count in (known, known + 1)
    }
    least = min(surprise.values())
    if isinf(least):
        return 0.5
    return float(
        posterior(uniform(known, known + 1), lambda count: exp(least - surprise[count]))[known + 1]
    )
