"""Margins of whatever SQL makes of noisy tables: the SQL runs on many tables with fresh noise.

The noise of every released number has a known distribution. So the released tables are drawn again
around what was released (`postprocess.Replicates`), the SQL after the noise runs on each replicate,
and a margin is read off how far its numbers move: the parametric bootstrap. The margin reaches to
the farther end, so that it covers both the basic and the percentile interval (Davison, Hinkley
1997, sections 5.2 and 5.3). Where a number depends on the noise linearly, or on one noise
monotonically, it is exact up to the number of replicates. Elsewhere it holds approximately; tests
measure its coverage. Nothing here costs anything: noisy numbers, SQL and noise are public.
"""

# ruff: noqa: S608 - names are our own; the other SQL was checked and written by our own code

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil
from time import monotonic
from typing import Protocol

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from discreet.answer.columns import Floats
from discreet.errors import DiscreetError
from discreet.postprocess import LEAST_PAIRS, MOST_PAIRS, REPLICATE, Replicates, replicates_for
from discreet.query.plan import Plan
from discreet.tables import NoisyTable


class RunSql(Protocol):
    """Runs SQL over noisy and public tables; for so many seconds, if they are given."""

    def __call__(
        self, sql: str, tables: Mapping[str, pa.Table], *, timeout: float | None = None
    ) -> pa.Table: ...


LONGEST = 10.0
"""Seconds that all replicates of an answer take at most: SQL may join large public tables."""

