"""The benchmark of optimal mechanisms: what it says of chances, and what it hands on."""

from functools import partial
from math import inf, log

import numpy as np
import pytest

from benchmarks.utility import _dense
from benchmarks.utility_cases import DISTANCE, line_from, solved, solved_from, worst_epsilon
from discreet.utility import geometric_channel


def test_a_zero_beside_a_positive_chance_is_an_infinite_epsilon() -> None:
    assert worst_epsilon(np.array([[1.0, 0.0], [0.5, 0.5]])) == inf
    assert worst_epsilon(np.array([[0.75, 0.25], [0.25, 0.75]])) == pytest.approx(log(3))


def test_what_a_peer_writes_is_read_back() -> None:
    found = solved(DISTANCE, 4, geometric_channel(0, 4, epsilon=1).to_floats)
    assert found.epsilon == pytest.approx(1)
    assert solved_from(line_from(found)) == found


def test_the_plain_program_is_the_one_that_we_solve() -> None:
    plain, geometric = (
        solved(DISTANCE, 4, solve).loss
        for solve in (partial(_dense, 4), geometric_channel(0, 4, epsilon=1).to_floats)
    )
    assert plain <= geometric + 1e-9
