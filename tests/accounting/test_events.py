"""Events: stored for ever, refused when they are not known, checked when they are made."""

import json
from fractions import Fraction
from typing import Any

import pytest

from discreet.accounting import (
    ComposedEvent,
    Event,
    FixedSampleEvent,
    RepeatedEvent,
    event_from_record,
    record_from_event,
)
from discreet.accounting.events import KINDS, counted
from discreet.errors import ParameterError
from tests.accounting.made import ONE_OF_EACH, gaussian, laplace, pure


def test_the_examples_leave_no_kind_out() -> None:
    assert {type(event) for event in ONE_OF_EACH} == set(KINDS.values())


@pytest.mark.parametrize("event", ONE_OF_EACH, ids=lambda event: event.tag)
def test_an_event_survives_json(event: Event) -> None:
    assert event_from_record(json.loads(json.dumps(record_from_event(event)))) == event


@pytest.mark.parametrize(
    "record",
    [
        {},
        {"tag": "unheard-of/1"},
        {"tag": ["pure/1"], "epsilon": "1/1"},
        {"tag": "pure/1"},
        {"tag": "pure/1", "epsilon": "1/1", "colour": 3},
        {"tag": "pure/1", "epsilon": "1/0"},
        {"tag": "pure/1", "epsilon": "0.1"},
        {"tag": "pure/1", "epsilon": "1e999999999/1"},
        {"tag": "pure/1", "epsilon": True},
        {"tag": "repeated/1", "event": {"tag": "no/1"}, "count": 2},
        {"tag": "composed/1", "events": [3]},
    ],
)
def test_a_record_that_this_version_does_not_know_is_refused(record: dict[str, Any]) -> None:
    with pytest.raises(ParameterError):
        event_from_record(record)


@pytest.mark.parametrize("bad", [0, -1, float("nan"), float("inf"), True, "1", None, 1.5])
def test_a_count_that_is_no_count_is_refused(bad: Any) -> None:
    with pytest.raises(ParameterError, match="size"):
        FixedSampleEvent(event=gaussian(1), size=bad, population=10)


def test_events_are_made_of_events() -> None:
    with pytest.raises(ParameterError, match="event"):
        RepeatedEvent(event=3, count=2)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="events"):
        ComposedEvent(events=laplace(1))  # type: ignore[arg-type]


def test_counting_opens_what_is_composed() -> None:
    event = ComposedEvent(events=(laplace(1) * 3, ComposedEvent(events=(pure(1), laplace(1)))))
    assert counted([event * 2, pure(1) * 0]) == {laplace(1): 8, pure(1): 2}
    assert counted(pure(Fraction(1)) * 0) == {}
