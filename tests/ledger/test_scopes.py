"""Tables without a unit in common are charged apart, and no unit is ever charged too much."""

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.accounting import Budget, ConcentratedEvent, Event, Filter, PureEvent, compose
from discreet.errors import BudgetError, LedgerError, ParameterError
from discreet.ledger import Item, SqliteLedger
from discreet.ledger.charges import MOST_CHOICES, Disjoint
from discreet.ledger.stored import StoredLedger
from tests.ledger.stores import FileStore, Store

YEARS = [["v23", "v24", "v25"]]
ONE = Budget(epsilon=1)


def ledger_of(budget: Budget = ONE, disjoint: Iterable[list[str]] = YEARS) -> SqliteLedger:
    return SqliteLedger(budget=budget, disjoint=disjoint)


def left(ledger: StoredLedger, *tables: str) -> Fraction:
    return ledger.remaining(scope=frozenset(tables) or None).epsilon


def pure(tenths: int) -> list[Event]:
    return [PureEvent(epsilon=Fraction(tenths, 10))]


def of(*tables: str) -> frozenset[str]:
    return frozenset(tables)


def test_a_note_with_a_quote_in_its_name_moves_no_charge(store: Store) -> None:
    """The scope was looked for in the stored text, where this name holds what was looked for."""
    notes = {'x"scope': '["v24"]', "y": '"scope":"[\\"v24\\"]"'}
    with store.open(disjoint=YEARS) as ledger:
        ledger.charge("everybody's", pure(3), about=notes)
        ledger.charge("one's", pure(2), about=notes, scope=of("v23"))
        assert [left(ledger, table) * 10 for table in ("v23", "v24", "v25")] == [5, 7, 7]
        _, first, second = ledger.entries()
        assert (first.scope, second.scope) == (None, of("v23"))
        assert first.about == notes


def test_a_question_that_one_table_paid_for_is_not_free_for_another(store: Store) -> None:
    with store.open(disjoint=YEARS) as ledger:
        ledger.charge("q", pure(3), scope=of("v23"))
        for scope in (of("v24"), of("v23", "v24"), None):
            with pytest.raises(ParameterError, match="scope must be that of the charge"):
                ledger.charge("q", pure(3), scope=scope)
        assert ledger.charge("q", pure(3), scope=of("V23")).already_paid
        assert left(ledger, "v24") == 1
        both = [Item(question="two", events=pure(1), scope=of(each)) for each in ("v24", "v25")]
        with pytest.raises(ParameterError, match="scope must be"):
            ledger.charge_all(both)
        assert ledger.find("two") is None


def test_what_everybody_paid_for_stays_free_for_everyone(store: Store) -> None:
    """Charges of ledgers from before there were scopes have none."""
    with store.open(disjoint=YEARS) as ledger:
        ledger.charge("q", pure(3))
        ledger.charge("two", pure(1), scope=of("v23", "v24"))
        assert ledger.charge("q", pure(3), scope=of("v24")).already_paid
        assert ledger.charge("two", pure(1), scope=of("v24")).already_paid


def test_each_partition_has_the_whole_budget(store: Store) -> None:
    with store.open(disjoint=YEARS) as ledger:
        for table in ("v23", "v24", "v25"):
            ledger.charge(table, pure(10), scope=frozenset([table]))
        with pytest.raises(BudgetError, match=r"ε = 0 remains for units of 'v24'"):
            ledger.charge("more", pure(1), scope=frozenset(["v24"]))
        assert ledger.remaining().epsilon == 0
        ledger.verify()


def test_without_a_declaration_charges_add_up_whatever_they_are_about(store: Store) -> None:
    with store.open() as ledger:
        ledger.charge("one", pure(6), scope=frozenset(["v23"]))
        with pytest.raises(BudgetError):
            ledger.charge("two", pure(5), scope=frozenset(["v24"]))


@pytest.mark.parametrize("scope", [None, frozenset(["other"]), frozenset(["v23", "other"])])
def test_what_is_about_tables_outside_the_groups_is_charged_to_everybody(
    scope: frozenset[str] | None,
) -> None:
    ledger = ledger_of()
    ledger.charge("all", pure(4), scope=scope)
    assert {left(ledger, each) for each in ("v23", "v24", "v25")} == {Fraction(6, 10)}
    ledger.charge("one", pure(6), scope=frozenset(["v23"]))
    with pytest.raises(BudgetError):
        ledger.charge("again", pure(1), scope=scope)
    assert left(ledger, "v24") == Fraction(6, 10)


def test_what_is_about_two_partitions_is_charged_to_both() -> None:
    ledger = ledger_of()
    ledger.charge("both", pure(4), scope=frozenset(["v23", "v24"]))
    found = [left(ledger, each) for each in ("v23", "v24", "v25")]
    assert found == [Fraction(6, 10), Fraction(6, 10), 1]
    assert left(ledger, "v24", "v25") == Fraction(6, 10)


