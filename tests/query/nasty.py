"""A table of rows at the edges of every kind, and what DuckDB says of expressions over it.

`plain` asks DuckDB for an expression as it is written; `ours` for the expression that it was
translated to. Both see the same rows, in which reals are finite as in every private table.
"""

# ruff: noqa: S608 - the expressions are the tests' own

import itertools
import math
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from functools import cache
from typing import Any

import duckdb
import pyarrow as pa
import sqlglot
from sqlglot import exp

from discreet.catalog.schema import Kind
from discreet.engines.duckdb.dialect import DUCKDB
from discreet.engines.writer import write_expression
from discreet.errors import UnknownNameError, UnsupportedError
from discreet.query.expressions.facts import step_of, truth
from discreet.query.expressions.translate import translate
from discreet.query.parse import _keep_to_char, _note_names
from discreet.query.tree import ColumnOf, Expression, Facts, Interval

TYPES = {
    "i": ("INTEGER", Kind.INTEGER),
    "j": ("INTEGER", Kind.INTEGER),
    "b": ("BIGINT", Kind.INTEGER),
    "x": ("DOUBLE", Kind.REAL),
    "y": ("DOUBLE", Kind.REAL),
    "s": ("VARCHAR", Kind.TEXT),
    "u": ("VARCHAR", Kind.TEXT),
    "d": ("DATE", Kind.DATE),
    "e": ("DATE", Kind.DATE),
    "ts": ("TIMESTAMP", Kind.TIMESTAMP),
    "yes": ("BOOLEAN", Kind.BOOLEAN),
    "no": ("BOOLEAN", Kind.BOOLEAN),
}

VALUES: dict[str, list[Any]] = {
    "i": [0, 1, -1, 3, None, 7, -7, 60, 2**31 - 1, -(2**31), 250],
    "j": [1, 0, 2, -3, 5, None, 10, -2, 240],
    "b": [0, 5, 2**63 - 1, None, -(2**63), -8, 2**53 + 1],
    "x": [0.0, 1.5, -2.5, 0.1, 1e308, None, -1e308, 5e-324, 2.5, 1e15 + 0.5, -0.0, 99.995, 3.3],
    "y": [1.0, 0.0, -1.5, None, 1e-300, 2.0, 0.3],
    "s": ["", "abc", "ABC", "äÖß", None, "a%b", "😀 x", " 12 ", "2024-02-30", "3.5", "_"],
    "u": ["b", "", None, "a", "c%", "true", "é"],
    "d": [
        date(2024, 2, 29),
        date(1970, 1, 1),
        date(1, 1, 1),
        date(9999, 12, 31),
        None,
        date(1969, 12, 31),
        date(2000, 1, 1),
        date(2023, 12, 31),
    ],
    "e": [date(2024, 3, 1), date(2023, 12, 31), None, date(1999, 1, 31), date(2024, 2, 28)],
    "ts": [
        datetime(2024, 2, 29, 23, 59, 59, 999999),
        datetime(1969, 12, 31, 23, 0, 0, 1),
        None,
        datetime(2024, 1, 1),
        datetime(1, 1, 1),
        datetime(9999, 12, 31, 12),
        datetime(2001, 7, 8, 9),
    ],
    "yes": [True, None, False, True],
    "no": [False, None, True],
}
"""Of different lengths, so that rows meet in ever new ways."""

ROWS = 77

Known = dict[str, Facts]


def unknown(kind: Kind) -> Facts:
    if kind is Kind.BOOLEAN:
        return truth(nullable=True)
    return Facts(kind=kind, step=step_of(kind))


ANY_FACTS: Known = {name: unknown(kind) for name, (_, kind) in TYPES.items()}

BOUNDED = ANY_FACTS | {
    "i": Facts(
        kind=Kind.INTEGER,
        interval=Interval(low=Fraction(-(2**31)), high=Fraction(2**31 - 1)),
        step=Fraction(1),
    )
}
"""With bounds for i, so that decimals are computed exactly."""


