"""An analyst's account: its cap, what its holder signs in with, and its limits."""

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Literal, TypeAlias, TypedDict

from discreet.parameters import Real

Role: TypeAlias = Literal["analyst", "reader", "owner"]
"""What an account is for: running queries within its cap, reading saved answers, or administering.

Only an analyst's is ever charged: people who administer run queries on the account "owner"."""

OWNER = "owner"
"""The account of who holds the data: it needs no declaration and has no cap of its own."""


class LimitTerms(TypedDict, total=False):
    """The limits of an account; None is no limit, and one that is not named stays as it is."""

    per_query: Real | None
    per_day: Real | None
    default_epsilon: Real | None
    confirm_above: Real | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Analyst:
    """An account with a cap of its own inside the total; the last declaration is in force."""

    name: str
    epsilon: Fraction
    delta: Fraction | None
    """None sets no limit but that of the total."""
    token_hash: str | None = field(repr=False)
    """What `make_token` gave to be stored; None lets nobody in by a token."""
    enabled: bool
    role: Role = "analyst"
    scram: str | None = field(default=None, repr=False)
    """The verifier of the same token for PostgreSQL clients; None lets none of them in."""
    per_query: Fraction | None = None
    """The most epsilon that one query may be charged."""
    per_day: Fraction | None = None
    """The most epsilon that may be charged in one day, by UTC."""
    default_epsilon: Fraction | None = None
    """What a query costs that comes from a client which has no place to state an epsilon."""
    confirm_above: Fraction | None = None
    """A query of an agent that costs more needs the confirmation of a person."""
