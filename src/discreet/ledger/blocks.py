"""What has a budget of its own: all units, units of disjoint tables, or the rows of one month.

A charge counts for every block that it is about, and each block must stay within the total. For
months the charges of an account are piecewise constant: they change only where the months of some
charge begin or end. So there are few blocks, though there is no end of months.
Proofs: docs/proofs/parallel.md.
"""

import json
from bisect import bisect_right
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from discreet.accounting import Budget, Charge, Event, Remaining
from discreet.errors import BudgetError, ParameterError
from discreet.ledger.charges import ChargeScope, Choice, Disjoint, added, one_event
from discreet.months import LAST, Months, MonthSpan, month_text


@dataclass(frozen=True, slots=True, kw_only=True)
class BudgetBlock:
    """What has a budget of its own, and what is charged to it."""

    charged: Charge
    tables: Choice = frozenset()
    """Where units of disjoint tables are; without any it is about all tables."""
    months: MonthSpan | None = None
    """All of these months, which have the same charges; None if the budget is not per month."""
    disjoint: Disjoint = Disjoint()  # noqa: RUF009 - frozen

    def concerns(self, scope: ChargeScope) -> bool:
        """Return whether a charge of this scope is about the block."""
        if self.months is not None:
            return not isinstance(scope, Months) or scope.overlaps(self.months)
        return isinstance(scope, Months) or self.disjoint.concerns(scope, self.tables)

    def refusal(self, limit: Budget, events: tuple[Event, ...]) -> BudgetError | None:
        """Return how a limit rejects that these events are charged to the block, if it does."""
        event = one_event(events)
        if limit.affords_after(self.charged, event):
            return None
        try:
            replace(limit, charged=self.charged).charge(event)
        except BudgetError as refusal:
            if self.months is not None:
                return refusal.for_months(str(self.months))
            return refusal.for_units(sorted(self.tables)) if self.tables else refusal
        return None


# --------------------------------------------------------------------------- disjoint tables

Scopes = Iterable[Mapping[ChargeScope, Charge]]
"""What was charged, by scope."""


def table_blocks(
    disjoint: Disjoint, scopes: Collection[ChargeScope], charged: Charge, found: Scopes
) -> list[BudgetBlock]:
    """Return the places of units that some scope is about; without groups there is only one."""
    if not disjoint.groups:
        return [BudgetBlock(charged=charged)]
    return [
        BudgetBlock(charged=_charged_to(disjoint, choice, found), tables=choice, disjoint=disjoint)
        for choice in disjoint.concerned(scopes)
    ]


def _charged_to(disjoint: Disjoint, choice: Choice, found: Scopes) -> Charge:
    charged = Charge()
    for scopes in found:
        for scope, more in scopes.items():
            if isinstance(scope, Months) or disjoint.concerns(scope, choice):
                charged = added(charged, more)
    return charged


# --------------------------------------------------------------------------- months


@dataclass(frozen=True, slots=True)
class Timeline:
    """What is charged to every month that there is: the same between two of the cuts."""

    cuts: tuple[int, ...] = ()
    """Months at which charges change, in order: each is the first of its part."""
    charges: tuple[Charge, ...] = (Charge(),)
    """Of the months before the first cut, from each cut on, and so on."""

    def plus(self, scope: ChargeScope, more: Charge) -> "Timeline":
        """Return the same with a charge to all months of a scope; to every month if it has none."""
        months = scope if isinstance(scope, Months) else Months()
        parts = self._cut(months)
        charges = tuple(
            added(charge, more) if months.overlaps(part) else charge
            for part, charge in parts.parts()
        )
        return Timeline(parts.cuts, charges)

    def parts(self) -> Iterator[tuple[MonthSpan, Charge]]:
        """Yield all months, in parts of equal charges, in order."""
        ends = (None, *self.cuts, None)
        for number, charge in enumerate(self.charges):
            after = ends[number + 1]
            last = None if after is None else after - 1
            yield MonthSpan(first=ends[number], last=last), charge

    def blocks(self, scopes: Iterable[ChargeScope]) -> list[BudgetBlock]:
        """Return the months that some scope is about, in parts that each is about or is not."""
        about = [each if isinstance(each, Months) else Months() for each in scopes]
        line = self
        for each in about:
            line = line._cut(each)
        return [
            BudgetBlock(charged=charge, months=part)
            for part, charge in line.parts()
            if any(each.overlaps(part) for each in about)
        ]

    def _cut(self, months: Months) -> "Timeline":
        """Return the same charges, cut where the months begin and end."""
        ends = {each.first for each in months.spans}
        ends |= {None if each.last is None else each.last + 1 for each in months.spans}
        cuts = sorted({each for each in ends if each is not None and each <= LAST} | {*self.cuts})
        charges = [self.charges[0]]
        charges += [self.charges[bisect_right(self.cuts, each)] for each in cuts]
        return Timeline(tuple(cuts), tuple(charges))