NUMBERS, COPIES = "__numbers", "__replicates"
"""What SQL calls the list of replicates, and the tables that hold them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Moved:
    """The numbers of one column in each replicate, a column for each row of the answer."""

    values: Floats
    """NaN where there is none."""
    is_there: NDArray[np.bool_]
    """Whether the row is there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Resampler:
    """Finds the margins of some columns of an answer."""

    plan: Plan
    noisy: tuple[NoisyTable, ...]
    run: RunSql
    answer: pa.Table
    """The asked columns."""
    places: tuple[int, ...]
    """The columns whose margins are wanted."""

    def margins(self, miss: Fraction) -> dict[int, Floats | None]:
        """Return the margins of the wanted columns, as far as they could be resampled in time.

        A margin is too small with probability `miss`. It is infinite where the number could be
        anything, and NaN where a row is not there often enough to say anything. It is None for a
        column that depends on a selected value, whose error is not known. An answer without rows
        has margins for none.
        """
        if not self.places or not self.answer.num_rows:
            return {place: np.empty(0) for place in self.places}
        try:
            return self._margins(miss)
        except (DiscreetError, pa.ArrowException, TimeoutError):
            # An answer that was paid for stands without ±.
            return {}

    def _margins(self, miss: Fraction) -> dict[int, Floats | None]:
        is_keyed = self._rows_have_keys()
        most = MOST_PAIRS if is_keyed else LEAST_PAIRS
        replicates = replicates_for(self.noisy, rows=self.answer.num_rows, miss=miss, most=most)
        if replicates is None:
            return {}
        run = self._moved_at_once if is_keyed else self._moved
        until = monotonic() + LONGEST
        moved = run(replicates, until)
        if any(_has_long_tail(each, replicates) for each in moved.values()):
            more = [run(replace(replicates, times=times), until) for times in (2, 3)]
            moved = {i: _with_poles(each, more[0][i], more[1][i]) for i, each in moved.items()}
        return {
            place: _margin(each, replicates)
            if self._is_same(each, place, replicates.blank)
            else None
            for place, each in moved.items()
            if self._is_same(each, place, 0)
        }

    # ----------------------------------------------------------------------- replicates

    def _run(self, sql: str, tables: Mapping[str, pa.Table], until: float) -> pa.Table:
        left = until - monotonic()
        if left <= 0:
            raise TimeoutError
        return self.run(sql, tables, timeout=left)

    def _moved_at_once(self, replicates: Replicates, until: float) -> dict[int, Moved]:
        """Run the SQL on all replicates in one statement."""
        question = self.plan.question
        tables = replicates.tables(self.plan, self.noisy)
        copies = {f"{COPIES}_{name}": table for name, table in tables.items()}
        numbers = pa.table({REPLICATE: pa.array(range(replicates.blank + 1))})
        named = ", ".join(
            f'"{name}" AS NOT MATERIALIZED (SELECT * EXCLUDE ("{REPLICATE}") FROM '
            f'"{COPIES}_{name}" AS "__all" WHERE "__all"."{REPLICATE}" = "__r"."{REPLICATE}")'
            for name in tables
        )
        sql = question.all_rows_sql or question.post_sql
        asked = ", ".join('"' + each.replace('"', '""') + '"' for each in question.columns)
        found = self._run(
            f'SELECT "__r"."{REPLICATE}", "__q".* FROM "{NUMBERS}" AS "__r", LATERAL '
            f'(WITH {named} SELECT {asked} FROM ({sql}) AS "__t") AS "__q"',
            {**copies, NUMBERS: numbers},
            until,
        )
        return self._matched(found.column(0).to_numpy(), found.remove_column(0), replicates)

    def _moved(self, replicates: Replicates, until: float) -> dict[int, Moved]:
        """Run the SQL on one replicate after another: without keys, rows are known by order."""
        tables = replicates.tables(self.plan, self.noisy)
        sizes = {name: each.rows.num_rows for name, each in zip(tables, self.noisy, strict=True)}
        found: list[pa.Table] = []
        for number in range(replicates.blank + 1):
            one = {
                name: table.slice(number * sizes[name], sizes[name]).remove_column(0)
                for name, table in tables.items()
            }
            result = self._run(self.plan.question.post_sql, one, until)
            found.append(result.select(range(self.answer.num_columns)))
        which = np.repeat(np.arange(len(found)), [each.num_rows for each in found])
        whole = pa.concat_tables([each.replace_schema_metadata(None) for each in found])
        return self._matched(which, whole, replicates)

    # ----------------------------------------------------------------------- rows

    @property
    def _keys(self) -> list[int]:
        """The columns that no noise changes."""
        return [i for i, is_noisy in enumerate(self.plan.question.is_noisy) if not is_noisy]

    def _rows_have_keys(self) -> bool:
        """Whether the columns that no noise changes tell all rows apart."""
        codes = _codes([_array(self.answer, i) for i in self._keys], self.answer.num_rows)
        return len(np.unique(codes)) == len(codes)

    def _matched(
        self, which: NDArray[np.int64], found: pa.Table, replicates: Replicates
    ) -> dict[int, Moved]:
        """Return numbers by replicate and row: by the keys, then by the order among equal keys."""
        rows, known = found.num_rows, self.answer.num_rows
        keys = [
            pa.concat_arrays(
                [_array(self.answer, i), _array(found, i).cast(self.answer.field(i).type)]
            )
            for i in self._keys
        ]
        codes = _codes(keys, known + rows)
        owners = np.concatenate([np.full(known, -1), which])
        places = _numbered(owners, codes)
        mixed = codes * (known + rows + 1) + places
        order = np.argsort(mixed[:known], kind="stable")
        at = np.searchsorted(mixed[:known][order], mixed[known:])
        row = order[np.minimum(at, known - 1)]
        ours = mixed[:known][row] == mixed[known:]
        made = {}
        for place in self.places:
            values = np.full((replicates.blank + 1, known), np.nan)
            is_there = np.zeros(values.shape, np.bool_)
            numbers = _floats(_array(found, place))
            values[which[ours], row[ours]] = numbers[ours]
            is_there[which[ours], row[ours]] = True
            made[place] = Moved(values=values, is_there=is_there)
        return made

    def _is_same(self, moved: Moved, place: int, replicate: int) -> bool:
        """Whether a replicate without fresh noise gives the answer again."""
        answer = _floats(_array(self.answer, place))
        values = moved.values[replicate]
        is_equal = np.allclose(values, answer, rtol=1e-9, atol=0, equal_nan=True)
        return is_equal and bool(moved.is_there[replicate].all())


