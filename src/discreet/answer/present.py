"""The last step: from noisy tables to the answer that was asked for."""

from collections.abc import Callable, Mapping
from fractions import Fraction

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from discreet.amounts import Balance, Price
from discreet.answer.answer import Answer
from discreet.answer.columns import HalfWidths, Role
from discreet.estimators import LinearEstimator
from discreet.mechanisms.geometric import Geometric
from discreet.parameters import Real, confidence_level
from discreet.query.plan import Plan
from discreet.release import spreads
from discreet.tables import WITH_GAPS, NoisyTable

Run = Callable[[str, Mapping[str, pa.Table]], pa.Table]
"""Runs SQL over noisy and public tables."""

GAPS = "NULL stands for values that could not be computed from the noisy numbers."


def present(  # noqa: PLR0913 - each is a part of the answer
    plan: Plan,
    noisy: tuple[NoisyTable, ...],
    run: Run,
    *,
    text: str,
    confidence: Real,
    price: Price,
    balance: Balance,
    was_kept: bool,
    cautions: tuple[str, ...] = (),
    notes: tuple[str, ...] = (),
) -> Answer:
    """Return what was asked, made of what was released: nothing here has seen an exact number."""
    question = plan.question
    level = confidence_level(confidence)

    def table_at(confidence: Fraction, simultaneous: bool) -> pa.Table:
        tables = {
            f"released_{i}": spreads(
                planned, each, confidence=confidence, simultaneous=simultaneous
            )
            for i, (planned, each) in enumerate(zip(plan.releases, noisy, strict=True))
        }
        if question.shown is None:
            return run(question.afterwards, tables)
        columns = [tables["released_0"].column(each) for _, each in question.shown]
        return pa.table(columns, names=[name for name, _ in question.shown])

    def widths_at(confidence: Fraction, simultaneous: bool) -> HalfWidths:
        return _half_widths(table_at(confidence, simultaneous), question.spreads)

    whole = table_at(level, False)
    if whole.schema.metadata == WITH_GAPS:
        cautions = (*cautions, GAPS)
    asked = pa.table(
        [whole.column(i) for i in range(len(question.columns))], names=list(question.columns)
    )
    return Answer(
        question=text,
        table=asked,
        roles=_roles(plan),
        half_widths=_half_widths(whole, question.spreads),
        widths=widths_at,
        confidence=level,
        price=price,
        remaining=balance,
        was_kept=was_kept,
        cautions=cautions,
        notes=notes,
        scales=tuple(_scale(plan, origin) for origin in question.sources),
    )


def _half_widths(table: pa.Table, names: tuple[str | None, ...]) -> HalfWidths:
    return tuple(None if name is None else _floats(table, name) for name in names)


def _floats(table: pa.Table, name: str) -> NDArray[np.float64]:
    return np.asarray(table.column(name).cast(pa.float64()).to_numpy(), dtype=np.float64)


def _roles(plan: Plan) -> tuple[Role, ...]:
    """Return what each column is: keys name the row, estimates have an error bar."""
    question = plan.question
    return tuple(
        Role.ESTIMATE
        if spread is not None
        else Role.KEY
        if origin is not None and origin[1].startswith("k")
        else Role.VALUE
        for spread, origin in zip(question.spreads, question.sources, strict=True)
    )


def _scale(plan: Plan, origin: tuple[int, str] | None) -> Fraction | None:
    """Return the scale of a column that is one cell plus geometric noise, None for any other."""
    if origin is None or not origin[1].startswith("a"):
        return None
    planned = plan.releases[origin[0]]
    estimator = planned.estimators[int(origin[1][1:])]
    if not isinstance(estimator, LinearEstimator) or [
        each for each in estimator.weights if each
    ] != [1]:
        return None
    noise = planned.measures[estimator.measure].noise
    return noise.scale if isinstance(noise, Geometric) else None
