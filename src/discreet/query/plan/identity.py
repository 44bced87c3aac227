"""When two releases are the same, and whose units they are about.

A release that is the same is paid for once, whatever is made of it. It is about the units of every
private table that its queries read, wherever it stands: the walk goes through all that a tree is
made of, so that no kind of node, joined rows, rows inside EXISTS or a kind that is yet to come, can
hide a table from it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from json import dumps

from discreet.accounting.events import Event, record_from_event
from discreet.catalog.catalog import BudgetPolicy
from discreet.catalog.schema import PrivateTable
from discreet.mechanisms.gaussian_selection import GaussianPartitionSelection
from discreet.months import Months
from discreet.query.identity import CanonicalRelease, digest_of, identity_text
from discreet.query.plan.plan import PlannedRelease
from discreet.query.questions import (
    Aggregate,
    Aggregation,
    DeclaredGroups,
    Question,
    ScalarQuery,
    TableQuery,
    UndeclaredGroups,
)
from discreet.query.tree import ConstantRows, ExactQuery, Facts, Scan
from discreet.query.walk import Remembered, Walk

FORM = "1"
"""Changes when released tables are made or kept in another way, so that none is misread."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """What a release shares with others, each as a digest."""

    whole: str
    """With those, and only those, that release the same at the same price."""
    earlier: str
    """What `whole` was when values were chosen without an interval and a count."""
    base: str
    """With all that are about the same rows and groups."""
    aggregates: tuple[str, ...]
    """For each aggregate, with those, and only those, that mean the same."""


def identities_of(
    question: Question, releases: tuple[PlannedRelease, ...], policy: BudgetPolicy
) -> tuple[Identity, ...]:
    """Return what each release shares with others.

    The price and the noise are part of it, and so are earlier releases whose numbers it uses.
    """
    found: list[Identity] = []
    for planned in releases:
        plain = _plain(planned.aggregation)
        found.append(
            Identity(
                whole=_whole(
                    planned,
                    plain,
                    planned.events,
                    _inputs(question, [each.whole for each in found]),
                    policy,
                ),
                earlier=_whole(
                    planned,
                    plain,
                    planned.earlier_events,
                    _inputs(question, [each.earlier for each in found]),
                    policy,
                ),
                base=plain.base,
                aggregates=plain.aggregates,
            )
        )
    return tuple(found)


def _selection(planned: PlannedRelease) -> tuple[str, ...]:
    """Return the noise that selects groups, where the events do not say it."""
    selection = planned.key_selection
    is_gaussian = selection is not None and isinstance(
        selection.mechanism, GaussianPartitionSelection
    )
    return ("gaussian selection",) if is_gaussian else ()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Inputs:
    """What the numbers and tables are called that are made of earlier releases."""

    numbers: dict[int, str]
    tables: dict[int, str]


def _inputs(question: Question, wholes: list[str]) -> _Inputs:
    """Return what is made of releases of these names."""

    def named(queries: Sequence[ScalarQuery | TableQuery]) -> dict[int, str]:
        return {
            each.number: _made_of(each, wholes)
            for each in queries
            if all(need < len(wholes) for need in each.needs)
        }

    return _Inputs(numbers=named(question.scalars), tables=named(question.tables))


def _whole(
    planned: PlannedRelease,
    plain: "_Plain",
    events: tuple[Event, ...],
    inputs: _Inputs,
    policy: BudgetPolicy,
) -> str:
    """Return what a release is called that is charged as these events and uses these inputs."""
    release, text = planned.aggregation, plain.text
    if inputs.numbers or inputs.tables:
        own = CanonicalRelease(release, inputs.numbers, inputs.tables)
        text = own.text(release.aggregates)
    told = (
        FORM,
        text,
        plain.ranges,
        dumps([record_from_event(each) for each in events], sort_keys=True),
        identity_text((planned.neighbours, policy.accounting)),
        *_selection(planned),
    )
    return digest_of("|".join(told))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Plain:
    """What a release means by itself, whatever it costs."""

    text: str
    base: str
    ranges: str
    aggregates: tuple[str, ...]


def _read_plainly(release: Aggregation) -> _Plain:
    plain = CanonicalRelease(release, {})
    return _Plain(
        text=plain.text(release.aggregates),
        base=digest_of(plain.text(())),
        ranges=_ranges(release),
        aggregates=tuple(_meaning(plain, each) for each in release.aggregates),
    )


_plain = Remembered(_read_plainly)


def meanings_of(release: Aggregation) -> tuple[str, ...]:
    """Return for each aggregate what it shares with those, and only those, that mean the same."""
    return _plain(release).aggregates


def _meaning(plain: CanonicalRelease, aggregate: Aggregate) -> str:
    known = tuple(each.facts for each in aggregate.arguments)
    facts = known[0] if len(known) == 1 else known
    return digest_of(f"{plain.text((aggregate,))}|{identity_text(facts)}")[:32]


def _made_of(query: ScalarQuery | TableQuery, found: list[str]) -> str:
    return digest_of(f"{query.sql}|{[found[each] for each in query.needs]}")


def _ranges(release: Aggregation) -> str:
    """Return what is known of the aggregated values: the ranges that they are moved into."""
    known = tuple(part.facts for each in release.aggregates for part in each.arguments)
    return digest_of(identity_text(known))


PLAIN_VALUES = (Facts, DeclaredGroups, UndeclaredGroups, ConstantRows)
"""What is known of values, and may be long; it reads no rows."""


def scope_of(planned: PlannedRelease) -> frozenset[str] | Months:
    """Return the tables whose units a release depends on: those where the paths to units end.

    A row belongs to the unit of the row that its path ends at, so that a unit that has no row in
    that table has none on the way to it either. With a budget per month, it is the months whose
    rows are read, if all tables that are read have months.
    """
    trees = (planned.aggregation, *planned.queries)
    return months_read(planned) or frozenset[str]().union(*map(_tables, trees))


def scope_in(part: object) -> frozenset[str]:
    """Return the tables whose units a tree, or anything that has trees in it, depends on."""
    return _found_tables(part)


def months_read(planned: PlannedRelease) -> Months | None:
    """Return the months whose rows a release depends on; None if it reads a table without any."""
    scans = tuple(chain(*map(_scans, (planned.aggregation, *planned.queries))))
    if not scans or any(each.table.by_month is None for each in scans):
        return None
    return Months(tuple(each.months for each in scans))


_nodes = Walk(plain=PLAIN_VALUES, whole=(Scan, PrivateTable))


def _found_scans(part: object) -> tuple[Scan, ...]:
    """Return all scans, and a table that is named anywhere else as a scan of all its rows."""
    found: list[Scan] = []
    for each in _nodes(part):
        if isinstance(each, Scan):
            found += (each, *(Scan(table=table) for table in each.parents))
        elif isinstance(each, PrivateTable):
            found.append(Scan(table=each))
    return tuple(found)


_scans: Remembered[object, tuple[Scan, ...]] = Remembered(_found_scans)


def read_alike(tree: Aggregation | ExactQuery, other: Aggregation | ExactQuery) -> None:
    """Remember that a tree reads the same rows of the same tables as another one."""
    _scans.take_from(tree, other)
    _tables.take_from(tree, other)


def root_of(scan: Scan) -> PrivateTable:
    """Return the table that holds the units of a scanned one."""
    return scan.parents[-1] if scan.parents else scan.table


def _found_tables(part: object) -> frozenset[str]:
    # A table on a path that stands by itself is in no group, so that it is about everybody.
    nodes = list(_nodes(part))
    scanned = (root_of(each) for each in nodes if isinstance(each, Scan))
    named = (each for each in nodes if isinstance(each, PrivateTable))
    return frozenset(each.name.casefold() for each in (*scanned, *named))


_tables: Remembered[object, frozenset[str]] = Remembered(_found_tables)
