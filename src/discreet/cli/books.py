"""`discreet budget` and `discreet ledger`: what was asked, what it cost, what is left."""

import json
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime
from fractions import Fraction
from math import isinf
from pathlib import Path

from discreet.accounting import Budget, Charge
from discreet.answer import Balance
from discreet.answer.amounts import amount_up
from discreet.answer.cells import clipped, visible
from discreet.answer.layout import ShownColumn
from discreet.answer.text import table_lines
from discreet.catalog import read
from discreet.cli.screen import show
from discreet.ledger import Entry, Ledger, existing_ledger
from discreet.ledger.prices import one_event
from discreet.opening import ledger_place

QUESTION_WIDTH, WIDTH = 62, 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A question that was paid for."""

    written: datetime
    account: str
    price: Charge
    sql: str


def show_budget(catalog: Path, *, is_json: bool) -> None:
    """Print what is left and what was asked; reads no data."""
    balance, questions = balance_of(catalog), questions_of(catalog)
    if is_json:
        told = [_record(each) for each in questions]
        show(json.dumps({"remaining": balance.to_json(), "questions": told}, indent=2))
        return
    show(f"left {balance}")
    show("\n".join(_lines(questions)) if questions else "nothing was asked yet")


def place_of(place: str | None, catalog: Path) -> str | Path:
    """Return where the ledger is: as named, else that of the catalog."""
    return place or ledger_place(catalog)


def show_ledger(place: str | Path) -> None:
    """Print every entry of a ledger."""
    with closing(existing_ledger(place)) as ledger:
        entries = list(ledger.entries())
    columns: dict[str, list[str]] = {
        "entry": [str(each.number) for each in entries],
        "when (UTC)": [_moment(each.written) for each in entries],
        "kind": [str(each.kind) for each in entries],
        "account": [each.account for each in entries],
        "digest": [each.digest[:12] for each in entries],
        "what": [_what(each) for each in entries],
    }
    show("\n".join(_table(columns)))


def verify_ledger(place: str | Path, head: str | None) -> None:
    """Print the ledger's head if every entry is as it was written, else raise LedgerError."""
    with closing(existing_ledger(place)) as ledger:
        ledger.verify(head)
        count = sum(1 for _ in ledger.entries())
        show(f"{count} entries, each as it was written\nhead {ledger.head()}")


def balance_of(catalog: Path) -> Balance:
    """Return what is left: all of the budget before anything was asked."""
    place = ledger_place(catalog)
    if not place.exists():
        policy = read(catalog).budget
        return _balance(policy.epsilon, policy.delta, policy.epsilon, policy.delta)
    with closing(existing_ledger(place)) as ledger:
        left, total = ledger.remaining(), _policy(ledger)
    return _balance(left.epsilon, left.delta, total.epsilon, total.delta)


def questions_of(catalog: Path) -> list[Asked]:
    """Return the questions that were paid for, in order."""
    place = ledger_place(catalog)
    if not place.exists():
        return []
    with closing(existing_ledger(place)) as ledger:
        total = _policy(ledger)
        return [
            Asked(
                written=entry.written,
                account=entry.account,
                price=total.price(one_event(entry.events)),
                sql=entry.about.get("sql", ""),
            )
            for entry in ledger.entries()
            if entry.kind == "charge"
        ]


def _policy(ledger: Ledger) -> Budget:
    """Return the total in force, uncharged: the last that was declared."""
    declared = [each.about for each in ledger.entries() if each.kind == "policy"][-1]
    return Budget(
        epsilon=Fraction(declared["epsilon"]),
        delta=Fraction(declared["delta"]),
        filter=declared["filter"],
        set_aside=Fraction(declared["set_aside"]),
    )


def _balance(epsilon: Fraction, delta: Fraction, total: Fraction, total_delta: Fraction) -> Balance:
    return Balance(epsilon=epsilon, delta=delta, total_epsilon=total, total_delta=total_delta)


def _lines(questions: Sequence[Asked]) -> Iterator[str]:
    columns = {
        "when (UTC)": [_moment(each.written) for each in questions],
        "ε": [_epsilon(each.price) for each in questions],
        "δ": [amount_up(each.price.delta) for each in questions],
        "question": [_one_line(each.sql) for each in questions],
    }
    return _table(columns)


def _epsilon(price: Charge) -> str:
    """Return the epsilon, or rho where Gaussian noise is accounted for by it."""
    if isinf(price.epsilon):
        return f"ρ = {amount_up(Fraction(price.rho))}"
    return amount_up(Fraction(price.epsilon))


def _record(asked: Asked) -> dict[str, object]:
    price = asked.price
    return {
        "written": asked.written.isoformat(),
        "account": asked.account,
        "epsilon": None if isinf(price.epsilon) else float(price.epsilon),
        "rho": None if isinf(price.rho) else float(price.rho),
        "delta": float(price.delta),
        "question": asked.sql,
    }


def _what(entry: Entry) -> str:
    if entry.kind in {"policy", "analyst"}:
        told = sorted(each for each in entry.about.items() if each[0] != "token")
        return ", ".join(f"{name} {value}" for name, value in told)
    return entry.about.get("sql", entry.question) if entry.kind == "charge" else ""


def _moment(written: datetime) -> str:
    return f"{written:%Y-%m-%d %H:%M:%S}"


def _one_line(sql: str) -> str:
    return " ".join(sql.split())


def _table(columns: dict[str, list[str]]) -> Iterator[str]:
    shown = [
        ShownColumn(
            header=header,
            cells=tuple(clipped(visible(_one_line(cell)), QUESTION_WIDTH) for cell in cells),
            is_right=False,
        )
        for header, cells in columns.items()
    ]
    return table_lines([(each,) for each in shown], width=WIDTH, gap=None)
