"""Side channels: secrets revealed by errors, by time and by which groups exist.

An oracle reveals a secret by whether a query is answered, or by how long it takes. The query makes
a database fail, or work hard, at one person's row only, and only if that person has the secret. One
failure reveals one bit with certainty, however much noise the answers have (Haeberlen, Pierce,
Narayan 2011, "Differential Privacy Under Fire").

A list of groups reveals people who are alone in their group. The names of groups need protection,
just as counts do (Korolova, Kenthapadi, Mishra, Ntoulas 2009, "Releasing Search Queries and Clicks
Privately").
"""

# ruff: noqa: S608 - queries contain only our own names
# ruff: noqa: S608 - queries contain only our own names and numbers

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import cycle
from math import isnan, nan
from time import perf_counter
from zlib import crc32

import numpy as np
import pyarrow as pa

from discreet.attacks.averaging import VICTIM
from discreet.attacks.defences import allowed_for_values
from discreet.attacks.people import PLAIN, SECRET, TABLE, UNIT, People, synthetic_people
from discreet.attacks.targets import (
    AttackedSystem,
    Defence,
    Held,
    KnownDefence,
    Progress,
    accepts_old_defences,
    protected_by,
)
from discreet.attacks.trials import (
    Outcome,
    Step,
    Trial,
    allowed_for_presence,
    answers_of,
    bare_people,
    coin,
    evidence,
    tally,
)
from discreet.errors import RefusedError
from discreet.noise.uniform import FloatArray
from discreet.parameters import integer

See = Callable[[AttackedSystem, str], float]
"""Runs a query and returns an observation, other than the answer, as a number."""


ANSWERED = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Watched:
    """A defence with a side channel in place of its answers."""

    defence: Defence
    see: See

    @property
    def name(self) -> str:
        return self.defence.name

    @property
    def epsilon(self) -> float | None:
        return self.defence.epsilon

    def protect(self, people: People) -> AttackedSystem:
        return _WatchedTarget(self.defence.protect(people), self.see)


class _WatchedTarget:
    def __init__(self, target: AttackedSystem, see: See) -> None:
        self._target, self._see = target, see

    def ask(self, sql: str) -> float:
        return self._see(self._target, sql)

    def close(self) -> None:
        if isinstance(self._target, Held):
            self._target.close()


def words_of(target: AttackedSystem, sql: str) -> float:
    """Return a number for the text of the error if a query is rejected, or 0 if it is answered."""
    try:
        target.ask(sql)
    except RefusedError as refusal:
        return 1.0 + crc32(str(refusal).encode())
    return ANSWERED


def time_of(
    target: AttackedSystem, sql: str, *, clock: Callable[[], float] = perf_counter
) -> float:
    """Return how long it takes until a query is answered or rejected."""
    begun = clock()
    with suppress(RefusedError):
        target.ask(sql)
    return clock() - begun


def with_secret(people: People, truth: bool) -> People:
    """Return the same people, with the victim's secret set to `truth`."""
    secrets = people.secrets
    secrets[VICTIM] = truth
    place = people.table.column_names.index(SECRET)
    return replace(people, table=people.table.set_column(place, SECRET, pa.array(secrets)))


def seen_of_both(
    watched: Watched, size: int, questions: Sequence[str], *, times: int = 1
) -> dict[bool, list[list[float]]]:
    """Return observations of the attacker's own databases, with and without the secret.

    The attacker needs no access to the target for this: the algorithm of a defence is public. The
    two databases take turns, so anything that changes over time affects both.
    """
    seen: dict[bool, list[list[float]]] = {True: [], False: []}
    for _ in range(times):
        people = synthetic_people(size)
        for truth, found in seen.items():
            with protected_by(watched, with_secret(people, truth)) as target:
                found.append(answers_of(target, questions))
    return seen


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


