"""`discreet budget` and `discreet ledger`: what was asked, what it cost, what is left."""

import json
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import datetime
from fractions import Fraction
from math import isinf
from pathlib import Path

from discreet.accounting import Budget, Charge, Remaining
from discreet.amounts import amount_down, amount_up, balance_from, equation
from discreet.answer import Balance
from discreet.answer.rendering import ShownColumn, clipped, table_lines, visible
from discreet.catalog.policy import budget_from
from discreet.catalog.resolve import read
from discreet.cli.given import Payer
from discreet.cli.screen import show
from discreet.ledger import OWNER as THE_OWNER
from discreet.ledger import Entry, Ledger, Report, existing_ledger
from discreet.ledger.prices import one_event
from discreet.opening import ledger_place, open_books

QUESTION_WIDTH, WIDTH = 62, 200

UNTOLD = {"token", "data"}
"""What the ledger notes of accounts and of the total in force, and nobody is shown."""

OWNER = Payer()


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A question that was paid for."""

    written: datetime
    account: str
    price: Charge
    sql: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    """An account: what it was charged, and what is left of its cap if it has one."""

    account: str
    charged: Charge
    cap: Fraction | None
    left: Remaining | None
    enabled: bool
    suspended: bool


def show_budget(catalog: Path, *, is_json: bool) -> None:
    """Print what is left, what was asked and by whom; reads no data."""
    balance, questions = balance_of(catalog), questions_of(catalog)
    report, accounts = report_of(catalog), accounts_of(catalog)
    if is_json:
        told = {
            "remaining": balance.to_json(),
            "report": None if report is None else _report_record(report),
            "accounts": [_account_record(each) for each in accounts],
            "questions": [_record(each) for each in questions],
        }
        show(json.dumps(told, indent=2))
        return
    show(f"left {balance}")
    if report is None or not questions:
        show("nothing was asked yet")
    else:
        show(f"report, not the filter: {_in_symbols(report)}, {REPORTED}")
    if report is not None and report.partitions:
        show("")
        show("\n".join(_partition_lines(report)))
    if any(each.cap is not None or each.suspended for each in accounts):
        show("")
        show("\n".join(_account_lines(accounts)))
    if questions:
        show("")
        show("\n".join(_lines(questions)))


REPORTED = "had all questions been fixed in advance"
"""What the tightest figure holds for: only the filter holds for questions chosen one by one."""


def place_of(place: str | None, catalog: Path) -> str | Path:
    """Return where the ledger is: as named, else that of the catalog."""
    return place or ledger_place(catalog)


def show_ledger(place: str | Path) -> None:
    """Print every entry of a ledger."""
    with closing(existing_ledger(place)) as ledger:
        entries = list(ledger.entries())
    columns: dict[str, list[str]] = {
        "entry": [str(each.number) for each in entries],
        "when (UTC)": [moment(each.written) for each in entries],
        "kind": [str(each.kind) for each in entries],
        "account": [each.account for each in entries],
        "digest": [each.digest[:12] for each in entries],
        "what": [_what(each) for each in entries],
    }
    show("\n".join(shown_table(columns)))


def verify_ledger(place: str | Path, head: str | None) -> None:
    """Print the ledger's head if every entry is as it was written, else raise LedgerError."""
    with closing(existing_ledger(place)) as ledger:
        ledger.verify(head)
        count = sum(1 for _ in ledger.entries())
        show(f"{count} entries, each as it was written\nhead {ledger.head()}")


def balance_of(catalog: Path, payer: Payer = OWNER) -> Balance:
    """Return what is left, for an analyst if one is named: all of it before anything was asked."""
    policy = read(catalog).budget
    if payer != OWNER:
        with closing(open_books(catalog)) as ledger:
            name = ledger.authenticate(payer.token) if payer.token is not None else payer.name
            with ledger.view() as view:
                view.check(account=str(name))
                balance = view.balance(str(name))
            return balance_from(balance.remaining, balance.limit)
    with _books(catalog) as found:
        if found is None:
            total = budget_from(policy)
            return balance_from(total.remaining(), total)
        return balance_from(found.remaining(), _policy(found))


def report_of(catalog: Path) -> Report | None:
    """Return what was spent by the tightest accountant; None before anything was asked."""
    with _books(catalog) as ledger:
        return None if ledger is None else ledger.report()


def accounts_of(catalog: Path) -> list[Spent]:
    """Return the accounts that are declared or were charged, the owner's first."""
    with _books(catalog) as ledger:
        if ledger is None:
            return []
        analysts = {each.name: each for each in ledger.analysts()}
        charged = ledger.report().accounts
        suspended = ledger.suspended()
        return [
            Spent(
                account=name,
                charged=charged.get(name, Charge()),
                cap=analysts[name].epsilon if name in analysts else None,
                left=ledger.remaining(name) if name in analysts else None,
                enabled=name not in analysts or analysts[name].enabled,
                suspended=name in suspended or any(suspended.values()),
            )
            for name in dict.fromkeys([THE_OWNER, *analysts, *charged])
        ]


def questions_of(catalog: Path) -> list[Asked]:
    """Return the questions that were paid for, in order."""
    with _books(catalog) as ledger:
        if ledger is None:
            return []
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


