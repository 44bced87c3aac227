"""The catalog and its policies: privacy budget, source of the data, analysts."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING

from discreet.accounting import Budget
from discreet.catalog.schema import Column, PathUnit, PrivateTable, Table
from discreet.catalog.series import SeriesPolicy
from discreet.catalog.shown import tables_html, tables_text
from discreet.deprecated import Renamed, renamed_arguments
from discreet.errors import readable
from discreet.mechanisms.sensitivity import ADD_REMOVE, Neighbours
from discreet.notebook import Printer


class Per(Enum):
    """What has a budget of its own, if the total is not for all rows of a unit together."""

    MONTH = "month"
    """The rows that arrived in one month: a query is charged to the months that it reads."""


class Accounting(Enum):
    """The accounting method: how the costs of queries add up."""

    BASIC = "basic"
    """Epsilons and deltas are added: each query costs exactly its epsilon and delta."""

    CONCENTRATED = "concentrated"
    """Zero-concentrated privacy, for a budget with a delta: many queries cost less together."""


class Suspends(Enum):
    """Which accounts are suspended after a query fails whose cost was charged."""

    ACCOUNT = "account"
    """The account that ran the query."""

    ALL = "all"
    """Every account, including the owner's."""


MOST_QUESTIONS = 1_000_000
"""The most queries that basic accounting can charge for, unless least_epsilon is declared."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BudgetPolicy:
    """The total privacy budget, for the life of the data."""

    epsilon: Fraction
    delta: Fraction = Fraction(0)
    neighbours: Neighbours = ADD_REMOVE
    accounting: Accounting = Accounting.BASIC
    question_delta: Fraction | None = None
    """The delta of a query that needs one and states none. Default: a hundredth of delta."""
    least_epsilon: Fraction | None = None
    """The smallest epsilon that a query may cost."""
    incident_suspends: Suspends = Suspends.ACCOUNT
    per: Per | None = None
    """With MONTH, each month has the total for itself: queries are charged to months they read."""
    months_per_unit: int | None = None
    """With `per`, only rows of a unit's first months are used, at most this many. None: all."""

    @property
    def delta_per_question(self) -> Fraction:
        return self.delta / 100 if self.question_delta is None else self.question_delta

    @property
    def least_per_question(self) -> Fraction:
        """The smallest epsilon that a query may cost. Default: a millionth of the total.

        Concentrated accounting adds up squares, so there it is a thousandth. The default is at
        most 0.001: a total above 1,000 protects nothing that a limit on queries could save.
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
    """When the rows within the contribution limit are chosen."""

    ONCE = "once"
    """Once, when the data are opened or prepared. Queries are then as fast as without privacy."""

    PER_QUERY = "per-query"
    """By each query, among the rows that match it. Slower, but a filter leaves out fewer rows."""

    @classmethod
    def _missing_(cls, value: object) -> "RowChoice | None":
        """Return ONCE for "prepared", its name until 0.2: catalogs are kept for years."""
        return cls.ONCE if value == "prepared" else None

    if not TYPE_CHECKING:
        PREPARED = Renamed("ONCE")


@renamed_arguments(bounding="row_choice")
@dataclass(frozen=True, slots=True, kw_only=True)
class SourcePolicy:
    """The database that holds the tables, and its limits for a query."""

    engine: str = "duckdb"
    memory_limit: str | None = None
    """A number and a unit: "4 GB"."""
    threads: int | None = None
    timeout: Fraction | None = None
    """The most seconds that a query may run. Public, like everything here."""
    version: str | None = None
    """The data version, as declared. None: it is computed from the data."""
    row_choice: RowChoice = RowChoice.ONCE

    bounding = Renamed("row_choice")


@dataclass(frozen=True, slots=True, kw_only=True)
class AnalystPolicy:
    """The cap of one analyst: the most they may spend, within the budget."""

    name: str
    epsilon: Fraction
    delta: Fraction | None = None
    """None: the delta of the analyst is limited by the budget alone."""
    per_query: Fraction | None = None
    """The most epsilon that one query may cost. None of these four leaves what the ledger has."""
    per_day: Fraction | None = None
    """The most epsilon that may be spent in one day, by UTC."""
    default_epsilon: Fraction | None = None
    """The cost of a query from a client that has no place to state one."""
    confirm_above: Fraction | None = None
    """A query of an agent that costs more needs the confirmation of a person."""


@dataclass(frozen=True, kw_only=True)
class Catalog:
    """Everything the owner declares, all of it public: tables, units, bounds, values, budget."""

    budget: BudgetPolicy
    tables: tuple[Table, ...]
    sources: Mapping[str, str] = field(default_factory=dict, hash=False)
    """Where each table is read from: the full path of a file, or its name in the database."""
    source: SourcePolicy = SourcePolicy()
    analysts: tuple[AnalystPolicy, ...] = ()
    ledger: str | None = None
    """Where the ledger is, if declared: a file, a server, or env:NAME."""
    disjoint: tuple[tuple[str, ...], ...] = ()
    """Groups of tables. No unit has rows in two tables of a group."""
    series: tuple[SeriesPolicy, ...] = ()
    """Queries that are released again at every tick of a clock, each for one payment."""
    groups_per_unit: int | None = None
    """What an analyst states for one query, in place of the limits of the tables."""

    @cached_property
    def _by_name(self) -> dict[str, Table]:
        return {each.name.casefold(): each for each in self.tables}

    def table(self, name: str) -> Table | None:
        """Return the table with this name, in any letter case; None if there is none."""
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

    # ----------------------------------------------------------------------- in notebooks

    def _repr_html_(self) -> str:
        return tables_html(self.tables, below=self._budget_text)

    def _repr_pretty_(self, printer: Printer, cycle: bool) -> None:  # noqa: ARG002
        printer.text(f"{tables_text(self.tables)}\n{self._budget_text}")

    @property
    def _budget_text(self) -> str:
        delta = f", δ = {readable(self.budget.delta)}" if self.budget.delta else ""
        return f"Total budget: ε = {readable(self.budget.epsilon)}{delta}"


def column_of(table: Table, name: str) -> Column | None:
    """Return the column with this name, in any letter case; None if there is none."""
    folded = name.casefold()
    return next((each for each in table.columns if each.name.casefold() == folded), None)
