"""Events: the parameters of releases that determine their privacy cost.

A ledger stores events permanently. A field may be added with a default, but it is never removed,
renamed or given a new meaning. A changed mechanism gets a new event with a new tag. Stored names
are written out here and do not follow the names of classes or files.
"""
# ruff: noqa: RUF009 - checked and count declare fields, as dataclasses.field does

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING, dataclass, field, fields
from fractions import Fraction
from functools import partial
from typing import Any, ClassVar

from discreet.errors import ParameterError
from discreet.parameters import integer, rational

Record = dict[str, Any]
"""An event as a JSON object: its tag and its fields, with fractions as "p/q"."""


LEAST_NUMBER, LARGEST_NUMBER = Fraction(1, 10**100), Fraction(10**100)
"""The range of positive numbers in an event. Floats hold their squares and inverses."""

MOST_COUNTED = 10**15
"""The most releases of a kind, and answers in one. Floats hold these numbers exactly."""

MOST_DIGITS = 4000
"""The most digits of a stored number. A longer fraction is rejected."""

_BEYOND = 10**MOST_DIGITS
"""The smallest number with more digits; computed once, because that takes long."""


def checked(check: Callable[[str, object], object]) -> Any:
    """Declare a field of an event, checked and made exact when the event is made."""
    return field(metadata={"check": check})


def count(*, least: int = 1, default: int | None = None) -> Any:
    """Declare an integer field of an event."""
    metadata = {"check": partial(integer, least=least, most=MOST_COUNTED)}
    return (
        field(metadata=metadata) if default is None else field(default=default, metadata=metadata)
    )


def positive(name: str, value: object) -> Fraction:
    """Return a positive number that floats and records can hold, or raise `ParameterError`."""
    exact = rational(name, value, least=LEAST_NUMBER, most=LARGEST_NUMBER)
    if max(exact.numerator, exact.denominator) >= _BEYOND:
        raise ParameterError(name, exact, f"must have {MOST_DIGITS} digits or fewer")
    return exact


def zero_or_positive(name: str, value: object) -> Fraction:
    """Return zero or a positive number, or raise `ParameterError`."""
    exact = rational(name, value, least=0)
    return exact if exact == 0 else positive(name, exact)


def positive_whole(name: str, value: object) -> int:
    """Return a positive whole number, or raise `ParameterError`."""
    return integer(name, value, least=1, most=int(LARGEST_NUMBER))


def positive_probability(name: str, value: object) -> Fraction:
    """Return a probability above 0, or raise `ParameterError`."""
    return positive(name, rational(name, value, above=0, most=1))


def zero_or_delta(name: str, value: object) -> Fraction:
    """Return zero or a delta below 1, or raise `ParameterError`."""
    return zero_or_positive(name, rational(name, value, least=0, below=1))


def check_event(name: str, value: object) -> "Event":
    """Return value if it is an event, or raise `ParameterError`."""
    if not isinstance(value, Event):
        raise ParameterError(name, value, f"must be an event{_hint(value)}")
    return value


def check_some_events(name: str, value: object) -> "tuple[Event, ...]":
    """Return value as a tuple if it contains only events, or raise `ParameterError`."""
    if isinstance(value, Event) or not isinstance(value, Iterable):
        raise ParameterError(name, value, "must be several events")
    return tuple(check_event(name, each) for each in value)


def check_events(value: object) -> "tuple[Event, ...]":
    """Return an event or several events as a tuple, or raise `ParameterError`."""
    if isinstance(value, Event):
        return (value,)
    if not isinstance(value, Iterable):
        rule = f"must be an event or several{_hint(value)}"
        raise ParameterError("events", value, rule)
    return check_some_events("events", value)


def _hint(value: object) -> str:
    """Return advice for callers who gave a mechanism."""
    is_mechanism = isinstance(getattr(value, "event", None), Event)
    return " (write mechanism.event)" if is_mechanism else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """A release that a ledger can store and whose cost an accountant can compute."""

    tag: ClassVar[str]

    def __post_init__(self) -> None:
        for each in fields(self):
            checked = each.metadata["check"](each.name, getattr(self, each.name))
            object.__setattr__(self, each.name, checked)

    def __mul__(self, times: int) -> "RepeatedEvent":
        return RepeatedEvent(event=self, count=times)

    __rmul__ = __mul__


