"""SQL from the tree: private rows, expressions and exact queries, in an engine's dialect.

Nothing that an analyst wrote is copied: identifiers are quoted, values become literals, and
functions come from the dialect's table. What is written is total: it is NULL where plain SQL would
raise an error, for every content of the tables, not only for contents within declared bounds.
"""

from discreet.catalog.schema import Kind, Value
from discreet.engines.base import ExactQuery
from discreet.engines.dialect import Dialect
from discreet.engines.writer.exact import exact_text
from discreet.engines.writer.expressions import UNIT, Numbers, Place, column_name
from discreet.engines.writer.literals import literal_of
from discreet.engines.writer.rows import ABOUT, EVERY, KEPT, prepared_name, rows_text
from discreet.query.tree import Expression, Rows

__all__ = [
    "ABOUT",
    "EVERY",
    "KEPT",
    "UNIT",
    "Numbers",
    "column_name",
    "prepared_name",
    "write_expression",
    "write_literal",
    "write_query",
    "write_rows",
]


def write_query(query: ExactQuery, dialect: Dialect, released: Numbers = None) -> str:
    """Return the one statement that computes an exact query."""
    return exact_text(query, _place(dialect, released))


def write_rows(rows: Rows, dialect: Dialect, released: Numbers = None) -> str:
    """Return a SELECT of private rows: the unit, then the columns."""
    return rows_text(rows, _place(dialect, released), None)


def write_expression(expression: Expression, dialect: Dialect, released: Numbers = None) -> str:
    """Return an expression over columns that stand in reach by `source`.`name`."""
    return _place(dialect, released).write(expression)


def write_literal(value: Value, kind: Kind, dialect: Dialect) -> str:
    """Return a value as SQL that reads back as the same one."""
    return literal_of(value, kind, dialect).text


def _place(dialect: Dialect, released: Numbers) -> Place:
    return Place(dialect=dialect, released=released, inner_rows=rows_text)
