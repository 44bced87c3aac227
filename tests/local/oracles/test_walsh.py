"""The fast transform against its definition."""

import numpy as np
import pytest

from discreet.local.oracles.walsh import parities, transformed


@pytest.mark.parametrize("bits", [0, 1, 3, 6])
def test_the_fast_transform_is_the_slow_one(bits: int) -> None:
    size = 1 << bits
    counts = np.arange(size) ** 2 % 17
    places = np.arange(size)
    signs = 1 - 2 * (np.bitwise_count(places[:, np.newaxis] & places) % 2).astype(np.int64)
    before = counts.copy()
    assert np.array_equal(transformed(counts), signs @ counts)
    assert np.array_equal(counts, before)
    assert np.array_equal(transformed(transformed(counts)), counts * size)


def test_parities_are_of_set_bits() -> None:
    assert parities(np.array([0, 1, 2, 3, 7, 255], np.uint8)).tolist() == [0, 1, 1, 0, 1, 0]
