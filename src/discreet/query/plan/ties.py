"""Joins of private rows, without what they ask twice.

An engine ties private rows by their unit, whatever a question says. One that joins them ON the
columns of the unit asks for the same once more, and by two keys a join takes several times as long.
"""

from collections.abc import Iterator
from dataclasses import replace

from discreet.catalog.schema import ColumnUnit
from discreet.query.expressions.facts import literal
from discreet.query.expressions.functions import call
from discreet.query.tree import (
    Call,
    ColumnOf,
    Expression,
    Join,
    PerUnit,
    PublicScan,
    Rows,
    Scan,
    Select,
    Union,
)


def tied_once(rows: Rows) -> Rows:
    """Return the same rows, with joins that leave it to the tie whether units are equal."""
    match rows:
        case Scan():
            return rows
        case Select(source=source):
            joins = tuple(_join(each, rows) for each in rows.joins)
            return replace(rows, source=tied_once(source), joins=joins)
        case PerUnit(source=source):
            return replace(rows, source=tied_once(source))
        case Union(parts=parts):
            return replace(rows, parts=tuple(map(tied_once, parts)))


def _join(join: Join, select: Select) -> Join:
    if isinstance(join.source, PublicScan):
        return join
    units = {select.name: select.source, join.name: join.source}
    conditions = list(_conditions(join.on))
    left = [each for each in conditions if not _is_tie(each, units)]
    return replace(join, source=tied_once(join.source), on=_all_of(left, conditions, join.on))


def _all_of(left: list[Expression], among: list[Expression], whole: Expression) -> Expression:
    if len(left) == len(among):
        return whole
    if len(left) < 2:
        return left[0] if left else literal(True)
    return call("and", *left)


def _conditions(expression: Expression) -> Iterator[Expression]:
    """Yield what must all be true."""
    if isinstance(expression, Call) and expression.function == "and":
        for each in expression.arguments:
            yield from _conditions(each)
    else:
        yield expression


def _is_tie(condition: Expression, units: dict[str, Rows]) -> bool:
    """Return whether it says that both relations are of the same unit, and no more."""
    match condition:
        case Call(function="equal", arguments=(ColumnOf() as one, ColumnOf() as other)):
            is_same_kind = one.facts.kind is other.facts.kind
            are_both = {one.source, other.source} == units.keys()
            return is_same_kind and are_both and all(_is_unit(x, units) for x in (one, other))
    return False


def _is_unit(column: ColumnOf, units: dict[str, Rows]) -> bool:
    """Return whether a column has the unit of its row, and so is never NULL."""
    rows, name = units[column.source], column.name
    match rows:
        case Scan(table=table, parents=parents):
            unit = table.unit
            return not parents and isinstance(unit, ColumnUnit) and unit.column == name
        case Select(columns=columns) | PerUnit(keys=columns):
            shown = [each.expression for each in columns if each.name == name]
            inner = {rows.name: rows.source}
            return all(
                isinstance(each, ColumnOf) and each.source in inner and _is_unit(each, inner)
                for each in shown
            ) and bool(shown)
        case _:
            return False