def test_a_refusal_tells_the_numbers_of_the_partition_that_was_asked_about() -> None:
    ledger = ledger_of()
    ledger.charge("one", pure(9), scope=frozenset(["v23"]))
    ledger.charge("two", pure(7), scope=frozenset(["v24"]))
    with pytest.raises(BudgetError) as refusal:
        ledger.charge("three", pure(5), scope=frozenset(["V24"]))
    assert refusal.value.tables == ("v24",)
    assert refusal.value.remaining == {"epsilon": Fraction(3, 10)}
    with pytest.raises(BudgetError) as refusal:
        ledger.charge("three", pure(5))
    assert refusal.value.remaining == {"epsilon": Fraction(1, 10)}
    assert left(ledger) == Fraction(1, 10)


def test_the_cap_of_an_analyst_works_alike() -> None:
    ledger = ledger_of()
    ledger.declare_analyst("eve", epsilon=Fraction(1, 2))
    for table in ("v23", "v24"):
        ledger.charge(table, pure(5), account="eve", scope=frozenset([table]))
    words = "remains for units of 'v23' in the cap of analyst 'eve'"
    with pytest.raises(BudgetError, match=words) as refusal:
        ledger.charge("more", pure(1), account="eve", scope=frozenset(["v23"]))
    assert refusal.value.analyst == "eve"
    assert ledger.remaining("eve").epsilon == 0
    assert ledger.remaining("eve", scope=frozenset(["v25"])).epsilon == Fraction(1, 2)
    ledger.charge("owner's", pure(5), scope=frozenset(["v23"]))


def test_the_declaration_may_change_and_old_charges_keep_what_they_were_about(
    durable: Store,
) -> None:
    with durable.open(disjoint=YEARS) as ledger:
        ledger.charge("old", pure(3))
        ledger.charge("one", pure(6), scope=frozenset(["v23"]))
        ledger.charge("two", pure(6), scope=frozenset(["v24"]))
    with durable.existing() as ledger:
        assert ledger.remaining(scope=frozenset(["v25"])).epsilon == Fraction(7, 10)
    with durable.open() as ledger:  # 1.5 is charged to a unit that may be anywhere
        assert ledger.remaining().epsilon == 0
        with pytest.raises(BudgetError):
            ledger.charge("three", pure(1), scope=frozenset(["v25"]))
    with durable.open(disjoint=[["v24", "v23"]]) as ledger:
        assert ledger.remaining(scope=frozenset(["v25"])).epsilon == Fraction(1, 10)
        ledger.verify()


def test_a_scope_is_covered_by_the_digests(file: FileStore) -> None:
    with file.open(disjoint=YEARS) as ledger:
        ledger.charge("one", pure(6), scope=frozenset(["v23"]))
        assert [each.scope for each in ledger.entries()] == [None, frozenset(["v23"])]
    edited = file.path.read_bytes().replace(b'[\\"v23\\"]', b'[\\"v24\\"]')
    file.path.write_bytes(edited)
    with pytest.raises(LedgerError, match="has been changed since it was written"):
        file.open(disjoint=YEARS)


@pytest.mark.parametrize(
    ("disjoint", "words"),
    [
        ([["a"]], "two or more tables"),
        ([["a", "A"]], "two or more tables"),
        ([["a", "b"], ["b", "c"]], "only one group"),
        ([[f"{group}{i}" for i in range(10)] for group in "abcd"], str(MOST_CHOICES)),
        (["ab"], "names of tables"),
        ([[]], "names of tables"),
        ([["a", ""]], "names of tables"),
    ],
)
def test_groups_that_cannot_be_are_refused(disjoint: list[list[str]], words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        ledger_of(disjoint=disjoint)


def test_where_units_are_replaced_nothing_is_disjoint() -> None:
    with pytest.raises(ParameterError, match="a replaced unit may move"):
        SqliteLedger(budget=ONE, neighbours="replace", disjoint=YEARS)


@pytest.mark.parametrize("scope", [frozenset(), "v23", [1], [""], 5])
def test_a_scope_that_names_no_tables_is_refused(scope: object) -> None:
    ledger = ledger_of()
    with pytest.raises(ParameterError, match="scope"):
        ledger.charge("q", pure(1), scope=scope)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="about must not use 'scope'"):
        ledger.charge("q", pure(1), about={"scope": '["v23"]'})


def test_a_report_tells_what_is_left_for_each_and_the_most_that_one_unit_lost() -> None:
    ledger = ledger_of()
    ledger.charge("one", pure(6), scope=frozenset(["v23"]))
    ledger.charge("two", pure(5), scope=frozenset(["v24"]))
    report = ledger.report()
    lefts = {table: each.epsilon for table, each in report.partitions.items()}
    assert lefts == {"v23": Fraction(4, 10), "v24": Fraction(5, 10), "v25": 1}
    assert report.price.epsilon == Fraction(6, 10)
    assert report.charged.epsilon == Fraction(11, 10)


# --------------------------------------------------------------------------- for every sequence

TABLES = ["a1", "a2", "a3", "b1", "b2", "c", "d"]
GROUPS = [["a1", "a2", "a3"], ["b1", "b2"]]


