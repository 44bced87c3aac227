"""Intervals of selected values in an answer, and what is said of values without enough rows."""

from collections.abc import Iterator, Sequence

import pyarrow as pa

from discreet.amounts import number_text
from discreet.answer.answer import Note
from discreet.answer.columns import Intervals
from discreet.estimators import SelectedValue
from discreet.query.plan import Plan
from discreet.query.questions import OriginKind

TOO_FEW = "{} is NULL where too few rows support a value: about {} rows are needed at this ε."


def intervals_in(table: pa.Table, names: Sequence[tuple[str, str] | None]) -> Intervals:
    """Return the ends of intervals from the hidden columns of these names."""
    return tuple(
        None
        if each is None or table.num_rows == table.column(each[0]).null_count
        else (table.column(each[0]), table.column(each[1]))
        for each in names
    )


def too_few_rows(plan: Plan, table: pa.Table) -> Iterator[Note]:
    """Yield a note for each column of selected values of which some are not shown.

    Whether enough rows support a value was decided by a noisy count, within the same release.
    """
    for place, origin in enumerate(plan.question.sources):
        if origin is None or origin.kind is not OriginKind.AGGREGATE:
            continue
        planned = plan.releases[origin.release]
        estimator = planned.estimators[origin.index]
        if isinstance(estimator, SelectedValue) and table.column(place).null_count:
            support = planned.value_selections[estimator.selection].support
            if support is not None:
                name = plan.question.columns[place]
                yield Note(TOO_FEW.format(name, number_text(support)), is_printed=True)
