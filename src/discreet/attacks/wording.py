"""How questions write names, values and people."""

from datetime import UTC, date, datetime, timedelta

from discreet.catalog import Kind, Value

FIRST_DAY = date(2000, 1, 1)

IDENTIFYING = (Kind.INTEGER, Kind.TEXT, Kind.REAL, Kind.DATE, Kind.TIMESTAMP, Kind.TIMESTAMP_TZ)
"""Kinds with room for as many people as there are."""


def identity(kind: Kind, person: int) -> Value:
    """Return what a column of this kind holds to tell a person from all others."""
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
    """Return a value as SQL; moments are in UTC, as the clocks of all stores here are."""
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
    """Return a name of a table or column as SQL."""
    return '"' + name.replace('"', '""') + '"'
