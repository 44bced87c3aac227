"""What stored charges cost together, and whose units they concern.

The total is exact, and fast enough for every opening. The events that queries are made of are
priced from their stored text, without making events of it; all others, and every text that is
written in any other way, are made into events and priced by the budget. A test holds both ways to
the same price.

Tables whose units are declared disjoint are charged separately. A unit is in one table of a
disjoint group at most. So whatever happens to it is bounded by the charges that touch the tables it
can be in, for the worst choice of one table from each group. Proof: docs/proofs/parallel.md.
"""

import json
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import product
from math import gcd, inf, lcm, prod
from typing import Any, NamedTuple, TypeAlias

from discreet.accounting import Budget, Charge, ComposedEvent, Event, Filter, event_from_record
from discreet.accounting.budget import Amount
from discreet.errors import LedgerError, ParameterError, UnsupportedEventError
from discreet.months import Months, months_from_text, text_from_months

UNKNOWN = (
    "The ledger has an entry that this version does not know",
    "Install the version that wrote it",
)


LONGEST, FINEST = 1024, 512
"""Sums with denominators of more than LONGEST bits are rounded up, to FINEST bits."""


PLAIN = re.compile(r"([0-9]{1,90})/([1-9][0-9]{0,89})")


MOST_PLAIN, MOST_ANSWERS = 10**90, 10**15
"""Numbers of no more digits lie inside the range that every event's numbers must lie in."""


Ratio: TypeAlias = tuple[int, int]
"""A numerator of zero or more and a denominator of one or more."""


NOTHING: Ratio = (0, 1)


class StoredCost(NamedTuple):
    """What one event takes of each bound; None where the bound has no theorem for it."""

    epsilon: Ratio | None
    rho: Ratio | None
    delta: Ratio


def events_from_text(text: str) -> tuple[Event, ...]:
    """Return stored events, or reject what this version cannot read."""
    try:
        return tuple(event_from_record(record) for record in json.loads(text))
    except (ParameterError, TypeError, ValueError) as cause:
        raise LedgerError(*UNKNOWN) from cause


def one_event(events: tuple[Event, ...]) -> Event:
    """Return an event that costs as much as all of the events."""
    return events[0] if len(events) == 1 else ComposedEvent(events=tuple(events))


def total_of(total: Budget, paid: Mapping[str, int]) -> Charge:
    """Return what stored events cost, each text as often as it was paid; never less than exact."""
    sums = _Sums(is_basic=total.filter is Filter.BASIC)
    for text, count in paid.items():
        costs = simple_costs(text, is_basic=sums.is_basic)
        if costs is None:
            sums.add_charge(_price(total, text), count)
        else:
            sums.add(costs, count)
    return sums.charge()


def added(charged: Charge, more: Charge) -> Charge:
    """Return both together; never less than the exact sum."""
    return Charge(
        epsilon=shortened(charged.epsilon + more.epsilon),
        rho=shortened(charged.rho + more.rho),
        delta=Fraction(shortened(charged.delta + more.delta)),
        sampling=charged.sampling | more.sampling,
    )


