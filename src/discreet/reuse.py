"""Reuse of released tables: reading numbers from a saved table reveals nothing more.

The same release is found by its name in the ledger. A table that was released for more columns, or
for a higher price, answers a question about the same rows and groups, if it cost no less and its
noise is no wider than what the question would buy. Nothing here charges or writes anything.
"""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from enum import Enum
from fractions import Fraction
from hashlib import sha256

from discreet.catalog.catalog import Catalog
from discreet.errors import DiscreetError, EngineError, SuspendedError
from discreet.estimators import ExpectedMargin, MarginPerCount, RankMargin, SelectedValue
from discreet.ledger import AccountBalance, Entry, Ledger, LedgerView, Receipt, SavedAnswer
from discreet.planner import Planner
from discreet.query.plan import Plan
from discreet.query.plan.identity import Identity, meanings_of
from discreet.query.plan.plan import EpsilonTarget, PlannedRelease
from discreet.tables import NoisyTable, noisy_from_bytes

LEVELS = (Fraction(95, 100), Fraction(999, 1000))
"""The confidences at which half widths are compared: tails of other noises may be longer."""

MOST_TRIED = 3
"""So many of the last releases of the same rows and groups are looked at."""

JOINT = ":"
"""Parts what a release shares with all of the same rows and groups from what it is."""

