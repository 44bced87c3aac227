"""Membership: who is in a group, inferred from counts, and what a guarantee says of several people.

The allele counts of a study reveal who took part in it (Homer et al. 2008). For m exact counts
about n people of a known population, the likelihood ratio is the most powerful test (Neyman,
Pearson 1933; Sankararaman et al. 2009). It succeeds once m is a few times n, and it averages away
noise that is too small (Dwork, Smith, Steinke, Ullman, Vadhan 2015, "Robust Traceability from Trace
Amounts").

A guarantee of epsilon for one person is one of k epsilon for k people (Dwork, Roth 2014, Theorem
2.2). So a family can be detected where none of its members can.
"""

# ruff: noqa: S608 - queries contain only our own names and numbers

from collections.abc import Sequence
from functools import partial
from math import inf

import numpy as np
import pyarrow as pa
from scipy.stats import binom

from discreet.attacks.people import TABLE, People
from discreet.attacks.targets import (
    KnownDefence,
    Progress,
    accepts_old_defences,
    protected_by,
)
from discreet.attacks.trials import (
    CERTAIN,
    TOGETHER,
    Outcome,
    Step,
    Trial,
    allowed_for_presence,
    answers_of,
    bare_people,
    coin,
    evidence,
    guessed,
    steps_to,
    tally,
    uniforms,
)
from discreet.noise import bernoulli
from discreet.noise.uniform import FloatArray
from discreet.parameters import integer

PEOPLE, PLACES, TRIALS = 25, 96, 40


RAREST = 0.2
"""Each letter is carried by a share of the population between this and one minus this."""


@accepts_old_defences
def membership(
    defence: KnownDefence,
    *,
    people: int = PEOPLE,
    queries: int = PLACES,
    trials: int = TRIALS,
    progress: Progress | None = None,
) -> Outcome:
    """Return how often a person's presence is guessed from counts of single letters of genomes.

    The attacker knows the person's genome, the number n of others, and the frequency p of each
    letter in the population. Each query counts the people who have the same letter at one place.
    One more person changes each count by 1, while its standard deviation is √(n p (1 - p)). So with
    exact counts, guesses are right with probability about Φ(√(Σ 1 / (n p (1 - p))) / 2).
    """
    others, places = integer("people", people, least=1), integer("queries", queries, least=1)
    found = tally(
        defence,
        partial(_trial, defence, others, places),
        trials=integer("trials", trials, least=1),
        at=steps_to(places),
        progress=progress,
    )
    return found.outcome("membership", defence, allowed=allowed_for_presence(defence))


def log_odds(defence: KnownDefence, counts: Sequence[float], chances: FloatArray) -> float:
    """Return the evidence of counts for one more person, who has the letter of every query.

    It is the sum over counts of ln(Σ P(answer | c + 1) P(c) / Σ P(answer | c) P(c)), where c is the
    number of others who have the letter. Each row of the table has the probabilities P(c) of one
    count.
    """
    return sum(
        _evidence(defence, answer, row) for answer, row in zip(counts, chances, strict=False)
    )


def _evidence(defence: KnownDefence, answer: float, chances: FloatArray) -> float:
    surprise = np.array(
        [defence.negative_log_likelihood(answer, each) for each in range(len(chances) + 1)]
    )
    if surprise.min() == inf:
        return 0.0
    likely = np.exp(surprise.min() - surprise)
    with np.errstate(divide="ignore"):
        odds = np.log(chances @ likely[1:]) - np.log(chances @ likely[:-1])
    return float(np.clip(odds, -CERTAIN, CERTAIN))


def _trial(defence: KnownDefence, others: int, places: int) -> Trial:
    """Return a trial in which the last person, with the letter A everywhere, may be absent."""
    shares = RAREST + (1 - 2 * RAREST) * uniforms(places)
    chances = np.asarray(binom.pmf(np.arange(others + 1), others, shares[:, None]))
    has = uniforms(others * places).reshape(others, places) < shares
    truth = coin()
    if truth:
        has = np.vstack([has, np.ones(places, np.bool_)])
    genomes = ["".join(row) for row in np.where(has, "A", "C")]
    return Trial(
        people=bare_people("genome", pa.array(genomes)),
        truth=truth,
        questions=[
            f"SELECT COUNT(*) AS n FROM {TABLE} WHERE SUBSTR(genome, {place}, 1) = 'A'"
            for place in range(1, places + 1)
        ],
        log_odds=lambda counts: log_odds(defence, counts, chances),
    )


GROUP_PEOPLE, SIZES, GROUP_TRIALS = 40, (1, 2, 4, 8, 16), 50


@accepts_old_defences
def groups(
    defence: KnownDefence,
    *,
    people: int = GROUP_PEOPLE,
    queries: int = 2 * len(SIZES),
    trials: int = GROUP_TRIALS,
    progress: Progress | None = None,
) -> Outcome:
    """Return how often the presence of a family is guessed correctly, by the size of the family.

    The data contain `people` others, and each of the families of 1, 2, 4, 8 and 16 with probability
    1/2. The attacker counts the people of each household in turn, and then repeats the counts with
    different SQL. Success grows with the family size k, up to e^(k epsilon) / (1 + e^(k epsilon)).
    """
    others, most = integer("people", people, least=0), integer("queries", queries, least=1)
    total = integer("trials", trials, least=1)
    right = dict.fromkeys(SIZES, 0)
    for done in range(total):
        is_there = [bool(each) for each in bernoulli(0.5, len(SIZES))]
        with protected_by(defence, _families(others, is_there)) as target:
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
