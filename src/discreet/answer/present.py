"""The last step: from noisy tables to the answer that was asked for."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from discreet.amounts import Balance, Price
from discreet.answer.answer import Answer, Note
from discreet.answer.columns import Floats, Intervals, MarginMethod, Margins, Role, sort_of
from discreet.answer.intervals import intervals_in, too_few_rows
from discreet.answer.resampling import Resampler, RunSql
from discreet.arrow_values import REALS, numbers_in
from discreet.estimators import ComponentEstimator, LinearEstimator, SelectedValue
from discreet.mechanisms.accuracy import miss_probability
from discreet.mechanisms.geometric import Geometric
from discreet.parameters import Real, confidence_level
from discreet.postprocess import released_tables
from discreet.query.plan import Plan
from discreet.query.questions import ColumnOrigin, OriginKind
from discreet.tables import WITH_GAPS, NoisyTable

GAPS = "NULL is shown where a value could not be computed from the noisy results."

CHOSEN = (
    "Noisy numbers decided which rows are shown. Those shown because they are large are too large "
    "more often than not, and ± of {} does not allow for this. Margins for all numbers at once do."
)

UNBOUNDED = (
    "±∞: with other noise, this number could be anything. Most often a small noisy number is in a "
    "denominator."
)

WITHOUT = (
    "{} has no ±: it depends on a value that was selected, such as a median, or the rows are too "
    "many to be resampled."
)

PARTLY = "{} has no ± in rows that other noise would have left out."

Methods: TypeAlias = "tuple[MarginMethod | None, ...]"


def present(  # noqa: PLR0913 - each is a part of the answer
    plan: Plan,
    noisy: tuple[NoisyTable, ...],
    run: RunSql,
    *,
    text: str,
    confidence: Real,
    price: Price,
    balance: Balance,
    from_ledger: bool,
    notes: tuple[str, ...] = (),
    limits: tuple[Mapping[str, object], ...] = (),
) -> Answer:
    """Return what was asked, made of what was released: nothing here has seen an exact number."""
    level = confidence_level(confidence)
    shown = _Shown(plan, noisy, run, level)
    margins, methods = shown.found(level, False)
    return Answer(
        question=text,
        table=shown.asked,
        roles=roles_of(plan, [each is not None for each in margins]),
        column_margins=margins,
        column_margins_at=lambda confidence, simultaneous: shown.found(confidence, simultaneous)[0],
        confidence=level,
        price=price,
        remaining=balance,
        from_ledger=from_ledger,
        notes=(*notes, *shown.notes(margins)),
        limits=limits,
        scales=tuple(_scale(plan, origin) for origin in plan.question.sources),
        methods=methods,
        column_intervals=shown.intervals,
    )


@dataclass(frozen=True)
class _Shown:
    """The asked table, and margins of its numbers."""

    plan: Plan
    noisy: tuple[NoisyTable, ...]
    run: RunSql
    level: Fraction

    @cached_property
    def whole(self) -> pa.Table:
        """What the SQL after the noise gives, with hidden columns."""
        return self._table_at(self.level, False)

    @cached_property
    def asked(self) -> pa.Table:
        """The columns that were asked for."""
        names = self.plan.question.columns
        return pa.table([self.whole.column(i) for i in range(len(names))], names=list(names))

    @cached_property
    def resampled(self) -> tuple[int, ...]:
        """The columns whose margins are resampled."""
        return resampled_columns(self.plan, self.asked.schema)

    @cached_property
    def candidates(self) -> Fraction:
        """Among how many noisy numbers each that is shown was chosen; resampling allows for it.

        Of m numbers, r are shown because of their noise. At a miss probability of r / m times the
        usual one, the share of those shown that are farther off than their margin is the usual one
        on average (Benjamini, Yekutieli 2005: the false coverage rate).
        """
        most = max((each.rows.num_rows for each in self.noisy), default=1)
        if not self.plan.question.is_chosen or not 0 < self.asked.num_rows < most:
            return Fraction(1)
        return Fraction(most, self.asked.num_rows)

    @property
    def intervals(self) -> Intervals:
        """The intervals of selected values; they too allow for having been chosen."""
        level = 1 - (1 - self.level) / self.candidates
        table = self.whole if level == self.level else self._table_at(level, False)
        return intervals_in(table, self.plan.question.ends)

    def found(self, confidence: Fraction, simultaneous: bool) -> tuple[Margins, Methods]:
        """Return margins at a confidence, for each number or for all at once, and whence they are.

        Where margins to first order in the noise go along with numbers, the wider ones are given:
        those are too wide for sums, and too small for ratios of small numbers. Numbers that are
        read off the same noisy cells move together, which only resampling follows.
        """
        miss = miss_probability(confidence, 1)
        margins = list(self._propagated(confidence, simultaneous))
        methods = [None if each is None else MarginMethod.EXACT for each in margins]
        for i in self.resampled:
            methods[i] = None if margins[i] is None else MarginMethod.FIRST_ORDER
        together = self.candidates * max(1, self.asked.num_rows if simultaneous else 1)
        sampler = Resampler(
            plan=self.plan,
            noisy=self.noisy,
            run=self.run,
            answer=self.asked,
            places=self.resampled,
        )
        for i, each in sampler.margins(miss / together).items():
            if self._move_together(i) and each is not None:
                margins[i], methods[i] = _filled(each, margins[i]), MarginMethod.RESAMPLED
            else:
                margins[i], methods[i] = _wider(margins[i], each)
        return tuple(margins), tuple(methods)

    def notes(self, margins: Margins) -> tuple[Note, ...]:
        """Return what must be known to read the numbers and their margins."""
        names = self.plan.question.columns
        there = [each for each in margins if each is not None]
        without = [names[i] for i in self.resampled if margins[i] is None]
        plain = [
            name
            for i, name in enumerate(names)
            if margins[i] is not None and i not in self.resampled
        ]
        partly = [names[i] for i in self.resampled if _has_gaps(self.asked, margins, i)]
        said = {
            GAPS: self.whole.schema.metadata == WITH_GAPS,
            CHOSEN.format(", ".join(plain)): bool(plain) and self.candidates > 1,
            UNBOUNDED: any(np.isinf(each).any() for each in there),
            WITHOUT.format(", ".join(without)): bool(without),
            PARTLY.format(", ".join(partly)): bool(partly),
        }
        shown = tuple(Note(each, is_printed=True) for each, is_said in said.items() if is_said)
        return (*shown, *too_few_rows(self.plan, self.asked))

    def _table_at(self, confidence: Fraction, simultaneous: bool) -> pa.Table:
        question = self.plan.question
        tables = released_tables(
            self.plan, self.noisy, confidence=confidence, simultaneous=simultaneous
        )
        if question.shown is None:
            return self.run(question.post_sql, tables)
        columns = [tables["released_0"].column(each) for _, each in question.shown]
        return pa.table(columns, names=[name for name, _ in question.shown])

    def _propagated(self, confidence: Fraction, simultaneous: bool) -> Margins:
        """Return the margins that go along with the numbers through the SQL."""
        is_first = confidence == self.level and not simultaneous
        table = self.whole if is_first else self._table_at(confidence, simultaneous)
        return _margins(table, self.plan.question.spreads)

    def _move_together(self, place: int) -> bool:
        """Whether a column comes from numbers that share their noise: a count and its total."""
        reads = self.plan.question.reads
        numbers = reads[place] if reads else frozenset()
        estimators = [self.plan.releases[each.release].estimators[each.index] for each in numbers]
        cells = {
            (each.release, estimator.measure)
            for each, estimator in zip(numbers, estimators, strict=True)
            if isinstance(estimator, ComponentEstimator)
        }
        are_cells = all(isinstance(each, ComponentEstimator) for each in estimators)
        return len(numbers) > 1 and are_cells and len(cells) == 1


def resampled_columns(plan: Plan, schema: pa.Schema) -> tuple[int, ...]:
    """Return the columns of an answer whose margins are resampled, by their types."""
    question = plan.question
    return tuple(
        i
        for i, is_noisy in enumerate(question.is_noisy)
        if is_noisy
        and sort_of(schema.field(i).type).is_number
        and (question.spreads[i] is None or not question.is_exact[i])
        and not _is_selected(plan, question.sources[i])
    )


def _is_selected(plan: Plan, origin: ColumnOrigin | None) -> bool:
    """Return whether a column is a value that a mechanism selected, unchanged."""
    if origin is None or origin.kind is not OriginKind.AGGREGATE:
        return False
    estimator = plan.releases[origin.release].estimators[origin.index]
    return isinstance(estimator, SelectedValue)


def _wider(
    rough: Floats | None, resampled: Floats | None
) -> tuple[Floats | None, MarginMethod | None]:
    """Return the wider of two margins in each row, and whence the column has them."""
    if resampled is None:
        return None, None
    if rough is None:
        return resampled, MarginMethod.RESAMPLED
    wider = np.fmax(rough, resampled)
    is_rough = np.array_equal(wider, rough, equal_nan=True)
    return wider, MarginMethod.FIRST_ORDER if is_rough else MarginMethod.RESAMPLED


def _filled(resampled: Floats, rough: Floats | None) -> Floats:
    """Return resampled margins, and those to first order where rows have none."""
    return resampled if rough is None else np.where(np.isnan(resampled), rough, resampled)


def _has_gaps(table: pa.Table, margins: Margins, place: int) -> bool:
    """Return whether numbers of a column that has margins lack one."""
    wide = margins[place]
    if wide is None:
        return False
    is_number = table.column(place).is_valid().to_numpy()
    return bool((np.isnan(wide) & is_number).any())


def _margins(table: pa.Table, names: tuple[str | None, ...]) -> Margins:
    return tuple(None if name is None else _floats(table, name) for name in names)


def _floats(table: pa.Table, name: str) -> NDArray[np.float64]:
    column = table.column(name)
    same = column if column.type == REALS else column.cast(REALS)
    return np.asarray(numbers_in(same), dtype=np.float64)


def roles_of(plan: Plan, has_margins: Sequence[bool]) -> tuple[Role, ...]:
    """Return what each column is: keys name the row, estimates have a margin."""
    return tuple(
        Role.ESTIMATE
        if has_margin
        else Role.KEY
        if origin is not None and origin.kind is OriginKind.KEY
        else Role.VALUE
        for has_margin, origin in zip(has_margins, plan.question.sources, strict=True)
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