def _margin(moved: Moved, replicates: Replicates) -> Floats:
    """Return the margins of a column: how far its numbers move from the released ones."""
    fresh = slice(1, replicates.number + 1)
    with np.errstate(invalid="ignore"):
        away = moved.values[fresh] - moved.values[0]
    is_known = np.isfinite(moved.values[0])
    number, tail = replicates.number, replicates.resolved / 2
    last = min(number, ceil((1 - tail) * (number + 1))) - 1
    above = np.sort(np.where(np.isnan(away), np.inf, away), axis=0)[last]
    below = np.sort(np.where(np.isnan(away), np.inf, -away), axis=0)[last]
    missing = 1 - moved.is_there[fresh].mean(axis=0)
    wide = np.maximum(np.maximum(above, below), 0.0)
    return np.where(is_known & (missing <= float(tail)), wide, np.nan)


LONG_TAIL = 6
"""A sum of Laplace noises is hardly ever so many times its own margin, in two thousand draws."""


def _has_long_tail(moved: Moved, replicates: Replicates) -> bool:
    """Return whether some numbers move so far that something may have been divided by 0."""
    fresh = moved.values[1 : replicates.number + 1]
    with np.errstate(invalid="ignore"):
        farthest = np.abs(fresh - moved.values[0]).max(axis=0)
        wide = LONG_TAIL * _margin(moved, replicates)
    is_known = np.isfinite(moved.values[0])
    return bool((is_known & ~(farthest <= wide)).any())


FIT = 0.02
"""How far a ratio may be from the one that goes through its neighbours; it may be rounded."""


def _with_poles(moved: Moved, twice: Moved, thrice: Moved) -> Moved:
    """Return numbers with NaN where noise would have taken a denominator through 0 on its way.

    A ratio of two linear functions of the noise is f(t) = (p + q t) / (1 + r t) if the noise is t
    times the drawn one. Three points fix it, and the fourth says whether it is one. Its denominator
    is 0 for a t up to 1 if r ≤ -1. Where a denominator may be 0 at this confidence, a ratio may be
    anything (Fieller 1954): quantiles of the ratio itself would not say so.
    """
    with np.errstate(all="ignore"):
        f0, f1, f2, f3 = moved.values[0], moved.values, twice.values, thrice.values
        r = (f2 - 2 * f1 + f0) / (2 * (f1 - f2))
        q = f1 * (1 + r) - f0
        away = np.abs((f0 + 3 * q) / (1 + 3 * r) - f3)
        is_ratio = away <= FIT * (np.abs(f0) + np.abs(f1) + np.abs(f2) + np.abs(f3))
        has_pole = is_ratio & (r <= -1)
    return replace(moved, values=np.where(has_pole, np.nan, moved.values))


def _array(table: pa.Table, place: int) -> "pa.Array[pa.Scalar[pa.DataType]]":
    column = table.column(place)
    return pa.concat_arrays(column.chunks) if column.num_chunks else pa.array([], column.type)


def _floats(column: "pa.Array[pa.Scalar[pa.DataType]]") -> Floats:
    return np.asarray(column.cast(pa.float64()).to_numpy(zero_copy_only=False), dtype=np.float64)


def _codes(columns: Sequence["pa.Array[pa.Scalar[pa.DataType]]"], rows: int) -> NDArray[np.int64]:
    """Return a number for each row, equal where all columns are."""
    codes = np.zeros(rows, np.int64)
    for column in columns:
        encoded = column.dictionary_encode(null_encoding="encode").indices.to_numpy()
        codes = np.unique(codes * (rows + 1) + encoded, return_inverse=True)[1].reshape(-1)
    return codes


def _numbered(owners: NDArray[np.int64], codes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return for each row how many equal rows of its owner stand before it."""
    order = np.lexsort((np.arange(len(codes)), codes, owners))
    alike = np.ones(len(codes), np.bool_)
    alike[1:] = (owners[order][1:] != owners[order][:-1]) | (codes[order][1:] != codes[order][:-1])
    starts = np.maximum.accumulate(np.where(alike, np.arange(len(codes)), 0))
    numbers = np.empty(len(codes), np.int64)
    numbers[order] = np.arange(len(codes)) - starts
    return numbers
