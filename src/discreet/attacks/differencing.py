"""Counts with and without one person; edges of rounding."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import partial

import numpy as np

from discreet.attacks.averaging import VICTIM
from discreet.attacks.defences import allowed_for_values
from discreet.attacks.people import Make, People, Scheme, synthetic_people
from discreet.attacks.targets import (
    AttackedSystem,
    Defence,
    KnownDefence,
    Progress,
    accepts_old_defences,
    protected_by,
)
from discreet.attacks.trials import Outcome, Step, Trial, TrialTally, coin, steps_to, tally
from discreet.errors import RefusedError
from discreet.parameters import integer


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    """The result of a search for an edge: the number of queries, and the secret if it was found."""

    queries: int
    secret: bool | None = None
    is_refused: bool = False


def tally_edges(  # noqa: PLR0913 - the parameters of an attack
    defence: Defence,
    make: Make,
    *,
    people: int,
    victim: int,
    trials: int,
    at: Sequence[int],
    progress: Progress | None = None,
) -> TrialTally:
    """Return how often the guess was right after each number of queries in `at`.

    Until the edge is found and the victim is tested, the guess is a fair coin.
    """
    right = dict.fromkeys(at, 0)
    refused: list[int] = []
    for done in range(trials):
        asked = make(people)
        truth = bool(asked.secrets[victim])
        with protected_by(defence, asked) as target:
            found = search(target, asked, victim, most=at[-1])
        if found.is_refused:
            refused.append(found.queries)
        for queries in at:
            is_known = found.secret is not None and found.queries <= queries
            right[queries] += (found.secret if is_known else coin()) == truth
        if progress is not None:
            progress((done + 1) / trials)
    steps = tuple(Step(queries=each, right=right[each], guesses=trials) for each in at)
    return TrialTally(steps=steps, refused_after=min(refused, default=None))


def search(target: AttackedSystem, people: People, victim: int, *, most: int) -> Search:
    """Find the largest group of the first j other people whose count is rounded down to 0.

    Counts of the first j people increase with j, so the edge is found by bisection. With the victim
    added, the group is rounded up if and only if the victim has the secret.
    """
    scheme, asked = people.scheme, 0
    others = [each for each in range(len(people)) if each != victim]

    def is_up(group: Sequence[int]) -> bool:
        nonlocal asked
        answer = target.ask(scheme.count(scheme.secret.sql, scheme.among(group)))
        asked += 1
        return answer > 0

    try:
        low, high = 0, len(others)
        if not is_up(others):
            return Search(queries=asked)
        while high - low > 1 and asked < most:
            middle = (low + high) // 2
            low, high = (low, middle) if is_up(others[:middle]) else (middle, high)
        if asked >= most:
            return Search(queries=asked)
        secret = is_up([*others[:low], victim])
    except RefusedError:
        return Search(queries=asked, is_refused=True)
    return Search(queries=asked, secret=secret)


PEOPLE, QUERIES, TRIALS = 50, 64, 60


class Way(Enum):
    """How the attacker chooses pairs of counts."""

    REPEATED = "repeated"
    """Everyone, and everyone but the victim, with the same SQL: against fresh noise."""

    REWORDED = "reworded"
    """The same counts with different SQL: against noise that depends on the text of the query."""

    EDGE = "edge"
    """A group just below the next rounded count, with the victim added: against rounding."""


@accepts_old_defences
def differencing(  # noqa: PLR0913 - each is an option of the command
    defence: KnownDefence,
    *,
    people: int = PEOPLE,
    queries: int = QUERIES,
    trials: int = TRIALS,
    by: Way | None = None,
    make: Make = synthetic_people,
    progress: Progress | None = None,
) -> Outcome:
    """Return how often one person's secret is guessed from counts with and without that person.

    The attacker knows nobody's secret. One pair of exact counts is enough. With noise of standard
    deviation s, 8 s² pairs are right five times out of six, and 32 s² 98 times out of 100. Rounding
    is beaten by a group that is found in about log₂ n queries. The default is the variant that the
    defence is weak against.
    """
    n, times = integer("people", people, least=2), integer("trials", trials, least=1)
    at = [2 * each for each in steps_to(integer("queries", queries, least=2) // 2)]
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
    return Way.EDGE if defence.deviation else Way.REPEATED


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
