"""Incidents: queries that failed after their charge, and how much failures can have revealed.

Whether a statement fails may depend on data, so that each failure is a fact that no noise covers.
It is written down, the account that caused it is suspended until the owner has looked, and what all
failures together can have told is counted exactly.
"""

import json
from collections.abc import Iterable
from types import MappingProxyType
from typing import get_args

from discreet.errors import HIDDEN, Failure, ParameterError
from discreet.ledger.base import Entry, Incident, Suspends

UNANSWERED = "unanswered"
"""Charged, and no answer was kept: it runs now, was interrupted, or its process died."""

FAILURES: tuple[Failure, ...] = get_args(Failure)
SUSPENDS: tuple[Suspends, ...] = get_args(Suspends)


def incident_record(failure: object, suspends: object) -> dict[str, str]:
    """Return what an incident's entry holds, or reject what is not known."""
    if failure not in FAILURES:
        raise ParameterError("failure", HIDDEN, f"must be one of {', '.join(FAILURES)}")
    if suspends not in SUSPENDS:
        raise ParameterError("suspends", HIDDEN, f"must be one of {', '.join(SUSPENDS)}")
    return {"failure": str(failure), "suspends": str(suspends)}


def suspends_all(about: str) -> bool:
    """Return whether an incident's stored notes suspend all accounts; reject notes of others."""
    record = json.loads(about)
    if incident_record(record["failure"], record["suspends"]) != record:
        raise ParameterError("record", HIDDEN, "must be a record that incident_record returned")
    return bool(record["suspends"] == "all")


LOOKED_AT = "unanswered"
"""Under this name the entry that resumes an account notes its charges that have no answer."""

MOST_LOOKED_AT = 1000
"""So many of them are noted, the last ones."""


def resume_record(unanswered: Iterable[str]) -> dict[str, str]:
    """Return what the entry holds that resumes an account with charges that have no answer."""
    names = list(unanswered)[-MOST_LOOKED_AT:]
    return {LOOKED_AT: json.dumps(names)} if names else {}


def looked_at(about: str) -> frozenset[str]:
    """Return the charges that the owner has looked at, as `resume_record` wrote them."""
    names = json.loads(json.loads(about).get(LOOKED_AT, "[]"))
    if not isinstance(names, list) or not all(isinstance(each, str) for each in names):
        raise ParameterError("record", HIDDEN, "must be a record that resume_record returned")
    return frozenset(names)


def incidents_in(entries: Iterable[Entry]) -> tuple[Incident, ...]:
    """Return the incidents among all entries, and the charges that have no answer, in order."""
    charges: dict[str, Entry] = {}
    unanswered: dict[str, Entry] = {}
    failed: list[Entry] = []
    resumed: dict[str, int] = {}
    for entry in entries:
        match entry.kind:
            case "charge":
                charges[entry.question] = unanswered[entry.question] = entry
            case "answer":
                unanswered.pop(entry.question, None)
            case "incident":
                failed.append(entry)
            case "resume":
                resumed[entry.account] = entry.number
    told = {each.question for each in failed}
    found = failed + [each for name, each in unanswered.items() if name not in told]
    return tuple(
        Incident(
            number=each.number,
            written=each.written,
            account=each.account,
            question=each.question,
            failure=each.about["failure"] if each.kind == "incident" else UNANSWERED,
            suspends=each.about["suspends"] if each.kind == "incident" else "",
            about=MappingProxyType(dict(charges[each.question].about)),
            is_resumed=each.number < resumed.get(each.account, 0),
        )
        for each in sorted(found, key=lambda each: each.number)
    )


TENTHS = 10
MOST_SUMMED = 5000
"""For more incidents than these, one bit is counted for every statement."""


def bits_told(incidents: int, statements: int) -> float:
    """Return how many bits incidents among statements can have told at most, rounded up to tenths.

    Which of n statements failed, if no more than k did, is one of C(n, 0) + ... + C(n, k)
    possibilities. The logarithm of that number, to base 2, is computed with
    integers: it is never too low.
    """
    for name, value in (("incidents", incidents), ("statements", statements)):
        if isinstance(value, bool) or not isinstance(value, int) or value < 0:
            raise ParameterError(name, value, "must be an integer, 0 or more")
    if incidents >= statements or incidents > MOST_SUMMED:
        return float(statements)
    possible, term = 1, 1
    for i in range(incidents):
        term = term * (statements - i) // (i + 1)
        possible += term
    tenths: int = (possible**TENTHS - 1).bit_length()
    return tenths / TENTHS
