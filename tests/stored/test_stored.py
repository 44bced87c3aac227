"""Whatever is stored stays what it is: names of releases, events, reports, forms, SQL, ledgers."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime, tzinfo
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from discreet.account_limits import AccountLimits
from discreet.accounting.events import KINDS as TAGS
from discreet.accounting.events import event_from_record
from discreet.curator import Curator
from discreet.ledger import SavedAnswer, SqliteLedger, make_token
from discreet.ledger.inputs import analyst_from_record, record_from_analyst
from discreet.ledger.state import KINDS as ENTRIES
from discreet.local import Client, Memoized, Reports, fingerprint
from discreet.local.registry import KINDS as MECHANISMS
from discreet.query.expressions.functions import FUNCTIONS
from tests.replay import ReplayableEntropy
from tests.stored import forms, ledgers, local_reports
from tests.stored.events import EVENTS, records
from tests.stored.golden import golden, golden_text
from tests.stored.identities import identities, intervals
from tests.stored.ledgers import (
    CHARGED_ANEW,
    NARROWER,
    QUESTIONS,
    ask,
    demo,
    load_ledger,
    write_data,
)
from tests.stored.questions import CORPUS, FOUND, KINDS, UNITS
from tests.stored.statements import ENGINES, statements


def test_releases_are_called_in_ledgers_what_they_were_called() -> None:
    """Else every question that was paid for would be charged again."""
    known = golden("identities.json")
    assert list(known) == [*CORPUS, *UNITS, *KINDS, *(f"bounds of {each}" for each in FOUND)]
    found = identities()
    assert [each for each in known if found[each] != known[each]] == []


def test_releases_with_intervals_have_names_of_their_own() -> None:
    """Only those of selected values: all others are called what they always were."""
    known = golden("intervals.json")
    assert intervals() == known
    selected = ("MEDIAN(", "MIN(", "MAX(", "QUANTILE", "PERCENTILE")
    assert all(any(each in sql.upper() for each in selected) for sql in known)


def test_functions_that_questions_may_call_keep_their_names() -> None:
    """They are part of what releases are called."""
    known = set(golden("functions.json"))
    assert known <= set(FUNCTIONS)
    assert set(FUNCTIONS) <= known, "a new function: add its name to functions.json, for ever"


@pytest.mark.parametrize("engine", ENGINES)
def test_engines_are_told_what_they_were_told(engine: str) -> None:
    """Which rows of a unit count, and how values are compared, follows from the text."""
    known, found = golden_text(f"{engine}.sql").split("\n\n"), statements(engine).split("\n\n")
    finer = golden_text(f"{engine}_intervals.sql").split("\n\n")
    pairs = zip(known, found, strict=True)
    assert [new for old, new in pairs if new != old] == finer
    with_intervals = {" ".join(each.split()) for each in golden("intervals.json")}
    assert {each.splitlines()[0].removeprefix("-- ") for each in finer} <= with_intervals


def test_events_are_recorded_as_they_were() -> None:
    known = golden("events.json")
    assert records() == known
    assert list(known) == list(TAGS)
    assert tuple(map(event_from_record, known.values())) == EVENTS


def test_prepared_forms_are_looked_for_under_the_same_names(tmp_path: Path) -> None:
    assert forms.texts(tmp_path) == golden("forms.json")


# --------------------------------------------------------------------------- the local model

LOCAL: dict[str, dict[str, Any]] = golden("local.json")


def test_every_local_mechanism_is_there() -> None:
    assert list(LOCAL) == list(local_reports.CASES)
    assert {each["json"]["mechanism"] for each in LOCAL.values()} == set(MECHANISMS)


@pytest.mark.parametrize("name", LOCAL)
def test_devices_send_and_keep_what_they_did(name: str) -> None:
    assert local_reports.reports(name) == LOCAL[name]


@pytest.mark.parametrize("name", LOCAL)
def test_what_devices_sent_and_kept_is_read(name: str) -> None:
    known = LOCAL[name]
    mechanism = local_reports.reread(known)
    assert fingerprint(mechanism).hex() == known["fingerprint"]
    sent = [bytes.fromhex(each) for each in known["reports"]]
    assert all(len(Reports.from_bytes(mechanism, each)) == 1 for each in sent)
    assert local_reports.tally_of(mechanism, sent) == known["tally"]
    state = json.dumps(known["state"])
    keeping = mechanism if name in local_reports.STATEFUL else Memoized(mechanism)
    assert Client.from_json(keeping, state).to_json() == state


# --------------------------------------------------------------------------- ledgers


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with few of the rows: answers come from the ledger."""
    folder = tmp_path_factory.mktemp("demo")
    write_data(folder, rows=40)
    return folder


@pytest.fixture(params=list(QUESTIONS))
def paid(
    request: pytest.FixtureRequest, data: Path, tmp_path: Path
) -> Iterator[tuple[str, Curator]]:
    """Return the name of a golden ledger and a curator that has it."""
    with demo(request.param, data, load_ledger(request.param, tmp_path)) as curator:
        yield request.param, curator


TIGHTER_NOW = "SELECT 100.0 * COUNT(*) FILTER (WHERE smokes) / COUNT(*) AS share FROM patients"
"""Its numbers are what they were. ± is computed anew: both counts are read off the same cells."""


def test_what_was_paid_for_is_free_and_the_same(paid: tuple[str, Curator]) -> None:
    name, curator = paid
    answers, before = golden(f"{name}_answers.json"), curator.remaining
    for question, known in zip(QUESTIONS[name], answers, strict=True):
        if question[0] in CHARGED_ANEW:
            continue
        found = ask(curator, question)
        errors, margins = known.pop("errors", {}), found.pop("errors", {})
        assert found == known, question
        assert list(margins) == list(errors)
        for column, each in margins.items():
            if question[0] == TIGHTER_NOW:
                (new,), (old,) = each, errors[column]
                assert old / 2 < new < old
                continue
            assert each == pytest.approx(errors[column], rel=1e-12), question
    assert curator.remaining == before


