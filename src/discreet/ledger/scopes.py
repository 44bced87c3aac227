"""Scopes of charges: tables whose units are declared disjoint are charged separately.

A unit is in one table of a disjoint group at most. So whatever happens to it is bounded by the
charges that touch the tables it can be in, for the worst choice of one table from each group.
Proof: docs/proofs/parallel.md.
"""

import json
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from math import prod
from typing import TypeAlias

from discreet.errors import ParameterError

Scope: TypeAlias = frozenset[str] | None
"""The tables whose units a charge is about, in small letters; None is about everybody."""

Choice: TypeAlias = frozenset[str]
"""Where a unit can be: one table of each group. It may be in all tables outside the groups."""

MOST_CHOICES = 1000
"""Groups whose sizes multiply to more are rejected: each choice has a balance of its own."""

NOTE = "scope"
"""Under this name the scope of a charge stands among its notes."""


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

    def concerns(self, scope: Scope, choice: Choice) -> bool:
        """Return whether a charge can be about a unit of this choice."""
        return scope is None or bool(scope & choice) or not scope <= self.tables

    def concerned(self, scopes: Collection[Scope]) -> tuple[Choice, ...]:
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
    scopes = [a_scope(each) for each in groups]
    return Disjoint(groups=tuple(sorted((each for each in scopes if each), key=sorted)))


def disjoint_from_text(text: str) -> Disjoint:
    """Return the groups that an entry holds."""
    return disjoint_from(json.loads(text))


def a_scope(scope: object) -> Scope:
    """Return the tables that a charge is about, or reject what names none; None is about all."""
    if scope is None:
        return None
    rule = "must be the names of tables, at least one, or None for all tables"
    if isinstance(scope, str | bytes) or not isinstance(scope, Collection) or not scope:
        raise ParameterError("scope", scope, rule)
    if not all(isinstance(each, str) and each and each.isprintable() for each in scope):
        raise ParameterError("scope", sorted(map(repr, scope)), rule)
    return frozenset(each.casefold() for each in scope)


def text_from_scope(scope: frozenset[str]) -> str:
    """Return a scope as an entry holds it: the same text for the same tables."""
    return json.dumps(sorted(scope))


def is_covered(scope: Scope, paid: Scope) -> bool:
    """Return whether a charge for one scope concerns every unit that the other is about."""
    return paid is None or (scope is not None and scope <= paid)


def scope_from_text(text: str) -> Scope:
    """Return the scope that an entry holds, or reject what none of ours is written like."""
    scope = a_scope(json.loads(text))
    if scope is None or text_from_scope(scope) != text:
        raise ParameterError("scope", text, "must be a text that the ledger wrote")
    return scope
