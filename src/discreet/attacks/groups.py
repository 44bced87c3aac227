"""Groups: what a guarantee for one person means for several people together.

A guarantee of epsilon for one person is one of k epsilon for k people (Dwork, Roth 2014, Theorem
2.2). So a family can be detected where none of its members can.
"""

# ruff: noqa: S608 - queries contain only our own names and numbers

from collections.abc import Sequence

import pyarrow as pa

from discreet.attacks.outcome import TOGETHER, Outcome, Step
from discreet.attacks.people import TABLE, People
from discreet.attacks.targets import KnownDefence, Progress, guarding
from discreet.attacks.trials import (
    allowed_for_presence,
    answers_of,
    bare_people,
    coin,
    evidence,
    guessed,
)
from discreet.noise import bernoulli
from discreet.parameters import whole

PEOPLE, SIZES, TRIALS = 40, (1, 2, 4, 8, 16), 50


def groups(
    defence: KnownDefence,
    *,
    people: int = PEOPLE,
    queries: int = 2 * len(SIZES),
    trials: int = TRIALS,
    progress: Progress | None = None,
) -> Outcome:
    """Return how often the presence of a family is guessed correctly, by the size of the family.

    The data contain `people` others, and each of the families of 1, 2, 4, 8 and 16 with probability
    1/2. The attacker counts the people of each household in turn, and then repeats the counts with
    different SQL. Success grows with the family size k, up to e^(k epsilon) / (1 + e^(k epsilon)).
    """
    others, most = whole("people", people, least=0), whole("queries", queries, least=1)
    total = whole("trials", trials, least=1)
    right = dict.fromkeys(SIZES, 0)
    for done in range(total):
        is_there = [bool(each) for each in bernoulli(0.5, len(SIZES))]
        with guarding(defence, _families(others, is_there)) as target:
            answers = answers_of(target, [_household(number) for number in range(most)])
        for place, size in enumerate(SIZES):
            own = answers[place :: len(SIZES)]
            odds = sum(evidence(defence, each, 0, size) for each in own)
            right[size] += guessed(odds, coin()) == is_there[place]
        if progress is not None:
            progress((done + 1) / total)
    return Outcome(
        attack="groups",
        against=defence.name,
        steps=tuple(_step(defence, size, right[size], total) for size in SIZES),
        chance=0.5,
        allowed=allowed_for_presence(defence, people=SIZES[-1]),
        epsilon=defence.epsilon,
        axis=TOGETHER,
    )


def _step(defence: KnownDefence, size: int, right: int, trials: int) -> Step:
    allowed = allowed_for_presence(defence, people=size)
    return Step(queries=size, right=right, guesses=trials, allowed=allowed)


def _household(number: int) -> str:
    """Return the query that counts a family. Households -1 and below are empty."""
    turn, family = divmod(number, len(SIZES))
    nobody = "".join(f", {-each}" for each in range(1, turn + 1))
    return f"SELECT COUNT(*) AS n FROM {TABLE} WHERE household IN ({family}{nobody})"


def _families(others: int, is_there: Sequence[bool]) -> People:
    families = [
        place
        for place, (size, there) in enumerate(zip(SIZES, is_there, strict=True))
        for _ in range(size * there)
    ]
    households = [*(len(SIZES) + each for each in range(others)), *families]
    return bare_people("household", pa.array(households, pa.int64()))
