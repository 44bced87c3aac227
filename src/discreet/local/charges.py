"""What a report is charged as; the accountants are loaded when they are first asked for.

So a person's device, which only draws reports, needs none of them.
"""

from fractions import Fraction
from importlib import import_module
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from discreet.accounting.events import PureEvent, RandomizedResponseEvent


def pure_event(epsilon: Fraction) -> "PureEvent":
    """Return the event of one report that is epsilon-private, whatever else is known of it."""
    events = import_module("discreet.accounting.events")
    return cast("PureEvent", events.PureEvent(epsilon=epsilon))


def response_event(epsilon: Fraction, categories: int) -> "RandomizedResponseEvent":
    """Return the event of a k-ary response, whose law the accountants know.

    Odds rounded down are those of the stated response seen through one more response, so the price
    of the stated one holds (post-processing).
    """
    events = import_module("discreet.accounting.events")
    event = events.RandomizedResponseEvent(epsilon=epsilon, categories=categories)
    return cast("RandomizedResponseEvent", event)
