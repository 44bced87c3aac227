"""Curators of databases whose data keep what the catalog declares."""

from discreet.catalog.catalog import budget_from
from discreet.curator import Curator
from discreet.ledger import SqliteLedger
from discreet.noise import SYSTEM, Entropy
from tests.properties.databases import Database, catalog, public_store


def curator_of(
    database: Database, *, entropy: Entropy = SYSTEM, is_prepared: bool = True
) -> Curator:
    """Return a curator whose books begin anew."""
    here = catalog(is_prepared=is_prepared)
    return Curator(
        catalog=here,
        engine=database.held("tame"),
        public=public_store(),
        ledger=SqliteLedger(
            ":memory:", budget=budget_from(here.budget), neighbours=here.budget.neighbours.value
        ),
        entropy=entropy,
    )
