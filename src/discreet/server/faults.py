"""The one form of errors: a stable code, one sentence, the place in the query, and the remedy.

Whether a call is rejected follows from the call, the catalog, the ledger and public limits. What a
database says reaches nobody but the owner's log.
"""

import logging
import re
from collections.abc import Mapping
from types import MappingProxyType

from discreet.errors import (
    AccountError,
    BudgetError,
    CatalogError,
    DiscreetError,
    EngineError,
    LeastEpsilonError,
    LedgerError,
    NothingFoundError,
    ParameterError,
    PinnedError,
    QuestionError,
    SourceError,
    SuspendedError,
    UnansweredError,
)
from discreet.explanation.thresholds import UnlikelyGroupsError

log = logging.getLogger("discreet.server")

STATUS: Mapping[type[Exception], int] = {
    QuestionError: 422,
    ParameterError: 422,
    UnlikelyGroupsError: 409,
    LeastEpsilonError: 422,
    NothingFoundError: 422,
    BudgetError: 402,
    SuspendedError: 403,
    UnansweredError: 403,
    AccountError: 403,
    PinnedError: 409,
    EngineError: 503,
    LedgerError: 503,
    SourceError: 503,
    CatalogError: 503,
    DiscreetError: 422,
}
"""The status of each kind of error: that of the nearest class."""

FAILED = ("The server failed to answer this call", "Call again; nothing is charged twice")


class CallError(Exception):
    """A call that is rejected."""

    def __init__(  # noqa: PLR0913 - the parts of a reply
        self,
        *,
        status: int,
        code: str,
        what: str,
        fix: str = "",
        place: Mapping[str, int] | None = None,
        headers: Mapping[str, str] = MappingProxyType({}),
        details: Mapping[str, object] = MappingProxyType({}),
    ) -> None:
        super().__init__(what)
        self.status, self.code, self.what, self.fix = status, code, what, fix
        self.place, self.headers = place, headers
        self.details = details
        """For programs: amounts of a budget."""

    def to_json(self) -> dict[str, object]:
        """Return the body of the reply."""
        told: dict[str, object] = {
            "code": self.code,
            "message": self.what,
            "remedy": self.fix,
            "place": None if self.place is None else dict(self.place),
        }
        return {"error": told | dict(self.details)}


def code_of(kind: type[Exception]) -> str:
    """Return the stable code of a class of errors: unknown_name for UnknownNameError."""
    name = kind.__name__.removesuffix("Error")
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()


def error_of(error: Exception) -> CallError:
    """Return what the caller is told of an error."""
    if isinstance(error, CallError):
        return error
    if not isinstance(error, DiscreetError):
        log.error("a call failed", exc_info=error)
        return CallError(status=500, code="internal", what=FAILED[0], fix=FAILED[1])
    kind = next(each for each in type(error).__mro__ if each in STATUS)
    return CallError(
        status=STATUS[kind],
        code=code_of(type(error)),
        what=error.what,
        fix=error.fix,
        place=_place(error),
        details=_details(error),
    )


def _place(error: DiscreetError) -> dict[str, int] | None:
    if not isinstance(error, QuestionError) or error.span is None or error.text is None:
        return None
    start, end = error.span
    line = error.text.count("\n", 0, start) + 1
    column = start - error.text.rfind("\n", 0, start)
    return {"line": line, "column": column, "start": start, "end": end}


def _details(error: DiscreetError) -> dict[str, object]:
    if not isinstance(error, BudgetError):
        return {}
    return {
        "requested": {name: str(each) for name, each in error.requested.items()},
        "remaining": {name: str(each) for name, each in error.remaining.items()},
    }
