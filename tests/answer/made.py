"""Answers made by hand."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa

from discreet.answer import Answer, Balance, Price, Role
from discreet.answer.columns import Floats


def make_answer(
    columns: Mapping[str, Any] | pa.Table,
    errors: Mapping[str, float | Sequence[float]] | None = None,
    *,
    keys: Sequence[str] = (),
    **others: Any,
) -> Answer:
    """Return an answer whose margins double from 95% to any other confidence."""
    table = columns if isinstance(columns, pa.Table) else pa.table(dict(columns))
    given = errors or {}

    def widths(factor: float) -> list[Floats | None]:
        return [
            np.full(table.num_rows, 1.0) * np.array(given[name]) * factor if name in given else None
            for name in table.column_names
        ]

    def role(name: str) -> Role:
        if name in given:
            return Role.ESTIMATE
        return Role.KEY if name in keys else Role.VALUE

    fields: dict[str, Any] = {
        "question": "SELECT region, COUNT(*) AS visits FROM visits GROUP BY region",
        "table": table,
        "roles": tuple(map(role, table.column_names)),
        "column_margins": widths(1),
        "column_margins_at": lambda _, simultaneous: widths(4 if simultaneous else 2),
        "confidence": 0.95,
        "price": Price(epsilon=Fraction(1, 2)),
        "remaining": Balance(epsilon=Fraction(5, 2), total_epsilon=Fraction(3)),
    }
    return Answer(**(fields | others))


def make_regions(**others: Any) -> Answer:
    """Return the answer of the first page."""
    return make_answer(
        {"region": ["north", "south"], "visits": [12_418, 9_877], "age": [43.2178, 41.7999]},
        {"visits": 41, "age": [0.412, 4.6]},
        keys=["region"],
        **others,
    )
