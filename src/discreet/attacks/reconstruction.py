"""Reconstruction: the whole secret column from counts of random groups of people.

Dinur and Nissim (2003), Revealing information while preserving privacy: answers to enough counts,
with errors that are small compared with √n, reveal nearly all of n secrets.
"""

from collections.abc import Iterator, Sequence
from enum import Enum
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog
from scipy.sparse import csr_array, eye_array, hstack, vstack

from discreet.attacks.defences import allowed_for_values
from discreet.attacks.people import Make, People, synthetic_people
from discreet.attacks.targets import (
    KnownDefence,
    Progress,
    accepts_old_defences,
    protected_by,
)
from discreet.attacks.trials import Outcome, Step, answers_of, steps_to
from discreet.errors import SolverError
from discreet.noise import bernoulli
from discreet.parameters import integer

Floats: TypeAlias = NDArray[np.float64]
Bits: TypeAlias = NDArray[np.bool_]

PEOPLE, QUERIES, TRIALS = 200, 1000, 1


class Solver(Enum):
    """How the secrets are fitted to the answers."""

    LEAST_SQUARES = "least-squares"
    """The linear estimate with the smallest expected squared error."""

    LINEAR_PROGRAM = "linear-program"
    """The values from 0 to 1 whose counts have the smallest total distance from the answers."""


@accepts_old_defences
def reconstruction(  # noqa: PLR0913 - each is an option of the command
    defence: KnownDefence,
    *,
    people: int = PEOPLE,
    queries: int = QUERIES,
    trials: int = TRIALS,
    by: Solver = Solver.LEAST_SQUARES,
    make: Make = synthetic_people,
    progress: Progress | None = None,
) -> Outcome:
    """Return the share of all secrets that is recovered from counts of random halves of the people.

    The attacker knows nobody's secret, and counts the people in each half who have it.

    If delta is 0, the number of right guesses is stochastically at most that of independent coins,
    each right with the probability that epsilon allows for one secret. The reason: given the
    answers and all earlier secrets, the likelihood ratio of the next secret is at most
    e^(2 epsilon), or e^epsilon with replace neighbours, for any values of the later ones.
    """
    n, most = integer("people", people, least=2), integer("queries", queries, least=1)
    times = integer("trials", trials, least=1)
    right: dict[int, int] = {}
    refused: list[int] = []
    for trial in range(times):
        groups = bernoulli(0.5, most * n).reshape(most, n)
        asked = make(n)
        answers = _answers(defence, asked, groups, _part(progress, trial, times))
        if len(answers) < most:
            refused.append(len(answers))
        for queries_so_far in _steps(len(answers)):
            guess = recovered(groups[:queries_so_far], answers[:queries_so_far], defence, by)
            matches = int((guess == asked.secrets).sum())
            right[queries_so_far] = right.get(queries_so_far, 0) + matches
    return Outcome(
        attack="reconstruction",
        against=defence.name,
        steps=tuple(Step(queries=q, right=k, guesses=n * times) for q, k in sorted(right.items())),
        chance=0.5,
        allowed=allowed_for_values(defence),
        refused_after=min(refused, default=None),
        epsilon=defence.epsilon,
    )


def _steps(answered: int) -> tuple[int, ...]:
    """Return the numbers of answers after which secrets are guessed: 0 if there are none."""
    return steps_to(answered) if answered else (0,)


def _part(progress: Progress | None, trial: int, of: int) -> Progress:
    def told(share: float) -> None:
        if progress is not None:
            progress((trial + share) / of)

    return told


def _answers(defence: KnownDefence, asked: People, groups: Bits, told: Progress) -> list[float]:
    """Return the counts of the groups, up to the first query that is rejected."""
    scheme, most = asked.scheme, len(groups)

    def questions() -> Iterator[str]:
        for number, group in enumerate(groups):
            told(number / most)
            yield scheme.count(scheme.secret.sql, scheme.among(_members(group, len(asked))))

    with protected_by(defence, asked) as target:
        return answers_of(target, questions())


def _members(group: Bits, nobody: int) -> list[int]:
    """Return the numbers of a group's people, or a number that nobody has if it is empty."""
    return [int(each) for each in np.flatnonzero(group)] or [nobody]


def recovered(groups: Bits, answers: Sequence[float], defence: KnownDefence, by: Solver) -> Bits:
    """Return the secrets that best fit the counts of groups, each rounded to true or false."""
    rows, counts = groups.astype(np.float64), np.asarray(answers, np.float64)
    solve = _least_squares if by is Solver.LEAST_SQUARES else _linear_program
    shares = solve(rows, counts, defence.deviation)
    undecided = shares == 0.5
    return np.where(undecided, bernoulli(0.5, len(shares)), shares > 0.5)


def _least_squares(rows: Floats, counts: Floats, spread: float) -> Floats:
    """Return 1/2 + Rᵀ (R Rᵀ + 4 s² I)⁻¹ (c - R/2), for secrets of variance 1/4 and noise of s².

    The best linear estimate (Gauss, Markov; with a prior of fair coins), even if there are fewer
    answers than people. Solved as normal equations with one row per person.
    """
    people = rows.shape[1]
    ridge = max(4 * spread**2, 1e-6)
    normal = rows.T @ rows + ridge * np.eye(people)
    return 0.5 + np.linalg.solve(normal, rows.T @ (counts - rows.sum(axis=1) / 2))


def _linear_program(rows: Floats, counts: Floats, _: float) -> Floats:
    """Return the x in [0, 1] that minimizes Σ |R x - c|. Variables e bound each distance."""
    queries, people = rows.shape
    sparse, distance = csr_array(rows), eye_array(queries)
    found = linprog(  # type: ignore[call-overload]  # no sparse arrays in its stubs
        np.concatenate([np.zeros(people), np.ones(queries)]),
        A_ub=vstack([hstack([sparse, -distance]), hstack([-sparse, -distance])]),
        b_ub=np.concatenate([counts, -counts]),
        bounds=[(0, 1)] * people + [(0, None)] * queries,
        method="highs",
    )
    if not found.success:
        raise SolverError(str(found.message))
    return np.asarray(found.x[:people], np.float64)
