"""What the owner decides: who is protected, how, and how much may be revealed in all."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from enum import Enum
from fractions import Fraction
from functools import cached_property

from discreet.accounting import Budget
from discreet.catalog.schema import Column, PathUnit, PrivateTable, Table
from discreet.mechanisms.sensitivity import ADD_REMOVE, Neighbours


class Accounting(Enum):
    """How charges add up."""

    BASIC = "basic"
    """Epsilons and deltas are added: what a question asks for is what it is charged."""

    CONCENTRATED = "concentrated"
    """Zero-concentrated privacy for a budget with a delta: many questions cost less together."""


class Suspends(Enum):
    """Whom a failure after a charge suspends until the owner has looked."""

    ACCOUNT = "account"
    """The account that asked."""

    ALL = "all"
    """Every account, the owner's too."""


MOST_QUESTIONS = 1_000_000
"""So many questions can be charged for by basic accounting, if the owner sets no least epsilon."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BudgetPolicy:
    """How much may be revealed in all, over the life of the data set."""

    epsilon: Fraction
    delta: Fraction = Fraction(0)
    neighbours: Neighbours = ADD_REMOVE
    accounting: Accounting = Accounting.BASIC
    question_delta: Fraction | None = None
    """The delta of a question that needs one and names none; a hundredth of delta if not set."""
    least_epsilon: Fraction | None = None
    """The least that a question may be charged."""
    incident_suspends: Suspends = Suspends.ACCOUNT

    @property
    def delta_per_question(self) -> Fraction:
        return self.delta / 100 if self.question_delta is None else self.question_delta

    @property
    def least_per_question(self) -> Fraction:
        """The least that a question may be charged: a millionth of the total if not set.

        Concentrated accounting adds up squares, for which it is a thousandth. It is no more than
        0.001: a total above 1 000 promises nothing that a bound on questions could save.
        """
        if self.least_epsilon is not None:
            return self.least_epsilon
        if self.accounting is Accounting.CONCENTRATED:
            return min(self.epsilon, Fraction(1)) / 1000
        return min(self.epsilon, Fraction(1000)) / MOST_QUESTIONS


def budget_from(policy: BudgetPolicy) -> Budget:
    """Return the budget that a policy declares, uncharged."""
    aside = policy.delta / 2 if policy.accounting is Accounting.CONCENTRATED else Fraction(0)
    return Budget(
        epsilon=policy.epsilon,
        delta=policy.delta,
        filter=policy.accounting.value,
        set_aside=aside,
    )


class RowChoice(Enum):
    """When it is settled which rows of a unit count, if it has more than may."""

    PREPARED = "prepared"
    """Once, before any question: as fast as a question without privacy."""

    PER_QUERY = "per-query"
    """By each question, among the rows that it is about: more of them where it filters."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SourcePolicy:
    """Which engine holds the tables, and what it may use."""

    engine: str = "duckdb"
    memory_limit: str | None = None
    """A number and a unit: "4 GB"."""
    threads: int | None = None
    timeout: Fraction | None = None
    """Seconds that a question may run: public, like everything here."""
    version: str | None = None
    """What the owner calls the data as they are now; None goes by the state of their files."""
    bounding: RowChoice = RowChoice.PREPARED


@dataclass(frozen=True, slots=True, kw_only=True)
class AnalystPolicy:
    """The most that one analyst may spend; the budget of all holds besides."""

    name: str
    epsilon: Fraction
    delta: Fraction | None = None
    """None sets no limit of the analyst's own."""


@dataclass(frozen=True, kw_only=True)
class Catalog:
    """Everything that is public: tables, units, bounds, keys and the budget."""

    budget: BudgetPolicy
    tables: tuple[Table, ...]
    sources: Mapping[str, str] = field(default_factory=dict, hash=False)
    """Where tables are read from, by name: files as whole paths, or what the engine calls them."""
    source: SourcePolicy = SourcePolicy()
    analysts: tuple[AnalystPolicy, ...] = ()
    ledger: str | None = None
    """Where charges are kept, if the owner names a place: a file, a server, or env:NAME."""
    disjoint: tuple[tuple[str, ...], ...] = ()
    """Groups of tables: a unit is in one table of a group at most."""

    @cached_property
    def _by_name(self) -> dict[str, Table]:
        return {each.name.casefold(): each for each in self.tables}

    def table(self, name: str) -> Table | None:
        """Return the table of this name, whatever its letter case."""
        return self._by_name.get(name.casefold())

    def parents(self, table: PrivateTable) -> tuple[PrivateTable, ...]:
        """Return the tables on the path to a table's unit, nearest first."""
        found: list[PrivateTable] = []
        unit = table.unit
        while isinstance(unit, PathUnit):
            parent = self.table(unit.table)
            if not isinstance(parent, PrivateTable):  # checked when the catalog was made
                raise TypeError(unit.table)
            found.append(parent)
            unit = parent.unit
        return tuple(found)


def column_of(table: Table, name: str) -> Column | None:
    """Return the column of this name, whatever its letter case."""
    folded = name.casefold()
    return next((each for each in table.columns if each.name.casefold() == folded), None)


def nearest(name: str, known: list[str]) -> str | None:
    """Return the known name that is nearest to this one, if any is near."""
    folded = {each.casefold(): each for each in known}
    found = get_close_matches(name.casefold(), folded, n=1, cutoff=0.6)
    return folded[found[0]] if found else None
