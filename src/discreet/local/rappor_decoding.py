"""RAPPOR on the server: counts of listed texts by regression, and discovery of unlisted texts.

This is the only part of estimates that needs SciPy. `Server.estimate` loads it.
"""

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np
from scipy.optimize import nnls
from scipy.special import ndtr

from discreet.errors import HIDDEN, ParameterError
from discreet.local.estimates import Correction, RapporEstimates, estimate_tally
from discreet.local.heavy_hitters import END
from discreet.local.rappor import TEXTS_MOST, Discovery, Rappor
from discreet.local.reports import Tally, check_counts
from discreet.local.sketches import keys_of
from discreet.noise.uniform import BoolArray, FloatArray, IntArray
from discreet.parameters import choice, integer


@estimate_tally.register(Rappor)
def decoded(
    mechanism: Rappor,  # noqa: ARG001 - the tally has it
    tally: Tally[Rappor],
    confidence: Fraction,
    *,
    texts: Sequence[str],
    correction: Correction | str = Correction.BONFERRONI,
) -> RapporEstimates:
    """Return how many people hold each of these texts, and which are significant.

    Texts that are held but not listed also set bits. One more column of the fit, with the same
    value for all bits, represents them, and errors grow by what the fit does not explain.
    """
    level = 1 - confidence
    how = choice("correction", correction, Correction)
    if not 0 < len(texts) <= TEXTS_MOST or len(set(texts)) < len(texts):
        raise ParameterError("texts", HIDDEN, f"must be 1 to {TEXTS_MOST} different texts")
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
        selected=_selected(p_values, float(level), how),
        level=level,
        correction=how,
    )


def _fitted(tally: Tally[Rappor], texts: list[str]) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return counts, standard errors (infinite for texts left out of the fit) and influence."""
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
    """Return standard errors, given the residuals of the fit in units of the noise."""
    free = max(1, len(left) - len(inverse))
    # Weights are those of the noise alone. Larger residuals come from texts that nobody listed.
    dispersion = max(1.0, float(left @ left) / free)
    return np.asarray(np.sqrt(np.maximum(np.diag(inverse), 0) * dispersion)[:-1])


def _moved(mechanism: Rappor, solve: FloatArray) -> FloatArray:
    """Return how far a report of the worst bits in the worst cohort moves each count."""
    low, high = map(float, mechanism.set_to_one)
    by_cohort = np.abs(solve).reshape(len(solve), -1, mechanism.bits).sum(axis=2)
    return np.asarray(by_cohort.max(axis=1) * max(1 - low, low) / (high - low))


def _regression(
    tally: Tally[Rappor], texts: list[str]
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return unbiased numbers of set bits, their weights, and the bits that each text sets.

    On average, a cohort of n_j people has n_j / n of the people who hold a text.
    """
    mechanism, keys = tally.mechanism, keys_of(texts)
    low, high = map(float, mechanism.set_to_one)
    drawn = tally.counters[-mechanism.cohorts :]
    check_counts(tally, drawn)
    seen = tally.counters[: -mechanism.cohorts].reshape(mechanism.cohorts, mechanism.bits)
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


# --------------------------------------------------------------------------- discovery


@estimate_tally.register(Discovery)
def discovered(
    mechanism: Discovery,
    tally: Tally[Discovery],
    confidence: Fraction,
    *,
    candidates: int = 2_000,
) -> RapporEstimates | None:
    """Return the texts that significant n-grams lead to, tested as whole texts; None without any.

    Counts are among the people of the last group, about one in `groups` of all. At most
    `candidates` texts are tested; those with the least frequent n-grams are left out.
    """
    most = integer("candidates", candidates, least=1, most=TEXTS_MOST)
    letters = mechanism.alphabet + END
    grams = ["".join(each) for each in product(letters, repeat=mechanism.size)]
    grams = [each for each in grams if END not in each.rstrip(END)]
    paths: dict[str, float] = {"": 0.0}
    for group in range(mechanism.groups - 1):
        found = _significant(_group(tally, group), grams, confidence)
        paths = _joined(paths, found, mechanism.size - 1, most)
    texts = [each for each in paths if END not in each.rstrip(END)]
    if not texts:
        return None
    whole_texts = _group(tally, mechanism.groups - 1)
    tested = decoded(mechanism.rappor, whole_texts, confidence, texts=texts)
    return replace(tested, texts=tuple(each.rstrip(END) for each in tested.texts))


def _group(tally: Tally[Discovery], group: int) -> Tally[Rappor]:
    rappor = tally.mechanism.rappor
    part = Tally(rappor)
    part.counters += tally.counters[group * rappor.counters : (group + 1) * rappor.counters]
    part.people = int(part.counters[-rappor.cohorts :].sum())
    return part


def _significant(part: Tally[Rappor], grams: list[str], confidence: Fraction) -> dict[str, float]:
    if not part.people:
        return {}
    found = decoded(part.mechanism, part, confidence, texts=grams)
    return {found.texts[i]: float(found.counts[i]) for i in np.flatnonzero(found.selected)}


def _joined(
    paths: dict[str, float], grams: dict[str, float], overlap: int, most: int
) -> dict[str, float]:
    """Return the paths continued by each overlapping n-gram, the most frequent first."""
    joined = {}
    for path, weakest in paths.items():
        for gram, count in grams.items():
            if not path:
                joined[gram] = count
            elif path.endswith(gram[:overlap]):
                joined[path + gram[overlap:]] = min(weakest, count)
    return dict(sorted(joined.items(), key=lambda each: -each[1])[:most])
