"""Oracles: a secret revealed by whether a query is answered, or by how long it takes.

The query makes a database fail, or work hard, at one person's row only, and only if that person has
the secret. One failure reveals one bit with certainty, however much noise the answers have
(Haeberlen, Pierce, Narayan 2011, "Differential Privacy Under Fire").
"""

# ruff: noqa: S608 - queries contain only our own names

from collections.abc import Callable, Sequence
from functools import partial
from itertools import cycle
from time import perf_counter

import numpy as np

from discreet.attacks.averaging import VICTIM
from discreet.attacks.defences import allowed_for_values
from discreet.attacks.outcome import Outcome, Step
from discreet.attacks.people import PLAIN, TABLE, UNIT, made_up
from discreet.attacks.targets import Defence, Progress
from discreet.attacks.trials import Trial, tally
from discreet.attacks.watching import Watched, seen_of_twins, time_of, words_of
from discreet.noise.uniform import FloatArray
from discreet.parameters import whole

PEOPLE, ERROR_TRIALS, TIMES, TIMED_TRIALS = 20, 40, 6, 20

HIT = f"{UNIT} = {VICTIM} AND {PLAIN.secret.sql}"
"""True at the victim's row, if the victim has the secret."""

FAILING = (
    f"1 + {UNIT} + CASE WHEN {HIT} THEN 9223372036854775807 ELSE 0 END >= 0",
    f"CAST(CASE WHEN {HIT} THEN 'none' ELSE '1' END AS INTEGER) > 0",
    f"1 % CASE WHEN {HIT} THEN 0 ELSE 2 END > 0",
    f"CAST(CASE WHEN {HIT} THEN '2024-02-31' ELSE '2024-02-01' END AS DATE) > DATE '2000-01-01'",
    f"age >= (SELECT {UNIT} FROM {TABLE} WHERE {UNIT} = {VICTIM + 1} OR ({HIT}))",
    f"CASE WHEN {HIT} THEN ERROR('ill') IS NULL ELSE TRUE END",
)
"""Conditions that overflow, fail to cast, divide by 0, have no such date, find two rows, raise."""

COSTLY = (
    "CASE WHEN {hit} THEN LENGTH(REPEAT(city, {many})) ELSE 1 END > 0",
    f"CASE WHEN {{hit}} THEN {'SQRT(' * 20}income + {{many}}{')' * 20} ELSE 1 END > 0",
)
"""Conditions that take long at one row: the first builds a long text, the second computes."""

LONG = 10_000_000

LEARNT = 5
"""The number of pairs of synthetic databases that are timed first."""


def errors(
    defence: Defence,
    *,
    people: int = PEOPLE,
    queries: int = len(FAILING),
    trials: int = ERROR_TRIALS,
    progress: Progress | None = None,
) -> Outcome:
    """Return how often a secret is guessed from whether queries are answered, and from error texts.

    The attacker uses nothing else. Each query is first tried on two synthetic databases, with and
    without the secret, and then used if it gave different results. If rejections depend only on the
    query, and no computation on a row can fail, none does, and guessing is random.
    """
    watched = Watched(defence=defence, see=words_of)
    most = whole("queries", queries, least=1, most=len(FAILING))
    questions = [PLAIN.count(each) for each in FAILING[:most]]
    seen = seen_of_twins(watched, whole("people", people, least=2), questions)
    telling = partial(_matching, seen[True][0], seen[False][0])
    found = tally(
        watched,
        partial(_trial, people, questions, telling),
        trials=whole("trials", trials, least=1),
        at=tuple(range(1, most + 1)),
        progress=progress,
    )
    return _outcome("errors", defence, found.steps)


def timing(  # noqa: PLR0913 - each is an option of the command or of a test
    defence: Defence,
    *,
    people: int = PEOPLE,
    queries: int = TIMES,
    trials: int = TIMED_TRIALS,
    clock: Callable[[], float] = perf_counter,
    progress: Progress | None = None,
) -> Outcome:
    """Return how often a secret is guessed from how long queries take, answered or rejected.

    Every query has different SQL, so no answer is a saved one. Reference times come from synthetic
    databases with and without the secret, and times are compared with them by rank. Discreet
    rejects functions whose running time on a row is not bounded. For the queries that it answers,
    it guarantees no running time. The outcome shows what a clock on this machine reveals.
    """
    watched = Watched(defence=defence, see=partial(time_of, clock=clock))
    most = whole("queries", queries, least=1)
    questions = [PLAIN.count(_costly(number)) for number in range(most)]
    seen = seen_of_twins(watched, whole("people", people, least=1), questions, times=LEARNT)
    slow, fast = (_of_each_kind(seen[truth]) for truth in (True, False))
    found = tally(
        watched,
        partial(_trial, people, questions, partial(by_rank, slow, fast)),
        trials=whole("trials", trials, least=1),
        at=tuple(range(1, most + 1)),
        progress=progress,
    )
    return _outcome("timing", defence, found.steps)


def by_rank(
    slow: Sequence[FloatArray], fast: Sequence[FloatArray], times: Sequence[float]
) -> float:
    """Return the evidence of times for the secret: their ranks among the reference times.

    `slow` and `fast` are reference times with and without the secret, for each kind of query. Kinds
    take turns. The weight of a kind is its Mann-Whitney statistic minus one half. A time between
    all slow and all fast ones goes by the nearer median.
    """
    evidence = 0.0
    for time, with_it, without in zip(times, cycle(slow), cycle(fast), strict=False):
        apart = float(np.mean(np.sign(with_it[:, None] - without))) / 2
        rank = float(np.mean(time > with_it) + np.mean(time > without)) - 1.0
        middle = float(np.median(with_it) + np.median(without)) / 2
        evidence += apart * (rank + float(np.sign(time - middle)) / 2)
    return evidence


def _matching(with_it: Sequence[float], without: Sequence[float], words: Sequence[float]) -> float:
    """Return how many more texts match those with the secret than those without it."""
    return float(
        sum((a == own) - (b == own) for own, a, b in zip(words, with_it, without, strict=False))
    )


def _of_each_kind(seen: Sequence[Sequence[float]]) -> list[FloatArray]:
    """Return the reference times of each kind of query."""
    times = np.array(seen)
    return [times[:, kind :: len(COSTLY)].ravel() for kind in range(min(len(COSTLY), len(times.T)))]


def _costly(number: int) -> str:
    return COSTLY[number % len(COSTLY)].format(hit=HIT, many=LONG + number)


def _trial(
    size: int, questions: Sequence[str], log_odds: Callable[[Sequence[float]], float]
) -> Trial:
    people = made_up(size)
    truth = bool(people.secrets[VICTIM])
    return Trial(people=people, truth=truth, questions=questions, log_odds=log_odds)


def _outcome(attack: str, defence: Defence, steps: tuple[Step, ...]) -> Outcome:
    return Outcome(
        attack=attack,
        against=defence.name,
        steps=steps,
        chance=0.5,
        allowed=allowed_for_values(defence),
        epsilon=defence.epsilon,
    )
