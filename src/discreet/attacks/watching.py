"""Side channels: what an attacker observes of a target in addition to its answers."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from time import perf_counter
from zlib import crc32

import pyarrow as pa

from discreet.attacks.averaging import VICTIM
from discreet.attacks.people import SECRET, People, made_up
from discreet.attacks.targets import Defence, Held, Target, guarding
from discreet.attacks.trials import answers_of
from discreet.errors import RefusedError

See = Callable[[Target, str], float]
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

    def guard(self, people: People) -> Target:
        return _WatchedTarget(self.defence.guard(people), self.see)


class _WatchedTarget:
    def __init__(self, target: Target, see: See) -> None:
        self._target, self._see = target, see

    def ask(self, sql: str) -> float:
        return self._see(self._target, sql)

    def close(self) -> None:
        if isinstance(self._target, Held):
            self._target.close()


def words_of(target: Target, sql: str) -> float:
    """Return a number for the text of the error if a query is rejected, or 0 if it is answered."""
    try:
        target.ask(sql)
    except RefusedError as refusal:
        return 1.0 + crc32(str(refusal).encode())
    return ANSWERED


def time_of(target: Target, sql: str, *, clock: Callable[[], float] = perf_counter) -> float:
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


def seen_of_twins(
    watched: Watched, size: int, questions: Sequence[str], *, times: int = 1
) -> dict[bool, list[list[float]]]:
    """Return observations of the attacker's own databases, with and without the secret.

    The attacker needs no access to the target for this: the algorithm of a defence is public. The
    two databases take turns, so anything that changes over time affects both.
    """
    seen: dict[bool, list[list[float]]] = {True: [], False: []}
    for _ in range(times):
        people = made_up(size)
        for truth, found in seen.items():
            with guarding(watched, with_secret(people, truth)) as target:
                found.append(answers_of(target, questions))
    return seen
