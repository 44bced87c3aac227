"""Units of synthetic rows, of which some are taken for heavy: both parts of a statement run."""

from collections.abc import Sequence
from dataclasses import dataclass

from discreet.catalog.schema import Kind
from discreet.engines.dialect import Dialect
from discreet.engines.writer import HeavyTable


@dataclass(frozen=True, slots=True)
class HalfHeavy:
    """Some synthetic units are heavy and some are not, wherever the engine would tell."""

    dialect: Dialect

    def knows(self, tables: Sequence[HeavyTable]) -> bool:
        return self.dialect.heavy is not None and self.dialect.heavy.knows(tables)

    def test(self, unit: str, tables: Sequence[HeavyTable]) -> str:  # noqa: ARG002
        return f"(length(CAST({unit} AS {self.dialect.types[Kind.TEXT]})) % 2 = 0)"

    def rows(self, table: HeavyTable, columns: Sequence[str], others: str) -> None:  # noqa: ARG002
        """Return None: no rows are kept."""
        return

    def counts(self, table: HeavyTable) -> None:  # noqa: ARG002
        return None
