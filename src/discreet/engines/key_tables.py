"""SQL over lists of keys, declared values and public rows, and the tables that it reads."""

# ruff: noqa: S608 - names are quoted; other SQL is made by our own code

from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction

import pyarrow as pa

from discreet.catalog.schema import Kind, Value
from discreet.engines.duckdb.dialect import DUCKDB
from discreet.engines.writer import column_name, write_expression
from discreet.errors import UnsupportedError
from discreet.query.check.key_space import KeySpace, ListedKeys, PublicRows
from discreet.query.tree import (
    Call,
    Case,
    ColumnOf,
    Expression,
    InReleasedRows,
    Literal,
    ReleasedScalar,
    UnitSemiJoin,
    Window,
)
from discreet.tables import ARROW_TYPES

Domains = Mapping[tuple[str, str], tuple[Value, ...]]
"""The values of columns, by source and name."""


def key_text(expression: Expression) -> str:
    """Return a key so that equal ones are the same to the last bit."""
    template = DUCKDB.keys.get(expression.facts.kind, "{0}")
    return template.format(write_expression(expression, DUCKDB, ()))


def columns_of(expression: Expression) -> list[ColumnOf]:
    """Return the columns that an expression over public values reads, each once."""
    match expression:
        case ColumnOf():
            return [expression]
        case Call(arguments=arguments):
            parts = arguments
        case Case(branches=branches, otherwise=otherwise):
            parts = (*(each for pair in branches for each in pair), otherwise)
        case Literal():
            parts = ()
        case ReleasedScalar() | InReleasedRows() | UnitSemiJoin() | Window():
            raise UnsupportedError(
                "A group key that depends on other rows or on noisy results has no declared values",
                "Group by columns, or by expressions of columns",
            )
    return list(dict.fromkeys(column for part in parts for column in columns_of(part)))


def combinations(columns: list[ColumnOf], domains: Domains) -> tuple[dict[str, pa.Table], str]:
    """Return a table for each column, and FROM with all combinations of their values."""
    tables: dict[str, pa.Table] = {}
    sources: dict[str, list[str]] = {}
    for number, column in enumerate(columns):
        kind = column.facts.kind
        values = [_plain(each, kind) for each in domains[column.source, column.name]]
        name = column_name(column.name)
        tables[f"__{number}"] = pa.table({name: pa.array(values, ARROW_TYPES[kind])})
        sources.setdefault(column.source, []).append(f'"__{number}"')
    listed = [
        f"(SELECT * FROM {', '.join(names)}) AS {DUCKDB.quoted(source)}"
        for source, names in sources.items()
    ]
    return tables, f" FROM {', '.join(listed)}" if listed else ""


def possible_sql(space: KeySpace) -> tuple[str, dict[str, pa.Table]]:
    """Return SQL for the numbers of listed rows that conditions leave, and the tables it reads."""
    columns = list(space.domains)
    tables, source = combinations(
        columns, {(each.source, each.name): values for each, values in space.domains.items()}
    )
    sources = [source.removeprefix(" FROM ")] if source else []
    conditions = [write_expression(each, DUCKDB, ()) for each in space.conditions]
    for each in space.lists:
        tables[each.name] = _list_table(each)
        sources.append(DUCKDB.quoted(each.name))
        if not each.is_whole:
            conditions += [
                f"{DUCKDB.quoted(each.name)}.v{n} IS NOT DISTINCT FROM {key_text(key)}"
                for n, key in enumerate(each.expressions)
            ]
    tables |= {each.table: _constants(each) for each in space.publics if each.listed is not None}
    sources += map(_public_rows, space.publics)
    numbers = ", ".join(f"{DUCKDB.quoted(each.name)}.i" for each in space.lists)
    where = " AND ".join(f"({each})" for each in conditions) or "TRUE"
    return f"SELECT DISTINCT {numbers} FROM {', '.join(sources)} WHERE {where}", tables


def _list_table(listed: ListedKeys) -> pa.Table:
    arrays: dict[str, pa.Array[pa.Scalar[pa.DataType]]] = {"i": pa.array(range(len(listed.rows)))}
    for n, key in enumerate(listed.expressions):
        kind = key.facts.kind
        values = [_plain(row[n], kind) for row in listed.rows]
        arrays[f"v{n}"] = pa.array(values, ARROW_TYPES[kind])
    return pa.table(arrays)


def _constants(rows: PublicRows) -> pa.Table:
    arrays = {
        name: pa.array([_plain(each, kind) for each in values], ARROW_TYPES[kind])
        for name, (kind, values) in (rows.listed or {}).items()
    }
    return pa.table(arrays)


def _public_rows(rows: PublicRows) -> str:
    listed = ", ".join(
        f"{DUCKDB.quoted(theirs)} AS {DUCKDB.quoted(column_name(name))}"
        for name, theirs in rows.columns.items()
    )
    missing = f" UNION SELECT {', '.join(['NULL'] * len(rows.columns))}" * rows.is_optional
    table = DUCKDB.quoted(rows.table)
    return f"(SELECT DISTINCT {listed} FROM {table}{missing}) AS {DUCKDB.quoted(rows.source)}"


def _plain(value: Value, kind: Kind) -> Value:
    return float(value) if kind is Kind.REAL and isinstance(value, Fraction | Decimal) else value
