"""With a budget per month no month is ever charged more than the total, whoever charges it."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.accounting import Budget, ConcentratedEvent, Event, Filter, PureEvent
from discreet.errors import BudgetError, LedgerError, ParameterError
from discreet.ledger import Item, PerMonth, SqliteLedger
from discreet.ledger.stored import StoredLedger
from discreet.months import Months, MonthSpan
from tests.ledger.stores import Store

PER = PerMonth(tables={"visits": "came", "people": ""})
ONE = Budget(epsilon=1)
JANUARY = 24276
LINE = range(JANUARY - 1, JANUARY + 8)
"""Months of which the first and the last stand for all before and after."""


def of(first: int | None, last: int | None) -> Months:
    ends = [None if each is None else JANUARY + each for each in (first, last)]
    return Months((MonthSpan(first=ends[0], last=ends[1]),))


def pure(tenths: int) -> list[Event]:
    return [PureEvent(epsilon=Fraction(tenths, 10))]


def ledger_of(budget: Budget = ONE) -> SqliteLedger:
    return SqliteLedger(budget=budget, per_month=PER)


def left(ledger: StoredLedger, month: int) -> Fraction:
    return ledger.remaining(scope=of(month, month)).epsilon


def test_a_charge_takes_only_from_its_months() -> None:
    with ledger_of() as ledger:
        ledger.charge("q", pure(3), scope=of(1, 3))
        ledger.charge("r", pure(2), scope=of(3, None))
        found = [left(ledger, month) * 10 for month in range(6)]
        assert found == [10, 7, 7, 5, 8, 8]
        assert ledger.remaining().epsilon * 10 == 5
        assert ledger.remaining(scope=of(None, 0)).epsilon == 1


def test_what_is_about_a_table_without_months_takes_from_every_month() -> None:
    with ledger_of() as ledger:
        ledger.charge("q", pure(3), scope=frozenset(["people"]))
        ledger.charge("r", pure(2))
        assert {left(ledger, month) * 10 for month in (-9999, 0, 5000)} == {5}


def test_a_month_that_is_spent_rejects_and_is_named_and_others_go_on() -> None:
    with ledger_of() as ledger:
        ledger.charge("q", pure(10), scope=of(1, 1))
        with pytest.raises(BudgetError, match=r"ε = 0 remains for 2024-02\b") as caught:
            ledger.charge("r", pure(1), scope=of(0, 2))
        assert caught.value.months == "2024-02"
        ledger.charge("r", pure(10), scope=of(2, None))
        with pytest.raises(BudgetError, match="2024-03 and every later month"):
            ledger.charge("s", pure(1), scope=of(2, None))
        assert left(ledger, 0) == 1


scopes = st.one_of(
    st.none(),
    st.just(frozenset(["people"])),
    st.lists(
        st.tuples(st.none() | st.integers(0, 6), st.none() | st.integers(0, 6)).filter(
            lambda ends: ends[0] is None or ends[1] is None or ends[0] <= ends[1]
        ),
        min_size=1,
        max_size=3,
    ).map(lambda found: Months(tuple(each for ends in found for each in of(*ends).spans))),
)
charges = st.lists(
    st.tuples(
        st.lists(st.tuples(scopes, st.integers(1, 6)), min_size=1, max_size=3), st.booleans()
    ),
    max_size=10,
)


def months_of(scope: object) -> list[int]:
    if not isinstance(scope, Months):
        return list(LINE)
    return [n for n in LINE if scope.overlaps(MonthSpan(first=n, last=n))]


@given(charges, st.sampled_from([Filter.BASIC, Filter.CONCENTRATED]))
@settings(max_examples=60, deadline=None)
def test_exactly_the_charges_are_allowed_that_keep_every_month_within_the_total(
    asked: list[tuple[list[tuple[object, int]], bool]], kind: Filter
) -> None:
    """Against a model that adds up month by month, of the ledger and of an analyst's cap."""
    if kind is Filter.BASIC:
        total, cap = Fraction(1), Fraction(6, 10)
        budget = Budget(epsilon=1)
    else:
        budget = Budget(
            epsilon=1, delta=Fraction(1, 10**6), filter=kind, set_aside=Fraction(1, 2 * 10**6)
        )
        total = cap = Fraction(0)
    paid = dict.fromkeys(LINE, Fraction(0))
    own = dict.fromkeys(LINE, Fraction(0))
    with SqliteLedger(budget=budget, per_month=PER) as ledger:
        ledger.declare_cap("ann", epsilon=Fraction(6, 10))
        if kind is Filter.CONCENTRATED:
            total, cap = ledger.remaining().rho, ledger.remaining("ann").rho
        unit = Fraction(1, 10) if kind is Filter.BASIC else total / 10
        for number, (lines, is_ann) in enumerate(asked):
            items = [
                Item(question=f"{number} {place}", events=[_event(kind, size * unit)], scope=scope)  # type: ignore[arg-type]
                for place, (scope, size) in enumerate(lines)
            ]
            after = {n: paid[n] + _taken(lines, n, unit) for n in LINE}
            own_after = {n: own[n] + _taken(lines, n, unit) for n in LINE}
            fits = all(each <= total for each in after.values())
            if is_ann:
                fits = fits and all(each <= cap for each in own_after.values())
            account = "ann" if is_ann else "owner"
            if fits:
                ledger.charge_all(items, account=account)
                paid, own = after, own_after if is_ann else own
            else:
                with pytest.raises(BudgetError):
                    ledger.charge_all(items, account=account)
            for month in LINE:
                here = Months((MonthSpan(first=month, last=month),))
                remaining = ledger.remaining(scope=here)
                amount = remaining.epsilon if kind is Filter.BASIC else remaining.rho
                assert amount == total - paid[month]


