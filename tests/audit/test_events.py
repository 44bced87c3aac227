"""The search chooses few events, and chooses them without the runs that judge them."""

from typing import Any

import numpy as np

from discreet.audit.event_search import JUDGED, Claim, RunParts, parts, telling_events
from discreet.mechanisms import Geometric

CLAIM = Claim(epsilon=1.0, delta=0.0, miss=1e-3)
NOISE = Geometric(epsilon=1, sensitivity=2)


def drawn(exact: list[int], runs: int = 2_000) -> Any:
    return NOISE.release(np.tile(exact, (runs, 1)))


def test_runs_are_cut_into_a_quarter_a_quarter_and_a_half() -> None:
    here, there = parts(drawn([0, 0], runs=101), drawn([1, 1]))
    assert (here.learn.size, here.choose.size, here.judge.size) == (25, 25, 51)
    assert (there.learn.size, there.choose.size, there.judge.size) == (500, 500, 1_000)


def test_events_do_not_depend_on_the_runs_that_judge_them() -> None:
    here, there = parts(drawn([0, 0]), drawn([1, 1]))
    nothing: Any = None
    a, b = (RunParts(each.learn, each.choose, nothing) for each in (here, there))
    seen, unseen = telling_events(here, there, CLAIM), telling_events(a, b, CLAIM)
    assert [(each.sentence, each.is_here) for each in seen] == [
        (each.sentence, each.is_here) for each in unseen
    ]
    assert 0 < len(seen) <= JUDGED


def test_both_directions_are_searched() -> None:
    here, there = parts(drawn([0, 0]), drawn([3, 3]))
    (one, *_), (other, *_) = telling_events(here, there, CLAIM), telling_events(there, here, CLAIM)
    for event, more, fewer in ((one, here, there), (other, there, here)):
        shares = event.count(more.judge).share, event.count(fewer.judge).share
        assert (shares[0] > shares[1]) is event.is_here
