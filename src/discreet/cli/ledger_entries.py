"""Entries and incidents of a ledger, as text and for JSON."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from fractions import Fraction

from discreet.accounting import record_from_event
from discreet.amounts import amount_up, equation
from discreet.ledger import Entry, Incident
from discreet.ledger.incidents import UNANSWERED
from discreet.ledger.versions import EARLIER, VERSION

PRIVATE = {"token", "scram", "data", VERSION, EARLIER}
"""Notes of the ledger that nobody is shown."""

FAILURES = {
    "failed": "database failed",
    "time": "time limit",
    "memory": "memory limit",
    "release": "no result",
    UNANSWERED: "no answer",
}


def moment_text(written: datetime) -> str:
    """Return when an entry was written."""
    return f"{written:%Y-%m-%d %H:%M:%S}"


def status_text(enabled: bool, suspended: bool) -> str:
    """Return whether an account may run queries, or is suspended after a failure."""
    return "disabled" if not enabled else "suspended" if suspended else "enabled"


def entry_details(entries: Sequence[Entry]) -> Iterator[str]:
    """Yield what an entry says beside its columns; other entries are named by their number."""
    charges = {each.question: each.number for each in entries if each.kind == "charge"}
    is_by_month = False
    for entry in entries:
        match entry.kind:
            case "policy":
                is_by_month = "per_month" in entry.about
                yield _policy_text(entry.about)
            case "analyst":
                yield _cap_text(entry.about)
            case "charge":
                yield entry.about.get("sql", entry.question)
            case "answer":
                yield f"answer to entry {charges[entry.question]}"
            case "pin":
                yield f"reuses the answer to entry {charges[entry.about['source']]}"
            case "incident":
                yield f"{FAILURES[entry.about['failure']]}, suspends {entry.about['suspends']}"
            case "request":
                yield _request_text(entry.about, cap_scope(is_by_month=is_by_month))
            case "decision":
                yield _decision_text(entry.about)
            case _:
                yield ""


def _policy_text(about: Mapping[str, str]) -> str:
    """Return a total budget: ε, δ, what is not in every ledger, then accounting and neighbours."""
    shown = PRIVATE | {"epsilon", "epsilon_per_month", "delta", "filter", "neighbours"}
    rest = sorted(each for each in about.items() if each[0] not in shown and each[1] != "0")
    parts = (
        *(["new data version"] if VERSION in about else []),
        _equation("ε", about.get("epsilon_per_month") or about["epsilon"]),
        _equation("δ", about["delta"]),
        *(f"{name} {value}" for name, value in rest),
        f"{about['filter']} accounting",
        f"{about['neighbours']} neighbours",
    )
    return ", ".join(parts)


WORDS = {
    "per_query": "at most {} per query",
    "per_day": "at most {} per day",
    "default_epsilon": "{} if a client states none",
    "confirm_above": "confirmation above {}",
}
"""Limits of an account, in words."""


def limits_text(limits: Mapping[str, Fraction | None]) -> str:
    """Return the limits of an account in words; nothing if there are none."""
    found = {name: limits.get(name) for name in WORDS}
    return ", ".join(
        WORDS[name].format(equation("ε", amount_up(limit)))
        for name, limit in found.items()
        if limit is not None
    )


def _request_text(about: Mapping[str, str], scope: str) -> str:
    """Return what an analyst asks for, and why."""
    if about["kind"] == "question":
        wanted = f"to run a query at {about['price']}: {about['question']}"
    else:
        delta = None if about["delta"] == "none" else Fraction(about["delta"])
        wanted = f"for a {cap_request_text(Fraction(about['epsilon']), delta, scope)}"
    return f"asks {wanted}. Reason: {about['reason']}"


def cap_scope(*, is_by_month: bool) -> str:
    """Return what a cap is for."""
    return "for each month" if is_by_month else "in total"


def cap_header(*, is_by_month: bool) -> str:
    """Return the name of a column of caps."""
    return "cap ε per month" if is_by_month else "cap ε"


def cap_request_text(epsilon: Fraction, delta: Fraction | None, scope: str) -> str:
    """Return the cap that a request is for: the new one, and δ only if it is to change."""
    also = "" if delta is None else f", {equation('δ', amount_up(delta))}"
    return f"cap of {equation('ε', amount_up(epsilon))}{also} {scope}"


def _decision_text(about: Mapping[str, str]) -> str:
    """Return what was decided about which request, by whom, and why."""
    outcome = "granted" if about["granted"] == "yes" else "declined"
    cap = f", cap {_equation('ε', about['epsilon'])}" if "epsilon" in about else ""
    reason = f". Reason: {about['reason']}" if about["reason"] else ""
    return f"request {about['request']} {outcome} by {about['by']}{cap}{reason}"


def _cap_text(about: Mapping[str, str]) -> str:
    if "role" in about:
        return f"{about['role']}, {status_text(about['enabled'] == 'yes', suspended=False)}"
    most = about["delta"]
    delta = "no cap on δ" if most == "none" else f"cap {_equation('δ', most)}"
    status = status_text(about["enabled"] == "yes", suspended=False)
    limits = limits_text({name: Fraction(about[name]) for name in WORDS if name in about})
    cap = f"cap {_equation('ε', about['epsilon'])}, {delta}"
    return ", ".join(filter(None, (cap, limits, status)))


def _equation(letter: str, amount: str) -> str:
    return equation(letter, amount_up(Fraction(amount)))


def entry_record(entry: Entry) -> dict[str, object]:
    """Return an entry for JSON, without answers and tokens."""
    return {
        "number": entry.number,
        "kind": entry.kind,
        "written": entry.written.isoformat(),
        "question": entry.question,
        "account": entry.account,
        "events": [record_from_event(each) for each in entry.events],
        "about": {name: text for name, text in entry.about.items() if name not in PRIVATE},
        "digest": entry.digest,
    }


def incident_columns(incidents: Sequence[Incident]) -> dict[str, list[str]]:
    """Return the columns of a table of incidents."""
    return {
        "entry": [str(each.number) for each in incidents],
        "when (UTC)": [moment_text(each.written) for each in incidents],
        "account": [each.account for each in incidents],
        "failure": [FAILURES[each.failure] for each in incidents],
        "resumed": [_resumed(each) for each in incidents],
        "query": [each.about.get("sql", each.question) for each in incidents],
    }


def _resumed(incident: Incident) -> str:
    if incident.failure == UNANSWERED:
        return ""
    return "yes" if incident.is_resumed else "no"


def incident_record(incident: Incident) -> dict[str, object]:
    """Return an incident for JSON."""
    return {
        "entry": incident.number,
        "written": incident.written.isoformat(),
        "account": incident.account,
        "failure": incident.failure,
        "suspends": incident.suspends or None,
        "resumed": incident.is_resumed,
        "question": incident.about.get("sql", incident.question),
    }
