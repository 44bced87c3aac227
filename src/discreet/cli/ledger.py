"""`discreet budget` and `discreet ledger`: what was spent on which query, and what remains."""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import datetime
from fractions import Fraction
from math import isinf
from pathlib import Path
from shlex import quote

from discreet.accounting import Charge, ComposedPrice, Remaining
from discreet.amounts import ROUNDED, amount_down, amount_up, balance_from, equation
from discreet.answer import Balance
from discreet.catalog.catalog import budget_from
from discreet.catalog.declaration import Declaration
from discreet.catalog.resolve import read
from discreet.cli.console import number, remark, say, show, show_table
from discreet.cli.ledger_entries import (
    cap_header,
    entry_details,
    entry_record,
    incident_columns,
    incident_record,
    moment_text,
    status_text,
)
from discreet.cli.options import AccountOptions
from discreet.cli.remote import connected
from discreet.errors import HIDDEN, ParameterError
from discreet.explanation.months import budget_promise
from discreet.ledger import (
    OWNER,
    Entry,
    Ledger,
    LedgerView,
    Report,
    bits_told,
    existing_ledger,
    is_on_server,
)
from discreet.ledger.backup import back_up
from discreet.ledger.charges import one_event
from discreet.ledger.view import largest_total
from discreet.opening import ledger_place, open_books
from discreet.opening.stores import per_month_of

AT_MOST = "≤ "
"""Before an upper bound."""

FIXED_IN_ADVANCE = "had all questions been fixed in advance"
"""What the tightest figure of a report holds for, as programs read it."""


# --------------------------------------------------------------------------- budget


@dataclass(frozen=True, slots=True, kw_only=True)
class PaidQuestion:
    """A query that was charged."""

    written: datetime
    account: str
    price: Charge
    sql: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    """An account: what it was charged, and what remains of its cap if it has one."""

    account: str
    charged: Charge
    cap: Fraction | None
    left: Remaining | None
    enabled: bool
    suspended: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """The whole budget as `discreet budget` shows it; no report before the first charge."""

    balance: Balance
    report: Report | None = None
    accounts: Sequence[Spent] = ()
    questions: Sequence[PaidQuestion] = ()
    promise: str = ""
    """What a budget per month protects; empty if it is not per month."""


def budget(
    catalog: Path, *, is_json: bool = False, token: str | None = None, server: str | None = None
) -> None:
    """Print what remains, what was asked and by whom; reads no data."""
    if server is not None:
        _show_remote(catalog, AccountOptions(token=token, server=server), is_json=is_json)
        return
    summary = _summary(catalog)
    if is_json:
        show(json.dumps(_summary_record(summary), indent=2))
    else:
        _show_summary(summary)


def _show_remote(catalog: Path, account: AccountOptions, *, is_json: bool) -> None:
    """Print what remains of an account on a server."""
    with connected(catalog, account) as remote:
        left, months = remote.remaining, remote.remaining_by_month()
    if is_json:
        told = {name: each.to_json() for name, each in months.items()}
        by_month = {"months": told} if months else {}
        show(json.dumps({"remaining": left.to_json(), **by_month}, indent=2))
        return
    show(f"Remaining: {left}")
    if months:
        _show_apart({"months": list(months), "remaining": list(map(str, months.values()))})


def ledger_to_read(catalog: Path, declared: Declaration, account: AccountOptions) -> Ledger | None:
    """Return the ledger for a preview; None for the owner before anything was charged."""
    if account != AccountOptions():
        return open_books(catalog, declared=declared)
    place = ledger_place(catalog, declared=declared)
    if isinstance(place, Path) and not place.exists():
        return None
    return existing_ledger(place)


def _summary(catalog: Path) -> Summary:
    declared = read(catalog)
    with _opened(catalog, declared) as found:
        if found is None:
            return Summary(balance=_unspent(declared), promise=_promise(declared))
        suspended = found.suspended()
        with found.view() as view:
            report = view.report()
            remaining = view.balance().remaining
            accounts = _accounts(view, report, suspended)
            entries = list(view.entries())
        return Summary(
            balance=balance_from(remaining, report.total),
            report=report,
            promise=_promise_of(report, entries) if report.months else "",
            accounts=accounts,
            questions=[
                PaidQuestion(
                    written=entry.written,
                    account=entry.account,
                    price=report.total.price(one_event(entry.events)),
                    sql=entry.about.get("sql", ""),
                )
                for entry in entries
                if entry.kind == "charge"
            ],
        )


@contextmanager
def _opened(catalog: Path, declared: Declaration) -> Iterator[Ledger | None]:
    """Open the ledger of a catalog; None if it is a file that does not exist yet."""
    place = ledger_place(catalog, declared=declared)
    if isinstance(place, Path) and not place.exists():
        yield None
        return
    with closing(existing_ledger(place)) as found:
        yield found


def _promise(declared: Declaration) -> str:
    if (per_month := per_month_of(declared)) is None:
        return ""
    return budget_promise(budget_from(declared.budget), per_month.months_in_all)


