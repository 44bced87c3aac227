"""Outputs and times are drawn in turns; what times tell is asked in the long trial only (R6)."""

import pytest

from discreet.audit import audit
from discreet.audit.trial import broken_by_time, lower_bound_with_time, timed_outputs
from discreet.mechanisms import Geometric


def test_both_sides_take_turns_in_an_order_by_chance() -> None:
    asked: list[int] = []
    here, there = timed_outputs(asked.append, 0, 1, 200)
    pairs = list(zip(asked[::2], asked[1::2], strict=True))
    assert len(here) == len(there) == 200
    assert set(pairs) == {(0, 1), (1, 0)}
    assert all(nanoseconds >= 0 for _, nanoseconds in here + there)


def test_a_function_is_audited_with_its_time() -> None:
    """No claim about the clock of this machine: only the form of what is found."""
    found = lower_bound_with_time(lambda exact: exact, 0, 1, runs=200)
    assert found.measured > 1
    assert found.name.endswith("with its time")


def test_a_subject_is_run_once_for_both_sides() -> None:
    (twin,) = broken_by_time()
    assert len(twin.here(3)) == len(twin.there(3)) == 3
    assert len(twin.there(2)) == 2


@pytest.mark.slow
def test_noise_that_takes_longer_the_larger_it_is_gives_the_answer_away() -> None:
    """The broken twin; and the same noise passes when nobody looks at the clock."""
    (twin,) = broken_by_time()
    assert audit(twin, runs=10_000).measured > 2
    noise = Geometric(epsilon=1, sensitivity=1)
    assert lower_bound_with_time(noise.release, 0, 1, epsilon=1, runs=4_000).measured <= 1