def shortened(amount: Amount) -> Amount:
    """Return amount, or at most 2**-FINEST more if its denominator is longer than LONGEST bits.

    Without it the denominators of many unlike prices would multiply up without end. It errs
    against us, and no sum of decimals that people write is so long.
    """
    if isinstance(amount, float) or amount.denominator.bit_length() <= LONGEST:
        return amount
    return Fraction(-((-amount.numerator << FINEST) // amount.denominator), 1 << FINEST)


def _price(total: Budget, text: str) -> Charge:
    try:
        return total.price(one_event(events_from_text(text)))
    except (ParameterError, UnsupportedEventError) as cause:
        raise LedgerError(*UNKNOWN) from cause


# --------------------------------------------------------------------------- sums


class _Sum:
    """A sum of ratios by their denominators, which is where the time goes; None is infinity."""

    def __init__(self) -> None:
        self._numerators: dict[int, int] = {}
        self._is_infinite = False

    def add(self, ratio: Ratio | None, count: int) -> None:
        if ratio is None:
            self._is_infinite = True
        elif ratio[0]:
            numerator, denominator = ratio
            known = self._numerators
            known[denominator] = known.get(denominator, 0) + count * numerator

    def amount(self) -> Amount:
        """Return the sum, exact while its denominator is short; what is left is rounded up."""
        if self._is_infinite:
            return inf
        whole, common, rounded = 0, 1, 0
        for denominator, numerator in self._numerators.items():
            wider = lcm(common, denominator)
            if wider.bit_length() <= LONGEST:
                whole = whole * (wider // common) + numerator * (wider // denominator)
                common = wider
            else:
                rounded -= (-numerator << FINEST) // denominator
        return shortened(Fraction(whole, common) + Fraction(rounded, 1 << FINEST))


class _Sums:
    """What is taken of each bound of a budget."""

    def __init__(self, *, is_basic: bool) -> None:
        self.is_basic = is_basic
        self._epsilon, self._rho, self._delta = _Sum(), _Sum(), _Sum()
        self._sampling: frozenset[str] = frozenset()

    def add(self, costs: Iterable[StoredCost], count: int) -> None:
        for cost in costs:
            self._epsilon.add(cost.epsilon, count)
            self._rho.add(cost.rho, count)
            self._delta.add(cost.delta, count)

    def add_charge(self, price: Charge, count: int) -> None:
        self._epsilon.add(_ratio(price.epsilon), count)
        self._rho.add(_ratio(price.rho), count)
        self._delta.add(_ratio(price.delta), count)
        self._sampling |= price.sampling

    def charge(self) -> Charge:
        return Charge(
            epsilon=self._epsilon.amount(),
            rho=self._rho.amount(),
            delta=Fraction(self._delta.amount()),
            sampling=self._sampling,
        )


def _ratio(amount: Amount) -> Ratio | None:
    return None if isinstance(amount, float) else (amount.numerator, amount.denominator)


# --------------------------------------------------------------------------- from the text


@lru_cache(maxsize=1024)
def simple_costs(text: str, *, is_basic: bool) -> tuple[StoredCost, ...] | None:
    """Return the costs of stored events if all are simple and plainly written, else None."""
    costs = _BASIC if is_basic else _CONCENTRATED
    found = []
    try:
        for record in json.loads(text):
            cost = costs[record["tag"]](record)
            if cost is None:
                return None
            found.append(cost)
    except (KeyError, TypeError, ValueError):
        return None
    return tuple(found) or None


_Reader: TypeAlias = Callable[[dict[str, Any]], StoredCost | None]


def _read(text: str) -> Ratio:
    """Return the number that a record writes as "p/q", in lowest terms."""
    found = PLAIN.fullmatch(text)
    if found is None:
        raise ValueError
    return _reduced(int(found[1]), int(found[2]))


def _reduced(numerator: int, denominator: int) -> Ratio:
    shared = gcd(numerator, denominator)
    return numerator // shared, denominator // shared


def _quotient(top: Ratio, bottom: Ratio) -> Ratio:
    if not top[0] or not bottom[0]:
        raise ValueError
    return _reduced(top[0] * bottom[1], top[1] * bottom[0])


def _pure(record: dict[str, Any]) -> Ratio | None:
    return _read(record["epsilon"]) if len(record) == 2 else None


def _discrete_laplace(record: dict[str, Any]) -> Ratio | None:
    sensitivity, answers = record["sensitivity"], record["answers"]
    if len(record) != 4 or type(sensitivity) is not int or type(answers) is not int:
        return None
    if not 1 <= sensitivity < MOST_PLAIN or not 1 <= answers <= MOST_ANSWERS:
        return None
    return _quotient((sensitivity, 1), _read(record["scale"]))


def _discrete_gaussian(record: dict[str, Any]) -> Ratio | None:
    answers = record["answers"]
    if len(record) != 4 or type(answers) is not int or not 1 <= answers <= MOST_ANSWERS:
        return None
    half = _quotient(_read(record["sensitivity_squared"]), _read(record["variance"]))
    return _reduced(half[0], 2 * half[1])


def _by_epsilon(read: Callable[[dict[str, Any]], Ratio | None]) -> tuple[_Reader, _Reader]:
    """Return what a pure event costs by each filter."""

    def basic(record: dict[str, Any]) -> StoredCost | None:
        epsilon = read(record)
        return None if epsilon is None else StoredCost(epsilon, None, NOTHING)

    def concentrated(record: dict[str, Any]) -> StoredCost | None:
        epsilon = read(record)
        return None if epsilon is None else StoredCost(epsilon, _half_square(epsilon), NOTHING)

    return basic, concentrated


def _half_square(epsilon: Ratio) -> Ratio:
    return _reduced(epsilon[0] ** 2, 2 * epsilon[1] ** 2)


def _by_rho(record: dict[str, Any]) -> StoredCost | None:
    rho = _discrete_gaussian(record)
    return None if rho is None else StoredCost(None, rho, NOTHING)


_PURE, _LAPLACE = _by_epsilon(_pure), _by_epsilon(_discrete_laplace)


_BASIC: Mapping[str, _Reader] = {"pure/1": _PURE[0], "discrete-laplace/1": _LAPLACE[0]}


_CONCENTRATED: Mapping[str, _Reader] = {
    "pure/1": _PURE[1],
    "discrete-laplace/1": _LAPLACE[1],
    "discrete-gaussian/1": _by_rho,
}


ChargeScope: TypeAlias = frozenset[str] | Months | None
"""The tables whose units a charge is about, in small letters; None is about everybody.

With a budget per month, it is the months whose rows the charge is about.
"""


Choice: TypeAlias = frozenset[str]
"""Where a unit can be: one table of each group. It may be in all tables outside the groups."""


MOST_CHOICES = 1000
"""Groups whose sizes multiply to more are rejected: each choice has a balance of its own."""


NOTE, MONTHS_NOTE = "scope", "scope.months"
"""Under these names the scope of a charge stands among its notes: its tables, or its months."""


@dataclass(frozen=True, kw_only=True)
class Disjoint:
    """Groups of tables no two of which have a unit in common, over the life of the ledger."""

    groups: tuple[frozenset[str], ...] = ()

    def __post_init__(self) -> None:
        if any(len(each) < 2 for each in self.groups):
            raise ParameterError(
                "disjoint", self.text, "must have two or more tables in each group"
            )
        if len(self.tables) < sum(map(len, self.groups)):
            raise ParameterError("disjoint", self.text, "must have each table in only one group")
        if prod(map(len, self.groups)) > MOST_CHOICES:
            rule = f"must have at most {MOST_CHOICES} combinations of tables that a unit can be in"
            raise ParameterError("disjoint", self.text, rule)

    @cached_property
    def tables(self) -> frozenset[str]:
        """All tables that are in a group."""
        return frozenset().union(*self.groups)

    @cached_property
    def choices(self) -> tuple[Choice, ...]:
        """All places where a unit can be; one, of no table, if there are no groups."""
        return tuple(map(frozenset, product(*map(sorted, self.groups))))

    def concerns(self, scope: ChargeScope, choice: Choice) -> bool:
        """Return whether a charge can be about a unit of this choice."""
        if scope is None or isinstance(scope, Months):
            return True
        return bool(scope & choice) or not scope <= self.tables

    def concerned(self, scopes: Collection[ChargeScope]) -> tuple[Choice, ...]:
        """Return where units can be that one of these charges is about."""
        if not self.groups:
            return self.choices
        return tuple(
            choice
            for choice in self.choices
            if any(self.concerns(scope, choice) for scope in scopes)
        )

    @property
    def text(self) -> str:
        """The groups as an entry holds them: the same text for the same groups."""
        return json.dumps(sorted(sorted(each) for each in self.groups))


def disjoint_from(groups: Iterable[Collection[str]]) -> Disjoint:
    """Return groups of tables as they are declared, or reject what cannot be."""
    scopes = [check_scope(each) for each in groups]
    tables = (each for each in scopes if isinstance(each, frozenset))
    return Disjoint(groups=tuple(sorted(tables, key=sorted)))


def disjoint_from_text(text: str) -> Disjoint:
    """Return the groups that an entry holds."""
    return disjoint_from(json.loads(text))


def check_scope(scope: object) -> ChargeScope:
    """Return the tables that a charge is about, or reject what names none; None is about all."""
    if scope is None or isinstance(scope, Months):
        return scope
    rule = "must be the names of tables, at least one, or None for all tables"
    if isinstance(scope, str | bytes) or not isinstance(scope, Collection) or not scope:
        raise ParameterError("scope", scope, rule)
    if not all(isinstance(each, str) and each and each.isprintable() for each in scope):
        raise ParameterError("scope", sorted(map(repr, scope)), rule)
    return frozenset(each.casefold() for each in scope)


def scope_note(scope: ChargeScope) -> dict[str, str]:
    """Return a scope as an entry notes it: the same text for the same tables, or months."""
    if scope is None:
        return {}
    if isinstance(scope, Months):
        return {MONTHS_NOTE: text_from_months(scope)}
    return {NOTE: text_from_scope(scope)}


def noted_scope(notes: Mapping[str, str]) -> ChargeScope:
    """Return the scope that an entry notes; both are never noted together."""
    if MONTHS_NOTE in notes:
        return _read_months(notes[MONTHS_NOTE])
    return _read_scope(notes[NOTE]) if NOTE in notes else None


def text_from_scope(scope: frozenset[str]) -> str:
    """Return tables as an entry holds them: the same text for the same tables."""
    return json.dumps(sorted(scope))


def is_covered(scope: ChargeScope, paid: ChargeScope) -> bool:
    """Return whether a charge for one scope concerns every unit that the other is about."""
    if isinstance(paid, Months):
        return isinstance(scope, Months) and paid.holds(scope)
    return paid is None or (isinstance(scope, frozenset) and scope <= paid)


def scope_from_text(text: str) -> ChargeScope:
    """Return the scope that an entry holds, or reject what none of ours is written like."""
    scope = check_scope(json.loads(text))
    if not isinstance(scope, frozenset) or text_from_scope(scope) != text:
        raise ParameterError("scope", text, "must be a text that the ledger wrote")
    return scope


_read_scope = lru_cache(maxsize=10_000)(scope_from_text)


_read_months = lru_cache(maxsize=10_000)(months_from_text)
