"""Routes for synthetic data: sample rows, and queries that are tried for free.

Synthetic tables are made from the catalog and from public tables. The private tables are in other
engines, which nothing here can reach.
"""

import json
from dataclasses import dataclass, field
from threading import Lock
from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request

from discreet.amounts import FREE
from discreet.answer.columns import json_value
from discreet.catalog.schema import PrivateTable
from discreet.curator import Curator
from discreet.opening.synthetic import SyntheticData, synthetic_data
from discreet.server.audit import logged, query_text
from discreet.server.bodies import JsonObject, QueryBody
from discreet.server.callers import NOWHERE, Caller
from discreet.server.faults import CallError
from discreet.server.reading import OneReading
from discreet.server.signing import caller_in, planned
from discreet.server.sites import Site

router = APIRouter(prefix="/v1/catalogs/{catalog}", tags=["analysts"], route_class=OneReading)

Reader = Annotated[Caller, Depends(caller_in("reader"))]
Asker = Annotated[Caller, Depends(caller_in("analyst"))]

MOST_SAMPLES = 100
"""Rows of a sample."""

MOST_TRIED_ROWS = 10_000
"""Rows of a reply to a query that was tried: a join of public tables can have millions."""

TOO_MANY_ROWS = CallError(
    status=422,
    code="question_size",
    what=f"A query that is tried has at most {MOST_TRIED_ROWS:,} rows",
    fix="Add LIMIT, or aggregate further",
)

SYNTHETIC = "Synthetic data: made from the catalog alone. The numbers say nothing about real people"


@dataclass(slots=True)
class SyntheticSites:
    """The synthetic data of each catalog, made when they are first wanted."""

    _lock: Lock = field(default_factory=Lock)
    _made: dict[str, tuple[Curator, SyntheticData]] = field(default_factory=dict)

    def of(self, site: Site) -> SyntheticData:
        """Return the synthetic data of a catalog. Of its curator, only public parts are read."""
        with self._lock:
            known = self._made.get(site.name)
            if known is None or known[0] is not site.curator:  # opened again since
                made = synthetic_data(site.curator.catalog, site.curator.public_tables())
                self._made[site.name] = known = (site.curator, made)
            return known[1]

    def close(self) -> None:
        """Give back all engines."""
        with self._lock:
            for _, each in self._made.values():
                each.close()
            self._made.clear()


@router.get("/sample")
async def sample(
    request: Request,
    caller: Reader,
    table: Annotated[str, Query(max_length=1000)],
    rows: Annotated[int, Query(ge=1, le=MOST_SAMPLES)] = 20,
) -> JsonObject:
    """Return synthetic rows of a table, made from the catalog alone.

    Spends nothing and reads no private data. Rows of public tables are real ones.
    """
    declared = caller.site.curator.catalog.table(table)
    if declared is None:
        raise NOWHERE

    def sampled() -> JsonObject:
        found = request.app.state.synthetic.of(caller.site).tables[declared.name].slice(0, rows)
        values = zip(*(each.to_pylist() for each in found.columns), strict=True)
        return {
            "table": declared.name,
            "synthetic": isinstance(declared, PrivateTable),
            "columns": found.column_names,
            "rows": [[json_value(each) for each in row] for row in values],
        }

    return await planned(request, caller, sampled)


@router.post("/try")
async def try_query(request: Request, caller: Asker, body: QueryBody) -> JsonObject:
    """Run a query on synthetic data. Spends nothing and reads no private data.

    The reply is an answer with `synthetic` set. Its margins are those of an answer about the real
    data, where they do not depend on the data. Its cost is what a real answer would be charged.
    """

    def tried() -> JsonObject:
        data = request.app.state.synthetic.of(caller.site)
        outcome: dict[str, object] = {"outcome": "free"}
        about = query_text(body.written)
        return logged(caller, "try", lambda: _tried(data, body), lambda _: outcome, **about)

    return await planned(request, caller, tried)


def _tried(data: SyntheticData, body: QueryBody) -> JsonObject:
    """Run a query with a ledger that ends with it: no other call sees anything of it."""
    curator = data.curator()
    with curator.ledger:
        answer = curator.ask(body.sql, **body.terms())
    if len(answer) > MOST_TRIED_ROWS:
        raise TOO_MANY_ROWS
    content: JsonObject = json.loads(answer.to_json())
    del content["remaining"]
    notes = [each for each in content["notes"] if "coverage" not in each]
    return content | {
        "synthetic": True,
        "is_free": True,
        "charged": FREE.to_json(),
        "notes": [SYNTHETIC, *notes],
    }
