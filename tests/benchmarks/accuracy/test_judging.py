"""Errors are those of the groups shown, and verdicts follow the interval of the bootstrap."""

import numpy as np
import pytest

from benchmarks.accuracy.child import Rows
from benchmarks.accuracy.judging import Verdict, compared, figure_of
from benchmarks.accuracy.questions import BY_NAME

COUNT, BY_KEY = BY_NAME["COUNT"], BY_NAME["COUNT by 20 keys"]
SHOWN = BY_NAME["unknown keys shown"]


def errors(scale: float) -> list[float]:
    """Return the absolute values of 30 Laplace draws at equal distances of probability."""
    return [float(each) for each in -scale * np.log(1 - (np.arange(30) + 0.5) / 30)]


def test_the_error_of_one_number_is_absolute() -> None:
    assert figure_of(COUNT, [[97]], [[100]]) == 3


def test_the_error_by_key_is_the_median_of_the_groups_shown() -> None:
    answer: Rows = [["a", 11], ["b", 25], ["c", 30]]
    truth: Rows = [["a", 10], ["b", 20], ["c", 33], ["d", 40]]
    assert figure_of(BY_KEY, answer, truth) == 3


def test_keys_shown_are_counted() -> None:
    assert figure_of(SHOWN, [["a", 1], ["b", 2]], [["a", 1], ["b", 2], ["c", 3]]) == 2


def test_a_small_difference_is_within_the_noise_of_30_trials() -> None:
    found = compared(COUNT, errors(10), errors(12))
    assert found.verdict is Verdict.EQUAL
    assert found.times == pytest.approx(1.2)
    assert found.low < 1 < found.high


@pytest.mark.parametrize(("scale", "verdict"), [(100.0, Verdict.BETTER), (1.0, Verdict.WORSE)])
def test_a_large_difference_is_told(scale: float, verdict: Verdict) -> None:
    assert compared(COUNT, errors(10), errors(scale)).verdict is verdict


def test_of_keys_more_are_better() -> None:
    few, many = [50.0, 51.0, 52.0] * 10, [70.0, 71.0, 72.0] * 10
    assert compared(SHOWN, many, few).verdict is Verdict.BETTER
    assert compared(SHOWN, few, many).verdict is Verdict.WORSE


def test_two_systems_without_any_error_are_equal() -> None:
    found = compared(COUNT, [0.0] * 30, [0.0] * 30)
    assert (found.times, found.verdict) == (1, Verdict.EQUAL)


def test_an_error_beside_none_is_worse_for_the_peer() -> None:
    assert compared(COUNT, [0.0] * 30, errors(1)).verdict is Verdict.BETTER
