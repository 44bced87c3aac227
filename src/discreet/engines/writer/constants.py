"""Constant rows as SQL: typed VALUES, the same on every engine."""

# ruff: noqa: S608 - this file writes SQL; every name in it is quoted and every value a literal

from collections.abc import Iterator, Sequence

from discreet.catalog.schema import Value
from discreet.engines.base import SCALAR
from discreet.engines.dialect import Dialect, literal_of
from discreet.engines.writer.expressions import WriteContext
from discreet.query.tree import ConstantColumn, ConstantRows, ReleasedRows

ROW = '"__row"'
"""A number that tells the rows of one unit apart, or those of a table that is joined."""

NumberedColumn = tuple[int, ConstantColumn]


def constants_text(
    rows: ConstantRows | ReleasedRows, name: str, needed: frozenset[str], place: WriteContext
) -> str:
    """Return constant rows under a name; released ones that are not known yet as a name or none."""
    if isinstance(rows, ReleasedRows) and place.released is None:
        return f"{SCALAR}rows_{rows.number} AS {place.quoted(name)}"
    known = rows.rows if isinstance(rows, ConstantRows) else ()
    columns = [(number, each) for number, each in enumerate(rows.columns) if each.name in needed]
    return f"({_listed(known, columns, place)}) AS {place.quoted(name)}"


def _listed(
    rows: Sequence[tuple[Value, ...]], columns: Sequence[NumberedColumn], place: WriteContext
) -> str:
    """Return a SELECT of constants, each of the type of its column, with a number for each row."""
    nothing = ", ".join(["0", *(_literal(None, each, place.dialect) for _, each in columns)])
    listed = ", ".join(_rows(rows, columns, place.dialect)) or f"({nothing})"
    names = ", ".join(['"__n"', *(f'"__c{number}"' for number, _ in columns)])
    outputs = [f'"__n" AS {ROW}']
    outputs += [
        f'CAST("__c{number}" AS {place.dialect.types[each.kind]}) AS {place.column(each.name)}'
        for number, each in columns
    ]
    where = "" if rows else " WHERE 1 = 0"
    return f'SELECT {", ".join(outputs)} FROM (VALUES {listed}) AS "__listed"({names}){where}'


def _rows(
    rows: Sequence[tuple[Value, ...]], columns: Sequence[NumberedColumn], dialect: Dialect
) -> Iterator[str]:
    for row, values in enumerate(rows):
        texts = (_literal(values[number], each, dialect) for number, each in columns)
        yield f"({', '.join([str(row), *texts])})"


def _literal(value: Value, column: ConstantColumn, dialect: Dialect) -> str:
    return literal_of(value, column.kind, dialect).text
