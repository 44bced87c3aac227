"""The policy of a ledger: the budget, the neighbours, disjoint tables, months, the share of delta.

It is what a ledger was opened with. What charges rest on is for life.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import NamedTuple, Self

from discreet.accounting import Budget, Charge
from discreet.accounting.events import positive, zero_or_positive
from discreet.errors import LedgerError, ParameterError, shown
from discreet.ledger.blocks import PerMonth, per_month_from_text
from discreet.ledger.charges import Disjoint, disjoint_from_text

NEIGHBOURS = ("add-remove", "replace")


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """What the owner declares: the total, its theorem, who are neighbours, who are apart."""

    total: Budget
    neighbours: str
    disjoint: Disjoint = Disjoint()  # noqa: RUF009 - frozen
    per_month: PerMonth | None = None
    """Set if each month has the total for itself."""
    data: frozenset[str] = frozenset()
    """What stands for the data that the ledger is about, keyed; nothing is decided by it here."""

    def __post_init__(self) -> None:
        if not isinstance(self.total, Budget) or self.total.charged != Charge():
            rule = "must be a Budget without charges, because the ledger records them"
            raise ParameterError("budget", self.total, rule)
        if self.neighbours not in NEIGHBOURS:
            rule = f"must be {' or '.join(map(repr, NEIGHBOURS))}"
            raise ParameterError("neighbours", self.neighbours, rule)
        if self.disjoint.groups and self.neighbours != "add-remove":
            rule = (
                "must be empty unless neighbours is 'add-remove', because a replaced unit may move"
            )
            raise ParameterError("disjoint", self.disjoint.text, rule)
        if self.per_month is not None and (self.neighbours != "add-remove" or self.disjoint.groups):
            rule = "must be None unless neighbours is 'add-remove' and no tables are disjoint"
            raise ParameterError("per_month", self.per_month, rule)

    @property
    def record(self) -> dict[str, str]:
        """The policy as its entry holds it."""
        # Versions before 0.2 know no months. They look for "epsilon", and reject what has none.
        name = "epsilon" if self.per_month is None else "epsilon_per_month"
        return {
            name: str(positive("epsilon", self.total.epsilon)),
            "delta": str(zero_or_positive("delta", self.total.delta)),
            "set_aside": str(zero_or_positive("set_aside", self.total.set_aside)),
            **self._for_life,
            **({"disjoint": self.disjoint.text} if self.disjoint.groups else {}),
            **({} if self.per_month is None else {"per_month": self.per_month.text}),
            **({"data": " ".join(sorted(self.data))} if self.data else {}),
        }

    @classmethod
    def from_record(cls, record: Mapping[str, str]) -> Self:
        """Return the policy that `record` wrote."""
        told = record.get("per_month")
        total = Budget(
            epsilon=Fraction(record["epsilon" if told is None else "epsilon_per_month"]),
            delta=Fraction(record["delta"]),
            filter=record["filter"],
            set_aside=Fraction(record["set_aside"]),
        )
        disjoint = disjoint_from_text(record.get("disjoint", "[]"))
        return cls(
            total=total,
            neighbours=record["neighbours"],
            disjoint=disjoint,
            per_month=None if told is None else per_month_from_text(told),
            data=frozenset(record.get("data", "").split()),
        )

    def check_change(self, declared: Self, *, is_charged: bool = True) -> None:
        """Reject a policy under which the entries that there are would prove nothing.

        As long as nothing is charged, it may become one per month, or no longer be one.
        """
        mine, other = self._for_life, declared._for_life
        for name, value in mine.items():
            if other[name] != value:
                raise LedgerError(
                    f"The ledger was created with {name} = {value} and opened with "
                    f"{name} = {other[name]}",
                    f"Open it with {name} = {value}, which cannot be changed",
                )
        if is_charged:
            self.check_months(declared)

    def check_months(self, declared: Self) -> None:
        """Reject a session that bounds rows otherwise: as long as nothing is charged, it may be."""
        _check_months(self.per_month, declared.per_month)

    def with_earlier(self, earlier: Self, *, is_charged: bool = True) -> Self:
        """Return the same policy with months of tables that an earlier one declared."""
        if self.per_month is None or earlier.per_month is None or not is_charged:
            return self
        return replace(self, per_month=self.per_month.with_earlier(earlier.per_month))

    @property
    def _for_life(self) -> dict[str, str]:
        """What cannot change: prices and sensitivities of old entries depend on it."""
        assert self.total.filter is not None  # noqa: S101 - for types; Budget always names one
        return {"neighbours": self.neighbours, "filter": self.total.filter.value}

    @property
    def share(self) -> Fraction:
        """The part of delta that is set aside."""
        return self.total.set_aside / self.total.delta if self.total.delta else Fraction(0)


def _check_months(mine: PerMonth | None, other: PerMonth | None) -> None:
    """Reject another kind of budget: charges of one kind prove nothing about the other."""
    if mine is None or other is None:
        if mine is not other:
            raise LedgerError(
                f"The ledger was created with a budget {_kind(mine)} and opened with one "
                f"{_kind(other)}",
                "Open it with the same per, which cannot be changed, or start a new ledger",
            )
        return
    if mine.most != other.most:
        raise LedgerError(
            f"The ledger was created with months_per_unit = {_most(mine)} and opened with "
            f"months_per_unit = {_most(other)}",
            f"Open it with months_per_unit = {_most(mine)}, which cannot be changed",
        )
    if (table := mine.changed_table(other)) is not None:
        raise LedgerError(
            f"The ledger was created with {_arrival(mine, table)} of {shown(table)} and opened "
            f"with {_arrival(other, table)}",
            "Declare the same arrival column again, which cannot be changed",
        )


def _kind(per_month: PerMonth | None) -> str:
    return "for all months together" if per_month is None else "per month"


def _most(per_month: PerMonth) -> str:
    return "none" if per_month.most is None else str(per_month.most)


def _arrival(per_month: PerMonth, table: str) -> str:
    column = per_month.tables[table]
    return f"the arrival column {shown(column)}" if column else "no arrival column"


class Largest(NamedTuple):
    """The largest delta of all totals that were declared, and the largest of its two parts.

    Whatever the order of the totals, all that is charged is within a filter of these two parts, so
    their sum is the delta that is promised (docs/proofs/composition.md, "A total that changes").
    """

    delta: Fraction = Fraction(0)
    aside: Fraction = Fraction(0)
    rest: Fraction = Fraction(0)

    def after(self, policy: Policy) -> "Largest":
        """Return the same with one more total, or reject one that would promise a larger delta."""
        total = policy.total
        found = Largest(
            max(self.delta, total.delta),
            max(self.aside, total.set_aside),
            max(self.rest, total.delta - total.set_aside),
        )
        if found.aside + found.rest > found.delta:
            raise LedgerError(
                f"The ledger was created with set_aside = {self.aside} of delta = {self.delta} and "
                f"opened with set_aside = {total.set_aside} of delta = {total.delta}",
                "Open it with the same set_aside, or with the same share of delta set aside. "
                f"Otherwise both together would allow delta = {found.aside + found.rest}",
            )
        return found