NO_TABLE = b""
"""Kept in place of a table that could not be made: asked again, the question fails again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Earlier:
    """What older versions of Discreet called the same data: what was paid for so stays free."""

    data_version: str
    paid: dict[str, bool] = field(default_factory=dict)
    """Names of releases, and whether they are in the ledger: nobody adds any."""


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
class KnownReleases:
    """What the ledger has of a plan, at one moment."""

    releases: tuple[KnownRelease, ...]
    balance: AccountBalance
    """Of the account that asks."""
    is_suspended: bool = False
    """Whether the account that asks is suspended, so that it can read saved answers only."""

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

    def tables(self) -> tuple[NoisyTable, ...] | None:
        """Return all tables, if all of them are in the ledger."""
        found = [each.table() for each in self.releases]
        tables = [each for each in found if each is not None]
        return tuple(tables) if len(tables) == len(found) else None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Looked:
    """A release as it was found in the ledger, and tables off which it might be read."""

    name: str
    paid: Receipt | SavedAnswer | None
    is_pinned: bool
    sources: tuple[tuple[Entry, bytes], ...]


class Reuse:
    """Finds what was released before; reads the ledger, and writes nothing."""

    def __init__(
        self,
        *,
        planner: Planner,
        ledger: Ledger,
        catalog: Catalog,
        data_version: str = "",
        earlier: Earlier | None = None,
    ) -> None:
        self._planner, self._ledger, self._catalog = planner, ledger, catalog
        self._data_version, self._earlier = data_version, earlier

    def find(self, plan: Plan, account: str) -> KnownReleases:
        """Return what the ledger has of a plan, or reject an account that may not ask.

        The ledger is read once. What was read off a table once is read off the same one ever after.
        """
        with self._ledger.view() as view:
            is_suspended = _is_suspended(view, account)
            looked = [self._looked(view, plan, number) for number in range(len(plan.releases))]
            balance = view.balance(account)
        return KnownReleases(
            releases=tuple(map(self._known, plan.releases, looked)),
            balance=balance,
            is_suspended=is_suspended,
        )

    def new_names(self, plan: Plan) -> tuple[str, ...]:
        """Return the names of the releases of a plan if none was charged before."""
        return tuple(release_name(each, self._data_version) for each in plan.identities)

    # ----------------------------------------------------------------------- read in one view

    def _looked(self, view: LedgerView, plan: Plan, number: int) -> _Looked:
        planned, identity = plan.releases[number], plan.identities[number]
        name = self._name(view, identity)
        paid, source = view.find(name), view.pin_of(name)
        alike: Sequence[Entry] = ()
        if paid is None and source is not None:
            alike = view.charges_with_prefix(source, 1)
        # Where what is released depends on released numbers, only what is pinned is read off.
        elif paid is None and not plan.question.scalars:
            alike = self._alike(view, identity)
        return _Looked(
            name=name,
            paid=paid,
            is_pinned=source is not None,
            sources=tuple(_sources(view, planned, alike)),
        )

    def _name(self, view: LedgerView, identity: Identity) -> str:
        """Return what a release is called in the ledger: the same over the same data.

        A value that was selected and saved without an interval, as older versions did, stays known.
        """
        for name in self._earlier_names(identity):
            if isinstance(view.find(name), SavedAnswer):
                return name
        earlier = self._earlier
        if earlier is not None:
            name = release_name(identity, earlier.data_version)
            if name not in earlier.paid:
                earlier.paid[name] = view.find(name) is not None
            if earlier.paid[name]:
                return name
        return release_name(identity, self._data_version)

    def _earlier_names(self, identity: Identity) -> tuple[str, ...]:
        """Return what older versions called a release that is made in another way now."""
        if identity.earlier == identity.whole:
            return ()
        before = replace(identity, whole=identity.earlier)
        return tuple(release_name(before, each) for each in self._versions)

    def _alike(self, view: LedgerView, identity: Identity) -> list[Entry]:
        """Return the last charges for the same rows and groups, the newest first."""
        return [
            entry
            for version in self._versions
            for entry in view.charges_with_prefix(
                _prefix(release_name(identity, version)), MOST_TRIED
            )
        ]

    @property
    def _versions(self) -> tuple[str, ...]:
        earlier = () if self._earlier is None else (self._earlier.data_version,)
        return (self._data_version, *earlier)

    # ----------------------------------------------------------------------- compared afterwards

    def _known(self, planned: PlannedRelease, looked: _Looked) -> KnownRelease:
        return KnownRelease(
            name=looked.name,
            planned=planned,
            paid=looked.paid,
            is_pinned=looked.is_pinned,
            reused=self._reused(planned, looked.sources),
        )

    def _reused(
        self, asked: PlannedRelease, sources: Sequence[tuple[Entry, bytes]]
    ) -> ReusedTable | None:
        for entry, answer in sources:
            kept = self._planned_again(entry)
            if kept is not None:
                found = reused_table(asked, kept, noisy_from_bytes(answer))
                if found is not None:
                    return replace(found, source=entry.question)
        return None

    def _planned_again(self, entry: Entry) -> PlannedRelease | None:
        """Return the release that an entry charged, if the same question still means the same.

        It is planned with the catalog as declared. So answers with bounds that were found for one
        query, or with another row choice than the catalog's, are not reused by other queries.
        """
        epsilon, delta = Fraction(entry.about["epsilon"]), Fraction(entry.about["delta"])
        for slack in (None, delta):
            with suppress(DiscreetError):
                target = EpsilonTarget(epsilon, delta=slack)
                plan = self._planner.draft(entry.about["sql"], target, self._catalog)
                for planned, identity in zip(plan.releases, plan.identities, strict=True):
                    names = {release_name(identity, each) for each in self._versions}
                    if entry.question in names.union(self._earlier_names(identity)):
                        return planned
        return None


def _is_suspended(view: LedgerView, account: str) -> bool:
    """Return whether an account is suspended, or raise AccountError if it may not ask at all."""
    try:
        view.check(account=account, to_run=True)
    except SuspendedError:
        return True
    return False


def release_name(identity: Identity, data_version: str) -> str:
    """Return what a release is called over data of a version.

    Names of releases of the same rows and groups begin alike.
    """
    digests = (identity.base, identity.whole)
    named = [sha256(f"{each}|{data_version}".encode()).hexdigest() for each in digests]
    return JOINT.join(named)


def table_from(kept: bytes) -> NoisyTable:
    """Return the table that was kept, or raise EngineError if none could be made."""
    if kept == NO_TABLE:
        raise EngineError
    return noisy_from_bytes(kept)


def _prefix(name: str) -> str:
    """Return how the names of all releases of the same rows and groups begin."""
    return name.partition(JOINT)[0] + JOINT


def _sources(
    view: LedgerView, planned: PlannedRelease, alike: Sequence[Entry]
) -> Iterator[tuple[Entry, bytes]]:
    """Yield charges whose tables may serve, and the tables."""
    wanted = set(meanings_of(planned.aggregation)) if alike else set()
    for entry in alike:
        if _may_serve(entry, wanted, planned.epsilon):
            kept = view.find(entry.question)
            if isinstance(kept, SavedAnswer) and kept.answer != NO_TABLE:
                yield entry, kept.answer


def _may_serve(entry: Entry, wanted: set[str], epsilon: Fraction) -> bool:
    """Return whether it is worth planning again what an entry charged.

    A release costs no more than its question, so that none that would serve is left out.
    """
    about = entry.about
    if "epsilon" not in about or Fraction(about["epsilon"]) < epsilon:
        return False
    return wanted <= set(about.get("aggregates", "").split())


# --------------------------------------------------------------------------- reading off a table


def reused_table(
    asked: PlannedRelease, kept: PlannedRelease, noisy: NoisyTable
) -> ReusedTable | None:
    """Return the asked columns of a kept table, or None if it lacks one or has more noise."""
    known = {each: place for place, each in enumerate(meanings_of(kept.aggregation))}
    places = [known.get(each) for each in meanings_of(asked.aggregation)]
    found = [each for each in places if each is not None]
    if len(found) < len(places) or kept.epsilon < asked.epsilon:
        return None
    if not _shows_as_many_keys(kept, asked):
        return None
    if not all(_is_as_good(kept, place, asked, number) for number, place in enumerate(found)):
        return None
    if not _has_intervals(kept, noisy) and any(
        isinstance(kept.estimators[place], SelectedValue) for place in found
    ):
        return None
    planned = replace(
        kept,
        aggregation=asked.aggregation,
        estimators=tuple(kept.estimators[place] for place in found),
        left_out=asked.left_out,
    )
    return ReusedTable(planned=planned, noisy=_selected(noisy, asked, kept, found))


def _selected(
    noisy: NoisyTable, asked: PlannedRelease, kept: PlannedRelease, places: list[int]
) -> NoisyTable:
    """Return keys, the asked aggregates and all noisy cells, as the asked release calls them."""
    table, keys = noisy.rows, len(asked.aggregation.keys)
    cells = range(keys + len(kept.estimators), table.num_columns)
    chosen = table.select([*range(keys), *(keys + place for place in places), *cells])
    names = [
        *(each.name for each in asked.aggregation.keys),
        *(f"a{number}" for number in range(len(places))),
        *(f"m{number}" for number in range(len(cells))),
    ]
    return NoisyTable(chosen.rename_columns(names))


def _shows_as_many_keys(kept: PlannedRelease, asked: PlannedRelease) -> bool:
    """Return whether keys that only the data know are shown from no larger a number of the same."""
    if kept.key_selection is None or asked.key_selection is None:
        return kept.key_selection is asked.key_selection
    is_same = kept.key_selection.key_selection.of == asked.key_selection.key_selection.of
    return (
        is_same
        and kept.key_selection.mechanism.threshold <= asked.key_selection.mechanism.threshold
    )


def _has_intervals(kept: PlannedRelease, noisy: NoisyTable) -> bool:
    """Return whether a table has the columns of intervals, which older versions did not save."""
    cells = sum(len(each.measure.cells) for each in kept.components)
    ends = 2 * sum(each.support is not None for each in kept.value_selections)
    columns = len(kept.aggregation.keys) + len(kept.estimators) + cells + ends
    return noisy.rows.num_columns == columns


def _is_as_good(kept: PlannedRelease, place: int, asked: PlannedRelease, number: int) -> bool:
    ours, theirs = kept.estimators[place], asked.estimators[number]
    if isinstance(ours, SelectedValue) and isinstance(theirs, SelectedValue):
        if (
            kept.value_selections[ours.selection].epsilon
            < asked.value_selections[theirs.selection].epsilon
        ):
            return False
    elif type(ours) is not type(theirs):
        return False
    return all(
        _is_no_wider(kept.expected(place, level), asked.expected(number, level)) for level in LEVELS
    )


def _is_no_wider(kept: ExpectedMargin, asked: ExpectedMargin) -> bool:
    match kept, asked:
        case MarginPerCount(), MarginPerCount():
            return kept.power == asked.power and kept.numerator <= asked.numerator
        case RankMargin(), RankMargin():
            return kept.rows <= asked.rows
        case float() | int(), float() | int():
            return kept <= asked
        case _:
            return kept is None and asked is None