def test_what_is_another_release_by_now_is_charged_anew(paid: tuple[str, Curator]) -> None:
    name, curator = paid
    for sql, terms in QUESTIONS[name]:
        if sql in CHARGED_ANEW:
            explanation = curator.explain(sql, **terms)
            assert explanation.due == explanation.price


def test_a_narrower_question_is_read_off_what_was_paid_for(paid: tuple[str, Curator]) -> None:
    name, curator = paid
    before = curator.remaining
    for sql, terms in NARROWER[name]:
        assert curator.ask(sql, **terms).charged.epsilon == 0, sql
    assert curator.remaining == before


CHARGED = {
    "ledger_2": ("431379/10000", "1/50000", 37),
    "ledger_3": ("1429/400", "1/100000", 12),
    "ledger_4": ("14", "0", 3),
}
"""Of each ledger: the epsilon (the rho where it counts) and the delta in all, and its charges."""


def test_ledgers_hold_what_they_held(paid: tuple[str, Curator]) -> None:
    name, curator = paid
    ledger = curator._ledger
    ledger.verify()
    entries, charged = list(ledger.entries()), ledger.charged()
    charges = [each for each in entries if each.kind == "charge"]
    amount = charged.rho if name == "ledger_3" else charged.epsilon
    assert (str(amount), str(charged.delta), len(charges)) == CHARGED[name]
    if name == "ledger_2":
        assert {each.kind for each in entries} == set(ENTRIES) - {"request", "decision"}
        (incident,) = [each for each in curator.incidents() if each.failure == "memory"]
        assert incident.account == "max"
        unanswered = [
            each for each in charges if not isinstance(ledger.find(each.question), SavedAnswer)
        ]
        assert [each.about["sql"] for each in unanswered] == [ledgers.FAILS]
    if name == "ledger_4":
        assert {each.about["scope"] for each in charges} == {'["north"]', '["south"]'}


def test_a_failed_question_was_charged_and_is_free(data: Path, tmp_path: Path) -> None:
    with demo("ledger_2", data, load_ledger("ledger_2", tmp_path)) as curator:
        before = curator.remaining_of("max")
        answer = curator.ask(ledgers.FAILS, epsilon=1, account="max")
        assert answer.charged.epsilon == 0
        assert curator.remaining_of("max") == before


HEAD = "997e2cee81da9dddb36738eea26522cf4038cf93fb91f735d7b6a54e9cf871e6"
"""The digest of the last entry of the fifth ledger."""


def test_roles_requests_and_decisions_are_read_as_they_were_written(tmp_path: Path) -> None:
    with SqliteLedger.existing(load_ledger("ledger_5", tmp_path)) as ledger:
        ledger.verify()
        assert ledger.head() == HEAD
        assert {each.kind for each in ledger.entries()} == {
            "policy",
            "analyst",
            "request",
            "decision",
        }
        assert {each.name: (each.role, str(each.epsilon)) for each in ledger.analysts()} == {
            "eve": ("analyst", "2"),
            "rea": ("reader", "0"),
            "ann": ("owner", "0"),
        }
        assert ledger.analysts()[0].delta == Fraction(1, 10**8)
        found = ledger.requests()
        assert [(each.number, each.kind, each.state, each.by) for each in found] == [
            (5, "cap", "granted", "ann"),
            (6, "question", "granted", "ann"),
            (7, "question", "declined", "owner"),
            (8, "cap", "open", ""),
        ]
        assert (str(found[0].epsilon), str(found[0].granted_epsilon)) == ("4", "2")
        assert (found[3].delta, found[3].reason) == (Fraction(1, 10**7), "a third, in São Paulo")
        assert ledger.is_approved("eve", ledgers.APPROVED)
        assert not ledger.is_approved("eve", "another")


LIMITED_HEAD = "86f5830b9f205560895201bd162fe3cfc27444e17b5702506a7bc2bd615460e6"
"""The digest of the last entry of the sixth ledger."""


def test_verifiers_limits_and_stated_costs_are_read_as_they_were_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Earlier(datetime):
        @classmethod
        def now(cls, tz: tzinfo | None = None) -> "Earlier":
            return cls(2026, 1, 1, tzinfo=tz)

    token = make_token(ReplayableEntropy("ledger_6"))
    with SqliteLedger.existing(load_ledger("ledger_6", tmp_path)) as ledger:
        ledger.verify()
        assert ledger.head() == LIMITED_HEAD
        (eve,) = ledger.analysts()
        assert (eve.token_hash, eve.scram) == (token.hash, token.scram)
        monkeypatch.setattr("discreet.ledger.storage.datetime", Earlier)
        assert ledger.limits_of("eve") == AccountLimits(
            per_query=Fraction(1, 2),
            per_day=Fraction(2),
            remaining_today=2 - Fraction(1, 4) - Fraction(1, 8),
            default_epsilon=Fraction(1, 20),
            confirm_above=Fraction(0),
            renewed=datetime(2026, 11, 19, tzinfo=UTC),
        )


@pytest.mark.parametrize("name", ["ledger_2", "ledger_5", "ledger_6"])
def test_an_account_is_written_again_as_it_was_when_it_was_first(name: str, tmp_path: Path) -> None:
    with SqliteLedger.existing(load_ledger(name, tmp_path)) as ledger:
        accounts = [each for each in ledger.entries() if each.kind == "analyst"]
    assert accounts
    for each in accounts:
        read = analyst_from_record(each.account, each.about)
        assert record_from_analyst(read) == dict(each.about)
