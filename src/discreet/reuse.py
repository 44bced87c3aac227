"""Reuse of released tables: reading numbers from a saved table reveals nothing more.

The same release is found by its name in the ledger. A table that was released for more columns, or
for a higher price, answers a question about the same rows and groups, if it cost no less and its
noise is no wider than what the question would buy. Nothing here charges or writes anything.
"""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from hashlib import sha256
from math import ceil

from discreet.catalog.by_month import months_in_all
from discreet.catalog.catalog import Catalog, budget_from
from discreet.errors import DiscreetError
from discreet.estimators import ExpectedMargin, MarginPerCount, RankMargin, SelectedValue
from discreet.known_releases import (
    NO_TABLE,
    DataVersion,
    KnownRelease,
    KnownReleases,
    ReusedTable,
    SavedTable,
    is_suspended,
)
from discreet.ledger import AccountBalance, Entry, Ledger, LedgerView, Receipt, SavedAnswer
from discreet.ledger.versions import VERSION
from discreet.planner import BoundPlan, Planner
from discreet.query.plan import Plan
from discreet.query.plan.identity import Identity, meanings_of, scope_of
from discreet.query.plan.plan import EpsilonTarget, PlannedRelease
from discreet.query.questions import Statistic
from discreet.tables import NoisyTable, noisy_from_bytes

LEVELS = (Fraction(95, 100), Fraction(999, 1000))
"""The confidences at which half widths are compared: tails of other noises may be longer."""

MOST_TRIED = 3
"""So many of the last releases of the same rows and groups are looked at."""

MOST_BESIDE = 50
"""So many of them are looked at to find the most exact one."""

JOINT = ":"
"""Parts what a release shares with all of the same rows and groups from what it is."""

COUNTED = EpsilonTarget(1)
"""Stands for the price of numbers that are looked for at any price."""

