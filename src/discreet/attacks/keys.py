"""Keys: a list of groups reveals people who are alone in their group.

The names of groups need protection, just as counts do (Korolova, Kenthapadi, Mishra, Ntoulas 2009,
"Releasing Search Queries and Clicks Privately").
"""

# ruff: noqa: S608 - queries contain only our own names and numbers

from collections.abc import Sequence
from functools import partial
from math import isnan, nan

import pyarrow as pa

from discreet.attacks.outcome import Outcome
from discreet.attacks.people import TABLE, UNIT
from discreet.attacks.targets import KnownDefence, Progress, Target
from discreet.attacks.trials import (
    Trial,
    allowed_for_presence,
    bare_people,
    coin,
    evidence,
    tally,
)
from discreet.attacks.watching import Watched
from discreet.errors import RefusedError
from discreet.parameters import whole

PEOPLE, QUERIES, TRIALS = 40, 4, 50
RARE, VILLAGES = "Ashby", ("Barton", "Corley")
ENOUGH = 5
"""The smallest group whose count statistical offices often publish."""

LISTED = (
    "SELECT COUNT(*) AS n FROM "
    f"(SELECT village, COUNT(*) AS people FROM {TABLE} GROUP BY village) AS listed "
    f"WHERE village = '{RARE}'"
)


def keys(
    defence: KnownDefence,
    *,
    people: int = PEOPLE,
    queries: int = QUERIES,
    trials: int = TRIALS,
    progress: Progress | None = None,
) -> Outcome:
    """Return how often an attacker guesses whether anyone lives in a village of one person.

    The first query lists all villages. An exact list names the village if anyone lives there. A
    list without small groups does not. But together with four people whom the attacker knows, the
    village is a group of four or five, and is hidden or shown accordingly. So a threshold on exact
    counts protects nobody. Discreet lists a name only above a noisy threshold: with probability at
    most delta for a group of one. If delta is 0, it rejects the query for a list.
    """
    others = whole("people", people, least=2 * ENOUGH)
    most = whole("queries", queries, least=1)
    found = tally(
        Watched(defence=defence, see=_number_or_nan),
        partial(_key_trial, defence, others, most),
        trials=whole("trials", trials, least=1),
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


def _number_or_nan(target: Target, sql: str) -> float:
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
