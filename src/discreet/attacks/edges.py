"""Edges of rounding: a group in which one more person changes the rounded count."""

from collections.abc import Sequence
from dataclasses import dataclass

from discreet.attacks.outcome import Step
from discreet.attacks.people import Make, People
from discreet.attacks.targets import Defence, Progress, Target, guarding
from discreet.attacks.trials import Tally, coin
from discreet.errors import RefusedError


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
) -> Tally:
    """Return how often the guess was right after each number of queries in `at`.

    Until the edge is found and the victim is tested, the guess is a fair coin.
    """
    right = dict.fromkeys(at, 0)
    refused: list[int] = []
    for done in range(trials):
        asked = make(people)
        truth = bool(asked.secrets[victim])
        with guarding(defence, asked) as target:
            found = search(target, asked, victim, most=at[-1])
        if found.is_refused:
            refused.append(found.queries)
        for queries in at:
            is_known = found.secret is not None and found.queries <= queries
            right[queries] += (found.secret if is_known else coin()) == truth
        if progress is not None:
            progress((done + 1) / trials)
    steps = tuple(Step(queries=each, right=right[each], guesses=trials) for each in at)
    return Tally(steps=steps, refused_after=min(refused, default=None))


def search(target: Target, people: People, victim: int, *, most: int) -> Search:
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
