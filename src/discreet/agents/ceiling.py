"""The most that one process may spend: a further limit, inside the cap of its account."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from fractions import Fraction

from discreet.agents.desk import RejectionError, rejection
from discreet.amounts import amount_down, amount_up, equation
from discreet.error_codes import classes
from discreet.errors import BudgetError, LeastEpsilonError, ParameterError, QuestionError

BEFORE_CHARGES = (QuestionError, ParameterError, BudgetError, LeastEpsilonError)
"""Errors of queries that are raised before anything is charged."""

UNSPENT = {
    *(code for code, kind in classes().items() if issubclass(kind, BEFORE_CHARGES)),
    *("unlikely_groups", "account", "suspended"),
    *("approval_needed", "not_allowed", "not_signed_in", "too_many"),
}
"""Codes of errors after which nothing was charged. After any other, a query may have been."""


@dataclass(slots=True, eq=False)
class Spending:
    """What a query may cost while it runs, and what it did cost."""

    due: Fraction
    charged: Fraction | None = None
    """Set once it is known."""


@dataclass(slots=True)
class Ceiling:
    """Counts epsilon, as a sum. Queries that run are counted with what they may cost."""

    most: Fraction
    spent: Fraction = Fraction(0)
    _running: list[Spending] = field(default_factory=list)

    @property
    def remaining(self) -> Fraction:
        """What may still be spent."""
        return max(Fraction(0), self.most - self.spent - sum(each.due for each in self._running))

    @contextmanager
    def reserved(self, due: Fraction, *, in_parts: bool = False) -> Iterator[Spending]:
        """Reserve what a query may cost, or reject it. If it failed, the reserve is spent or not.

        A query that may have been charged is counted in full. One that is charged in parts, bounds
        first, may have been charged for a part before it was rejected.
        """
        if due > self.remaining:
            raise rejection(
                "session_limit",
                f"This query costs {equation('ε', amount_up(due))}, and this program may spend "
                f"{equation('ε', amount_down(self.remaining))} more",
                "Use a smaller epsilon, or ask a person to raise --max-epsilon",
            )
        spending = Spending(due)
        self._running.append(spending)
        try:
            yield spending
        except RejectionError as error:
            if error.code in UNSPENT and not in_parts:
                spending.charged = Fraction(0)
            raise
        finally:
            self._running.remove(spending)
            self.spent += due if spending.charged is None else spending.charged