def _promise_of(report: Report, entries: Sequence[Entry]) -> str:
    """Return what holds for all that was charged, also under a total that was larger then."""
    largest = largest_total(entries, report.total)
    return budget_promise(
        largest, report.months_per_unit, is_lowered=largest.epsilon > report.total.epsilon
    )


def _unspent(declared: Declaration) -> Balance:
    total = budget_from(declared.budget)
    return balance_from(total.remaining(), total)


def _accounts(found: LedgerView, report: Report, suspended: Mapping[str, bool]) -> list[Spent]:
    """Return the accounts that are declared or were charged, the owner's first."""
    analysts = {each.name: each for each in found.analysts()}
    capped = {each.name: each.epsilon for each in analysts.values() if each.role == "analyst"}
    return [
        Spent(
            account=name,
            charged=report.accounts.get(name, Charge()),
            cap=capped.get(name),
            left=found.remaining(name) if name in capped else None,
            enabled=name not in analysts or analysts[name].enabled,
            suspended=name in suspended or any(suspended.values()),
        )
        for name in dict.fromkeys([OWNER, *analysts, *report.accounts])
    ]


def _show_summary(summary: Summary) -> None:
    report, accounts = summary.report, summary.accounts
    show(f"Remaining: {summary.balance}")
    if report is None or not summary.questions:
        show("No queries yet.")
    else:
        say(
            "If all queries had been fixed in advance, their total cost would be "
            f"{cost_text(report.price)}. The remaining budget does not use this."
        )
    if summary.promise:
        say(summary.promise)
    if report is not None and report.months:
        lefts = [str(balance_from(each, report.total)) for each in report.months.values()]
        _show_apart({"months": list(report.months), "remaining": lefts})
    if report is not None and report.partitions:
        lefts = [str(balance_from(each, report.total)) for each in report.partitions.values()]
        _show_apart({"table": list(report.partitions), "remaining": lefts})
    if any(each.cap is not None or each.suspended for each in accounts):
        is_by_month = report is not None and bool(report.months)
        _show_apart(_account_columns(accounts, is_by_month=is_by_month))
    if summary.questions:
        _show_apart(_question_columns(summary.questions))


def _show_apart(columns: Mapping[str, Sequence[str]]) -> None:
    show("")
    show_table(columns)


def _account_columns(accounts: Sequence[Spent], *, is_by_month: bool) -> dict[str, list[str]]:
    return {
        "account": [each.account for each in accounts],
        "spent ε": [_epsilon(each.charged) for each in accounts],
        cap_header(is_by_month=is_by_month): [
            "" if each.cap is None else amount_down(each.cap) for each in accounts
        ],
        "remaining ε": ["" if each.left is None else left_text(each.left) for each in accounts],
        "status": [status_text(each.enabled, each.suspended) for each in accounts],
    }


def _question_columns(questions: Sequence[PaidQuestion]) -> dict[str, list[str]]:
    several = {each.account for each in questions} != {OWNER}
    return {
        "when (UTC)": [moment_text(each.written) for each in questions],
        **({"account": [each.account for each in questions]} if several else {}),
        "ε": [_epsilon(each.price) for each in questions],
        "δ": [amount_up(each.price.delta) for each in questions],
        "query": [each.sql for each in questions],
    }


def left_text(left: Remaining) -> str:
    """Return what remains of a cap: epsilon, or rho where only that remains."""
    if left.epsilon == 0 and left.rho > 0:
        return f"ρ = {amount_down(left.rho)}"
    return amount_down(left.epsilon)


def cost_text(price: ComposedPrice) -> str:
    """Return a cost with the method that proves it, written as in answers."""
    delta = f" at {equation('δ', amount_up(price.delta))}" if price.delta > 0 else ""
    epsilon = epsilon_text(price.epsilon)
    shown = f"ε {epsilon}" if epsilon.startswith(AT_MOST) else equation("ε", epsilon)
    return f"{shown}{delta} ({price.accountant} accounting)"


def epsilon_text(epsilon: Fraction | float) -> str:
    """Return a proved cost; one that was rounded up is said to be at most that."""
    return "∞" if isinf(epsilon) else amount_up(Fraction(epsilon)).replace(ROUNDED, AT_MOST)


def _epsilon(price: Charge) -> str:
    """Return the epsilon, or rho where Gaussian noise is accounted for by it."""
    if isinf(price.epsilon):
        return f"ρ = {amount_up(Fraction(price.rho))}"
    return amount_up(Fraction(price.epsilon))


def _summary_record(summary: Summary) -> dict[str, object]:
    report = summary.report
    return {
        "remaining": summary.balance.to_json(),
        "report": None if report is None else _report_record(report, summary.promise),
        "accounts": [_account_record(each) for each in summary.accounts],
        "questions": [_question_record(each) for each in summary.questions],
    }


