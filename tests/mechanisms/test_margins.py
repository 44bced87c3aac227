"""The spread of sums of noises: closed forms, 100-digit arithmetic, samples, whole numbers."""

from collections.abc import Sequence
from fractions import Fraction
from functools import reduce
from math import ceil, exp, log, sqrt
from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.stats import norm

from discreet.errors import ParameterError
from discreet.mechanisms import gaussian_margin, laplace_margin
from discreet.mechanisms.distributions import laplace_pmf
from discreet.noise import discrete_laplace
from tests.mechanisms.checks import is_covered, is_wasteful
from tests.replay import ReplayableEntropy

CONFIDENCES = [0.01, 0.1, 0.5, 0.8, 0.95, 0.99, 0.9999, 1 - 1e-6, 1 - 1e-9, 1 - 1e-12]


def tail(scales: Sequence[float], t: float) -> Any:
    """Return P(|X| > t) by partial fractions in 150 digits, equal scales 10^-12 apart."""
    with mpmath.workdps(150):
        apart = mpmath.mpf(10) ** -12
        b = [mpmath.mpf(x) * (1 + i * apart) for i, x in enumerate(scales) if x > 0]
        return mpmath.fsum(
            mpmath.exp(-mpmath.mpf(t) / own)
            * mpmath.fprod(own**2 / (own**2 - other**2) for other in b if other is not own)
            for own in b
        )


def is_tight(scales: Sequence[float], h: float, confidence: float, share: float = 1e-4) -> bool:
    """Tell whether h is at or above the truth, and by no more than this share of it."""
    miss = 1 - Fraction(str(confidence))
    bound = mpmath.mpf(miss.numerator) / miss.denominator
    return bool(tail(scales, h) <= bound <= tail(scales, h * (1 - share)))


