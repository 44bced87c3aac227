"""Types of columns in files and databases, and how each is read."""

import re
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction

from discreet.catalog.schema import Column, Kind
from discreet.engines.dialect import CALENDAR, text_literal
from discreet.engines.duckdb.conditions import canonical_real, finite
from discreet.engines.duckdb.csv_files import SPELLING, WHOLE

# --------------------------------------------------------------------------- columns

SIMPLE = {
    "BOOLEAN": Kind.BOOLEAN,
    **dict.fromkeys(("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT"), Kind.INTEGER),
    **dict.fromkeys(("UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT", "UHUGEINT"), Kind.INTEGER),
    **dict.fromkeys(("FLOAT", "DOUBLE"), Kind.REAL),
    **dict.fromkeys(("VARCHAR", "JSON", "UUID"), Kind.TEXT),
    "DATE": Kind.DATE,
    **dict.fromkeys(("TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS"), Kind.TIMESTAMP),
    "TIMESTAMP WITH TIME ZONE": Kind.TIMESTAMP_TZ,
}
"""Types of DuckDB by kind; those with parameters are matched apart, the rest is OTHER."""


STORED: Mapping[Kind, str] = {
    Kind.REAL: finite(canonical_real("CAST({0} AS DOUBLE)")),
    Kind.TEXT: "CAST({0} AS VARCHAR)",
    Kind.DATE: f"CASE WHEN {CALENDAR[Kind.DATE]} THEN {{0}} END",
    Kind.TIMESTAMP: (
        f"CASE WHEN {CALENDAR[Kind.TIMESTAMP].replace('{0}', 'TRY_CAST({0} AS TIMESTAMP)')} "
        "THEN TRY_CAST({0} AS TIMESTAMP) END"
    ),
    Kind.TIMESTAMP_TZ: f"CASE WHEN {CALENDAR[Kind.TIMESTAMP_TZ]} THEN {{0}} END",
}
"""How a column is stored: one type for each kind but INTEGER, finite reals without -0.0, years 1 to
9999.

Texts of a DuckDB file may bring a collation along, by which texts that differ are equal: units and
keys would be one, and a public row would meet more rows than were counted. They are stored without.
"""


READ_AS: Mapping[Kind, str] = {
    Kind.BOOLEAN: "BOOLEAN",
    Kind.INTEGER: "BIGINT",
    Kind.REAL: "DOUBLE",
    Kind.DATE: "DATE",
    Kind.TIMESTAMP: "TIMESTAMP",
    Kind.TIMESTAMP_TZ: "TIMESTAMP WITH TIME ZONE",
}
"""What the text of a CSV file is read as, if its column is declared to be of a kind."""


NOT_WRITTEN = "a value is not written as its kind"


MERGING = (Kind.REAL, Kind.BOOLEAN)
"""Kinds of which different texts of a CSV file are the same value: they tell nobody apart."""


DIGITS = 15
"""Decimals of so many digits are different reals if they differ."""


def column_from_type(name: str, type_name: str, *, nulls: bool | None = None) -> Column:
    """Return a column by DuckDB's name of its type."""
    decimal = re.fullmatch(r"DECIMAL\((\d+),(\d+)\)", type_name)
    if decimal and int(decimal[2]) == 0:
        return Column(name=name, kind=Kind.INTEGER, nulls=nulls)
    if decimal:
        step = Fraction(1, 10 ** int(decimal[2]))
        is_rounded = int(decimal[1]) > DIGITS
        return Column(name=name, kind=Kind.REAL, step=step, nulls=nulls, is_rounded=is_rounded)
    kind = Kind.TEXT if type_name.startswith("ENUM(") else SIMPLE.get(type_name, Kind.OTHER)
    return Column(name=name, kind=kind, nulls=nulls, is_rounded=type_name == "TIMESTAMP_NS")


def read_as(text: str, kind: Kind) -> str:
    """Return a text as a value of a kind, NULL if it is none.

    DuckDB would read 7.5 and 0x10 as the integers 8 and 16, and 1_000 as a number.
    """
    value = _cast(text, kind)
    if kind is Kind.INTEGER:
        is_whole = f"regexp_full_match({text}, {text_literal(WHOLE)})"
        return (
            f"CASE WHEN CAST({value} AS VARCHAR) = {text} THEN {value} "
            f"WHEN {is_whole} THEN {value} END"
        )
    return f"CASE WHEN NOT contains({text}, '_') THEN {value} END" if kind is Kind.REAL else value


def written_as(text: str, kind: Kind) -> str:
    """Return a text as a value of a kind, and fail if it is not written as one."""
    value = STORED.get(kind, "{0}").format(_cast(text, kind))
    if kind in (Kind.TEXT, Kind.OTHER, *MERGING):
        return value
    is_written = (
        f"CAST({value} AS VARCHAR) = {text}"
        if kind in (Kind.INTEGER, Kind.DATE)
        else f"{value} IS NOT NULL AND regexp_full_match({text}, {text_literal(SPELLING[kind])})"
    )
    return (
        f"CASE WHEN {text} IS NULL THEN NULL WHEN {is_written} THEN {value} "
        f"ELSE error({text_literal(NOT_WRITTEN)}) END"
    )


def _cast(text: str, kind: Kind) -> str:
    # A cast of the bare column would be moved into DuckDB's reader, where it raises an error.
    is_text = kind in (Kind.TEXT, Kind.OTHER)
    return text if is_text else f"TRY_CAST(concat({text}) AS {READ_AS[kind]})"


def promised(column: Column) -> Column:
    """Return the column without a promise that values which became NULL would break."""
    if column.kind in (Kind.REAL, Kind.DATE, Kind.TIMESTAMP, Kind.TIMESTAMP_TZ):
        return replace(column, nulls=None)
    return column
