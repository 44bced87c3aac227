"""What answers queries: a curator, an account, or a client of a server."""

from typing import Protocol, TypeGuard, Unpack

from discreet.amounts import Balance
from discreet.answer import Answer
from discreet.catalog import Catalog
from discreet.explanation import Explanation
from discreet.terms import ExplainTerms, Terms

KINDS = {"discreet.curator.Curator", "discreet.account.Account", "discreet.client.remote.Remote"}
"""The classes by name, because that of the client needs an extra."""


class Answers(Protocol):
    """What a curator, an account and a client of a server have in common."""

    @property
    def catalog(self) -> Catalog: ...

    @property
    def remaining(self) -> Balance: ...

    def ask(self, sql: str, **terms: Unpack[Terms]) -> Answer: ...

    def explain(self, sql: str, **terms: Unpack[ExplainTerms]) -> Explanation: ...


def is_answering(thing: object) -> TypeGuard[Answers]:
    """Return whether queries can be put to this; a client of a server is not called for it."""
    kinds = type(thing).__mro__
    return any(f"{each.__module__}.{each.__qualname__}" in KINDS for each in kinds)