@contextmanager
def _books(catalog: Path) -> Iterator[Ledger | None]:
    """Open the ledger of a catalog; None if it is a file that is not there yet."""
    place = ledger_place(catalog)
    if isinstance(place, Path) and not place.exists():
        yield None
        return
    with closing(existing_ledger(place)) as ledger:
        yield ledger


def _policy(ledger: Ledger) -> Budget:
    """Return the total in force, uncharged: the last that was declared."""
    declared = [each.about for each in ledger.entries() if each.kind == "policy"][-1]
    return Budget(
        epsilon=Fraction(declared["epsilon"]),
        delta=Fraction(declared["delta"]),
        filter=declared["filter"],
        set_aside=Fraction(declared["set_aside"]),
    )


def _partition_lines(report: Report) -> Iterator[str]:
    """Yield what is left for units of each table that has none in common with others."""
    lefts = report.partitions
    columns = {
        "units of": list(lefts),
        "left": [str(balance_from(each, report.total)) for each in lefts.values()],
    }
    return shown_table(columns)


def _account_lines(accounts: Sequence[Spent]) -> Iterator[str]:
    columns = {
        "account": [each.account for each in accounts],
        "charged ε": [_epsilon(each.charged) for each in accounts],
        "cap": ["" if each.cap is None else amount_down(each.cap) for each in accounts],
        "left": ["" if each.left is None else left_of(each.left) for each in accounts],
        "may ask": [may_ask(each.enabled, each.suspended) for each in accounts],
    }
    return shown_table(columns)


def may_ask(enabled: bool, suspended: bool) -> str:
    """Return whether an account may ask, or is suspended after a failure."""
    return "no" if not enabled else "suspended" if suspended else "yes"


def left_of(left: Remaining) -> str:
    """Return what is left of a cap: of epsilon, or of rho where only that is left."""
    if left.epsilon == 0 and left.rho > 0:
        return f"ρ = {amount_down(left.rho)}"
    return amount_down(left.epsilon)


def _in_symbols(report: Report) -> str:
    """Return the tightest price, as answers write amounts."""
    price = report.price
    epsilon = "∞" if isinf(price.epsilon) else amount_up(Fraction(price.epsilon))
    told = [("ε", epsilon)] + [("δ", amount_up(price.delta))] * (price.delta > 0)
    return f"{', '.join(equation(*each) for each in told)} by {price.accountant} accounting"


def _lines(questions: Sequence[Asked]) -> Iterator[str]:
    several = {each.account for each in questions} != {THE_OWNER}
    columns = {
        "when (UTC)": [moment(each.written) for each in questions],
        **({"account": [each.account for each in questions]} if several else {}),
        "ε": [_epsilon(each.price) for each in questions],
        "δ": [amount_up(each.price.delta) for each in questions],
        "question": [_one_line(each.sql) for each in questions],
    }
    return shown_table(columns)


def _epsilon(price: Charge) -> str:
    """Return the epsilon, or rho where Gaussian noise is accounted for by it."""
    if isinf(price.epsilon):
        return f"ρ = {amount_up(Fraction(price.rho))}"
    return amount_up(Fraction(price.epsilon))


def _report_record(report: Report) -> dict[str, object]:
    price = report.price
    return {
        "epsilon": None if isinf(price.epsilon) else float(price.epsilon),
        "delta": float(price.delta),
        "accountant": price.accountant,
        "holds": REPORTED,
        "partitions": {
            table: balance_from(left, report.total).to_json()
            for table, left in report.partitions.items()
        },
    }


def _account_record(spent: Spent) -> dict[str, object]:
    charged, left = spent.charged, spent.left
    return {
        "account": spent.account,
        "epsilon": None if isinf(charged.epsilon) else float(charged.epsilon),
        "rho": None if isinf(charged.rho) else float(charged.rho),
        "delta": float(charged.delta),
        "cap": None if spent.cap is None else float(spent.cap),
        "left": None if left is None else float(left.epsilon),
        "enabled": spent.enabled,
        "suspended": spent.suspended,
    }


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
        told = sorted(each for each in entry.about.items() if each[0] not in UNTOLD)
        return ", ".join(f"{name} {value}" for name, value in told)
    if entry.kind == "incident":
        return f"{entry.about['failure']}, suspends {entry.about['suspends']}"
    if entry.kind == "pin":
        return f"{entry.question} is read off {entry.about['source']}"
    return entry.about.get("sql", entry.question) if entry.kind == "charge" else ""


def moment(written: datetime) -> str:
    """Return a time as tables show it."""
    return f"{written:%Y-%m-%d %H:%M:%S}"


def _one_line(sql: str) -> str:
    return " ".join(sql.split())


def shown_table(columns: dict[str, list[str]]) -> Iterator[str]:
    """Return the lines of a table of texts, each cell on one line and printable."""
    shown = [
        ShownColumn(
            header=header,
            cells=tuple(clipped(visible(_one_line(cell)), QUESTION_WIDTH) for cell in cells),
            is_right=False,
        )
        for header, cells in columns.items()
    ]
    return table_lines([(each,) for each in shown], width=WIDTH, gap=None)