def least(left: Iterable[Remaining]) -> Remaining:
    """Return the least of each amount."""
    found = list(left)
    return Remaining(
        epsilon=min(each.epsilon for each in found),
        rho=min(each.rho for each in found),
        delta=min(each.delta for each in found),
    )


def paid_by_block(
    scopes: Mapping[ChargeScope, Counter[str]], blocks: Iterable[BudgetBlock]
) -> list[Counter[str]]:
    """Return, for each block, how often stored events can be about it."""
    return [
        sum((paid for scope, paid in scopes.items() if block.concerns(scope)), Counter[str]())
        for block in blocks
    ]


# --------------------------------------------------------------------------- declared


@dataclass(frozen=True, slots=True, kw_only=True)
class PerMonth:
    """A budget per month, as the ledger records it: whose rows have months, and how many count.

    It is for life. Charges about rows of one month prove nothing about all rows of a unit, and
    charges about all rows nothing about some of them. So neither a table's arrival column nor the
    number of months can change.
    """

    tables: Mapping[str, str]
    """The column of arrival times of each private table, empty for a table without."""
    most: int | None = None
    """Rows of at most this many months of a unit are used; None is all."""

    def __post_init__(self) -> None:
        rule = "must map names of tables to their arrival columns, at least one of them not empty"
        is_text = isinstance(self.tables, Mapping) and all(
            isinstance(each, str) for item in self.tables.items() for each in item
        )
        if not is_text or not any(self.tables.values()):
            raise ParameterError("per_month", self.tables, rule)
        if self.most is not None and (type(self.most) is not int or self.most < 1):
            raise ParameterError("per_month", self.most, "must be at least 1 month")

    def __hash__(self) -> int:
        return hash(self.text)

    @property
    def text(self) -> str:
        """What an entry holds: the same text for the same declaration."""
        told: dict[str, Any] = {"arrival": dict(sorted(self.tables.items()))}
        if self.most is not None:
            told["months_per_unit"] = self.most
        return json.dumps(told, sort_keys=True)

    @property
    def months_in_all(self) -> int | None:
        """The most months of one unit that are used, over all tables; None if there is no limit."""
        if self.most is None:
            return None
        return self.most * sum(bool(each) for each in self.tables.values())

    def changed_table(self, other: "PerMonth") -> str | None:
        """Return a table whose arrival column the other declares differently, if there is one."""
        both = self.tables.keys() & other.tables.keys()
        return next(
            (each for each in sorted(both) if self.tables[each] != other.tables[each]), None
        )

    def with_earlier(self, earlier: "PerMonth") -> "PerMonth":
        """Return the same with tables that were declared before: they stay as they were."""
        return replace(self, tables={**earlier.tables, **self.tables})


def per_month_from_text(text: str) -> PerMonth:
    """Return the declaration that an entry holds."""
    told = json.loads(text)
    if told.keys() - {"months_per_unit"} != {"arrival"}:
        raise ParameterError("per_month", text, "must be a text that the ledger wrote")
    return PerMonth(tables=told["arrival"], most=told.get("months_per_unit"))


def span_text(span: MonthSpan) -> str:
    """Return months as a line of a table names them."""
    if span.first is None and span.last is not None:
        return f"before {month_text(span.last + 1)}"
    if span.last is None and span.first is not None:
        return f"from {month_text(span.first)}"
    return str(span)