@accepts_old_defences
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
    most = integer("queries", queries, least=1, most=len(FAILING))
    questions = [PLAIN.count(each) for each in FAILING[:most]]
    seen = seen_of_both(watched, integer("people", people, least=2), questions)
    telling = partial(_matching, seen[True][0], seen[False][0])
    found = tally(
        watched,
        partial(_trial, people, questions, telling),
        trials=integer("trials", trials, least=1),
        at=tuple(range(1, most + 1)),
        progress=progress,
    )
    return _outcome("errors", defence, found.steps)


@accepts_old_defences
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
    most = integer("queries", queries, least=1)
    questions = [PLAIN.count(_costly(number)) for number in range(most)]
    seen = seen_of_both(watched, integer("people", people, least=1), questions, times=LEARNT)
    slow, fast = (_of_each_kind(seen[truth]) for truth in (True, False))
    found = tally(
        watched,
        partial(_trial, people, questions, partial(by_rank, slow, fast)),
        trials=integer("trials", trials, least=1),
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
    people = synthetic_people(size)
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


KEY_PEOPLE, KEY_QUERIES, KEY_TRIALS = 40, 4, 50


RARE, VILLAGES = "Ashby", ("Barton", "Corley")


ENOUGH = 5
"""The smallest group whose count statistical offices often publish."""


LISTED = (
    "SELECT COUNT(*) AS n FROM "
    f"(SELECT village, COUNT(*) AS people FROM {TABLE} GROUP BY village) AS listed "
    f"WHERE village = '{RARE}'"
)


@accepts_old_defences
def keys(
    defence: KnownDefence,
    *,
    people: int = KEY_PEOPLE,
    queries: int = KEY_QUERIES,
    trials: int = KEY_TRIALS,
    progress: Progress | None = None,
) -> Outcome:
    """Return how often an attacker guesses whether anyone lives in a village of one person.

    The first query lists all villages. An exact list names the village if anyone lives there. A
    list without small groups does not. But together with four people whom the attacker knows, the
    village is a group of four or five, and is hidden or shown accordingly. So a threshold on exact
    counts protects nobody. Discreet lists a name only above a noisy threshold: with probability at
    most delta for a group of one. If delta is 0, it rejects the query for a list.
    """
    others = integer("people", people, least=2 * ENOUGH)
    most = integer("queries", queries, least=1)
    found = tally(
        Watched(defence=defence, see=_number_or_nan),
        partial(_key_trial, defence, others, most),
        trials=integer("trials", trials, least=1),
        at=tuple(range(1, most + 1)),
        progress=progress,
    )
    return Outcome(
        attack="keys",
        against=defence.name,
        steps=found.steps,
        chance=0.5,
        allowed=allowed_for_presence(defence),
        epsilon=defence.epsilon,
    )


def _number_or_nan(target: AttackedSystem, sql: str) -> float:
    try:
        return target.ask(sql)
    except RefusedError:
        return nan


def _with_known(first: int) -> str:
    known = ", ".join(str(each) for each in range(first, first + ENOUGH - 1))
    return f"SELECT COUNT(*) AS n FROM {TABLE} WHERE village = '{RARE}' OR {UNIT} IN ({known})"


def _key_trial(defence: KnownDefence, others: int, queries: int) -> Trial:
    truth = coin()
    villages = [VILLAGES[each % len(VILLAGES)] for each in range(others)] + [RARE] * truth
    groups_of_four = [_with_known(each % (others - ENOUGH)) for each in range(queries - 1)]
    return Trial(
        people=bare_people("village", pa.array(villages)),
        truth=truth,
        questions=[LISTED, *groups_of_four],
        log_odds=partial(_key_odds, defence),
    )


def _key_odds(defence: KnownDefence, answers: Sequence[float]) -> float:
    """Return the evidence that someone lives in the village. Rejected queries are no evidence.

    A name that is not listed may be hidden, so it decides only if nothing else does.
    """
    if not answers:
        return 0.0
    listed, *counts = answers
    shown = 0.0 if isnan(listed) else evidence(defence, listed, 0, 1)
    counted = sum(evidence(defence, each, ENOUGH - 1, ENOUGH) for each in counts if not isnan(each))
    return counted + (shown if shown > 0 else shown / 1000)
