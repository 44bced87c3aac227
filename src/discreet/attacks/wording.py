"""Names, values and people's identifiers as SQL."""

from datetime import UTC, date, datetime, timedelta

from discreet.catalog import Kind, Value

FIRST_DAY = date(2000, 1, 1)

IDENTIFYING = (Kind.INTEGER, Kind.TEXT, Kind.REAL, Kind.DATE, Kind.TIMESTAMP, Kind.TIMESTAMP_TZ)
"""Kinds with enough different values to identify every person."""


def identity(kind: Kind, person: int) -> Value:
    """Return the value that identifies a person in a column of this kind."""
    day = datetime(FIRST_DAY.year, 1, 1) + timedelta(seconds=person)
    by_kind: dict[Kind, Value] = {
        Kind.INTEGER: person,
        Kind.REAL: float(person),
        Kind.TEXT: f"p{person}",
        Kind.DATE: FIRST_DAY + timedelta(days=person),
        Kind.TIMESTAMP: day,
        Kind.TIMESTAMP_TZ: day.replace(tzinfo=UTC),
    }
    return by_kind[kind]


def literal(value: Value) -> str:
    """Return a value as SQL. Timestamps are in UTC, the time zone of all stores here."""
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, datetime):
        return f"TIMESTAMP '{value.replace(tzinfo=None).isoformat(sep=' ')}'"
    if isinstance(value, date):
        return f"DATE '{value.isoformat()}'"
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    return str(value)


def quoted(name: str) -> str:
    """Return the name of a table or column as SQL."""
    return '"' + name.replace('"', '""') + '"'
