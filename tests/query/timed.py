"""Tables with times for tests of rounding: some with steps, some without, and texts beside them."""

from datetime import UTC, datetime

from discreet.catalog.arguments import declare
from discreet.catalog.resolve import resolve
from discreet.catalog.schema import Column, Kind

NOW = datetime(2024, 5, 16, 10, 37, 11, 123456, tzinfo=UTC)
"""A Thursday."""

COLUMNS = {
    "events": (
        Column(name="who", kind=Kind.INTEGER),
        Column(name="ts", kind=Kind.TIMESTAMP),
        Column(name="tz", kind=Kind.TIMESTAMP_TZ),
        Column(name="day", kind=Kind.DATE),
        Column(name="week", kind=Kind.DATE),
        Column(name="raw", kind=Kind.TIMESTAMP),
        Column(name="n", kind=Kind.INTEGER),
        Column(name="note", kind=Kind.TEXT),
    ),
    "others": (
        Column(name="who", kind=Kind.INTEGER),
        Column(name="ts", kind=Kind.TIMESTAMP),
        Column(name="note", kind=Kind.TEXT),
    ),
    "texts": (Column(name="who", kind=Kind.INTEGER), Column(name="ts", kind=Kind.TEXT)),
}
CATALOG = resolve(
    declare(
        dict.fromkeys(COLUMNS),
        unit="who",
        epsilon=1,
        step={
            "events.ts": "15 minutes",
            "events.tz": "1 hour",
            "events.week": "1 week",
            "others.ts": "1 day",
        },
    ),
    lambda name: COLUMNS[name],
)
