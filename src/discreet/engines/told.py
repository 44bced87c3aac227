"""Columns of a table as a text that prepared forms keep: names, kinds and steps, no values."""

import json
from fractions import Fraction

from discreet.catalog.schema import Column, Kind


def told_of(columns: tuple[Column, ...]) -> str:
    """Return columns as a text, from which `columns_from` has them back."""
    return json.dumps(
        [
            [each.name, each.kind.value, None if each.step is None else str(each.step), each.nulls]
            for each in columns
        ]
    )


def columns_from(told: str) -> tuple[Column, ...]:
    """Return the columns that a text tells of."""
    return tuple(
        Column(
            name=name, kind=Kind(kind), step=None if step is None else Fraction(step), nulls=null
        )
        for name, kind, step, null in json.loads(told)
    )
