"""Errors and notices as PostgreSQL's clients read them: a code of five characters, and words."""

from collections.abc import Mapping

from discreet.server.faults import CallError
from discreet.server.pgwire.frames import WireFrame, fields

OF_CODES: Mapping[str, str] = {
    "budget": "53400",
    "per_query_limit": "53400",
    "per_day_limit": "53400",
    "row_level": "42501",
    "approval_needed": "42501",
    "not_allowed": "42501",
    "account": "42501",
    "not_signed_in": "28000",
    "suspended": "55000",
    "unanswered": "55000",
    "unlikely_groups": "55000",
    "not_saved": "55000",
    "unsupported": "0A000",
    "statement": "0A000",
    "nondeterministic": "0A000",
    "unbounded": "0A000",
    "join": "0A000",
    "unknown_keys": "0A000",
    "sql_syntax": "42601",
    "unknown_name": "42703",
    "not_grouped": "42803",
    "nested_aggregate": "42803",
    "placeholder": "42P02",
    "question_size": "54000",
    "answer_too_long": "54000",
    "target": "22023",
    "parameter": "22023",
    "least_epsilon": "22023",
    "nothing_found": "22023",
    "bad_call": "22023",
    "pinned": "40001",
    "too_many": "53000",
    "stopping": "57P01",
    "cancelled": "57014",
    "gone": "57014",
    "still_running": "57014",
    "engine": "58000",
    "ledger": "58000",
    "source": "58000",
    "catalog": "58000",
}
"""The code of each kind of error; of others, that of an internal one."""

INTERNAL = "XX000"


class WireError(Exception):
    """What a client is told in place of a result."""

    def __init__(
        self, code: str, what: str, hint: str = "", *, position: int = 0, is_fatal: bool = False
    ) -> None:
        super().__init__(what)
        self.code, self.what, self.hint = code, what, hint
        self.position = position
        """Of the first character that is wrong, from 1; 0 if it is not known."""
        self.is_fatal = is_fatal

    def frame(self) -> WireFrame:
        """Return the message."""
        severity = "FATAL" if self.is_fatal else "ERROR"
        return fields(
            b"E",
            {
                "S": severity,
                "V": severity,
                "C": self.code,
                "M": self.what,
                "H": self.hint,
                "P": str(self.position) if self.position else "",
            },
        )


def wire_error(error: CallError, offset: int | None, *, has_cost: bool = True) -> WireError:
    """Return an error of the server for a client; the statement begins at an offset of its text.

    A query for which no cost was stated is told how to state one.
    """
    code = OF_CODES.get(error.code, INTERNAL)
    hint = HINTS.get(error.code, error.fix)
    position = 0
    if error.place is not None and offset is not None:
        position = error.place["start"] + offset + 1
    what = error.what
    if error.code == "parameter" and error.details.get("name") == "epsilon" and not has_cost:
        what, hint = NO_COST, PRICE
    return WireError(code, what, hint, position=position, is_fatal=code in FATAL)


NO_COST = "No cost is stated for this query"
PRICE = (
    "State what a query may cost: SET discreet.epsilon = 0.1; or the margin of error that you "
    "need: SET discreet.within = 20. EXPLAIN SELECT … shows both and spends nothing."
)
HINTS: Mapping[str, str] = {
    "unlikely_groups": "To run it all the same: SET discreet.accept_unlikely = on",
    "row_level": "Individual rows are never shown. Use an aggregate: SELECT COUNT(*) FROM …",
    "nondeterministic": (
        "Write a fixed time. Or let times be rounded down to the step of their column, so that a "
        "refreshed chart repeats its query for free: SET discreet.snap_times = on"
    ),
    "approval_needed": "Request it from the data owner, on the page or with the client",
    "cancelled": "Run it again if it is still wanted; what was charged is not charged again",
}
"""Hints for people who write SQL, where the usual ones speak of calls."""

FATAL = frozenset(["28000"])


def notice(message: str, detail: str = "", hint: str = "") -> WireFrame:
    """Return a notice, which clients show beside a result."""
    return fields(
        b"N", {"S": "NOTICE", "V": "NOTICE", "C": "00000", "M": message, "D": detail, "H": hint}
    )
