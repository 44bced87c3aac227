"""`discreet ledger export`: the book's entries for programs, one line of JSON each."""

import json
from contextlib import closing
from pathlib import Path

from discreet.accounting import record_from_event
from discreet.cli.books import UNTOLD
from discreet.cli.screen import show
from discreet.ledger import Entry, existing_ledger


def export_ledger(place: str | Path) -> None:
    """Print every entry; answers, hashes of tokens and what stands for data stay in the ledger."""
    with closing(existing_ledger(place)) as ledger:
        for entry in ledger.entries():
            show(json.dumps(_record(entry)))


def _record(entry: Entry) -> dict[str, object]:
    return {
        "number": entry.number,
        "kind": entry.kind,
        "written": entry.written.isoformat(),
        "question": entry.question,
        "account": entry.account,
        "events": [record_from_event(each) for each in entry.events],
        "about": {name: text for name, text in entry.about.items() if name not in UNTOLD},
        "digest": entry.digest,
    }