def _report_record(report: Report, promise: str) -> dict[str, object]:
    price = report.price
    return {
        "epsilon": None if isinf(price.epsilon) else float(price.epsilon),
        "delta": float(price.delta),
        "accountant": price.accountant,
        "holds": FIXED_IN_ADVANCE,
        "partitions": {
            table: balance_from(left, report.total).to_json()
            for table, left in report.partitions.items()
        },
        **_months_record(report, promise),
    }


def _months_record(report: Report, promise: str) -> dict[str, object]:
    if not report.months:
        return {}
    return {
        "promise": promise,
        "months": {
            name: balance_from(left, report.total).to_json() for name, left in report.months.items()
        },
    }


def _account_record(spent: Spent) -> dict[str, object]:
    return {
        "account": spent.account,
        **_charge_record(spent.charged),
        "cap": None if spent.cap is None else float(spent.cap),
        "left": None if spent.left is None else float(spent.left.epsilon),
        "enabled": spent.enabled,
        "suspended": spent.suspended,
    }


def _question_record(paid: PaidQuestion) -> dict[str, object]:
    return {
        "written": paid.written.isoformat(),
        "account": paid.account,
        **_charge_record(paid.price),
        "question": paid.sql,
    }


def _charge_record(charge: Charge) -> dict[str, float | None]:
    return {
        "epsilon": None if isinf(charge.epsilon) else float(charge.epsilon),
        "rho": None if isinf(charge.rho) else float(charge.rho),
        "delta": float(charge.delta),
    }


# --------------------------------------------------------------------------- ledger


def show_ledger(*, place: str | None, catalog: Path) -> None:
    """Print every entry of a ledger as a table."""
    with closing(existing_ledger(ledger_location(place, catalog))) as found:
        entries = list(found.entries())
    show_table(
        {
            "entry": [each.number for each in entries],
            "when (UTC)": [moment_text(each.written) for each in entries],
            "kind": [each.kind for each in entries],
            "account": [each.account for each in entries],
            "digest": [each.digest[:12] for each in entries],
            "details": list(entry_details(entries)),
        }
    )


def verify_ledger(*, place: str | None, catalog: Path, head: str | None) -> None:
    """Print the digest of the last entry if the chain is intact, else raise LedgerError."""
    with closing(existing_ledger(ledger_location(place, catalog))) as found:
        found.verify(head)
        count, last = sum(1 for _ in found.entries()), found.head()
    noted = "" if head is None else ", and the entry that you noted is in it"
    show(f"{number(count, 'entry', 'entries')}. The hash chain is intact{noted}.")
    show(f"Digest of the last entry: {last}")
    if head is None:
        remark("Note the digest elsewhere. To detect removed entries later, pass it to --head.")


def show_incidents(*, place: str | None, catalog: Path, is_json: bool) -> None:
    """Print incidents, suspended accounts, and how many bits were revealed at most."""
    with closing(existing_ledger(ledger_location(place, catalog))) as found:
        incidents, suspended = found.incidents(), found.suspended()
        charges = sum(each.kind == "charge" for each in found.entries())
    # Each incident leaves a charge without an answer, which may run once more for free.
    bits = bits_told(len(incidents), charges + len(incidents))
    if is_json:
        record = {
            "incidents": [incident_record(each) for each in incidents],
            "suspended": sorted(suspended),
            "all_suspended": any(suspended.values()),
            "charges": charges,
            "bits": bits,
        }
        show(json.dumps(record, indent=2))
        return
    if not incidents:
        show(f"No incidents. {_charged_text(charges)}")
        return
    show_table(incident_columns(incidents))
    say(
        f"\n{number(len(incidents), 'incident')}. {_charged_text(charges)} "
        f"At most {bits:g} bits were revealed outside ε."
    )
    for name in suspended:
        everybody = ", and so are all other accounts" if suspended[name] else ""
        say(f"{name} is suspended{everybody}. To lift it: discreet analyst resume {quote(name)}")


def export_ledger(*, place: str | None, catalog: Path) -> None:
    """Print the entries for programs; answers and hashes of tokens stay in the ledger."""
    with closing(existing_ledger(ledger_location(place, catalog))) as found:
        for entry in found.entries():
            show(json.dumps(entry_record(entry)))


def back_up_ledger(*, target: Path, place: str | None, catalog: Path) -> None:
    """Copy a ledger that may be in use, and print the digest of the copy's last entry."""
    ledger = ledger_location(place, catalog)
    if is_on_server(ledger):
        rule = "must be a file: a ledger on PostgreSQL is saved by backups of its server"
        raise ParameterError("LEDGER", HIDDEN, rule, "Use pg_dump with the ledger's schema")
    made = back_up(Path(ledger), target)
    show(f"Copied {number(made.entries, 'entry', 'entries')}: {', '.join(map(str, made.files))}")
    show(f"Digest of the last entry: {made.head}")


def ledger_location(place: str | None, catalog: Path) -> str | Path:
    """Return where the ledger is: as named, else that of the catalog."""
    return place or ledger_place(catalog)


def _charged_text(charges: int) -> str:
    return f"{number(charges, 'query was', 'queries were')} charged."
