"""A curator as one analyst has it."""

from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, Protocol, Unpack

from discreet.account_limits import AccountLimits
from discreet.answer import Answer, Balance, ResultColumn
from discreet.catalog.catalog import Catalog
from discreet.catalog.schema import Bounds
from discreet.catalog.shown import tables_html
from discreet.explanation import Explanation
from discreet.explanation.coverage import Coverage
from discreet.parameters import Real
from discreet.terms import ExplainTerms, Terms, accepting_old_names
from discreet.written import Parameters

if TYPE_CHECKING:
    from discreet.series import Series, SeriesReader


class Curates(Protocol):
    """What an account needs of a curator."""

    catalog: Catalog

    def ask(self, sql: str, *, account: str, **terms: Unpack[Terms]) -> Answer: ...

    def explain(self, sql: str, *, account: str, **terms: Unpack[ExplainTerms]) -> Explanation: ...

    def columns(
        self, sql: str, *, parameters: Parameters, dialect: str | None, account: str
    ) -> tuple[ResultColumn, ...]: ...

    def remaining_of(self, account: str) -> Balance: ...

    def remaining_by_month(self, account: str) -> dict[str, Balance]: ...

    def limits_of(self, account: str) -> AccountLimits: ...

    def find_bounds(self, column: str, *, epsilon: Real, account: str) -> Bounds: ...

    def coverage(
        self,
        table: str,
        *,
        epsilon: Real | None = None,
        columns: Collection[str] | None = None,
        account: str,
    ) -> Coverage: ...

    def series(self, name: str) -> "Series": ...

    def all_series(self) -> "tuple[Series, ...]": ...


class Account:
    """A curator as one analyst has it: what is asked is charged to that account.

    Who it is is looked up for every question, so that it ends with the analyst's token.
    """

    def __init__(self, curator: Curates, holder: Callable[[], str]) -> None:
        self._curator, self._holder = curator, holder

    @property
    def name(self) -> str:
        """Whose account it is."""
        return self._holder()

    @property
    def catalog(self) -> Catalog:
        """What may be asked about."""
        return self._curator.catalog

    @property
    def remaining(self) -> Balance:
        """What is left of the account's cap, or of the total where that is less."""
        return self._curator.remaining_of(self.name)

    def remaining_by_month(self) -> dict[str, Balance]:
        """Return what is left for each month, if the budget is per month; else nothing."""
        return self._curator.remaining_by_month(self.name)

    @property
    def limits(self) -> AccountLimits:
        """What one query may cost, and what remains today; the cap and the total hold besides."""
        return self._curator.limits_of(self.name)

    @accepting_old_names
    def ask(self, sql: str, **terms: Unpack[Terms]) -> Answer:
        """Return the answer as `Curator.ask` does, charged to this account."""
        return self._curator.ask(sql, **terms, account=self.name)

    @accepting_old_names
    def explain(self, sql: str, **terms: Unpack[ExplainTerms]) -> Explanation:
        """Return what `ask` would do and cost; reads no data."""
        return self._curator.explain(sql, **terms, account=self.name)

    def columns(
        self, sql: str, *, parameters: Parameters = None, dialect: str | None = None
    ) -> tuple[ResultColumn, ...]:
        """Return the columns that the answer of `ask` will have; charges and reads nothing."""
        return self._curator.columns(sql, parameters=parameters, dialect=dialect, account=self.name)

    def find_bounds(self, column: str, *, epsilon: Real) -> Bounds:
        """Return bounds of a column as `Curator.find_bounds` does, charged to this account."""
        return self._curator.find_bounds(column, epsilon=epsilon, account=self.name)

    def coverage(
        self, table: str, *, epsilon: Real | None = None, columns: Collection[str] | None = None
    ) -> Coverage:
        """Return a table's coverage as `Curator.coverage` does, charged to this account."""
        return self._curator.coverage(table, epsilon=epsilon, columns=columns, account=self.name)

    def series(self, name: str) -> "SeriesReader":
        """Return a series, to read its released ticks; that is free."""
        self._holder()
        return self._curator.series(name).reader

    def all_series(self) -> "tuple[SeriesReader, ...]":
        """Return all series, to read their released ticks."""
        self._holder()
        return tuple(each.reader for each in self._curator.all_series())

    def __repr__(self) -> str:
        return f"Account({self.name} · left {self.remaining})"

    def _repr_html_(self) -> str:
        below = f"Account: {self.name} · Remaining: {self.remaining}"
        return tables_html(self.catalog.tables, below=below)
