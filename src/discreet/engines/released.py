"""Constant rows in place of released ones, once these are known; walks and changes of a tree.

Whatever was released, a statement can be written: only so many rows and letters are taken, and no
two rows agree in what was proved to be a key.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeVar

from discreet.catalog.schema import PrivateTable, Value
from discreet.query.expressions.facts import literal
from discreet.query.expressions.functions import call
from discreet.query.tree import (
    MOST_CONSTANT_LETTERS,
    MOST_CONSTANT_ROWS,
    ConstantRows,
    ExactQuery,
    Expression,
    Facts,
    InReleasedRows,
    ReleasedRows,
)

Row = tuple[Value, ...]


def fitting_rows(rows: Iterable[Row]) -> Iterator[Row]:
    """Yield the first rows, as many as a statement can hold."""
    left = MOST_CONSTANT_LETTERS
    for number, row in enumerate(rows):
        left -= sum(len(each) for each in row if isinstance(each, str))
        if number >= MOST_CONSTANT_ROWS or left < 0:
            return
        yield row


def with_released(query: ExactQuery, tables: Mapping[int, Sequence[Row]]) -> ExactQuery:
    """Return a query with constant rows in place of those of released tables, by their number."""

    def known(node: object) -> object:
        match node:
            case ReleasedRows(number=number):
                return constant_rows(node, tables[number])
            case InReleasedRows(rows=ConstantRows(rows=rows)):  # parts are changed before wholes
                return in_list(node.argument, [value for (value,) in rows])
            case _:
                return node

    return changed(query, known) if tables else query


def constant_rows(released: ReleasedRows, rows: Iterable[Row]) -> ConstantRows:
    """Return the rows of a released table, no two of which agree in its key."""
    found = tuple(fitting_rows(rows))
    if released.key is not None:
        kept: dict[Row, Row] = {}
        for row in found:
            kept.setdefault(tuple(row[place] for place in released.key), row)
        found = tuple(kept.values())
    return ConstantRows(columns=released.columns, rows=found)


def in_list(argument: Expression, values: Iterable[Value]) -> Expression:
    """Return whether an expression is one of these values, as SQL means it: NULL if one is NULL."""
    kind = argument.facts.kind
    listed = [literal(each, kind) for each in dict.fromkeys(values)]
    return call("in", argument, *listed) if listed else literal(value=False)


# --------------------------------------------------------------------------- the tree

Node = TypeVar("Node")


def parts_in(node: object) -> Iterator[tuple[str, Any]]:
    """Yield the fields of a node of the tree; facts, tables and constants are no parts of it."""
    if is_dataclass(node) and not isinstance(node, Facts | PrivateTable | ConstantRows | type):
        for each in fields(node):
            yield each.name, getattr(node, each.name)


def nodes_in(node: object) -> Iterator[object]:
    """Yield a node and all that it is made of."""
    waiting = [node]
    while waiting:
        one = waiting.pop()
        if isinstance(one, tuple):
            waiting.extend(one)
        elif is_dataclass(one):
            yield one
            waiting.extend(part for _, part in parts_in(one))


def changed(node: Node, change: Callable[[Any], Any]) -> Node:
    """Return a node with all its parts changed, and then itself."""
    if isinstance(node, tuple):
        return tuple(changed(each, change) for each in node)  # type: ignore[return-value]
    parts = dict(parts_in(node))
    if not parts:
        return change(node) if isinstance(node, ConstantRows) else node
    found = {name: changed(part, change) for name, part in parts.items()}
    is_same = all(found[name] is part for name, part in parts.items())
    made: Node = change(node if is_same else replace(node, **found))  # type: ignore[type-var]
    return made
