"""A curator over tables made by hand, with noise that can be replayed."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa

from discreet.catalog.arguments import declare
from discreet.catalog.catalog import budget_from
from discreet.catalog.resolve import resolve
from discreet.curator import Curator
from discreet.engines.duckdb import DuckDbEngine
from discreet.engines.public_store import PublicStore
from discreet.known_releases import DataVersion
from discreet.ledger import SqliteLedger
from discreet.noise import SYSTEM
from tests.replay import ReplayableEntropy

Columns = Mapping[str, Sequence[object]]


def curator_of(
    columns: Columns | pa.Table,
    *,
    seed: int | None = 0,
    ledger: Path | str = ":memory:",
    engine: Any = None,
    **declared: Any,
) -> Curator:
    """Return a curator of the table visits; its unit is patient_id, or the row without one."""
    table = columns if isinstance(columns, pa.Table) else pa.table(dict(columns))
    unit = "patient_id" if "patient_id" in table.column_names else "row"
    given: dict[str, Any] = {"epsilon": 100, "unit": unit, **declared}
    store = DuckDbEngine.load({"visits": table})
    catalog = resolve(declare({"visits": None}, **given), store.columns)
    budget = catalog.budget
    return Curator(
        catalog=catalog,
        engine=store if engine is None else engine(store),
        public=PublicStore({}),
        ledger=SqliteLedger(ledger, budget=budget_from(budget), neighbours=budget.neighbours.value),
        data_version=DataVersion(name="the same data"),
        entropy=SYSTEM if seed is None else ReplayableEntropy(seed),
    )


@contextmanager
def transactions(curator: Curator) -> Iterator[list[str]]:
    """Yield the transactions of a curator's ledger as they come."""
    storage: Any = curator._ledger._storage  # type: ignore[attr-defined]
    begun, seen = storage.transaction, []

    def counted(mode: str) -> Any:
        seen.append(mode)
        return begun(mode)

    storage.transaction = counted
    try:
        yield seen
    finally:
        storage.transaction = begun
