"""`discreet ledger incidents` and `discreet analyst resume`: what failed, and who asks again."""

import json
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from shlex import quote

from discreet.cli.books import moment, shown_table
from discreet.cli.screen import show
from discreet.ledger import Incident, bits_told, existing_ledger
from discreet.ledger.incidents import UNANSWERED

WORDS = {
    "failed": "engine failed",
    "time": "time limit",
    "memory": "memory limit",
    "release": "no table made",
    UNANSWERED: "no answer",
}


def show_incidents(place: str | Path, *, is_json: bool) -> None:
    """Print what failed after its charge, who is suspended, and how much it told at most."""
    with closing(existing_ledger(place)) as ledger:
        incidents, suspended = ledger.incidents(), ledger.suspended()
        charges = sum(each.kind == "charge" for each in ledger.entries())
    # Each incident leaves a charge without an answer, which may run once more for free.
    runs = charges + len(incidents)
    bits = bits_told(len(incidents), runs)
    if is_json:
        told = {
            "incidents": [_record(each) for each in incidents],
            "suspended": sorted(suspended),
            "all_suspended": any(suspended.values()),
            "charges": charges,
            "bits": bits,
        }
        show(json.dumps(told, indent=2))
        return
    if not incidents:
        show(f"no incidents among {_number(charges, 'charge')}")
        return
    show("\n".join(shown_table(_columns(incidents))))
    show("")
    show(
        f"{_number(len(incidents), 'incident')} among {_number(charges, 'charge')}: "
        f"{bits:g} bits at most were told outside of ε"
    )
    for name in suspended:
        everybody = ", and all accounts with it" if suspended[name] else ""
        show(f"{name} is suspended{everybody}: discreet analyst resume {quote(name)}")


def resume(place: str | Path, name: str) -> None:
    """Let an account ask again."""
    with closing(existing_ledger(place)) as ledger:
        ledger.resume(name)
    show(f"{name} may ask again")


def _columns(incidents: Sequence[Incident]) -> dict[str, list[str]]:
    return {
        "entry": [str(each.number) for each in incidents],
        "when (UTC)": [moment(each.written) for each in incidents],
        "account": [each.account for each in incidents],
        "what": [WORDS[each.failure] for each in incidents],
        "resumed": [_state(each) for each in incidents],
        "question": [each.about.get("sql", each.question) for each in incidents],
    }


def _state(incident: Incident) -> str:
    if incident.failure == UNANSWERED:
        return ""
    return "yes" if incident.is_resumed else "no"


def _number(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"


def _record(incident: Incident) -> dict[str, object]:
    return {
        "entry": incident.number,
        "written": incident.written.isoformat(),
        "account": incident.account,
        "failure": incident.failure,
        "suspends": incident.suspends or None,
        "resumed": incident.is_resumed,
        "question": incident.about.get("sql", incident.question),
    }
