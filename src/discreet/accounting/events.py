"""What was released, in the fewest numbers that fix its privacy cost.

A ledger keeps events for ever. A field may be added with a default; it is never removed, renamed
or given a new meaning. A changed mechanism gets a new event with a new tag. Stored names are
written out here and do not follow the names of classes or files.
"""
# ruff: noqa: RUF009 - number, count and part declare fields, as dataclasses.field does

import re
from collections.abc import Iterable, Mapping
from dataclasses import MISSING, dataclass, field, fields
from fractions import Fraction
from typing import Any, ClassVar

from discreet.errors import ParameterError
from discreet.parameters import rational, whole

Record = dict[str, Any]
"""An event as JSON can hold it: its tag and its fields, fractions as "p/q"."""


def number(**limits: Fraction | int) -> Any:
    """Declare an exact number of an event and the range it is checked against."""
    return field(metadata={"check": rational, "limits": limits})


def count(default: int | None = None) -> Any:
    """Declare a whole number of an event, 1 or more."""
    metadata = {"check": whole, "limits": {"least": 1}}
    return (
        field(metadata=metadata) if default is None else field(default=default, metadata=metadata)
    )


def part() -> Any:
    """Declare the event that another event is made of."""
    return field(metadata={"check": an_event, "limits": {}})


def an_event(name: str, value: object) -> "Event":
    """Return value if it is an event, or refuse it by name."""
    if not isinstance(value, Event):
        raise ParameterError(name, value, "must be an event")
    return value


def some_events(name: str, value: object) -> "tuple[Event, ...]":
    """Return value as a tuple if it holds events only, or refuse it by name."""
    if isinstance(value, Event) or not isinstance(value, Iterable):
        raise ParameterError(name, value, "must be several events")
    return tuple(an_event(name, each) for each in value)


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """A release that a ledger can store and an accountant can price."""

    tag: ClassVar[str]

    def __post_init__(self) -> None:
        for each in fields(self):
            if "check" in each.metadata:
                given = getattr(self, each.name)
                checked = each.metadata["check"](each.name, given, **each.metadata["limits"])
                object.__setattr__(self, each.name, checked)

    def __mul__(self, times: int) -> "RepeatedEvent":
        return RepeatedEvent(event=self, count=times)

    __rmul__ = __mul__


# --------------------------------------------------------------------------- releases with noise


@dataclass(frozen=True, slots=True, kw_only=True)
class LaplaceEvent(Event):
    """A real vector plus continuous Laplace(scale); neighbours differ by ≤ sensitivity in L1."""

    tag: ClassVar[str] = "laplace/1"
    sensitivity: Fraction = number(above=0)
    scale: Fraction = number(above=0)


