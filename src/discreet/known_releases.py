"""What a ledger has of the releases of a plan, at one moment, and of which version of the data."""

from dataclasses import dataclass, field
from datetime import datetime
from enum import Enum
from fractions import Fraction

from discreet.account_limits import AccountLimits
from discreet.errors import BudgetError, EngineError, SuspendedError
from discreet.ledger import AccountBalance, LedgerView, Receipt, SavedAnswer
from discreet.query.plan.plan import PlannedRelease
from discreet.tables import NoisyTable, noisy_from_bytes

NO_TABLE = b""
"""Kept in place of a table that could not be made: asked again, the question fails again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Earlier:
    """What older versions of Discreet called the same data: what was paid for so stays free."""

    data_version: str
    paid: dict[str, bool] = field(default_factory=dict)
    """Names of releases, and whether they are in the ledger: nobody adds any."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DataVersion:
    """The version of the data, as the ledger names it."""

    name: str = field(default="", repr=False)
    is_noted: bool = False
    """Whether charges note it, so that the same query on other data is recognized."""
    declared: str | None = None
    """As the owner calls it; None if it follows from the data."""
    earlier: Earlier | None = None
    others: tuple[str, ...] = field(default=(), repr=False)
    """Other versions that the ledger knew when the data were opened, the newest first."""
    since: datetime | None = None
    """When the ledger first knew it, if it is the newest."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DataChange:
    """The data changed after the same query was charged."""

    since: datetime | None
    """When the ledger first knew the new version, if it is the newest."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReusedTable:
    """A release as it is read off a kept table: with the noise and the numbers that were drawn."""

    planned: PlannedRelease
    noisy: NoisyTable
    source: str = ""
    """The name of the release whose table it is."""


class ReleaseState(Enum):
    """What the ledger has of a release."""

    DUE = "not charged yet"
    CHARGED = "charged, and without an answer"
    SAVED = "charged, and answered"
    REUSED = "read off the answer to another query"


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownRelease:
    """A release of a plan, and what the ledger has of it."""

    name: str
    """What it is called in the ledger."""
    planned: PlannedRelease
    paid: Receipt | SavedAnswer | None
    """Its receipt, or its own answer; None if it was not paid for."""
    is_pinned: bool
    """Whether it was read off another table before: then it is read off the same ever after."""
    reused: ReusedTable | None
    """Another table off which it can be read."""
    was_paid: bool = False
    """Whether it was paid for under another version of the data."""
    is_older: bool = False
    """Whether an older release paid for it, which named the same differently."""

    @property
    def state(self) -> ReleaseState:
        """Whether it is still to be charged, to be run, or neither."""
        if self.reused is not None:
            return ReleaseState.REUSED
        if self.paid is None:
            return ReleaseState.DUE
        is_saved = isinstance(self.paid, SavedAnswer)
        return ReleaseState.SAVED if is_saved else ReleaseState.CHARGED

    def table(self) -> NoisyTable | None:
        """Return its table, if there is one; raise EngineError if none could be made."""
        if self.reused is not None:
            return self.reused.noisy
        return table_from(self.paid.answer) if isinstance(self.paid, SavedAnswer) else None


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedTable:
    """A noisy table in the ledger, and the epsilon of the question it was released for."""

    name: str
    epsilon: Fraction
    answer: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownReleases:
    """What the ledger has of a plan, at one moment."""

    releases: tuple[KnownRelease, ...]
    balance: AccountBalance
    """Of the account that asks."""
    is_suspended: bool = False
    """Whether the account that asks is suspended, so that it can read saved answers only."""
    limits: AccountLimits = AccountLimits()  # noqa: RUF009 - frozen
    """Of the account that asks, within its cap."""
    beside: tuple[tuple[SavedTable, ...], ...] = ()
    """Saved tables of other releases that were looked for, for each the most exact first."""

    since: datetime | None = None
    """When the ledger first knew this version of the data, if it is the newest."""
    months_in_all: int | None = None
    """The most months of one unit that are used, over all tables there ever were; None is all."""

    @property
    def has_older(self) -> bool:
        """Whether something was saved by an older release, for the same data."""
        saved = (each for each in self.releases if each.state is ReleaseState.SAVED)
        return any(each.is_older for each in saved)

    @property
    def change(self) -> DataChange | None:
        """The change of the data for which something must be charged again; None if nothing."""
        if any(each.was_paid and each.state is ReleaseState.DUE for each in self.releases):
            return DataChange(since=self.since)
        return None

    @property
    def unpaid(self) -> tuple[PlannedRelease, ...]:
        """The releases that would be charged, each once."""
        due = [each for each in self.releases if each.state is ReleaseState.DUE]
        return tuple({each.name: each.planned for each in due}.values())

    @property
    def would_be_rejected(self) -> bool:
        """Whether something would have to run, and the account is suspended."""
        to_run = (ReleaseState.DUE, ReleaseState.CHARGED)
        return self.is_suspended and any(each.state in to_run for each in self.releases)

    def over_limit(self, account: str, besides: Fraction = Fraction(0)) -> BudgetError | None:
        """Return how a limit of the account would reject it, with an epsilon charged besides."""
        due = sum((each.epsilon for each in self.unpaid), besides)
        return self.limits.rejection(account, due)

    def tables(self) -> tuple[NoisyTable, ...] | None:
        """Return all tables, if all of them are in the ledger."""
        found = [each.table() for each in self.releases]
        tables = [each for each in found if each is not None]
        return tuple(tables) if len(tables) == len(found) else None


def is_suspended(view: LedgerView, account: str) -> bool:
    """Return whether an account is suspended, or raise AccountError if it may not ask at all."""
    try:
        view.check(account=account, to_run=True)
    except SuspendedError:
        return True
    return False


def table_from(kept: bytes) -> NoisyTable:
    """Return the table that was kept, or raise EngineError if none could be made."""
    if kept == NO_TABLE:
        raise EngineError
    return noisy_from_bytes(kept)
