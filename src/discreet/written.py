"""A query as somebody wrote it: its text, the values of its placeholders, and its dialect.

In JSON, numbers, texts, truth values and null are JSON's own. A value that JSON has no form for is
an object with one entry: {"date": "2024-01-31"}, {"timestamp": "2024-01-31 10:00:00"} or
{"decimal": "1.10"}.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal, InvalidOperation
from enum import Enum
from typing import Any, TypeAlias

from discreet.errors import HIDDEN, ParameterError

Value: TypeAlias = bool | int | float | Decimal | str | date | datetime | None
"""What a placeholder may stand for."""

Parameters: TypeAlias = (
    Sequence[Value | Sequence[Value]] | Mapping[str, Value | Sequence[Value]] | None
)
"""In their order for ? and $1, by name for :name; a list is for IN and ANY."""


class SqlDialect(Enum):
    """The dialects in which a query may be written."""

    DUCKDB = "duckdb"
    POSTGRES = "postgres"
    BIGQUERY = "bigquery"


OTHER_NAMES = {
    "postgresql": SqlDialect.POSTGRES,
    "pg": SqlDialect.POSTGRES,
    "googlesql": SqlDialect.BIGQUERY,
    "zetasql": SqlDialect.BIGQUERY,
}


SHOWN_ONLY = ("databricks", "snowflake", "trino")
"""Dialects in which generated SQL is shown, and none is read."""


def dialect_named(name: str | None) -> SqlDialect:
    """Return the dialect of a name; DuckDB's if there is none."""
    if name is None:
        return SqlDialect.DUCKDB
    key = name.casefold() if isinstance(name, str) else ""
    found = OTHER_NAMES.get(key) or next((each for each in SqlDialect if each.value == key), None)
    if found is None:
        fix = "To see the generated SQL for another database, use sql_for"
        raise ParameterError(
            "dialect",
            name,
            "must be 'duckdb', 'postgres' or 'bigquery'",
            fix if key in SHOWN_ONLY else "",
        )
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenQuery:
    """A query as somebody wrote it."""

    text: str
    parameters: Parameters = None
    dialect: SqlDialect = SqlDialect.DUCKDB

    @property
    def is_plain(self) -> bool:
        """Whether its text alone says what is asked."""
        return self.parameters is None and self.dialect is SqlDialect.DUCKDB


def written(sql: str, parameters: Parameters = None, dialect: str | None = None) -> WrittenQuery:
    """Return a query as it was given to a call."""
    if not isinstance(sql, str):
        raise ParameterError("sql", sql, "must be the text of a query")
    return WrittenQuery(text=sql, parameters=parameters, dialect=dialect_named(dialect))


# --------------------------------------------------------------------------- as JSON


def json_from(parameters: Parameters) -> Any:
    """Return parameters as JSON has them; what no placeholder takes is left to be rejected."""
    if isinstance(parameters, Mapping):
        return {str(name): _written(each) for name, each in parameters.items()}
    return _written(parameters)


def _written(value: Any) -> Any:
    match value:
        case list() | tuple():
            return [_written(each) for each in value]
        case _ if type(value).__module__ == "numpy" and getattr(value, "shape", None) == ():
            return _written(value.item())  # without loading NumPy, which --help can do without
        case datetime():
            return {"timestamp": datetime.isoformat(value, sep=" ")}
        case date():
            return {"date": date.isoformat(value)}
        case Decimal():
            return {"decimal": str(value)}
        case None | bool() | int() | float() | str():
            return value
    rule = "must be numbers, texts, dates, datetimes, True, False, None, or lists of these"
    raise ParameterError("parameters", value, rule)


READERS: Mapping[str, Callable[[str], Any]] = {
    "date": date.fromisoformat,
    "timestamp": datetime.fromisoformat,
    "decimal": Decimal,
}


def parameters_from(given: Any) -> Parameters:
    """Return the parameters that JSON states."""
    if isinstance(given, Mapping):
        return {str(name): _read(each) for name, each in given.items()}
    return None if given is None else [_read(each) for each in given]


def _read(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return [_read(each) for each in value]
    if not isinstance(value, Mapping):
        return value
    ((kind, text),) = value.items()
    try:
        return READERS[kind](text)
    except (ValueError, InvalidOperation):
        forms = "2024-01-31, a timestamp like 2024-01-31 10:00:00, a decimal like 1.10"
        rule = f"must have a date like {forms}"
        raise ParameterError("parameters", HIDDEN, rule) from None
