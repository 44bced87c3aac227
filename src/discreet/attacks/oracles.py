"""Oracles: a secret told not by an answer, but by whether there is one, or by how long it takes.

A question is written so that an engine fails, or works hard, at one person's row only, and only
if that person has the secret. One failure is one bit, with certainty and whatever noise is on
answers (Haeberlen, Pierce, Narayan 2011, "Differential Privacy Under Fire").
"""

# ruff: noqa: S608 - questions are made of names of our own

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
"""Conditions that overflow, cannot be cast, divide by 0, name no day, find two rows, and raise."""

COSTLY = (
    "CASE WHEN {hit} THEN LENGTH(REPEAT(city, {many})) ELSE 1 END > 0",
    f"CASE WHEN {{hit}} THEN {'SQRT(' * 20}income + {{many}}{')' * 20} ELSE 1 END > 0",
)
"""Conditions that take long at one row: the first builds a long text, the second computes."""

LONG = 10_000_000

LEARNT = 5
"""So many twins of each kind are timed first."""


def errors(
    defence: Defence,
    *,
    people: int = PEOPLE,
    queries: int = len(FAILING),
    trials: int = ERROR_TRIALS,
    progress: Progress | None = None,
) -> Outcome:
    """Return how often a secret is told by whether questions are answered, and by the words if not.

    The attacker looks at nothing else. He tries each question on twins of his own first, and then
    goes by those that had told them apart. Where refusals follow from the question alone and
    everything computed for a row is total, none does, and guesses are as good as a coin.
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


def timing(  # noqa: PLR0913 - each is a thing that the command or a test may say
    defence: Defence,
    *,
    people: int = PEOPLE,
    queries: int = TIMES,
    trials: int = TIMED_TRIALS,
    clock: Callable[[], float] = perf_counter,
    progress: Progress | None = None,
) -> Outcome:
    """Return how often a secret is told by how long questions take, answered or refused.

    Every question is asked in words of its own, so that no answer is a kept one. What takes long
    is learnt on twins, and times are compared by rank with theirs. Discreet refuses functions
    whose work depends on a row without bound; of what it does answer, no time is promised, and the
    outcome shows what a clock on this machine tells.
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
    """Return the evidence of times for the secret: where they rank among the twins' times.

    `slow` and `fast` are times of twins with and without the secret, for each kind of question;
    kinds take turns. Each counts as much as it told the twins apart: by Mann and Whitney's
    statistic, beyond one half. What lies between all of either goes by the nearer median.
    """
    evidence = 0.0
    for time, with_it, without in zip(times, cycle(slow), cycle(fast), strict=False):
        apart = float(np.mean(np.sign(with_it[:, None] - without))) / 2
        rank = float(np.mean(time > with_it) + np.mean(time > without)) - 1.0
        middle = float(np.median(with_it) + np.median(without)) / 2
        evidence += apart * (rank + float(np.sign(time - middle)) / 2)
    return evidence


def _matching(with_it: Sequence[float], without: Sequence[float], words: Sequence[float]) -> float:
    """Return by how many questions more the words are those of the twin that has the secret."""
    return float(
        sum((a == own) - (b == own) for own, a, b in zip(words, with_it, without, strict=False))
    )


def _of_each_kind(seen: Sequence[Sequence[float]]) -> list[FloatArray]:
    """Return the times of each kind of question, of all twins together."""
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