@dataclass(frozen=True)
class Asked:
    """A release as the one who is charged sees it: what it costs and which tables it reads."""

    event: Event
    tables: frozenset[str] | None
    account: str


def unions(groups: list[list[str]]) -> list[frozenset[str]]:
    """Return all that a unit can be in: one table of each group or none, and any others."""
    inside = {table for group in groups for table in group}
    others = [[None, table] for table in TABLES if table not in inside]
    choices = product(*[[None, *group] for group in groups], *others)
    return [frozenset(each for each in choice if each is not None) for choice in choices]


def is_within(asked: list[Asked], budget: Budget) -> bool:
    """Return whether every unit, wherever it can be, lost no more than the budget allows."""
    for places in unions(GROUPS):
        mine = [each.event for each in asked if each.tables is None or each.tables & places]
        state = budget
        try:
            for event in mine:
                state = state.charge(event)
        except BudgetError:
            return False
    return True


events = st.one_of(
    st.integers(1, 6).map(lambda n: PureEvent(epsilon=Fraction(n, 10))),
    st.integers(1, 6).map(lambda n: ConcentratedEvent(rho=Fraction(n, 100))),
)
pures = st.integers(1, 6).map(lambda n: PureEvent(epsilon=Fraction(n, 10)))
scopes = st.one_of(
    st.none(),
    st.frozensets(st.sampled_from(TABLES), min_size=1, max_size=3),
    st.sampled_from(TABLES).map(lambda each: frozenset([each])),
)
BUDGETS = {
    Filter.BASIC: (Budget(epsilon=1), pures),
    Filter.CONCENTRATED: (Budget(epsilon=1, delta=Fraction(1, 10**6)), events),
}


@pytest.mark.parametrize("kind", BUDGETS)
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_a_charge_is_allowed_exactly_if_no_unit_loses_too_much(
    kind: Filter, data: st.DataObject
) -> None:
    """Against brute force: the sum for every unit, wherever the declaration lets it be."""
    budget, some = BUDGETS[kind]
    cap = Budget(epsilon=Fraction(7, 10), delta=budget.delta)
    with SqliteLedger(budget=budget, disjoint=GROUPS) as ledger:
        ledger.declare_analyst("eve", epsilon=cap.epsilon)
        paid: list[Asked] = []
        for number in range(data.draw(st.integers(1, 8))):
            asked = Asked(data.draw(some), data.draw(scopes), data.draw(st.sampled_from(ACCOUNTS)))
            own = [each for each in paid if each.account == asked.account]
            fits = is_within([*paid, asked], budget)
            if asked.account == "eve":
                fits = fits and is_within([*own, asked], cap)
            try:
                ledger.charge(str(number), [asked.event], account=asked.account, scope=asked.tables)
            except BudgetError:
                assert not fits
            else:
                assert fits
                paid.append(asked)


ACCOUNTS = ["owner", "owner", "eve"]


def test_the_brute_force_catches_a_ledger_that_forgets_tables_outside(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A broken twin: what is about tables outside the groups is charged to nobody."""
    asked = [Asked(PureEvent(epsilon=Fraction(6, 10)), frozenset(["c"]), "owner")] * 2

    def forgetful(_: Disjoint, scope: frozenset[str] | None, choice: frozenset[str]) -> bool:
        return scope is None or bool(scope & choice)

    monkeypatch.setattr(Disjoint, "concerns", forgetful)
    with SqliteLedger(budget=ONE, disjoint=GROUPS) as ledger:
        ledger.check([Item(question="q", events=[e.event], scope=e.tables) for e in asked])
    assert not is_within(asked, ONE)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.tuples(pures, scopes), min_size=1, max_size=6))
def test_a_report_is_never_less_than_what_any_unit_lost(
    charges: list[tuple[PureEvent, frozenset[str] | None]],
) -> None:
    with SqliteLedger(budget=Budget(epsilon=100), disjoint=GROUPS) as ledger:
        for number, (event, scope) in enumerate(charges):
            ledger.charge(str(number), [event], scope=scope)
        told = ledger.report().price.epsilon
    worst = max(
        compose([e for e, scope in charges if scope is None or scope & places], 0).epsilon
        for places in unions(GROUPS)
    )
    assert told == worst


# --------------------------------------------------------------------------- several at once


def test_items_with_other_scopes_are_charged_together_or_not_at_all(store: Store) -> None:
    with store.open(disjoint=YEARS) as ledger:
        one = Item(question="one", events=pure(6), scope=frozenset(["v23"]))
        two = Item(question="two", events=pure(6), scope=frozenset(["v24"]))
        both = Item(question="both", events=pure(5), scope=frozenset(["v23", "v24"]))
        with pytest.raises(BudgetError, match=r"would cost ε = 1\.1"):
            ledger.charge_all([one, two, both])
        assert ledger.charged().epsilon == 0
        assert [each.already_paid for each in ledger.charge_all([one, two])] == [False, False]
        with pytest.raises(BudgetError, match=r"would cost ε = 0\.5, and ε = 0\.4 remains"):
            ledger.charge_all([one, two, both])
