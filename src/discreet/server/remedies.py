"""Rewrites of a rejected query that would be accepted, for a page that offers them as buttons.

Each was planned before it is offered. That costs nothing and reads no private data: whether it is
accepted follows from its SQL and the catalog.
"""

import logging
from fractions import Fraction
from itertools import islice

from discreet.errors import DiscreetError, QuestionError
from discreet.query.parse import options_in
from discreet.query.remedies import Rewrite, rewrites
from discreet.server.bodies import ExplainBody
from discreet.server.callers import Caller
from discreet.server.faults import CallError, error_of

log = logging.getLogger("discreet.server")

MOST_OFFERED = 3
MOST_TRIED = 6
LONGEST = 2_000
"""Longer queries are not rewritten: planning them again and again takes time."""


def rejection_of(caller: Caller, body: ExplainBody, error: QuestionError) -> CallError:
    """Return why a query is rejected, with queries that would be accepted."""
    rejection = error_of(error)
    fixes = [{"label": each.label, "sql": each.sql} for each in accepted(caller, body, error)]
    rejection.details = {**rejection.details, "fixes": fixes}
    return rejection


def accepted(caller: Caller, body: ExplainBody, error: QuestionError) -> list[Rewrite]:
    """Return the rewrites that would be accepted, at most three."""
    if len(body.sql) > LONGEST or not body.written.is_plain or options_in(body.written):
        return []
    found: dict[str, Rewrite] = {}
    for each in _candidates(caller, body, error):
        if len(found) < MOST_OFFERED and each.sql not in found and _is_accepted(caller, body, each):
            found[each.sql] = each
    return list(found.values())


def _candidates(caller: Caller, body: ExplainBody, error: QuestionError) -> list[Rewrite]:
    try:
        return list(islice(rewrites(body.sql, error, caller.site.curator.catalog), MOST_TRIED))
    except Exception as failure:  # noqa: BLE001 - why it is rejected is told all the same
        log.warning("a rewrite failed with %s", type(failure).__name__)
        return []


def _is_accepted(caller: Caller, body: ExplainBody, rewrite: Rewrite) -> bool:
    """Return whether a rewrite can be planned, whatever its margin."""
    terms = body.terms()
    if terms.pop("within", None) is not None or terms.get("epsilon") is None:
        terms["epsilon"] = Fraction(1)
    try:
        caller.site.curator.explain(rewrite.sql, **terms, account=caller.account)
    except DiscreetError:
        return False
    return True
