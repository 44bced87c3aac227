"""The columns of a table as text, for prepared tables: names, kinds and steps, no values."""

import json
from fractions import Fraction

from discreet.catalog.schema import Column, Kind


def told_of(columns: tuple[Column, ...]) -> str:
    """Return columns as a text, from which `columns_from` has them back."""
    return json.dumps([_told(each) for each in columns])


def _told(column: Column) -> list[str | bool | None]:
    step = None if column.step is None else str(column.step)
    return [column.name, column.kind.value, step, column.nulls, column.is_rounded]


def columns_from(told: str) -> tuple[Column, ...]:
    """Return the columns that a text tells of."""
    return tuple(
        Column(
            name=name,
            kind=Kind(kind),
            step=None if step is None else Fraction(step),
            nulls=null,
            is_rounded=any(is_rounded),
        )
        for name, kind, step, null, *is_rounded in json.loads(told)
    )