PATTERNS = {
    "equal": lambda k: [1.0] * k,
    "two sizes": lambda k: [1.0] + [0.3] * (k - 1),
    "one that counts": lambda k: [1.0] + [1e-3] * (k - 1),
    "one that hardly counts": lambda k: [2.0] * (k - 1) + [0.05],
    "pairs": lambda k: [1 / (1 + i // 2) for i in range(k)],
    "steps": lambda k: [1 / (1 + i) for i in range(k)],
    "one part in a hundred apart": lambda k: [1 + 0.01 * i for i in range(k)],
    "one part in a million apart": lambda k: [5 + 5e-6 * i for i in range(k)],
    "a float apart": lambda k: [1 + i * 2.0**-52 for i in range(k)],
    "many magnitudes": lambda k: [10.0 ** (-2 * i) for i in range(k)],
    "huge": lambda k: [1e200 / (1 + i) for i in range(k)],
    "tiny": lambda k: [1e-200 / (1 + i % 2) for i in range(k)],
}


@pytest.mark.parametrize("confidence", CONFIDENCES)
@pytest.mark.parametrize("pattern", PATTERNS)
def test_the_half_width_is_the_true_one_and_never_less(pattern: str, confidence: float) -> None:
    rows = np.zeros((10, 10))
    for k in range(1, 11):
        rows[k - 1, :k] = PATTERNS[pattern](k)
    h = laplace_margin(rows, confidence)
    for row, each in zip(rows, h, strict=True):
        assert is_tight(row.tolist(), float(each), confidence)


@settings(max_examples=60)
@given(
    st.lists(st.floats(min_value=1e-3, max_value=1e3), min_size=1, max_size=10),
    st.sampled_from(CONFIDENCES),
)
def test_any_scales_have_their_true_half_width(scales: list[float], confidence: float) -> None:
    assert is_tight(scales, float(laplace_margin([scales], confidence)[0]), confidence)


@pytest.mark.parametrize("confidence", CONFIDENCES[:-2])
def test_one_noise_and_two_equal_ones_have_closed_forms(confidence: float) -> None:
    one, two = laplace_margin([[3.0, 0.0], [3.0, 3.0]], confidence)
    assert one == pytest.approx(-3 * log(1 - confidence), rel=2e-5)
    assert exp(-two / 3) * (1 + two / 6) == pytest.approx(1 - confidence, rel=1e-3)


def test_the_half_width_is_kept_as_often_as_it_says() -> None:
    """A fresh seed cries wolf twice in 10^6. The twins add the scales, and their squares."""
    entropy, runs = ReplayableEntropy(seed=221), 200_000
    scales = [1000, 700, 700, 50]
    total = sum(discrete_laplace(scale, runs, entropy=entropy) for scale in scales)
    for confidence in (0.5, 0.95, 0.999):
        h = float(laplace_margin([scales], confidence)[0])
        inside = int((np.abs(total) <= h).sum())
        assert is_covered(inside, runs, confidence)
        assert not is_wasteful(inside, runs, confidence)
        wide = sum(scales) * -log(1 - confidence)
        assert is_wasteful(int((np.abs(total) <= wide).sum()), runs, confidence)
    deviation = sqrt(2 * sum(scale**2 for scale in scales))
    normal = int((np.abs(total) <= norm.isf(0.0005) * deviation).sum())
    assert not is_covered(normal, runs, 0.999)


@pytest.mark.parametrize("confidence", [0.5, 0.9, 0.95, 0.99, 0.999])
@pytest.mark.parametrize(
    "scales",
    [[10], [10, 10], [10, 25], [40, 10, 13], [10] * 8, [10] * 10, [10, 50], [100.5, 10.25]],
    ids=str,
)
def test_whole_noise_of_scale_ten_or_more_keeps_the_half_width_rounded_up(
    scales: list[float], confidence: float
) -> None:
    """By the law of the sum, term by term; 2 · reach + 1 terms hold all but 10^-9 of it."""
    reach = 24 * ceil(max(scales))
    k = np.arange(-reach, reach + 1.0)
    laws = [laplace_pmf(k, scale) for scale in scales]
    total: NDArray[np.float64] = reduce(np.convolve, laws)
    middle = len(total) // 2
    h = ceil(laplace_margin([scales], confidence)[0])
    assert total[middle - h : middle + h + 1].sum() >= confidence - 1e-9


def test_the_surest_half_width_is_still_one() -> None:
    sure = 1 - Fraction(1, 10**100)
    assert laplace_margin([[1.0]], sure)[0] == pytest.approx(100 * log(10), rel=1e-4)
    assert laplace_margin([[1.0] * 10], sure)[0] > 100 * log(10)
    assert gaussian_margin([[1.0]], sure)[0] == pytest.approx(norm.isf(0.5e-100), rel=1e-9)


def test_the_order_of_noises_and_their_units_do_not_matter() -> None:
    rows = np.array([[1.0, 2.0, 0.0, 3.0], [3.0, 0.0, 2.0, 1.0], [10.0, 20.0, 30.0, 0.0]])
    h = laplace_margin(rows, 0.95)
    assert h[0] == h[1] == pytest.approx(h[2] / 10, rel=1e-12)


def test_no_noise_is_no_spread_and_no_rows_are_no_answers() -> None:
    assert laplace_margin(np.zeros((2, 3)), 0.95).tolist() == [0, 0]
    assert laplace_margin([[0, 0], [1, 0]], 0.5).tolist() == pytest.approx([0, log(2)], rel=1e-4)
    assert laplace_margin(np.zeros((0, 3)), 0.95).shape == (0,)
    assert gaussian_margin(np.zeros((2, 3)), 0.95).tolist() == [0, 0]


def test_many_rows_are_each_answered_as_if_alone() -> None:
    entropy = ReplayableEntropy(seed=222)
    words = np.frombuffer(entropy.draw(3 * 20_000), np.uint8).reshape(20_000, 3)
    h = laplace_margin(words / 10, 0.95)
    for i in range(0, 20_000, 1999):
        assert h[i] == pytest.approx(laplace_margin(words[i : i + 1] / 10, 0.95)[0], rel=1e-9)


@pytest.mark.parametrize("confidence", CONFIDENCES)
def test_gaussian_noises_add_their_variances(confidence: float) -> None:
    h = gaussian_margin([[9.0, 16.0], [1.0, 0.0]], confidence)
    truth = norm.isf((1 - confidence) / 2)
    assert h == pytest.approx([5 * truth, truth], rel=1e-3 if confidence > 1 - 1e-8 else 1e-9)


@pytest.mark.parametrize("spread", [laplace_margin, gaussian_margin])
@pytest.mark.parametrize(
    "rows",
    [[1.0], [[-1.0]], [[float("nan")]], [[float("inf")]], [["a"]], [[True]], [[]], [[1.0] * 11]],
    ids=str,
)
def test_what_is_no_spread_is_refused_without_being_shown(spread: Any, rows: Any) -> None:
    with pytest.raises(ParameterError, match="must be rows of 1 to 10 finite numbers") as caught:
        spread(rows, 0.95)
    assert "given" not in str(caught.value)


@pytest.mark.parametrize("spread", [laplace_margin, gaussian_margin])
@pytest.mark.parametrize(
    "confidence", [0, 1, 95, -0.5, float("nan"), True, None, 1 - Fraction(1, 10**101)], ids=str
)
def test_no_confidence_but_a_share_is_taken(spread: Any, confidence: Any) -> None:
    with pytest.raises(ParameterError, match=r"^confidence must "):
        spread([[1.0]], confidence)
