"""Times of dashboards: rounded down to the steps of their columns if wanted, else a hint."""

import re
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from discreet.catalog import Catalog
from discreet.query.snapping import Snapped, snapped
from discreet.server.pgwire.frames import WireFrame
from discreet.server.pgwire.sqlstates import notice
from discreet.written import Parameters, SqlDialect, WrittenQuery

TIME_OF_DAY = re.compile(r"[0-9]:[0-9]")

MOST_SHOWN = 5
"""Times that a notice names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundedQuery:
    """A query as it is asked."""

    text: str
    parameters: Parameters
    dialect: SqlDialect
    offset: int | None
    """Where it begins in what was sent; None if places in it are others by now."""
    notices: tuple[WireFrame, ...] = ()
    hint: str = ""
    """What would help if it is rejected."""


def rounded(
    query: WrittenQuery, catalog: Catalog, *, offset: int | None, is_on: bool
) -> RoundedQuery:
    """Return a query with its times rounded down if that is on; else with a hint that it helps."""
    as_sent = RoundedQuery(
        text=query.text, parameters=query.parameters, dialect=query.dialect, offset=offset
    )
    if not is_on and TIME_OF_DAY.search(query.text) is None and not _has_moment(query.parameters):
        return as_sent
    found = snapped(query, catalog, datetime.now(UTC))
    if not is_on:
        return replace(as_sent, notices=(AT_EVERY_MOMENT,), hint=HINT) if found.changes else as_sent
    return RoundedQuery(
        text=found.query.text,
        parameters=found.query.parameters,
        dialect=found.query.dialect,
        offset=offset if found.query is query else None,
        notices=tuple(_said(found)),
    )


HINT = (
    "To round times down to the steps of their columns, so that a refresh is free: "
    "SET discreet.snap_times = on"
)
AT_EVERY_MOMENT = notice("A query with a time of day is a new query at every moment", hint=HINT)


def _has_moment(parameters: Parameters) -> bool:
    values = parameters.values() if isinstance(parameters, dict) else parameters or ()
    return any(isinstance(each, datetime) for each in values)


def _said(found: Snapped) -> list[WireFrame]:
    """Return what was rounded, and what was not because no step is declared."""
    said = []
    if found.changes:
        shown = [
            f"{each.column}: {each.written} is {each.snapped}"
            for each in found.changes[:MOST_SHOWN]
        ]
        more = len(found.changes) - len(shown)
        detail = "\n".join([*shown, *([f"and {more} more"] if more else [])])
        said.append(notice("Times were rounded down to the steps of their columns", detail))
    if found.without_step:
        names = ", ".join(found.without_step)
        hint = 'The data owner declares one in the catalog: step = "1 hour"'
        said.append(notice(f"Times were not rounded, as no step is declared: {names}", hint=hint))
    return said