def _event(kind: Filter, amount: Fraction) -> Event:
    return PureEvent(epsilon=amount) if kind is Filter.BASIC else ConcentratedEvent(rho=amount)


def _taken(lines: Sequence[tuple[object, int]], month: int, unit: Fraction) -> Fraction:
    return sum((size * unit for scope, size in lines if month in months_of(scope)), Fraction(0))


def test_threads_that_charge_different_months_never_overspend_one(durable: Store) -> None:
    durable.open(ONE, per_month=PER).close()

    def charge(thread: int) -> int:
        paid = 0
        with durable.open(ONE, per_month=PER) as ledger:
            for n in range(14):
                first = (thread + n) % 4
                try:
                    ledger.charge(f"{thread} {n}", pure(2), scope=of(first, first + n % 2))
                    paid += 1
                except BudgetError:
                    pass
        return paid

    with ThreadPoolExecutor(4) as pool:
        paid = sum(pool.map(charge, range(4)))
    with durable.existing() as ledger:
        taken = dict.fromkeys(LINE, Fraction(0))
        found = [each for each in ledger.entries() if each.kind == "charge"]
        for each in found:
            for month in months_of(each.scope):
                taken[month] += Fraction(2, 10)
        assert len(found) == paid
        assert max(taken.values()) == 1
        assert all(left(ledger, n - JANUARY) == 1 - taken[n] for n in LINE)


def test_asking_about_every_month_and_all_of_them_spends_no_month_twice() -> None:
    """An attack: each month for itself, then pairs, then all; some month is always spent."""
    with ledger_of() as ledger:
        for month in range(7):
            ledger.charge(f"{month}", pure(10), scope=of(month, month))
        for first in range(7):
            for last in (*range(first, 7), None):
                with pytest.raises(BudgetError):
                    ledger.charge(f"{first} {last}", pure(1), scope=of(first, last))
        with pytest.raises(BudgetError):
            ledger.charge("all", pure(1))
        assert left(ledger, 7) == 1


def test_a_name_that_was_paid_for_some_months_is_not_free_for_others() -> None:
    with ledger_of() as ledger:
        ledger.charge("q", pure(3), scope=of(1, 3))
        assert ledger.charge("q", pure(3), scope=of(2, 3)).already_paid
        for scope in (of(0, 3), of(None, None), None, frozenset(["visits"])):
            with pytest.raises(ParameterError, match="scope must be that of the charge"):
                ledger.charge("q", pure(3), scope=scope)


def test_months_are_noted_in_the_entry_and_by_nobody_else() -> None:
    with ledger_of() as ledger:
        ledger.charge("q", pure(3), scope=of(0, 2))
        *_, entry = ledger.entries()
        assert entry.scope == of(0, 2)
        assert entry.about == {"scope.months": "2024-01..2024-03"}
        with pytest.raises(ParameterError, match=r"must not use 'scope\.months'"):
            ledger.charge("r", pure(1), about={"scope.months": "2024-01..2024-01"})


def test_a_ledger_without_months_counts_charges_of_months_for_everybody() -> None:
    with SqliteLedger(budget=ONE) as ledger:
        ledger.charge("q", pure(3), scope=of(0, 2))
        ledger.charge("r", pure(3), scope=of(4, 4))
        assert ledger.remaining().epsilon * 10 == 4
        with pytest.raises(BudgetError):
            ledger.charge("s", pure(5), scope=of(6, 6))


