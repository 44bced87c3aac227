"""From noisy Bloom filters to counts of listed texts: regression, and tests that hold for all."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from typing import TypeAlias

import numpy as np
from scipy.optimize import nnls
from scipy.special import ndtr

from discreet.errors import HIDDEN, ParameterError
from discreet.local.rappor.mechanism import TEXTS_MOST, Rappor
from discreet.local.sketches.hashing import keys_of
from discreet.local.tallies import Tally, check_counts
from discreet.noise.uniform import BoolArray, FloatArray, IntArray
from discreet.parameters import Real, choice, rational

Design: TypeAlias = FloatArray


class Correction(Enum):
    """How many tests at once are made safe."""

    BONFERRONI = "bonferroni"
    """With chance at most `level`, any text that nobody holds is selected."""
    BENJAMINI_HOCHBERG = "benjamini-hochberg"
    """Of the texts that are selected, on average at most the share `level` is held by nobody."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RapporEstimates:
    """How many of `people` hold each listed text, and which of them stand out.

    Where there are fewer texts than bits in all cohorts, counts are unbiased (weighted least
    squares). Else non-negative least squares choose which texts are fitted at all; the others have
    a count of 0 and no error. `p_values` are one-sided, by the normal law.
    """

    people: int
    texts: tuple[str, ...]
    counts: FloatArray
    standard_errors: FloatArray
    influence: FloatArray
    """The most by which one more report, however dishonest, moves each count, about.

    About, because that report changes the weights of the fit a little, too.
    """
    p_values: FloatArray
    selected: BoolArray
    level: Fraction
    correction: Correction


def decode(
    tally: Tally[Rappor],
    texts: Sequence[str],
    *,
    level: Real = 0.05,
    correction: Correction | str = Correction.BONFERRONI,
) -> RapporEstimates:
    """Return how many people hold each of these texts, and which stand out at this level.

    Texts that are not listed but held set bits, too: one more column, the same in all bits, stands
    for them, and errors grow by what the fit leaves unexplained.
    """
    bound = rational("level", level, above=0, below=1)
    how = choice("correction", correction, Correction)
    if not 0 < len(texts) <= TEXTS_MOST or len(set(texts)) < len(texts):
        raise ParameterError("texts", HIDDEN, f"must be 1 to {TEXTS_MOST}, none of them twice")
    counts, errors, influence = _fitted(tally, list(texts))
    z = np.divide(counts, errors, out=np.zeros_like(counts), where=errors > 0)
    p_values = ndtr(-z)
    return RapporEstimates(
        people=tally.people,
        texts=tuple(texts),
        counts=counts,
        standard_errors=errors,
        influence=influence,
        p_values=p_values,
        selected=_selected(p_values, float(bound), how),
        level=bound,
        correction=how,
    )


def _fitted(tally: Tally[Rappor], texts: list[str]) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return counts, standard errors, infinite where a text was left out of the fit, influence."""
    target, weights, design = _regression(tally, texts)
    counts, errors = np.zeros(len(texts)), np.full(len(texts), np.inf)
    influence = np.zeros(len(texts))
    if not len(target):
        return counts, errors, influence
    chosen = np.arange(len(texts))
    if 2 * len(texts) > len(target):
        coefficients, _ = nnls(design * weights[:, np.newaxis], target * weights)
        best = np.argsort(-coefficients[:-1], kind="stable")[: len(target) // 2]
        chosen = np.sort(best[coefficients[best] > 0])
    columns = np.append(chosen, len(texts))
    scaled = design[:, columns] * weights[:, np.newaxis]
    inverse = np.asarray(np.linalg.pinv(scaled.T @ scaled, hermitian=True), np.float64)
    solve = inverse @ (scaled.T * weights)
    counts[chosen] = (solve @ target)[:-1]
    errors[chosen] = _errors(inverse, (target - design[:, columns] @ solve @ target) * weights)
    influence[chosen] = _moved(tally.mechanism, solve[:-1])
    return counts, errors, influence


def _errors(inverse: FloatArray, left: FloatArray) -> FloatArray:
    """Return standard errors, given what the fit leaves unexplained in units of the noise."""
    free = max(1, len(left) - len(inverse))
    # Weights are those of the noise alone; what else is unexplained is people nobody listed.
    dispersion = max(1.0, float(left @ left) / free)
    return np.asarray(np.sqrt(np.maximum(np.diag(inverse), 0) * dispersion)[:-1])


def _moved(mechanism: Rappor, solve: FloatArray) -> FloatArray:
    """Return how far a report of the worst bits in the worst cohort moves each count."""
    low, high = map(float, mechanism.set_to_one)
    by_cohort = np.abs(solve).reshape(len(solve), -1, mechanism.bits).sum(axis=2)
    return np.asarray(by_cohort.max(axis=1) * max(1 - low, low) / (high - low))


def _regression(tally: Tally[Rappor], texts: list[str]) -> tuple[FloatArray, FloatArray, Design]:
    """Return unbiased numbers of set bits, their weights, and what each text would set.

    A cohort of n_j people has n_j / n of each text's holders, on average.
    """
    mechanism, keys = tally.mechanism, keys_of(texts)
    low, high = map(float, mechanism.set_to_one)
    drawn = tally.cells[-mechanism.cohorts :]
    check_counts(tally, drawn)
    seen = tally.cells[: -mechanism.cohorts].reshape(mechanism.cohorts, mechanism.bits)
    used = np.flatnonzero(drawn)
    n_j = drawn[used, np.newaxis].astype(np.float64)
    share = np.clip(seen[used] / n_j, low, high)
    target = (seen[used] - n_j * low) / (high - low)
    weights = (high - low) / np.sqrt(n_j * share * (1 - share))
    parts = n_j / max(1, tally.people)
    design = np.empty((len(used), mechanism.bits, len(texts) + 1))
    for place, cohort in enumerate(used):
        same: IntArray = np.full(len(texts), cohort)
        design[place, :, :-1] = mechanism.filters(keys, same).T * parts[place]
    design[:, :, -1] = parts * mechanism.hashes / mechanism.bits
    return target.reshape(-1), weights.reshape(-1), design.reshape(target.size, len(texts) + 1)


def _selected(p_values: FloatArray, level: float, how: Correction) -> BoolArray:
    many = len(p_values)
    if how is Correction.BONFERRONI:
        return np.asarray(p_values <= level / many)
    order = np.argsort(p_values)
    passing = np.flatnonzero(p_values[order] <= level * np.arange(1, many + 1) / many)
    selected = np.zeros(many, np.bool_)
    if len(passing):
        selected[order[: passing[-1] + 1]] = True
    return selected
