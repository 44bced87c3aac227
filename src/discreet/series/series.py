"""A series over its years: charged once, ticks released as they are due, read for free."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from fractions import Fraction
from hashlib import sha256
from threading import Lock

from discreet.amounts import Price
from discreet.answer.series_table import SeriesStatus, SeriesTable
from discreet.catalog.catalog import Catalog
from discreet.catalog.clocks import in_utc, utc_now
from discreet.catalog.schema import PublicTable
from discreet.catalog.series import SeriesPolicy
from discreet.errors import DiscreetError, LedgerError, ParameterError, SeriesError
from discreet.executor import Executor
from discreet.explanation.series import SeriesExplanation
from discreet.ledger import OWNER, Item, Ledger, Receipt, SavedAnswer
from discreet.noise import SYSTEM, Entropy
from discreet.parameters import Real, confidence_level, did_you_mean
from discreet.planner import Planner
from discreet.query.plan.identity import scope_in
from discreet.query.plan.series import plan_series, public_tables_of
from discreet.query.plan.ticks import SeriesPlan
from discreet.query.questions import Question
from discreet.release import release_ticks
from discreet.series.definition import (
    PREFIX,
    SeriesDefinition,
    bytes_from_definition,
    bytes_from_ticks,
    charge_name,
    definition_from_bytes,
    definition_of,
    ticks_from_bytes,
)
from discreet.series.explaining import explain_rejected, explain_series
from discreet.series.reading import check_kind, read_series
from discreet.series.sentences import series_notes
from discreet.streams import StreamMechanism

Progress = Callable[[int, int], None]
"""Told how many of the ticks that are due are released, and how many are due."""

NUMBERS_AT_ONCE = 200_000
"""So many numbers at most are saved in one entry: more ticks are several entries."""

MOST_SERIES = 10_000


class SeriesReader:
    """A series as everyone may read it."""

    def __init__(self, name: str, keeper: "SeriesKeeper") -> None:
        self.name, self._keeper = name, keeper

    @property
    def policy(self) -> SeriesPolicy | None:
        """The series as the catalog declares it now; None if it no longer does."""
        return self._keeper.policy(self.name)

    @property
    def status(self) -> SeriesStatus:
        """How far it is."""
        return self._keeper.status(self.name, utc_now())

    @property
    def mechanisms(self) -> tuple[StreamMechanism, ...]:
        """The mechanism of each column: it knows its error at every tick before anyone pays."""
        return self._keeper.mechanisms(self.name)

    @property
    def epsilon(self) -> Fraction:
        """What all ticks together cost."""
        return self._keeper.cost(self.name)[0]

    @property
    def delta(self) -> Fraction:
        """The delta of all ticks together."""
        return self._keeper.cost(self.name)[1]

    def read(
        self,
        kind: str = "running",
        *,
        window: int | None = None,
        confidence: Real = 0.95,
        last: int | None = None,
    ) -> SeriesTable:
        """Return what is released: running totals, single ticks ("tick"), or windows; free.

        `window` is the number of ticks of a window, for example 7 with kind="window". `last` is how
        many of the released ticks are wanted, the newest ones.
        """
        is_running, length = check_kind(kind, window)
        table = self._keeper.read(self.name, is_running, length, confidence)
        return table if last is None else table.last(last)

    def explain(self, *, confidence: Real = 0.95) -> SeriesExplanation:
        """Return its cost, its state and its margins of error; reads no data and costs nothing."""
        return self._keeper.explain(self.name, confidence_level(confidence))

    def __repr__(self) -> str:
        status = self.status
        return f"Series({self.name!r}, {status.released} of {status.ticks} ticks released)"


class Series(SeriesReader):
    """A series as its owner has it."""

    @property
    def reader(self) -> SeriesReader:
        """The same for those who may only read it."""
        return SeriesReader(self.name, self._keeper)

    def tick(self, until: datetime | None = None, *, progress: Progress | None = None) -> int:
        """Release all ticks that are due, and return how many these were.

        The first time, the whole series is charged. `until` stands for the present: an earlier
        moment releases fewer ticks.
        """
        return self._keeper.tick(self.name, until, progress)


class SeriesKeeper:
    """The series of one curator."""

    def __init__(
        self,
        *,
        catalog: Catalog,
        planner: Planner,
        executor: Executor,
        ledger: Ledger,
        entropy: Entropy = SYSTEM,
    ) -> None:
        self._catalog, self._planner = catalog, planner
        self._executor, self._ledger, self._entropy = executor, ledger, entropy
        self._plans: dict[str, SeriesPlan] = {}
        self._records: dict[str, _Released] = {}
        self._definitions: dict[str, SeriesDefinition] = {}
        self._reading = Lock()

    # ----------------------------------------------------------------------- which there are

    def names(self) -> tuple[str, ...]:
        """Return the names of all series: of the catalog, then others that were charged."""
        declared = {each.name.casefold(): each.name for each in self._catalog.series}
        charged = self._ledger.charges_with_prefix(PREFIX, MOST_SERIES)
        others = sorted(each.about["series"] for each in charged if "series" in each.about)
        for each in others:
            declared.setdefault(each.casefold(), each)
        return tuple(declared.values())

    def known(self, name: str) -> str:
        """Return the name of a series as it was declared, in any letter case, or reject it."""
        names = self.names()
        for each in names:
            if isinstance(name, str) and each.casefold() == name.casefold():
                return each
        there = f"Series: {', '.join(names)}" if names else "The catalog declares none"
        fix = did_you_mean(name, names, otherwise=there) if isinstance(name, str) else there
        raise SeriesError(f"There is no series {name!r}", fix)

    def policy(self, name: str) -> SeriesPolicy | None:
        """Return a series as the catalog declares it."""
        folded = name.casefold()
        return next((each for each in self._catalog.series if each.name.casefold() == folded), None)

    # ----------------------------------------------------------------------- planning

    def plan(self, name: str) -> SeriesPlan:
        """Return what is fixed of a series before any data is read; reject what cannot be one."""
        policy = self.policy(name)
        if policy is None:
            raise SeriesError(
                f"The catalog no longer declares the series {name}",
                "Its released ticks can be read. Declare it again to release more",
            )
        if name not in self._plans:
            question = self._planner.checked(policy.question, self._catalog)
            plan = plan_series(
                policy, question, self._catalog.budget, self._public_contents(question)
            )
            for each in plan.queries(1):
                self._planner.bind_query(each)
            self._plans[name] = plan
        return self._plans[name]

    def _public_contents(self, question: Question) -> str:
        """Return what stands for the contents of the public tables that a query reads.

        With other contents, other rows would count, so it would be another series.
        """
        told = []
        for name in public_tables_of(question):
            table = self._catalog.table(name)
            if isinstance(table, PublicTable) and table.may_change:
                raise SeriesError(
                    f"A series cannot use {name}: it stays on a server, where its rows may change",
                    "Leave the join out, or list what is needed of it in the query",
                )
            rows = sorted(map(repr, self._planner.public.table(name).to_pylist()))
            told.append(f"{name}: {sha256(repr(rows).encode()).hexdigest()}")
        return "; ".join(told)

    def definition(self, name: str) -> SeriesDefinition | None:
        """Return a series as it was charged; None if it was not. What is charged never changes."""
        if name not in self._definitions:
            found = self._ledger.find(charge_name(name))
            if not isinstance(found, SavedAnswer):
                return None
            self._definitions[name] = definition_from_bytes(found.answer)
        return self._definitions[name]

    def mechanisms(self, name: str) -> tuple[StreamMechanism, ...]:
        """Return the mechanism of each column, as charged or as planned."""
        stored = self.definition(name)
        measures = self.plan(name).measures if stored is None else stored.measures
        return tuple(each.mechanism for each in measures)

    def cost(self, name: str) -> tuple[Fraction, Fraction]:
        """Return the epsilon and delta of a series, as charged or as planned."""
        found = self.definition(name) or self.plan(name)
        return found.epsilon, found.delta

    def explain(self, name: str, confidence: Fraction) -> SeriesExplanation:
        """Return what a series is like, as charged or as planned."""
        found = self.definition(name)
        if found is None:
            plan = self.plan(name)
            found = definition_of(plan, series_notes(plan, self._catalog.budget.neighbours))
        return explain_series(found, self.status(name, utc_now()), confidence)

    # ----------------------------------------------------------------------- charging, releasing

    def tick(self, name: str, until: datetime | None, progress: Progress | None) -> int:
        """Release the ticks that are due; charge for the series if that was not done."""
        plan, now = self.plan(name), _moment(until)
        due = plan.policy.due(now)
        if due < 1:
            return 0
        receipt = self._charged(plan)
        done = 0
        while (since := self._read_new(plan.policy.name).last) < due:
            last = min(due, since + _ticks_at_once(plan))
            self._release(plan, receipt, since, last)
            done += last - since
            if progress is not None:
                progress(last, due)
        return done

    def _charged(self, plan: SeriesPlan) -> Receipt:
        """Charge for a series, or return the receipt; reject one that was declared otherwise."""
        name = charge_name(plan.policy.name)
        stored = self._ledger.find(name)
        if isinstance(stored, SavedAnswer):
            _check_same(plan, definition_from_bytes(stored.answer))
            return stored.receipt
        item = Item(
            question=name,
            events=plan.events,
            scope=scope_in(plan.aggregation),
            about={
                "series": plan.policy.name,
                "sql": plan.policy.question,
                "identity": plan.identity,
            },
            epsilon=plan.epsilon,
        )
        if stored is not None:  # charged, and stopped before its definition was saved
            (entry,) = self._ledger.charges_with_prefix(name, 1)
            if entry.about.get("identity") != plan.identity or stored.events != plan.events:
                raise _changed(plan.policy.name)
        self._executor.check_least(Price(epsilon=plan.epsilon, delta=plan.delta))
        (receipt,) = self._ledger.charge_all([item])
        definition = definition_of(plan, series_notes(plan, self._catalog.budget.neighbours))
        kept = self._ledger.keep(receipt, bytes_from_definition(definition))
        _check_same(plan, definition_from_bytes(kept))
        return receipt

    def _release(self, plan: SeriesPlan, receipt: Receipt, since: int, last: int) -> None:
        """Release the ticks (since, last]; they are saved before anyone sees them.

        If another process has saved tick since + 1 by then, what was drawn here is dropped unseen.
        """
        statements = tuple(self._planner.bind_query(each) for each in plan.queries(last))
        exact = self._executor.run(statements, receipt, OWNER)

        def draws() -> bytes:
            records = release_ticks(plan, exact, (since, last), entropy=self._entropy)
            return bytes_from_ticks(last, records)

        drawn = self._executor.draw(draws, receipt, OWNER)
        self._ledger.keep_tick(receipt, since + 1, drawn)

    # ----------------------------------------------------------------------- reading

    def status(self, name: str, now: datetime) -> SeriesStatus:
        """Return how far a series is at a moment."""
        stored, policy = self.definition(name), self.policy(name)
        if policy is None:
            assert stored is not None  # noqa: S101 - it is known by one of the two
            released = self._read_new(name).last
            return SeriesStatus(
                is_charged=True, released=released, due=released, ticks=stored.ticks, next_at=None
            )
        released = 0 if stored is None else self._read_new(name).last
        is_over = released >= policy.ticks
        return SeriesStatus(
            is_charged=stored is not None,
            released=released,
            due=max(released, policy.due(now)),
            ticks=policy.ticks,
            next_at=None if is_over else policy.start(released + 2) + policy.wait,
        )

    def read(
        self, name: str, is_running: bool, window: int | None, confidence: Real
    ) -> SeriesTable:
        """Return the released ticks of a series."""
        stored = self.definition(name)
        if stored is None:
            raise SeriesError(
                f"No tick of the series {name} is released yet",
                f"The data owner releases the ticks that are due: discreet series tick {name!r}",
            )
        found = self._read_new(name)
        return read_series(
            stored,
            found.numbers or [[] for _ in stored.measures],
            found.last,
            window=window,
            is_running=is_running,
            confidence=confidence,
        )

    def _read_new(self, name: str) -> "_Released":
        """Return all released numbers; those that were read before are not read again."""
        with self._reading:
            known = self._records.get(name, _Released())
            for stored in self._ledger.ticks(charge_name(name), known.last + 1):
                known = known.with_ticks(*ticks_from_bytes(stored))
            self._records[name] = known
            return known


def explain_all(
    found: Sequence[SeriesReader], *, confidence: Real = 0.95
) -> list[SeriesExplanation]:
    """Return what several series are like; one that is rejected says why and hinders no other."""
    return [_explained(each, confidence_level(confidence)) for each in found]


def _explained(series: SeriesReader, confidence: Fraction) -> SeriesExplanation:
    try:
        return series.explain(confidence=confidence)
    except LedgerError:
        raise
    except DiscreetError as error:
        if series.policy is None:
            raise
        return explain_rejected(series.policy, series.status, confidence, str(error))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Released:
    """Released numbers of a series, up to a tick."""

    last: int = 0
    numbers: tuple[list[list[int]], ...] = ()

    def with_ticks(self, last: int, more: Sequence[list[list[int]]]) -> "_Released":
        before = self.numbers or tuple([] for _ in more)
        joined = tuple([*old, *new] for old, new in zip(before, more, strict=True))
        return _Released(last=last, numbers=joined)


def _moment(until: datetime | None) -> datetime:
    now = utc_now()
    if until is None:
        return now
    if not isinstance(until, datetime):
        raise ParameterError("until", until, "must be a timestamp, or None for now")
    try:
        moment = in_utc(until)
    except OverflowError:
        raise ParameterError(
            "until", until.isoformat(), "must be in a year from 1 to 9999"
        ) from None
    if moment > now:
        raise ParameterError("until", until.isoformat(), "must not be in the future")
    return moment


def _ticks_at_once(plan: SeriesPlan) -> int:
    """Return how many ticks are saved in one entry: each has one number for each cell."""
    return max(1, NUMBERS_AT_ONCE // (len(plan.groups) * len(plan.measures)))


def _check_same(plan: SeriesPlan, stored: SeriesDefinition) -> None:
    if plan.identity != stored.identity or plan.policy.ticks != stored.ticks:
        raise _changed(plan.policy.name)


def _changed(name: str) -> SeriesError:
    return SeriesError(
        f"The series {name} was charged with another query, clock, cost or catalog",
        "Declare it as it was, or give the new one another name",
    )
