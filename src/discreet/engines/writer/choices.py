"""What chooses rows: ranks of the groups of a unit, and rows of heavy units that an engine keeps.

A rank follows from the unit's own groups, in an order that looks random.
"""

from collections.abc import Sequence
from dataclasses import replace

from discreet.catalog.schema import PrivateTable
from discreet.engines.dialect import Dialect
from discreet.engines.writer.expressions import UNIT, WriteContext, column_name
from discreet.query.tree import Scan

SALT = "'discreet'"


def rank_name(column: str) -> str:
    """Return what the rank of a row's value among those of its unit is called."""
    return f"{column} by rank"


def column_rank(table: PrivateTable, name: str, dialect: Dialect) -> str:
    """Return which value of its unit a row of a prepared table has: 1 for the first, and so on."""
    kind = next(each.kind for each in table.columns if each.name == name)
    column = dialect.quoted(column_name(name))
    return group_rank([dialect.keys.get(kind, "{0}").format(column)], dialect)


def group_rank(keys: Sequence[str], dialect: Dialect) -> str:
    """Return which group of its unit a row is in, in an order that looks random.

    It follows from the unit's own groups alone. Keys are written so that equal ones are the same.
    """
    order = dialect.ordered([dialect.hash_of([SALT, UNIT, *keys]), *keys])
    return f"dense_rank() OVER (PARTITION BY {UNIT} ORDER BY {order})"


def rows_of_heavy(
    scan: Scan, place: WriteContext, needed: frozenset[str] | None, rows: str
) -> str | None:
    """Return rows of heavy units as the engine has kept them, if it has."""
    heavy, table = place.dialect.heavy, place.heavy
    whole = replace(scan, is_bounded=False, group_limits=(), ranked=frozenset())
    if heavy is None or table is None or whole != table.scan or scan.is_bounded:
        return None
    names = [each.name for each in scan.table.columns if needed is None or each.name in needed]
    return heavy.rows(table, [place.column(each) for each in names], rows)
