"""The last step: from noisy tables to the answer that was asked for."""

from collections.abc import Callable, Mapping
from fractions import Fraction

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from discreet.amounts import Balance, Price
from discreet.answer.answer import Answer, Note
from discreet.answer.columns import Margins, Role
from discreet.answer.intervals import intervals_in, too_few_rows
from discreet.estimators import LinearEstimator
from discreet.mechanisms.geometric import Geometric
from discreet.parameters import Real, confidence_level
from discreet.postprocess import released_tables
from discreet.query.plan import Plan
from discreet.query.questions import ColumnOrigin, OriginKind
from discreet.tables import WITH_GAPS, NoisyTable

Run = Callable[[str, Mapping[str, pa.Table]], pa.Table]
"""Runs SQL over noisy and public tables."""

GAPS = "NULL is shown where a value could not be computed from the noisy results."


def present(  # noqa: PLR0913 - each is a part of the answer
    plan: Plan,
    noisy: tuple[NoisyTable, ...],
    run: Run,
    *,
    text: str,
    confidence: Real,
    price: Price,
    balance: Balance,
    from_ledger: bool,
    notes: tuple[str, ...] = (),
) -> Answer:
    """Return what was asked, made of what was released: nothing here has seen an exact number."""
    question = plan.question
    level = confidence_level(confidence)

    def table_at(confidence: Fraction, simultaneous: bool) -> pa.Table:
        tables = released_tables(plan, noisy, confidence=confidence, simultaneous=simultaneous)
        if question.shown is None:
            return run(question.post_sql, tables)
        columns = [tables["released_0"].column(each) for _, each in question.shown]
        return pa.table(columns, names=[name for name, _ in question.shown])

    def margins_at(confidence: Fraction, simultaneous: bool) -> Margins:
        return _margins(table_at(confidence, simultaneous), question.spreads)

    whole = table_at(level, False)
    if whole.schema.metadata == WITH_GAPS:
        notes = (*notes, Note(GAPS, is_printed=True))
    notes = (*notes, *too_few_rows(plan, whole))
    asked = pa.table(
        [whole.column(i) for i in range(len(question.columns))], names=list(question.columns)
    )
    return Answer(
        question=text,
        table=asked,
        roles=_roles(plan),
        column_margins=_margins(whole, question.spreads),
        column_margins_at=margins_at,
        confidence=level,
        price=price,
        remaining=balance,
        from_ledger=from_ledger,
        notes=notes,
        scales=tuple(_scale(plan, origin) for origin in question.sources),
        column_intervals=intervals_in(whole, question.ends),
    )


def _margins(table: pa.Table, names: tuple[str | None, ...]) -> Margins:
    return tuple(None if name is None else _floats(table, name) for name in names)


def _floats(table: pa.Table, name: str) -> NDArray[np.float64]:
    return np.asarray(table.column(name).cast(pa.float64()).to_numpy(), dtype=np.float64)


def _roles(plan: Plan) -> tuple[Role, ...]:
    """Return what each column is: keys name the row, estimates have a margin."""
    question = plan.question
    return tuple(
        Role.ESTIMATE
        if spread is not None
        else Role.KEY
        if origin is not None and origin.kind is OriginKind.KEY
        else Role.VALUE
        for spread, origin in zip(question.spreads, question.sources, strict=True)
    )


def _scale(plan: Plan, origin: ColumnOrigin | None) -> Fraction | None:
    """Return the scale of a column that is one cell plus geometric noise, None for any other."""
    if origin is None or origin.kind is not OriginKind.AGGREGATE:
        return None
    planned = plan.releases[origin.release]
    estimator = planned.estimators[origin.index]
    if not isinstance(estimator, LinearEstimator) or [
        each for each in estimator.weights if each
    ] != [1]:
        return None
    noise = planned.components[estimator.measure].noise
    return noise.scale if isinstance(noise, Geometric) else None