def test_what_is_left_by_month_is_listed_in_order_for_each_account() -> None:
    with ledger_of() as ledger:
        ledger.declare_cap("ann", epsilon=Fraction(1, 2))
        ledger.charge("q", pure(3), scope=of(1, 3), account="ann")
        ledger.charge("r", pure(8), scope=of(4, 4))
        ledger.charge("s", pure(7), scope=of(3, 3))
        with ledger.view() as view:
            owner, ann = view.by_month(), view.by_month("ann")
            report = view.report()
        assert {name: each.remaining.epsilon * 10 for name, each in owner.items()} == {
            "before 2024-02": 10,
            "2024-02 to 2024-03": 7,
            "2024-04": 0,
            "2024-05": 2,
            "from 2024-06": 10,
        }
        assert [each.remaining.epsilon * 10 for each in ann.values()] == [5, 2, 0, 2, 5]
        assert list(report.months) == list(owner)


# --------------------------------------------------------------------------- what may change


def reopened(place: Path, per_month: PerMonth | None) -> None:
    SqliteLedger(place, budget=ONE, per_month=per_month).close()


@pytest.mark.parametrize(
    ("other", "why"),
    [
        (None, "a budget per month and opened with one for all months together"),
        (PerMonth(tables={"visits": "other"}), "the arrival column 'came' of 'visits'"),
        (PerMonth(tables={"visits": "", "new": "at"}), "opened with no arrival column"),
        (PerMonth(tables={"visits": "came", "people": "at"}), "no arrival column of 'people'"),
        (PerMonth(tables={"visits": "came"}, most=3), "months_per_unit = none"),
    ],
)
def test_what_charges_rest_on_cannot_change(
    tmp_path: Path, other: PerMonth | None, why: str
) -> None:
    place = tmp_path / "ledger.db"
    reopened(place, other)  # nothing is charged yet
    with SqliteLedger(place, budget=ONE, per_month=PER) as ledger:
        ledger.charge("q", pure(1), scope=of(0, 0))
    with pytest.raises(LedgerError, match=why):
        reopened(place, other)
    reopened(place, PER)


def test_a_ledger_with_charges_cannot_become_one_per_month(tmp_path: Path) -> None:
    """A unit's rows of one month can move old answers by more than all its rows were charged."""
    place = tmp_path / "ledger.db"
    with SqliteLedger(place, budget=ONE) as ledger:
        ledger.charge("q", pure(1))
    with pytest.raises(LedgerError, match="for all months together and opened with one per month"):
        reopened(place, PER)


OTHER = PerMonth(tables=dict.fromkeys(PER.tables, "left"))


@pytest.mark.parametrize(
    ("first", "second"), [(PER, None), (None, PER), (PER, OTHER), (PER, replace(PER, most=1))]
)
def test_sessions_that_bound_rows_differently_never_charge_one_ledger(
    tmp_path: Path, first: PerMonth | None, second: PerMonth | None
) -> None:
    """Before anything is charged the policy may change, and a session that is open may not know."""
    place = tmp_path / "ledger.db"
    with (
        SqliteLedger(place, budget=ONE, per_month=first) as before,
        SqliteLedger(place, budget=ONE, per_month=second) as after,
    ):
        with pytest.raises(LedgerError, match="The ledger was created with"):
            before.charge("q", pure(1))
        after.charge("q", pure(1))
        with pytest.raises(LedgerError, match="The ledger was created with"):
            before.charge("r", pure(1))
        assert [each.kind for each in after.entries()].count("charge") == 1


def test_older_versions_reject_a_ledger_per_month(tmp_path: Path) -> None:
    """They look for epsilon in a policy, and know no months."""
    with SqliteLedger(tmp_path / "ledger.db", budget=ONE, per_month=PER) as ledger:
        (entry,) = ledger.entries()
        assert "epsilon" not in entry.about
        assert entry.about["epsilon_per_month"] == "1"


def test_a_table_may_come_and_go_and_is_then_what_it_was(tmp_path: Path) -> None:
    place = tmp_path / "ledger.db"
    with SqliteLedger(place, budget=ONE, per_month=PER) as ledger:
        ledger.charge("q", pure(1), scope=of(0, 0))
    fewer = PerMonth(tables={"visits": "came", "new": "at"})
    for _ in range(2):
        reopened(place, fewer)
    with SqliteLedger.existing(place) as ledger:
        assert sum(each.kind == "policy" for each in ledger.entries()) == 2
    with pytest.raises(LedgerError, match="no arrival column of 'people'"):
        reopened(place, PerMonth(tables={"people": "at", "visits": "came"}))
    with pytest.raises(LedgerError, match="the arrival column 'at' of 'new'"):
        reopened(place, PerMonth(tables={"new": "", "visits": "came"}))


@pytest.mark.parametrize("declared", [{"neighbours": "replace"}, {"disjoint": [["a", "b"]]}])
def test_months_need_add_remove_neighbours_and_no_disjoint_tables(
    declared: dict[str, object],
) -> None:
    with pytest.raises(ParameterError, match="per_month must be None unless"):
        SqliteLedger(budget=ONE, per_month=PER, **declared)  # type: ignore[arg-type]
