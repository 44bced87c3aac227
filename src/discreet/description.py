"""The columns of an answer before the query is run: their names, types and roles.

They follow from the query, the catalog and public tables: nothing is charged and no private row is
read. `answer.present` decides the same from noisy tables, once there are any.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa

from discreet.answer.columns import Chunks, ResultColumn, tidied
from discreet.answer.present import resampled_columns, roles_of
from discreet.bounds import ANY, bounds_search
from discreet.catalog.catalog import Catalog
from discreet.engines.synthetic import released_schemas, synthetic_tables
from discreet.errors import UnsupportedError
from discreet.estimators import SelectedValue
from discreet.planner import Planner
from discreet.query.plan import Plan
from discreet.query.plan.group_limits import with_groups_per_unit
from discreet.query.plan.plan import EpsilonTarget
from discreet.written import WrittenQuery


def described(planner: Planner, query: WrittenQuery, catalog: Catalog) -> tuple[ResultColumn, ...]:
    """Return the columns that the answer of a query will have, or reject the query.

    It needs no epsilon: columns are the same for any. Bounds that would be found first are taken to
    be wide ones.
    """
    terms = planner.terms(query, None, None, None)
    epsilon = ANY.epsilon if terms.epsilon is None else terms.epsilon
    target = EpsilonTarget(epsilon, delta=terms.delta)
    known = with_groups_per_unit(catalog, terms.groups_per_unit)
    search = bounds_search(planner, query, target, (), known)
    if search is None:
        plan = planner.plan(query, target, known).plan
    else:
        plan = planner.plan(query, search.target, search.with_placeholders()).plan
    return _Described(plan=plan, planner=planner).columns()


@dataclass(frozen=True, kw_only=True)
class _Described:
    """The columns of one plan's answer."""

    plan: Plan
    planner: Planner

    def columns(self) -> tuple[ResultColumn, ...]:
        """Return the asked columns."""
        question, schema = self.plan.question, self._schema()
        margins = self._has_margins(schema)
        ends = question.ends or (None,) * len(margins)
        return tuple(
            ResultColumn(
                name=field.name,
                type=field.type,
                role=role,
                has_margins=has_margins,
                has_interval=interval is not None,
            )
            for field, role, has_margins, interval in zip(
                tidied(schema.empty_table()).schema,
                roles_of(self.plan, margins),
                margins,
                ends,
                strict=True,
            )
        )

    @cached_property
    def _released(self) -> Mapping[str, pa.Schema]:
        return released_schemas(self.plan.question.aggregations)

    def _schema(self) -> pa.Schema:
        """Return what SQL after the noise gives, without hidden columns."""
        question = self.plan.question
        if question.shown is None:
            whole = self.planner.public.schema(question.post_sql, self._released)
            types = [whole.field(i).type for i in range(len(question.columns))]
        else:
            shown = question.shown[: len(question.columns)]
            types = [self._released["released_0"].field(name).type for _, name in shown]
        return pa.schema(list(zip(question.columns, types, strict=True)))

    def _has_margins(self, schema: pa.Schema) -> list[bool]:
        """Return for which columns `present` will find margins."""
        resampled = resampled_columns(self.plan, schema)
        unknown = self._from_selected_values() if resampled else frozenset()
        return [
            place not in unknown if place in resampled else spread is not None
            for place, spread in enumerate(self.plan.question.spreads)
        ]

    def _from_selected_values(self) -> frozenset[int]:
        """Return the columns that depend on a value that a mechanism selected, such as a median.

        As resampling does, SQL is run with and without these values, here on synthetic tables.
        """
        question = self.plan.question
        selected = [
            (f"released_{i}", f"a{number}")
            for i, planned in enumerate(self.plan.releases)
            for number, each in enumerate(planned.estimators)
            if isinstance(each, SelectedValue)
        ]
        if not selected:
            return frozenset()
        usual = (each for each in synthetic_tables(question, self._released) if each.is_usual)
        return frozenset(
            place for each in usual for place in self._differing(each.tables, selected)
        )

    def _differing(
        self, tables: Mapping[str, pa.Table], selected: Sequence[tuple[str, str]]
    ) -> Iterator[int]:
        """Yield the columns whose values change if selected ones are left out of the tables."""
        question, run = self.plan.question, self.planner.public.run
        with suppress(UnsupportedError):
            with_them = run(question.post_sql, tables)
            without = run(question.post_sql, _without(tables, selected))
            yield from (
                place
                for place in range(len(question.columns))
                if not _is_same(with_them.column(place), without.column(place))
            )


def _is_same(one: Chunks, other: Chunks) -> bool:
    """Return whether two columns are equal; a value that is not a number equals itself."""
    if not pa.types.is_floating(one.type):
        return one.equals(other)
    floats = [each.to_numpy() for each in (one, other)]
    return bool(np.array_equal(floats[0], floats[1], equal_nan=True))


def _without(
    tables: Mapping[str, pa.Table], columns: Sequence[tuple[str, str]]
) -> dict[str, pa.Table]:
    """Return the tables with NULL in some columns."""
    made = dict(tables)
    for table, name in columns:
        place = made[table].schema.get_field_index(name)
        field = made[table].schema.field(place)
        nothing = pa.nulls(made[table].num_rows, field.type)
        made[table] = made[table].set_column(place, field, nothing)
    return made