class Names:
    """The columns of the table, with what is known of them."""

    def __init__(self, facts: Known) -> None:
        self.facts = facts

    def column(self, node: exp.Column) -> Expression:
        if node.name not in self.facts:
            raise UnknownNameError(f"no column {node.name}", "name another")
        return ColumnOf(source="t", name=node.name, facts=self.facts[node.name])

    def window(self, node: exp.Window) -> Expression:
        raise UnsupportedError(f"no window {node.key}", "leave it out")

    def subquery(self, node: exp.Expr) -> Expression:
        raise UnsupportedError(f"no subquery {node.key}", "leave it out")


def parsed(text: str) -> exp.Expr:
    sql = f"SELECT {text}"
    tree = sqlglot.parse_one(sql, dialect="duckdb")
    _note_names(tree, sql)
    _keep_to_char(tree)
    node: exp.Expr = tree.expressions[0]
    return node


def translated(text: str, facts: Known = BOUNDED) -> Expression:
    return translate(parsed(text), Names(facts))


@cache
def database() -> duckdb.DuckDBPyConnection:
    connection = duckdb.connect()
    arrays = {
        name: list(itertools.islice(itertools.cycle(values), ROWS))
        for name, values in VALUES.items()
    }
    table = pa.table({"id": list(range(ROWS)), **arrays})
    connection.register("given", table)
    wide = {"INTEGER": "BIGINT"}
    for name, types in (("plain", {}), ("wide", wide)):
        zero = {"plain": " + 0e0"}.get(name, "")  # tables are loaded without -0.0
        columns = ", ".join(
            f"CAST({each} AS {types.get(kind, kind)}){zero * (kind == 'DOUBLE')} AS {each}"
            for each, (kind, _) in TYPES.items()
        )
        connection.execute(f"CREATE TABLE {name} AS SELECT id, {columns} FROM given ORDER BY id")
    return connection


RAISES = object()


def plain(text: str) -> list[Any]:
    """Return DuckDB's own values, row by row if one of them raises an error."""
    try:
        return _values(f"SELECT {text} FROM plain AS t ORDER BY id")
    except duckdb.Error:
        return [_plain_at(text, row) for row in range(ROWS)]


def _plain_at(text: str, row: int) -> Any:
    one = f"(SELECT * FROM plain WHERE id = {row} OFFSET 0)"
    try:
        return _values(f"SELECT {text} FROM {one} AS t")[0]
    except duckdb.Error:
        return RAISES


def ours(expression: Expression) -> list[Any]:
    """Return the values of a translated expression; it never raises an error."""
    return _values(f"SELECT {write_expression(expression, DUCKDB)} FROM wide AS t ORDER BY id")


def kind_in_duckdb(text: str) -> Kind:
    (type_,) = database().execute(f"SELECT typeof({text}) FROM plain AS t LIMIT 1").fetchone() or ()
    return KINDS[type_.partition("(")[0]]


KINDS = {
    '"NULL"': Kind.INTEGER,
    "BOOLEAN": Kind.BOOLEAN,
    "VARCHAR": Kind.TEXT,
    "DATE": Kind.DATE,
    "TIMESTAMP": Kind.TIMESTAMP,
    **dict.fromkeys(("TINYINT", "UTINYINT", "INTEGER", "BIGINT"), Kind.INTEGER),
    **dict.fromkeys(("DOUBLE", "DECIMAL", "FLOAT"), Kind.REAL),
}


def _values(sql: str) -> list[Any]:
    return [value for (value,) in database().execute(sql).fetchall()]


def is_same(given: Any, found: Any, kind: Kind) -> bool:
    """Return whether a found value is DuckDB's, or NULL where DuckDB has no value for it."""
    if given is RAISES:
        return True
    if isinstance(given, float) and not math.isfinite(given):
        return found is None
    if kind.is_time and isinstance(given, str):
        return found is None  # a time outside the years 1 to 9999
    if isinstance(given, Decimal) and found is not None:
        return bool(float(given) == found)
    return bool(given == found) and (given is None) == (found is None)
