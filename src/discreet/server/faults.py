"""The one form of errors: a stable code, one sentence, the place in the query, and the remedy.

Whether a call is rejected follows from the call, the catalog, the ledger and public limits. What a
database says reaches nobody but the owner's log.
"""

import logging
from collections.abc import Mapping
from types import MappingProxyType
from typing import cast

from discreet.error_codes import content_of
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
    SeriesError,
    SourceError,
    SuspendedError,
    UnansweredError,
)
from discreet.executor import NotSavedError
from discreet.explanation.thresholds import UnlikelyGroupsError

log = logging.getLogger("discreet.server")

STATUS: Mapping[type[Exception], int] = {
    QuestionError: 422,
    ParameterError: 422,
    UnlikelyGroupsError: 409,
    NotSavedError: 409,
    LeastEpsilonError: 422,
    NothingFoundError: 422,
    BudgetError: 402,
    SuspendedError: 403,
    UnansweredError: 403,
    AccountError: 403,
    PinnedError: 409,
    SeriesError: 404,
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


def error_of(error: Exception) -> CallError:
    """Return what the caller is told of an error."""
    if isinstance(error, CallError):
        return error
    if not isinstance(error, DiscreetError):
        log.error("a call failed with %s", type(error).__name__)  # its words may hold a value
        log.debug("the words of the failure", exc_info=error)
        return CallError(status=500, code="internal", what=FAILED[0], fix=FAILED[1])
    kind = next(each for each in type(error).__mro__ if each in STATUS)
    content = content_of(error)
    return CallError(
        status=STATUS[kind],
        code=str(content.pop("code")),
        what=str(content.pop("message")),
        fix=str(content.pop("remedy")),
        place=cast("Mapping[str, int] | None", content.pop("place")),
        details=content,
    )


def forget_frames(error: BaseException) -> None:
    """Let go of what an error has seen on its way.

    An error that is raised again and again, as constants are, would keep the frames of all calls
    that it has rejected, with their tokens and bodies.
    """
    error.__traceback__ = error.__context__ = None
