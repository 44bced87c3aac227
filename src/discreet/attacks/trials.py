"""One attack tried on many made-up databases: each holds a secret bit, decided by a fair coin."""

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
"""People of whom nothing is declared but that each has one row."""


CERTAIN = 50.0
"""Log-odds of an answer that is possible in one case only; finite, so that evidence adds up."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """A database that differs by one secret bit, what is asked about it, and how to guess."""

    people: People
    truth: bool
    questions: Sequence[str]
    log_odds: Callable[[Sequence[float]], float]
    """The evidence of the first answers for the truth being True."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """What came of all trials."""

    steps: tuple[Step, ...]
    refused_after: int | None

    def outcome(self, attack: str, defence: Defence, *, allowed: float | None) -> Outcome:
        """Return it as what an attack on a fair secret bit achieved."""
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
    """Return people with one column of this name, and secrets by a coin for each."""
    n = len(column)
    secrets = pa.array(uniforms(n) < 0.5)
    return People(pa.table({UNIT: pa.array(range(n)), name: column, SECRET: secrets}), BARE)


def coin() -> bool:
    """Toss a fair coin."""
    return uniform_integers(2) == 1


def uniforms(count: int) -> FloatArray:
    """Draw floats from [0, 1): for made-up people and noise that is attacked, never for ours."""
    return uniform_integers(1 << 53, count).astype(np.float64) * np.float64(2.0**-53)


def allowed_for_presence(defence: Defence, *, people: int = 1) -> float | None:
    """Return how often the best guess of whether people are in the data is right, at most.

    None where nothing is promised: also where neighbours replace people, for then the number of
    people is public.
    """
    if defence.epsilon is None:
        return None
    if not isinstance(defence, Discreet):
        return most_success(defence.epsilon, distance=people)
    if defence.neighbours is Neighbours.REPLACE:
        return None
    return most_success(defence.epsilon, delta=float(defence.delta), distance=people)


def guessed(log_odds: float, otherwise: bool) -> bool:
    """Return the likelier truth; where neither is, what a coin said before."""
    return log_odds > 0 if log_odds else otherwise


def evidence(defence: KnownDefence, answer: float, here: int, there: int) -> float:
    """Return the log-odds of an answer for a count of `there` against one of `here`."""
    one, other = defence.surprise(answer, here), defence.surprise(answer, there)
    return 0.0 if one == other else float(np.clip(one - other, -CERTAIN, CERTAIN))


def steps_to(most: int) -> tuple[int, ...]:
    """Return numbers of questions from 1 to the most, each about twice the one before."""
    return tuple(sorted({max(most >> halvings, 1) for halvings in range(most.bit_length())}))


def answers_of(target: Target, questions: Iterable[str]) -> list[float]:
    """Return the answers to the questions up to the first that is refused."""
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
    """Return how often the guess was right after each number `at` of questions.

    Trials are independent, each with people and a coin of its own, so that the number of right
    guesses of each step is binomial. What was refused is not known: guesses are made without it.
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
