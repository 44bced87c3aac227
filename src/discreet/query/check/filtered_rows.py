"""The rows of FROM and WHERE, and those of their columns that keys and aggregates read."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Protocol

from discreet.query.check.joins import Joined
from discreet.query.check.post_select import unused_name
from discreet.query.check.relations import OutputColumn, PrivateRows
from discreet.query.check.unmatched_rows import UnmatchedRows
from discreet.query.expressions.narrowing import with_facts
from discreet.query.tree import (
    ColumnOf,
    Expression,
    Facts,
    GroupByUnit,
    NamedExpression,
    Select,
    Window,
    columns_in,
    map_columns,
)

ROWS = "__rows"
"""What keys and aggregates call the rows that they are of."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Filtered:
    """The rows of FROM and WHERE, and what WHERE tells about their columns."""

    joined: Joined
    where: Expression | None
    narrowed: dict[tuple[str, str], Facts]
    unmatched: UnmatchedRows | None = None
    """Rows of public tables without a private partner, if WHERE lets any pass."""

    def known_key(self, expression: Expression) -> Expression:
        """Return a key with the facts that hold for all groups that are shown."""
        if self.unmatched is not None:
            return self.unmatched.known(expression)
        return self.known(expression)

    def known(self, expression: Expression) -> Expression:
        """Return the expression with the facts that hold for the rows that WHERE lets pass."""
        return with_facts(expression, self.narrowed)


class Rebase(Protocol):
    """Turns columns of the tables in FROM into columns of the rows that are made of them."""

    def __call__(self, expression: Expression) -> Expression: ...


def needed_rows(
    filtered: Filtered, keys: list[Expression], arguments: list[Expression]
) -> tuple[Select, Rebase]:
    """Return the filtered rows with the columns that keys and aggregates read, and no others.

    An argument that is a window is computed in these rows, and is a column of them.
    """
    windows = {each: f"__w{i}" for i, each in enumerate(dict.fromkeys(_windows(arguments)))}
    arguments = [each for each in arguments if not isinstance(each, Window)]
    found = list(
        dict.fromkeys(each for expression in (*keys, *arguments) for each in columns_in(expression))
    )
    taken: dict[tuple[str, str], str] = {}
    for each in found:
        taken[each.source, each.name] = unused_name(each.name, list(taken.values()))
    joined = filtered.joined
    rows = Select(
        source=joined.rows,
        name=joined.name,
        joins=joined.joins,
        where=filtered.where,
        columns=(
            *(
                NamedExpression(name=taken[each.source, each.name], expression=each)
                for each in found
            ),
            *(NamedExpression(name=name, expression=each) for each, name in windows.items()),
        ),
    )

    def rebase(expression: Expression) -> Expression:
        if isinstance(expression, Window):
            return ColumnOf(source=ROWS, name=windows[expression], facts=expression.facts)
        return map_columns(
            expression,
            lambda each: replace(each, source=ROWS, name=taken[each.source, each.name]),
        )

    return rows, rebase


def _windows(arguments: Iterable[Expression]) -> Iterator[Window]:
    yield from (each for each in arguments if isinstance(each, Window))


def private_rows(
    rows: Select | GroupByUnit, outs: tuple[OutputColumn, ...], joined: Joined
) -> PrivateRows:
    """Return what is made of joined rows, with the limits that hold for those."""
    return PrivateRows(
        rows=rows,
        columns=outs,
        unit_kind=joined.first.unit_kind,
        contribution_limit=joined.contribution_limit,
        reason=joined.reason,
        one_row_per_unit=joined.one_row_per_unit,
        left_out=joined.left_out,
    )
