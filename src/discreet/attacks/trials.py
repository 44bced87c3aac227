"""One attack run on many synthetic databases. Each has a secret bit, decided by a fair coin."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from discreet.attacks.defences import Discreet
from discreet.attacks.outcome import Outcome, Step, most_success
from discreet.attacks.people import SECRET, TABLE, UNIT, People, Scheme
from discreet.attacks.secret import Secret
from discreet.attacks.targets import Defence, KnownDefence, Progress, Target, guarding
from discreet.catalog import Kind
from discreet.catalog.arguments import declare
from discreet.errors import RefusedError
from discreet.mechanisms.sensitivity import Neighbours
from discreet.noise import uniform_integers
from discreet.noise.uniform import FloatArray

BARE = Scheme(
    declared=declare({TABLE: None}, epsilon=1, unit=UNIT, rows_per_unit=1, key=UNIT),
    table=TABLE,
    unit=UNIT,
    unit_kind=Kind.INTEGER,
    secret=Secret(column=SECRET),
)
"""A scheme that declares only that each person has one row."""


CERTAIN = 50.0
"""The privacy loss of an answer that only one case can give. Finite, so evidence adds up."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """A database with one secret bit, the queries to run on it, and how to guess the bit."""

    people: People
    truth: bool
    questions: Sequence[str]
    log_odds: Callable[[Sequence[float]], float]
    """Returns the evidence of the first answers for `truth` being True."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """The results of all trials."""

    steps: tuple[Step, ...]
    refused_after: int | None

    def outcome(self, attack: str, defence: Defence, *, allowed: float | None) -> Outcome:
        """Return the outcome of an attack on a fair secret bit."""
        return Outcome(
            attack=attack,
            against=defence.name,
            steps=self.steps,
            chance=0.5,
            allowed=allowed,
            refused_after=self.refused_after,
            epsilon=defence.epsilon,
        )


def bare_people(name: str, column: "pa.Array[Any]") -> People:
    """Return people with one column of this name, and a fair coin as each person's secret."""
    n = len(column)
    secrets = pa.array(uniforms(n) < 0.5)
    return People(pa.table({UNIT: pa.array(range(n)), name: column, SECRET: secrets}), BARE)


def coin() -> bool:
    """Toss a fair coin."""
    return uniform_integers(2) == 1


def uniforms(count: int) -> FloatArray:
    """Draw floats from [0, 1), for synthetic people and attacked noise, never for Discreet's."""
    return uniform_integers(1 << 53, count).astype(np.float64) * np.float64(2.0**-53)


def allowed_for_presence(defence: Defence, *, people: int = 1) -> float | None:
    """Return the highest probability of guessing correctly whether people are in the data.

    None if the defence guarantees nothing about that. With replace neighbours this is the case,
    because the number of people is then public.
    """
    if defence.epsilon is None:
        return None
    if not isinstance(defence, Discreet):
        return most_success(defence.epsilon, distance=people)
    if defence.neighbours is Neighbours.REPLACE:
        return None
    return most_success(defence.epsilon, delta=float(defence.delta), distance=people)


def guessed(log_odds: float, otherwise: bool) -> bool:
    """Return the likelier truth, or `otherwise` if both are equally likely."""
    return log_odds > 0 if log_odds else otherwise


def evidence(defence: KnownDefence, answer: float, here: int, there: int) -> float:
    """Return the log of an answer's likelihood ratio, for a count of `there` against `here`."""
    one, other = defence.surprise(answer, here), defence.surprise(answer, there)
    return 0.0 if one == other else float(np.clip(one - other, -CERTAIN, CERTAIN))


def steps_to(most: int) -> tuple[int, ...]:
    """Return numbers of queries from 1 to `most`, each about twice the one before."""
    return tuple(sorted({max(most >> halvings, 1) for halvings in range(most.bit_length())}))


def answers_of(target: Target, questions: Iterable[str]) -> list[float]:
    """Return the answers to the queries, up to the first that is rejected."""
    answers: list[float] = []
    for sql in questions:
        try:
            answers.append(target.ask(sql))
        except RefusedError:
            break
    return answers


def tally(
    defence: Defence,
    make_trial: Callable[[], Trial],
    *,
    trials: int,
    at: Sequence[int],
    progress: Progress | None = None,
) -> Tally:
    """Return how often the guess was right after each number of queries in `at`.

    Trials are independent, each with its own people and coin, so the number of right guesses in
    each step is binomial. Guesses use only the answers, and none from rejected queries.
    """
    right, most = dict.fromkeys(at, 0), max(at)
    refused_after: int | None = None
    for done in range(trials):
        trial, otherwise = make_trial(), coin()
        with guarding(defence, trial.people) as target:
            answers = answers_of(target, trial.questions[:most])
        if len(answers) < min(most, len(trial.questions)):
            refused_after = min(len(answers), refused_after if refused_after is not None else most)
        for queries in at:
            guess = guessed(trial.log_odds(answers[:queries]), otherwise)
            right[queries] += guess == trial.truth
        if progress is not None:
            progress((done + 1) / trials)
    steps = tuple(Step(queries=each, right=right[each], guesses=trials) for each in at)
    return Tally(steps=steps, refused_after=refused_after)
