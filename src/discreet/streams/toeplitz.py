"""Lower triangular Toeplitz matrices: exact products, sensitivities, and decoding by power series.

A matrix C is given by its first column c, which never rises and is never negative. Its record is
y = C x + noise. Running totals are A C⁻¹ y, where A sums up, and A C⁻¹ is Toeplitz too: its first
column b is the power series 1 / ((1 - z) c(z)).
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.noise.uniform import FloatArray, IntArray
from discreet.streams.mechanism import Contribution

WORD_BITS = 62
"""Products and their sums are kept below 2**62, so 64 bits hold them."""

DIRECT_MOST = 1 << 22
"""Products of more terms than this, for one cell, are computed by Fourier transforms."""

LIMB_BITS = 9
"""Numbers that are transformed have this many bits, so that rounding finds the exact integers."""


def squared_sensitivity(coefficients: IntArray, contribution: Contribution) -> int:
    """Return the largest ‖C d‖² over all that one unit can add, in squared units of C.

    The worst unit has as many rows as it may in each of the first ticks, all in one cell and with
    one sign (docs/proofs/streams.md, section 1).
    """
    rows, most = contribution.most_rows, contribution.most_in_a_tick
    full, rest = divmod(rows, most)
    sums = np.concatenate([np.zeros(1, np.int64), np.cumsum(coefficients)])
    # Σ_(j < full) c_(i - j) = sums[i + 1] - sums[max(0, i + 1 - full)]
    upper = np.arange(1, len(sums))
    column = (sums[upper] - sums[np.maximum(upper - full, 0)]).astype(object) * most
    if rest:
        column[full:] += coefficients[: len(column) - full].astype(object) * rest
    return int((column * column).sum()) * contribution.magnitude**2


def toeplitz_product(coefficients: IntArray, increments: IntArray, since: int) -> NDArray[Any]:
    """Return the rows of C x after `since`, exactly: in 64 bits, or as objects if they are large.

    The type depends on the data, and the numbers do not.
    """
    last = len(increments)
    c = coefficients[:last]
    width = WORD_BITS - int(c.sum()).bit_length()
    limbs = _limbs(increments, width)
    products = [_product(c, limb, since) for limb in limbs]
    if len(products) == 1:
        return products[0]
    total = np.zeros(products[0].shape, object)
    for place, each in enumerate(products):
        total += each.astype(object) << width * place
    return total


def _limbs(numbers: IntArray, width: int) -> list[IntArray]:
    """Return digits in base 2**width, the lowest first. All but the last are 0 or more."""
    limbs = []
    while numbers.size and (numbers.max() >= 1 << width or numbers.min() < -1 << width):
        limbs.append(numbers & ((1 << width) - 1))
        numbers = numbers >> width
    return [*limbs, numbers]


def _product(c: IntArray, x: IntArray, since: int) -> IntArray:
    """Return rows of C x whose terms and sums fit into 64 bits."""
    last, cells = x.shape
    if since == last:
        return np.zeros((0, cells), np.int64)
    if (last - since) * last <= DIRECT_MOST:
        padded = np.concatenate([np.zeros(last - 1, np.int64), c])[::-1]
        rows = np.lib.stride_tricks.sliding_window_view(padded, last)
        # Row t of C is c_t, …, c_0, 0, …: padded, reversed, from place last - 1 - t on.
        product: IntArray = rows[last - 1 - since :: -1] @ x
        return product
    columns = [exact_convolution(c, x[:, cell])[since:last] for cell in range(cells)]
    return np.stack(columns, axis=1)


def exact_convolution(a: IntArray, b: IntArray) -> IntArray:
    """Return Σ_j a_j b_(i - j) for i < len(a), exactly. Both have the same length.

    Digits of 9 bits are transformed. For up to 2**24 numbers the rounding of a transform moves a
    result by less than 1/4 (Brent, Percival, Zimmermann 2007, Theorem 5.1), so it is rounded to the
    exact integer.
    """
    size = 1 << (2 * len(a) - 1).bit_length()
    ours = [np.fft.rfft(each.astype(np.float64), size) for each in _limbs(a, LIMB_BITS)]
    theirs = [np.fft.rfft(each.astype(np.float64), size) for each in _limbs(b, LIMB_BITS)]
    total = np.zeros(len(a), np.int64)
    for i, one in enumerate(ours):
        for j, other in enumerate(theirs):
            found = np.rint(np.fft.irfft(one * other, size)[: len(a)]).astype(np.int64)
            total += found << (LIMB_BITS * (i + j))
    return total


def decoding_series(coefficients: FloatArray) -> FloatArray:
    """Return b, the first column of A C⁻¹, where coefficients are those of C."""
    return series_inverse(np.diff(coefficients, prepend=0.0))


def series_inverse(series: FloatArray) -> FloatArray:
    """Return the power series 1 / series by Newton's method, to as many terms."""
    found = np.array([1 / series[0]])
    while len(found) < len(series):
        size = min(2 * len(found), len(series))
        error = -convolved(series[:size], found, size)
        error[0] += 2
        found = convolved(found, error, size)
    return found


def convolved(a: FloatArray, b: FloatArray, size: int) -> FloatArray:
    """Return the first `size` terms of a convolution along the first axis, in floats."""
    length = 1 << (len(a) + len(b) - 2).bit_length()
    product = np.fft.rfft(a, length, axis=0) * np.fft.rfft(b, length, axis=0)
    return np.fft.irfft(product, length, axis=0)[:size]


def totals(series: FloatArray, values: FloatArray) -> FloatArray:
    """Return A C⁻¹ y for each column of values."""
    last = len(values)
    if not last:
        return np.zeros(values.shape)
    return convolved(series[:last, None], values, last)


def noise_shares(series: FloatArray, window: int | None) -> FloatArray:
    """Return the variance of a total, or of a window, at each tick, for noise of variance 1."""
    weights = series.copy()
    if window is not None:
        weights[window:] -= series[:-window]
    return np.cumsum(weights * weights)
