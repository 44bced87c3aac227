"""Differencing: two counts, one of which leaves out a single person."""

from collections.abc import Iterator, Sequence
from enum import Enum
from functools import partial

import numpy as np

from discreet.attacks.averaging import VICTIM
from discreet.attacks.defences import allowed_for_values
from discreet.attacks.edges import tally_edges
from discreet.attacks.outcome import Outcome
from discreet.attacks.people import Make, Scheme, made_up
from discreet.attacks.targets import KnownDefence, Progress
from discreet.attacks.trials import Trial, steps_to, tally
from discreet.parameters import whole

PEOPLE, QUERIES, TRIALS = 50, 64, 60


class Way(Enum):
    """How the attacker chooses pairs of counts."""

    REPEATED = "repeated"
    """Everyone, and everyone but the victim, with the same SQL: against fresh noise."""

    REWORDED = "reworded"
    """The same counts with different SQL: against noise that depends on the text of the query."""

    EDGE = "edge"
    """A group just below the next rounded count, with the victim added: against rounding."""


def differencing(  # noqa: PLR0913 - each is an option of the command
    defence: KnownDefence,
    *,
    people: int = PEOPLE,
    queries: int = QUERIES,
    trials: int = TRIALS,
    by: Way | None = None,
    make: Make = made_up,
    progress: Progress | None = None,
) -> Outcome:
    """Return how often one person's secret is guessed from counts with and without that person.

    The attacker knows nobody's secret. One pair of exact counts is enough. With noise of standard
    deviation s, 8 s² pairs are right five times out of six, and 32 s² 98 times out of 100. Rounding
    is beaten by a group that is found in about log₂ n queries. The default is the variant that the
    defence is weak against.
    """
    n, times = whole("people", people, least=2), whole("trials", trials, least=1)
    at = [2 * each for each in steps_to(whole("queries", queries, least=2) // 2)]
    way = by or _weakness(defence)
    if way is Way.EDGE:
        found = tally_edges(
            defence, make, people=n, victim=VICTIM, trials=times, at=at, progress=progress
        )
    else:
        make_trial = partial(_trial, defence, n, at[-1] // 2, way, make)
        found = tally(defence, make_trial, trials=times, at=at, progress=progress)
    return found.outcome("differencing", defence, allowed=allowed_for_values(defence))


def _weakness(defence: KnownDefence) -> Way:
    if not defence.is_fixed:
        return Way.REWORDED
    return Way.EDGE if defence.spread else Way.REPEATED


# --------------------------------------------------------------------------- pairs


def _trial(defence: KnownDefence, people: int, pairs: int, way: Way, make: Make) -> Trial:
    asked = make(people)
    edge = 0.0 if defence.is_fixed else 0.5
    return Trial(
        people=asked,
        truth=bool(asked.secrets[VICTIM]),
        questions=[
            each for number in range(pairs) for each in _pair(asked.scheme, people + number, way)
        ],
        log_odds=partial(_beyond, edge),
    )


def _pair(scheme: Scheme, nobody: int, way: Way) -> Iterator[str]:
    """Yield the query about everyone, and the one that leaves out the victim."""
    secret = scheme.secret.sql
    # Leaving out a person who does not exist changes the SQL and nothing else.
    more = [scheme.all_but(nobody)] if way is Way.REWORDED else []
    yield scheme.count(secret, *more)
    yield scheme.count(secret, scheme.all_but(VICTIM), *more)


def _beyond(edge: float, answers: Sequence[float]) -> float:
    """Return how far the mean difference of the pairs is above the edge between 0 and 1.

    If answers are deterministic, any difference shows that the person has the secret.
    """
    pairs = len(answers) // 2
    if not pairs:
        return 0.0
    differences = np.array(answers[: 2 * pairs : 2]) - np.array(answers[1 : 2 * pairs : 2])
    beyond = float(differences.mean()) - edge
    return -1.0 if beyond == 0 and edge == 0 else beyond
