"""What follows from a ledger's entries: the policy in force, what is charged, the chain of digests.

Nothing here knows where entries are stored. Sums are computed from the events of the entries and
from nothing else; a stored sum would be one more thing to forge.
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from fractions import Fraction
from hashlib import sha256
from types import MappingProxyType
from typing import NamedTuple, Self, get_args

from discreet.accounting import (
    Budget,
    Charge,
    ComposedEvent,
    Event,
    Remaining,
    event_from_record,
    record_from_event,
)
from discreet.accounting.budget import Amount
from discreet.accounting.events import positive, zero_or_positive
from discreet.errors import LedgerError, ParameterError, UnsupportedEventError
from discreet.ledger.base import Entry, Kind

ALTERED = (
    "the ledger's entries are not as they were written",
    "keep the file for inquiry and go on from a copy that verifies",
)
UNKNOWN = (
    "the ledger holds an entry that this version does not know",
    "install the version that wrote it",
)

BEGINNING = sha256(b"discreet ledger 1").digest()
"""The digest before the first entry."""

KINDS: Mapping[str, Kind] = {each: each for each in get_args(Kind)}

NEIGHBOURS = ("add-remove", "replace")

LONGEST, FINEST = 1024, 512
"""Sums with denominators of more than LONGEST bits are rounded up, to FINEST bits."""


class Row(NamedTuple):
    """An entry as it is stored: texts, and the digest that covers them and all rows before."""

    number: int
    kind: str
    written: str
    question: str
    account: str
    events: str
    about: str
    digest: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """What is to be written next."""

    kind: Kind
    question: str = ""
    account: str = ""
    events: tuple[Event, ...] = ()
    about: Mapping[str, str]


def digest_after(previous: bytes, row: Row) -> bytes:
    """Return the digest that row must have if it follows previous."""
    return sha256(previous + _text(row[:-1]).encode("ascii")).digest()


def events_from_text(text: str) -> tuple[Event, ...]:
    """Return stored events, or refuse what this version cannot read."""
    try:
        return tuple(event_from_record(record) for record in json.loads(text))
    except (ParameterError, TypeError, ValueError) as cause:
        raise LedgerError(*UNKNOWN) from cause


def one_event(events: Sequence[Event]) -> Event:
    """Return an event that costs as much as all of the events."""
    return events[0] if len(events) == 1 else ComposedEvent(events=tuple(events))


def entry_from_row(row: Row) -> Entry:
    """Return the entry that a row holds."""
    if row.kind not in KINDS:
        raise LedgerError(*UNKNOWN)
    return Entry(
        number=row.number,
        kind=KINDS[row.kind],
        written=datetime.fromisoformat(row.written),
        question=row.question,
        account=row.account,
        events=events_from_text(row.events),
        about=MappingProxyType(json.loads(row.about)),
        digest=row.digest.hex(),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """What the owner declares: the total, the theorem that holds it, and who are neighbours."""

    total: Budget
    neighbours: str

    def __post_init__(self) -> None:
        if not isinstance(self.total, Budget) or self.total.charged != Charge():
            rule = "must be a Budget that nothing is charged to: the ledger knows what is"
            raise ParameterError("budget", self.total, rule)
        if self.neighbours not in NEIGHBOURS:
            rule = f"must be {' or '.join(map(repr, NEIGHBOURS))}"
            raise ParameterError("neighbours", self.neighbours, rule)

    @property
    def record(self) -> dict[str, str]:
        """The policy as its entry holds it."""
        return {
            "epsilon": str(positive("epsilon", self.total.epsilon)),
            "delta": str(zero_or_positive("delta", self.total.delta)),
            "neighbours": self.neighbours,
            **self._for_life,
        }

    @classmethod
    def from_record(cls, record: Mapping[str, str]) -> Self:
        """Return the policy that `record` wrote."""
        total = Budget(
            epsilon=Fraction(record["epsilon"]),
            delta=Fraction(record["delta"]),
            filter=record["filter"],
            set_aside=Fraction(record["set_aside"]),
        )
        return cls(total=total, neighbours=record["neighbours"])

    def check_change(self, declared: Self) -> None:
        """Refuse a policy under which the entries that there are would prove nothing."""
        mine, other = self._for_life, declared._for_life
        for name, value in mine.items():
            if other[name] != value:
                raise LedgerError(
                    f"the ledger was begun with {name} = {value} and opened with "
                    f"{name} = {other[name]}",
                    f"open it with {name} = {value}, which cannot be changed",
                )

    @property
    def _for_life(self) -> dict[str, str]:
        """What cannot change: prices and sensitivities of old entries depend on it."""
        assert self.total.filter is not None  # noqa: S101 - for types; Budget always names one
        return {
            "neighbours": self.neighbours,
            "filter": self.total.filter.value,
            "set_aside": str(zero_or_positive("set_aside", self.total.set_aside)),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Book:
    """All that follows from the entries up to a number, each checked against the chain."""

    number: int = 0
    digest: bytes = BEGINNING
    policy: Policy | None = None
    charged: Charge = Charge()  # noqa: RUF009 - frozen

    @property
    def budget(self) -> Budget:
        """The total in force, with what is charged to it."""
        if self.policy is None:
            raise LedgerError(*ALTERED)
        return replace(self.policy.total, charged=self.charged)

    def remaining(self) -> Remaining:
        return self.budget.remaining()

    def row(self, line: Line, written: datetime) -> Row:
        """Return the row that follows this book."""
        row = Row(
            number=self.number + 1,
            kind=line.kind,
            written=written.isoformat(timespec="microseconds"),
            question=line.question,
            account=line.account,
            events=_text([record_from_event(each) for each in line.events]),
            about=_text(line.about),
            digest=b"",
        )
        return row._replace(digest=digest_after(self.digest, row))

    def after(self, rows: Iterable[Row]) -> "Book":
        """Return the book after further rows, or refuse rows that do not follow."""
        number, digest, policy = self.number, self.digest, self.policy
        paid: Counter[str] = Counter()
        for row in rows:
            number += 1
            check_follows(digest, row)
            digest = row.digest
            match row.kind:
                case _ if row.number != number:
                    raise LedgerError(*ALTERED)
                case "policy":
                    policy = _next_policy(policy, row)
                case "charge" if policy is not None:
                    paid[row.events] += 1
                case "answer":
                    pass
                case _:
                    raise LedgerError(*UNKNOWN)
        charged = self.charged if policy is None else _sum(self.charged, _prices(policy, paid))
        return Book(number=number, digest=digest, policy=policy, charged=charged)


def _prices(policy: Policy, paid: Mapping[str, int]) -> Iterator[tuple[Charge, int]]:
    """Return what each kind of charge costs, whatever its order: policies price alike for life."""
    for events, count in paid.items():
        try:
            price = policy.total.price(one_event(events_from_text(events)))
        except (ParameterError, UnsupportedEventError) as cause:
            raise LedgerError(*UNKNOWN) from cause
        yield price, count


def _sum(charged: Charge, prices: Iterable[tuple[Charge, int]]) -> Charge:
    """Return charged and each price as often as it was paid; never less than the exact sum."""
    epsilon, rho, delta, sampling = charged.epsilon, charged.rho, charged.delta, charged.sampling
    for price, count in prices:
        epsilon = shortened(epsilon + count * price.epsilon)
        rho = shortened(rho + count * price.rho)
        delta = Fraction(shortened(delta + count * price.delta))
        sampling |= price.sampling
    return Charge(epsilon=epsilon, rho=rho, delta=delta, sampling=sampling)


def shortened(amount: Amount) -> Amount:
    """Return amount, or at most 2**-FINEST more if its denominator is longer than LONGEST bits.

    Without it the denominators of many unlike prices would multiply up without end. It errs
    against us, and no sum of decimals that people write is so long.
    """
    if isinstance(amount, float) or amount.denominator.bit_length() <= LONGEST:
        return amount
    return Fraction(-((-amount.numerator << FINEST) // amount.denominator), 1 << FINEST)


def check_follows(previous: bytes, row: Row) -> None:
    """Refuse a row whose digest does not cover it and the rows before it."""
    try:
        follows = row.digest == digest_after(previous, row)
    except (TypeError, ValueError) as cause:
        raise LedgerError(*ALTERED) from cause
    if not follows:
        raise LedgerError(*ALTERED)


def _next_policy(policy: Policy | None, row: Row) -> Policy:
    try:
        declared = Policy.from_record(json.loads(row.about))
    except (ParameterError, KeyError, TypeError, ValueError) as cause:
        raise LedgerError(*UNKNOWN) from cause
    if policy is not None:
        policy.check_change(declared)
    return declared


def _text(value: object) -> str:
    """Return the one text of a value: ASCII, keys in order, no spaces."""
    return _ENCODER.encode(value)


_ENCODER = json.JSONEncoder(ensure_ascii=True, sort_keys=True, separators=(",", ":"))
