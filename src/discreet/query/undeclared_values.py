"""Values that a query compares a column with, and that the catalog does not declare for it.

Such a value is often a typing error: the query runs, costs its epsilon, and matches few rows or
none. It is found from the query and the catalog alone, so saying it reveals nothing.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from discreet.catalog.schema import Value
from discreet.query.questions import Aggregation
from discreet.query.tree import (
    Call,
    ColumnOf,
    Expression,
    GroupByUnit,
    Literal,
    NamedExpression,
    PublicRelation,
    Relation,
    Scan,
    Select,
    UnionAll,
    UnitSemiJoin,
    parts_of,
)

TESTS = frozenset({"equal", "not_equal", "distinct", "not_distinct", "in"})
"""The functions that compare for equality, as `query.expressions.functions` names them."""

Rows = Mapping[str, Relation | PublicRelation]
"""The relations that columns of an expression belong to, by name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UndeclaredValue:
    """A value that is compared with a column, and is not one of its declared values."""

    column: str
    value: Value
    declared: tuple[Value, ...]


def undeclared_values(aggregation: Aggregation) -> Iterator[UndeclaredValue]:
    """Yield the undeclared values in the rows, keys and aggregates of a release."""
    rows = {aggregation.name: aggregation.rows}
    for key in aggregation.keys:
        yield from _in_expression(key.expression, rows)
    for aggregate in aggregation.aggregates:
        for each in aggregate.arguments:
            yield from _in_expression(each, rows)
    yield from _in_rows(aggregation.rows)


def _in_rows(relation: Relation | PublicRelation) -> Iterator[UndeclaredValue]:
    match relation:
        case Select():
            yield from _in_select(relation)
        case GroupByUnit(source=source, name=name):
            yield from _in_rows(source)
            arguments = [each.argument for each in relation.aggregates]
            for each in (*(key.expression for key in relation.keys), *arguments):
                yield from _in_expression(each, {name: source})
        case UnionAll(parts=parts):
            for part in parts:
                yield from _in_rows(part)


def _in_select(select: Select) -> Iterator[UndeclaredValue]:
    rows: dict[str, Relation | PublicRelation] = {select.name: select.source}
    rows |= {each.name: each.source for each in select.joins}
    for each in rows.values():
        yield from _in_rows(each)
    columns = [each.expression for each in select.columns]
    conditions = [each.on for each in select.joins]
    for expression in (*conditions, select.where, *columns, select.qualify):
        yield from _in_expression(expression, rows)


def _in_expression(expression: Expression | None, rows: Rows) -> Iterator[UndeclaredValue]:
    for part in () if expression is None else parts_of(expression):
        match part:
            case Call(function=function, arguments=arguments) if function in TESTS:
                yield from _in_test(arguments, rows)
            case UnitSemiJoin():
                yield from _in_rows(part.rows)
                yield from _in_expression(part.where, {**rows, part.name: part.rows})


def _in_test(arguments: tuple[Expression, ...], rows: Rows) -> Iterator[UndeclaredValue]:
    values = [each.value for each in arguments if isinstance(each, Literal)]
    for argument in arguments:
        found = _declared(argument, rows) if isinstance(argument, ColumnOf) else None
        if found is None:
            continue
        column, declared = found
        for value in values:
            if value is not None and value not in declared:
                yield UndeclaredValue(column=column, value=value, declared=declared)


def _declared(column: ColumnOf, rows: Rows) -> tuple[str, tuple[Value, ...]] | None:
    """Return a column of a table, by name, and its declared values, if it is one that has them."""
    match rows.get(column.source):
        case Scan(table=table):
            for each in table.columns:
                if each.name == column.name and each.values is not None:
                    return each.name, each.values
        case Select() as select:
            inner: Rows = {select.name: select.source, **{j.name: j.source for j in select.joins}}
            return _declared_output(select.columns, column.name, inner)
        case GroupByUnit(source=source, name=name, keys=keys):
            return _declared_output(keys, column.name, {name: source})
    return None


def _declared_output(
    columns: tuple[NamedExpression, ...], name: str, rows: Rows
) -> tuple[str, tuple[Value, ...]] | None:
    for each in columns:
        if each.name == name and isinstance(each.expression, ColumnOf):
            return _declared(each.expression, rows)
    return None
