"""What a ledger was opened with: the budget, the neighbours, and the largest share of delta."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple, Self

from discreet.accounting import Budget, Charge
from discreet.accounting.events import positive, zero_or_positive
from discreet.errors import LedgerError, ParameterError
from discreet.ledger.charges import Disjoint, disjoint_from_text

NEIGHBOURS = ("add-remove", "replace")


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """What the owner declares: the total, its theorem, who are neighbours, who are apart."""

    total: Budget
    neighbours: str
    disjoint: Disjoint = Disjoint()  # noqa: RUF009 - frozen
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

    @property
    def record(self) -> dict[str, str]:
        """The policy as its entry holds it."""
        return {
            "epsilon": str(positive("epsilon", self.total.epsilon)),
            "delta": str(zero_or_positive("delta", self.total.delta)),
            "set_aside": str(zero_or_positive("set_aside", self.total.set_aside)),
            **self._for_life,
            **({"disjoint": self.disjoint.text} if self.disjoint.groups else {}),
            **({"data": " ".join(sorted(self.data))} if self.data else {}),
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
        disjoint = disjoint_from_text(record.get("disjoint", "[]"))
        data = frozenset(record.get("data", "").split())
        return cls(total=total, neighbours=record["neighbours"], disjoint=disjoint, data=data)

    def check_change(self, declared: Self) -> None:
        """Reject a policy under which the entries that there are would prove nothing."""
        mine, other = self._for_life, declared._for_life
        for name, value in mine.items():
            if other[name] != value:
                raise LedgerError(
                    f"The ledger was created with {name} = {value} and opened with "
                    f"{name} = {other[name]}",
                    f"Open it with {name} = {value}, which cannot be changed",
                )

    @property
    def _for_life(self) -> dict[str, str]:
        """What cannot change: prices and sensitivities of old entries depend on it."""
        assert self.total.filter is not None  # noqa: S101 - for types; Budget always names one
        return {"neighbours": self.neighbours, "filter": self.total.filter.value}

    @property
    def share(self) -> Fraction:
        """The part of delta that is set aside."""
        return self.total.set_aside / self.total.delta if self.total.delta else Fraction(0)


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
