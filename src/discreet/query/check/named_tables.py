"""What the names of tables promise before a query is checked: their columns, and single rows."""

from dataclasses import dataclass

from sqlglot import exp

from discreet.catalog.catalog import Catalog
from discreet.catalog.schema import ColumnUnit, PrivateTable
from discreet.query.check.outer_columns import nested_queries, relations_of
from discreet.query.check.relations import CommonTables, PrivateRows
from discreet.query.check.scans import path_keys
from discreet.query.check.tied_query import TiedQuery


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryTables:
    """The tables of the catalog and of WITH."""

    catalog: Catalog
    named: CommonTables

    def columns(self, name: str) -> tuple[str, ...] | None:
        """Return the columns of a table, by its name in lower case; None if there is none."""
        known = self.named.get(name)
        if isinstance(known, PrivateRows):
            return tuple(each.name for each in known.columns)
        if known is not None:
            return known.columns
        table = self.catalog.table(name)
        return None if table is None else tuple(each.name for each in table.columns)

    def has_private_values(self, node: exp.Select) -> bool:
        """Return whether any query of one value in a SELECT reads private rows."""
        return any(self.reads_private(each) for each in nested_queries(node))

    def reads_private(self, node: exp.Expr) -> bool:
        """Return whether a query of one value reads private rows."""
        return isinstance(node, exp.Subquery) and any(
            self._is_private(each.name.casefold()) for each in node.find_all(exp.Table)
        )

    def _is_private(self, name: str) -> bool:
        known = self.named.get(name) or self.catalog.table(name)
        return isinstance(known, PrivateRows | PrivateTable)

    def is_single(self, query: TiedQuery) -> bool:
        """Return whether the catalog promises one row of a query at most for each outer row.

        The table has one row for each unit and is tied by it, or it is tied by the key that paths
        lead to.
        """
        sources = list(relations_of(query.node))
        table = sources[0]
        if len(sources) != 1 or not isinstance(table, exp.Table):
            return False
        known = self.catalog.table(table.name)
        if table.name.casefold() in self.named or not isinstance(known, PrivateTable):
            return False
        columns = [each.inner.name for each in query.ties if isinstance(each.inner, exp.Column)]
        return any(self._is_key(known, each.casefold()) for each in columns)

    def _is_key(self, table: PrivateTable, column: str) -> bool:
        unit = table.unit
        is_unit = isinstance(unit, ColumnUnit) and unit.column.casefold() == column
        if is_unit and table.rows_per_unit == 1:
            return True
        return (table.name.casefold(), column) in path_keys(table, column, self.catalog)