@dataclass(frozen=True, slots=True, kw_only=True)
class DiscreteLaplaceEvent(Event):
    """`answers` integers, each plus Z, P(Z = z) ∝ exp(-|z| / scale); L1 sensitivity as stated."""

    tag: ClassVar[str] = "discrete-laplace/1"
    sensitivity: int = count()
    scale: Fraction = number(above=0)
    answers: int = count(default=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class StaircaseEvent(Event):
    """An integer plus staircase noise, which is epsilon-DP at its stated sensitivity."""

    tag: ClassVar[str] = "staircase/1"
    epsilon: Fraction = number(above=0)


@dataclass(frozen=True, slots=True, kw_only=True)
class GaussianEvent(Event):
    """A real vector plus continuous N(0, (noise_multiplier · L2 sensitivity)²) per coordinate."""

    tag: ClassVar[str] = "gaussian/1"
    noise_multiplier: Fraction = number(above=0)


@dataclass(frozen=True, slots=True, kw_only=True)
class DiscreteGaussianEvent(Event):
    """`answers` integers, each plus Z, P(Z = z) ∝ exp(-z² / (2 variance)).

    sensitivity_squared is the square of the L2 sensitivity, in the same integer units.
    """

    tag: ClassVar[str] = "discrete-gaussian/1"
    sensitivity_squared: Fraction = number(above=0)
    variance: Fraction = number(above=0)
    answers: int = count(default=1)


# --------------------------------------------------------------------------- selections, responses


@dataclass(frozen=True, slots=True, kw_only=True)
class ExponentialEvent(Event):
    """A candidate chosen with P ∝ exp(rate · utility): epsilon-DP, log-odds of range epsilon."""

    tag: ClassVar[str] = "exponential/1"
    epsilon: Fraction = number(above=0)


@dataclass(frozen=True, slots=True, kw_only=True)
class PermuteAndFlipEvent(Event):
    """A candidate chosen by permute-and-flip: epsilon-DP."""

    tag: ClassVar[str] = "permute-and-flip/1"
    epsilon: Fraction = number(above=0)


@dataclass(frozen=True, slots=True, kw_only=True)
class NoisyMaxEvent(Event):
    """The indices (and gaps) of the largest noisy scores: epsilon-DP."""

    tag: ClassVar[str] = "noisy-max/1"
    epsilon: Fraction = number(above=0)


@dataclass(frozen=True, slots=True, kw_only=True)
class SparseVectorEvent(Event):
    """A whole run of the sparse vector technique, however many questions it saw: epsilon-DP."""

    tag: ClassVar[str] = "sparse-vector/1"
    epsilon: Fraction = number(above=0)


@dataclass(frozen=True, slots=True, kw_only=True)
class RandomizedResponseEvent(Event):
    """One of `categories` values, true with odds e^epsilon : 1 against each other value."""

    tag: ClassVar[str] = "randomized-response/1"
    epsilon: Fraction = number(above=0)
    categories: int = count(default=2)


# --------------------------------------------------------------------------- known by price only


@dataclass(frozen=True, slots=True, kw_only=True)
class PureEvent(Event):
    """Anything proved epsilon-DP."""

    tag: ClassVar[str] = "pure/1"
    epsilon: Fraction = number(least=0)


@dataclass(frozen=True, slots=True, kw_only=True)
class ApproximateEvent(Event):
    """Anything proved (epsilon, delta)-DP."""

    tag: ClassVar[str] = "approximate/1"
    epsilon: Fraction = number(least=0)
    delta: Fraction = number(least=0, below=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class ConcentratedEvent(Event):
    """Anything proved rho-zCDP."""

    tag: ClassVar[str] = "concentrated/1"
    rho: Fraction = number(least=0)


# --------------------------------------------------------------------------- made of other events


@dataclass(frozen=True, slots=True, kw_only=True)
class PoissonSampledEvent(Event):
    """An event on a sample that takes each unit with this probability; add-remove neighbours."""

    tag: ClassVar[str] = "poisson-sampled/1"
    event: Event = part()
    probability: Fraction = number(above=0, most=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class FixedSampleEvent(Event):
    """An event on `size` of `population` units, drawn without replacement; replace neighbours."""

    tag: ClassVar[str] = "fixed-sample/1"
    event: Event = part()
    size: int = count()
    population: int = count()

    def __post_init__(self) -> None:
        Event.__post_init__(self)
        if self.size > self.population:
            raise ParameterError(
                "size", self.size, f"must be {self.population} (population) or less"
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class RepeatedEvent(Event):
    """The same event, independently, this many times; written `event * 1000`."""

    tag: ClassVar[str] = "repeated/1"
    event: Event = part()
    count: int = field(metadata={"check": whole, "limits": {"least": 0}})


@dataclass(frozen=True, slots=True, kw_only=True)
class ComposedEvent(Event):
    """Several events on the same units."""

    tag: ClassVar[str] = "composed/1"
    events: tuple[Event, ...] = field(metadata={"check": some_events, "limits": {}})


KINDS: Mapping[str, type[Event]] = {
    kind.tag: kind
    for kind in (
        LaplaceEvent,
        DiscreteLaplaceEvent,
        StaircaseEvent,
        GaussianEvent,
        DiscreteGaussianEvent,
        ExponentialEvent,
        PermuteAndFlipEvent,
        NoisyMaxEvent,
        SparseVectorEvent,
        RandomizedResponseEvent,
        PureEvent,
        ApproximateEvent,
        ConcentratedEvent,
        PoissonSampledEvent,
        FixedSampleEvent,
        RepeatedEvent,
        ComposedEvent,
    )
}


def record_from_event(event: Event) -> Record:
    """Return the event as JSON can hold it, for ever."""
    return {"tag": event.tag} | {
        each.name: _stored(getattr(event, each.name)) for each in fields(event)
    }


def event_from_record(record: Mapping[str, Any]) -> Event:
    """Return the event that `record_from_event` wrote; refuse what this version does not know."""
    tag = record.get("tag")
    kind = KINDS.get(tag) if isinstance(tag, str) else None
    if kind is None:
        raise ParameterError("tag", tag, "must be a tag that this version knows")
    known = {each.name: each for each in fields(kind)}
    values = {name: _restored(name, value) for name, value in record.items() if name != "tag"}
    needed = {name for name, each in known.items() if each.default is MISSING}
    if values.keys() - known or needed - values.keys():
        raise ParameterError(kind.tag, sorted(values), f"has the fields {sorted(known)}")
    return kind(**values)


def counted(events: Event | Iterable[Event]) -> dict[Event, int]:
    """Return each simple event with the number of times it happened, in order of appearance."""
    counts: dict[Event, int] = {}
    given = (events,) if isinstance(events, Event) else some_events("events", events)
    stack = [(event, 1) for event in given[::-1]]
    while stack:
        event, times = stack.pop()
        match event:
            case RepeatedEvent():
                stack.append((event.event, times * event.count))
            case ComposedEvent():
                stack.extend((each, times) for each in event.events[::-1])
            case _ if times:
                counts[event] = counts.get(event, 0) + times
    return counts


def _stored(value: object) -> object:
    match value:
        case Fraction():
            return f"{value.numerator}/{value.denominator}"
        case Event():
            return record_from_event(value)
        case tuple():
            return [_stored(each) for each in value]
        case _:
            return value


def _restored(name: str, value: object) -> object:
    match value:
        case str() if re.fullmatch(r"-?[0-9]{1,4000}/[1-9][0-9]{0,3999}", value):
            numerator, denominator = value.split("/")
            return Fraction(int(numerator), int(denominator))
        case str():
            raise ParameterError(name, value, 'must be written "p/q"')
        case dict():
            return event_from_record(value)
        case list():
            return tuple(_restored(name, each) for each in value)
        case _:
            return value