SIZES = (Statistic.COUNT_ROWS, Statistic.COUNT_UNITS)
"""What tells the size of a table."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Looked:
    """A release as it was found in the ledger, and tables off which it might be read."""

    name: str
    paid: Receipt | SavedAnswer | None
    is_pinned: bool
    is_older: bool
    sources: tuple[tuple[Entry, bytes], ...]
    was_paid: bool


class Reuse:
    """Finds what was released before; reads the ledger, and writes nothing."""

    def __init__(
        self,
        *,
        planner: Planner,
        ledger: Ledger,
        catalog: Catalog,
        data_version: DataVersion = DataVersion(),  # noqa: B008 - frozen
    ) -> None:
        self._planner, self._ledger, self._catalog = planner, ledger, catalog
        self._version, self._data_version = data_version, data_version.name
        self._earlier = data_version.earlier

    @property
    def version_note(self) -> dict[str, str]:
        """What charges note of the version of the data."""
        return {VERSION: self._data_version} if self._version.is_noted else {}

    def find(self, plan: Plan, account: str, beside: Sequence[Identity] = ()) -> KnownReleases:
        """Return what the ledger has of a plan, or reject an account that may not ask.

        The ledger is read once. What was read off a table once is read off the same one ever after.
        `beside` are releases at any epsilon whose saved tables are read in the same transaction.
        """
        with self._ledger.view() as view:
            suspended, limits = is_suspended(view, account), view.limits_of(account)
            looked = [self._looked(view, plan, number) for number in range(len(plan.releases))]
            tables = tuple(self._saved(view, each) for each in beside)
            balance = view.balance(account, scopes=[scope_of(each) for each in plan.releases])
            known = view.per_month()
        return KnownReleases(
            releases=tuple(map(self._known, plan.releases, looked)),
            balance=balance,
            is_suspended=suspended,
            limits=limits,
            beside=tables,
            since=self._version.since,
            months_in_all=months_in_all(self._catalog, {} if known is None else known.tables),
        )

    def find_best(
        self, bound: BoundPlan, account: str, beside: Sequence[Identity] = ()
    ) -> tuple[BoundPlan, KnownReleases]:
        """Return the plan to carry out, and what the ledger has of it.

        Where rho is counted there may be one with smaller noise. What was paid for decides; else it
        is taken if it costs no larger a part of the budget than by sums of epsilon.
        """
        known = self.find(bound.plan, account, beside)
        if bound.by_rho is None:
            return bound, known
        other = self.find(bound.by_rho, account, beside)
        is_paid = len(other.unpaid) - len(known.unpaid)
        is_taken = self._is_cheap_by_rho(other) if is_paid == 0 else is_paid < 0
        return (replace(bound, plan=bound.by_rho), other) if is_taken else (bound, known)

    def _is_cheap_by_rho(self, known: KnownReleases) -> bool:
        """Return whether what is due fits by its rho, and takes no more of that than of epsilon.

        Noise that has no epsilon by itself ends sums of epsilon. Where these are at an end for what
        is due, only its rho counts.
        """
        due = known.unpaid
        epsilon = sum((each.epsilon for each in due), Fraction(0))
        left, limit = known.balance.remaining, known.balance.limit
        rho = sum((limit.price(event).rho for each in due for event in each.events), Fraction(0))
        if rho > left.rho or epsilon > left.epsilon:
            return rho <= left.rho
        budgets = (limit, budget_from(self._catalog.budget))
        return all(rho * each.epsilon <= epsilon * each.remaining().rho for each in budgets)

    def saved(self, identities: Sequence[Identity]) -> tuple[tuple[SavedTable, ...], ...]:
        """Return the saved tables of releases at any epsilon, for each the most exact first."""
        with self._ledger.view() as view:
            return tuple(self._saved(view, each) for each in identities)

    def balance(self, account: str) -> AccountBalance:
        """Return what an account may still spend, or reject one that may not ask."""
        with self._ledger.view() as view:
            view.check(account=account)
            return view.balance(account)

    def is_called(self, name: str, identity: Identity) -> bool:
        """Return whether a release has this name over these data."""
        return name in _names(identity, self._versions)

    def counts_of(self, table: str) -> dict[Statistic, int]:
        """Return numbers of rows and units of a whole table, at most, as they were released."""
        name = '"' + table.replace('"', '""') + '"'
        plan = self._planner.draft(f"SELECT COUNT(*) FROM {name}", COUNTED, self._catalog)  # noqa: S608
        with self._ledger.view() as view:
            alike = self._alike(view, plan.identities[0])
            found = [(entry, view.find(entry.question)) for entry in alike]
        counts: dict[Statistic, int] = {}
        for entry, kept in found:
            if not isinstance(kept, SavedAnswer) or kept.answer == NO_TABLE:
                continue
            planned = self._planned_again(entry)
            if planned is not None:
                counts = {**_counts(planned, noisy_from_bytes(kept.answer)), **counts}
        return counts

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
        elif paid is None and not plan.question.uses_releases:
            alike = self._alike(view, identity)
        return _Looked(
            name=name,
            paid=paid,
            is_pinned=source is not None,
            is_older=name != release_name(identity, self._data_version),
            sources=tuple(_sources(view, planned, alike)),
            was_paid=paid is None and source is None and self._was_paid(view, identity),
        )

    def _saved(self, view: LedgerView, identity: Identity) -> tuple[SavedTable, ...]:
        """Return tables of the same rows and groups, those of the largest epsilon first."""
        entries = [
            (Fraction(entry.about["epsilon"]), entry.question)
            for version in self._versions
            for entry in view.charges_with_prefix(
                _prefix(release_name(identity, version)), MOST_BESIDE
            )
            if "epsilon" in entry.about
        ]
        found = []
        for epsilon, name in sorted(entries, reverse=True)[:MOST_TRIED]:
            kept = view.find(name)
            if isinstance(kept, SavedAnswer) and kept.answer != NO_TABLE:
                found.append(SavedTable(name=name, epsilon=epsilon, answer=kept.answer))
        return tuple(found)

    def _was_paid(self, view: LedgerView, identity: Identity) -> bool:
        """Return whether a release was paid for under another version of the data."""
        names = _names(identity, self._version.others)
        return any(view.charges_with_prefix(each, 1) for each in names)

    def _name(self, view: LedgerView, identity: Identity) -> str:
        """Return what a release is called in the ledger: the same over the same data.

        A value that was selected and saved without an interval, as older versions did, stays known.
        """
        for name in _earlier_names(identity, self._versions):
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
            was_paid=looked.was_paid,
            is_older=looked.is_older,
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
        if "epsilon" not in entry.about:  # it depends on released numbers
            return None
        epsilon, delta = Fraction(entry.about["epsilon"]), Fraction(entry.about["delta"])
        for slack in (None, delta):
            with suppress(DiscreetError):
                target = EpsilonTarget(epsilon, delta=slack)
                plan = self._planner.draft(entry.about["sql"], target, self._catalog)
                other = self._planner.by_rho(plan, target, self._catalog)
                for each in (plan,) if other is None else (plan, other):
                    for planned, identity in zip(each.releases, each.identities, strict=True):
                        if self.is_called(entry.question, identity):
                            return planned
        return None


def _names(identity: Identity, versions: Sequence[str]) -> tuple[str, ...]:
    """Return all that a release may be called over these versions of the data."""
    names = (release_name(identity, each) for each in versions)
    return (*names, *_earlier_names(identity, versions))


def _earlier_names(identity: Identity, versions: Sequence[str]) -> tuple[str, ...]:
    """Return what older releases of Discreet called a release that is made in another way now."""
    if identity.earlier == identity.whole:
        return ()
    before = replace(identity, whole=identity.earlier)
    return tuple(release_name(before, each) for each in versions)


def _counts(planned: PlannedRelease, noisy: NoisyTable) -> dict[Statistic, int]:
    """Return the numbers of a table without keys that count rows or units, with their margins."""
    found = {}
    for place, each in enumerate(planned.aggregation.aggregates):
        margin = planned.expected(place, LEVELS[-1])
        if each.statistic in SIZES and isinstance(margin, float | int):
            (value,) = noisy.rows.column(f"a{place}").to_pylist()
            found[each.statistic] = max(0, ceil(float(value or 0) + margin))
    return found


def release_name(identity: Identity, data_version: str) -> str:
    """Return what a release is called over data of a version.

    Names of releases of the same rows and groups begin alike.
    """
    digests = (identity.base, identity.whole)
    named = [sha256(f"{each}|{data_version}".encode()).hexdigest() for each in digests]
    return JOINT.join(named)


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