# --------------------------------------------------------------------------- releases with noise


@dataclass(frozen=True, slots=True, kw_only=True)
class LaplaceEvent(Event):
    """A real vector plus continuous Laplace(scale); neighbours differ by ≤ sensitivity in L1."""

    tag: ClassVar[str] = "laplace/1"
    sensitivity: Fraction = checked(positive)
    scale: Fraction = checked(positive)


@dataclass(frozen=True, slots=True, kw_only=True)
class DiscreteLaplaceEvent(Event):
    """`answers` integers, each plus Z, P(Z = z) ∝ exp(-|z| / scale); L1 sensitivity as stated."""

    tag: ClassVar[str] = "discrete-laplace/1"
    sensitivity: int = checked(positive_whole)
    scale: Fraction = checked(positive)
    answers: int = count(default=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class StaircaseEvent(Event):
    """An integer plus staircase noise, which is epsilon-DP at its stated sensitivity."""

    tag: ClassVar[str] = "staircase/1"
    epsilon: Fraction = checked(positive)


@dataclass(frozen=True, slots=True, kw_only=True)
class GaussianEvent(Event):
    """A real vector plus continuous N(0, (noise_multiplier · L2 sensitivity)²) per coordinate."""

    tag: ClassVar[str] = "gaussian/1"
    noise_multiplier: Fraction = checked(positive)


@dataclass(frozen=True, slots=True, kw_only=True)
class DiscreteGaussianEvent(Event):
    """`answers` integers, each plus Z, P(Z = z) ∝ exp(-z² / (2 variance)).

    sensitivity_squared is the square of the L2 sensitivity, in the same integer units.
    """

    tag: ClassVar[str] = "discrete-gaussian/1"
    sensitivity_squared: Fraction = checked(positive)
    variance: Fraction = checked(positive)
    answers: int = count(default=1)


# --------------------------------------------------------------------------- selections, responses


@dataclass(frozen=True, slots=True, kw_only=True)
class ExponentialEvent(Event):
    """A candidate chosen with P ∝ exp(rate · utility): epsilon-DP with bounded range epsilon."""

    tag: ClassVar[str] = "exponential/1"
    epsilon: Fraction = checked(positive)


@dataclass(frozen=True, slots=True, kw_only=True)
class PermuteAndFlipEvent(Event):
    """A candidate chosen by permute-and-flip: epsilon-DP."""

    tag: ClassVar[str] = "permute-and-flip/1"
    epsilon: Fraction = checked(positive)


@dataclass(frozen=True, slots=True, kw_only=True)
class NoisyMaxEvent(Event):
    """The indices (and gaps) of the largest noisy scores: epsilon-DP."""

    tag: ClassVar[str] = "noisy-max/1"
    epsilon: Fraction = checked(positive)


@dataclass(frozen=True, slots=True, kw_only=True)
class SparseVectorEvent(Event):
    """A whole run of the sparse vector technique, with any number of queries: epsilon-DP."""

    tag: ClassVar[str] = "sparse-vector/1"
    epsilon: Fraction = checked(positive)


@dataclass(frozen=True, slots=True, kw_only=True)
class RandomizedResponseEvent(Event):
    """One of `categories` values, the true one e^epsilon times as likely as each other."""

    tag: ClassVar[str] = "randomized-response/1"
    epsilon: Fraction = checked(positive)
    categories: int = count(default=2)


# --------------------------------------------------------------------------- known by price only


@dataclass(frozen=True, slots=True, kw_only=True)
class PureEvent(Event):
    """Any release that is proved epsilon-DP."""

    tag: ClassVar[str] = "pure/1"
    epsilon: Fraction = checked(zero_or_positive)


@dataclass(frozen=True, slots=True, kw_only=True)
class ApproximateEvent(Event):
    """Any release that is proved (epsilon, delta)-DP."""

    tag: ClassVar[str] = "approximate/1"
    epsilon: Fraction = checked(zero_or_positive)
    delta: Fraction = checked(zero_or_delta)


@dataclass(frozen=True, slots=True, kw_only=True)
class ConcentratedEvent(Event):
    """Any release that is proved rho-zCDP."""

    tag: ClassVar[str] = "concentrated/1"
    rho: Fraction = checked(zero_or_positive)


# --------------------------------------------------------------------------- made of other events


@dataclass(frozen=True, slots=True, kw_only=True)
class PoissonSampledEvent(Event):
    """An event on a sample with each unit in it with this probability; add-remove neighbours."""

    tag: ClassVar[str] = "poisson-sampled/1"
    event: Event = checked(check_event)
    probability: Fraction = checked(positive_probability)


@dataclass(frozen=True, slots=True, kw_only=True)
class FixedSampleEvent(Event):
    """An event on `size` of `population` units, drawn without replacement; replace neighbours."""

    tag: ClassVar[str] = "fixed-sample/1"
    event: Event = checked(check_event)
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
    """The same event, independently, this many times. Written `event * 1000`."""

    tag: ClassVar[str] = "repeated/1"
    event: Event = checked(check_event)
    count: int = count(least=0)


@dataclass(frozen=True, slots=True, kw_only=True)
class ComposedEvent(Event):
    """Several events on the same units."""

    tag: ClassVar[str] = "composed/1"
    events: tuple[Event, ...] = checked(check_some_events)


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
    """Return the event as a JSON object, in a permanent format."""
    event = check_event("event", event)
    return {"tag": event.tag} | {
        each.name: _stored(getattr(event, each.name)) for each in fields(event)
    }


def event_from_record(record: Mapping[str, Any]) -> Event:
    """Return the event that `record_from_event` wrote, or raise if this version cannot read it."""
    if not isinstance(record, Mapping):
        raise ParameterError("record", record, "must be what record_from_event returned")
    tag = record.get("tag")
    kind = KINDS.get(tag) if isinstance(tag, str) else None
    if kind is None:
        raise ParameterError("tag", tag, "must be a tag that this version knows")
    known = {each.name: each for each in fields(kind)}
    values = {name: _restored(name, value) for name, value in record.items() if name != "tag"}
    needed = {name for name, each in known.items() if each.default is MISSING}
    if values.keys() - known or needed - values.keys():
        raise ParameterError(kind.tag, sorted(map(str, values)), f"has the fields {sorted(known)}")
    return kind(**values)


def counted(events: Event | Iterable[Event]) -> dict[Event, int]:
    """Return each simple event with the number of times it happened, in order of appearance."""
    counts: dict[Event, int] = {}
    stack = [(event, 1) for event in check_events(events)[::-1]]
    while stack:
        event, times = stack.pop()
        match event:
            case RepeatedEvent():
                stack.append((event.event, times * event.count))
            case ComposedEvent():
                stack.extend((each, times) for each in event.events[::-1])
            case _ if times:
                counts[event] = counts.get(event, 0) + times
    if (most := max(counts.values(), default=0)) > MOST_COUNTED:
        raise ParameterError("count", most, f"must be {MOST_COUNTED} or less in total")
    return counts


def sampling_of(event: Event) -> frozenset[str]:
    """Return the tags of the samples in an event. Each kind has its own neighbours."""
    match event:
        case ComposedEvent():
            return frozenset().union(*(sampling_of(each) for each in event.events))
        case RepeatedEvent():
            return sampling_of(event.event)
        case PoissonSampledEvent() | FixedSampleEvent():
            return frozenset({event.tag}) | sampling_of(event.event)
        case _:
            return frozenset()


def shared_sampling(tags: frozenset[str]) -> frozenset[str]:
    """Return the tags, or raise if the samples have different neighbours."""
    if len(tags) > 1:
        rule = "must share their neighbours: Poisson samples add or remove, fixed ones replace"
        raise ParameterError("events", sorted(tags), rule)
    return tags


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
        case float():
            raise ParameterError(name, value, 'must be written "p/q", not as a float')
        case _:
            return value
