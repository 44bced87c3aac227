"""One attack on many databases, and its outcome."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from discreet.attacks.defences import Discreet
from discreet.attacks.people import SECRET, TABLE, UNIT, People, Scheme, Secret
from discreet.attacks.targets import (
    AttackedSystem,
    Defence,
    KnownDefence,
    Progress,
    most_success,
    protected_by,
)
from discreet.binomial import probability_at_least, probability_at_most
from discreet.catalog import Kind
from discreet.catalog.arguments import declare
from discreet.errors import RefusedError
from discreet.mechanisms.sensitivity import Neighbours
from discreet.noise import uniform_integers
from discreet.noise.uniform import FloatArray
from discreet.plots import Plot, Success, plot_success

CONFIDENCE = 0.95


@dataclass(frozen=True, slots=True, kw_only=True)
class Axis:
    """The horizontal axis of a plot of success."""

    label: str
    one: str
    many: str

    def phrase(self, number: int) -> str:
        """Return this number as part of a sentence."""
        return self.one if number == 1 else self.many.format(f"{number:,}")


QUESTIONS = Axis(label="queries", one="after 1 query", many="after {} queries")


TOGETHER = Axis(label="people in the group", one="for 1 person", many="for {} people together")


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """How many guesses were right after a number of queries.

    `allowed` is set where the highest success that epsilon allows differs between steps.
    """

    queries: int
    right: int
    guesses: int
    allowed: float | None = None

    @property
    def success(self) -> float:
        """The share of guesses that were right."""
        return self.right / self.guesses

    @property
    def interval(self) -> tuple[float, float]:
        """The 95% confidence interval of the share of right guesses (Clopper, Pearson 1934).

        It assumes that guesses are independent.
        """
        tail = (1 - CONFIDENCE) / 2
        low = probability_at_least(self.right, self.guesses, tail)
        return low, probability_at_most(self.right, self.guesses, tail)


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """The success of an attack after each number of queries.

    `chance` is the success of random guessing. `allowed` is the highest success that the target's
    guarantee allows any attacker, or None if the target guarantees nothing.
    """

    attack: str
    against: str
    steps: tuple[Step, ...]
    chance: float
    allowed: float | None = None
    refused_after: int | None = None
    """The number of queries after which the target stopped answering, or None if it did not."""
    epsilon: float | None = None
    """The epsilon that the target guarantees, or None if it guarantees nothing."""
    axis: Axis = QUESTIONS
    """The quantity that the steps count."""

    @property
    def answered(self) -> tuple[Step, ...]:
        """The steps up to the last answer. Queries after it were not answered."""
        if self.refused_after is None or self.steps[-1].queries <= self.refused_after:
            return self.steps
        before = [each for each in self.steps if each.queries < self.refused_after]
        return (*before, replace(self.steps[len(before)], queries=self.refused_after))

    @property
    def last(self) -> Step:
        """The last step."""
        return self.answered[-1]

    @property
    def verdict(self) -> str:
        """Sentences that compare the success with random guessing and with what ε allows."""
        last = self.last
        low, high = last.interval
        reached = self.axis.phrase(last.queries)
        stopped = "" if self.refused_after is None else "the target stopped answering "
        after = f"{stopped}{reached}. The" if stopped else f"{reached}, the"
        return (
            f"{self.attack[:1].upper()}{self.attack[1:]} against {self.against}: {after} attack "
            f"guessed {_percent(last.success)} of {last.guesses:,} secrets correctly "
            f"(95% interval {_percent(low)} to {_percent(high)}). "
            f"Random guessing is right {_percent(self.chance)} of the time. {self._promise()}."
        )

    def _promise(self) -> str:
        if self.allowed is None:
            return f"{self.against} gives no guarantee"
        promised = "The guarantee" if self.epsilon is None else f"ε = {self.epsilon:g}"
        return f"{promised} allows at most {_percent(self.allowed)}"

    def to_dict(self) -> dict[str, object]:
        """Return the outcome as plain values, for JSON."""
        return {
            "attack": self.attack,
            "against": self.against,
            "verdict": self.verdict,
            "success": self.last.success,
            "chance": self.chance,
            "allowed": self.allowed,
            "epsilon": self.epsilon,
            "refused_after": self.refused_after,
            "steps": [
                {
                    "queries": each.queries,
                    "right": each.right,
                    "guesses": each.guesses,
                    "success": each.success,
                    "interval": list(each.interval),
                }
                for each in self.steps
            ],
        }

    def plot(self) -> Plot:
        """Plot success by number of queries, with random guessing and the limit by epsilon."""
        return plot_outcomes([self])


def plot_outcomes(
    outcomes: "list[Outcome] | tuple[Outcome, ...]",
    *,
    title: str | None = None,
) -> Plot:
    """Plot the outcomes of one attack against several targets, or of several attacks."""
    lines = [
        Success(
            name=each.against,
            places=tuple(step.queries for step in each.answered),
            shares=tuple(step.success for step in each.answered),
            intervals=tuple(step.interval for step in each.answered),
            allowed=each.allowed,
            limits=tuple(step.allowed for step in each.steps if step.allowed is not None),
            ends=each.refused_after is not None,
        )
        for each in outcomes
    ]
    first = outcomes[0]
    named = title or (first.attack if outcomes[1:] else f"{first.attack} against {first.against}")
    return plot_success(lines, chance=first.chance, title=named, at=first.axis.label)


def _percent(share: float) -> str:
    return f"{100 * share:.3g}%"


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
class TrialTally:
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
    one, other = (
        defence.negative_log_likelihood(answer, here),
        defence.negative_log_likelihood(answer, there),
    )
    return 0.0 if one == other else float(np.clip(one - other, -CERTAIN, CERTAIN))


def steps_to(most: int) -> tuple[int, ...]:
    """Return numbers of queries from 1 to `most`, each about twice the one before."""
    return tuple(sorted({max(most >> halvings, 1) for halvings in range(most.bit_length())}))


def answers_of(target: AttackedSystem, questions: Iterable[str]) -> list[float]:
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
) -> TrialTally:
    """Return how often the guess was right after each number of queries in `at`.

    Trials are independent, each with its own people and coin, so the number of right guesses in
    each step is binomial. Guesses use only the answers, and none from rejected queries.
    """
    right, most = dict.fromkeys(at, 0), max(at)
    refused_after: int | None = None
    for done in range(trials):
        trial, otherwise = make_trial(), coin()
        with protected_by(defence, trial.people) as target:
            answers = answers_of(target, trial.questions[:most])
        if len(answers) < min(most, len(trial.questions)):
            refused_after = min(len(answers), refused_after if refused_after is not None else most)
        for queries in at:
            guess = guessed(trial.log_odds(answers[:queries]), otherwise)
            right[queries] += guess == trial.truth
        if progress is not None:
            progress((done + 1) / trials)
    steps = tuple(Step(queries=each, right=right[each], guesses=trials) for each in at)
    return TrialTally(steps=steps, refused_after=refused_after)
