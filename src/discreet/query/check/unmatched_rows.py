"""Rows of a public table without a private partner: they must add nothing to what is released.

`clinics c LEFT JOIN visits v` keeps clinics without visits, in rows that belong to no unit and
whose private columns are NULL. The rows that are joined are those of JOIN, and groups of public
tables are shown whether or not they have rows. So the answer is that of LEFT JOIN if the other rows
change no aggregate: COUNT(v.cost) and AVG(v.cost) leave them out, and SUM may add 0. Whether an
expression is NULL or 0 in such a row follows from the query alone, whatever the public tables hold.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import reduce
from itertools import product

from sqlglot import exp

from discreet.errors import JoinError
from discreet.query.check.key_conditions import conjuncts_of
from discreet.query.check.relations import Names, OutputColumn, PrivateRows, TableRef, table_of
from discreet.query.check.selections import Selection
from discreet.query.expressions.functions import FUNCTIONS, call
from discreet.query.expressions.narrowing import narrow, with_facts
from discreet.query.questions import Aggregate, Statistic
from discreet.query.tree import (
    Call,
    Case,
    ColumnOf,
    Expression,
    Literal,
    Select,
    columns_in,
)

Shape = frozenset[str]
"""What a value can be, of these: null, true, false, zero, other."""

NULL, TRUE, FALSE = frozenset({"null"}), frozenset({"true"}), frozenset({"false"})
ANYTHING = frozenset({"null", "true", "false", "zero", "other"})
TRUTH = NULL | TRUE | FALSE

ADDING_NOTHING = {Statistic.SUM: frozenset({"null", "zero"})}
"""What an aggregate may be of without any change; only NULL for all others."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UnmatchedRows:
    """The rows without a partner that WHERE lets pass."""

    tables: frozenset[str]
    """The public tables of which they have columns; all others are NULL."""
    conditions: tuple[Expression, ...]
    """What is true of them."""
    around: Names
    """The columns of all tables of FROM."""

    def check(self, keys: Iterable[Expression], aggregates: Iterable[Aggregate]) -> None:
        """Reject groups and aggregates that these rows would change."""
        _check_conditions(self)
        for each in keys:
            _check_key(each, self)
        for aggregate in aggregates:
            _check_aggregate(aggregate, self)

    def shape(self, expression: Expression) -> Shape:
        """Return what an expression can be in such a row; more than it is, if in doubt."""
        match expression:
            case ColumnOf(source=source):
                return ANYTHING if source in self.tables else NULL
            case Literal(value=value):
                return _of_value(value)
            case Case():
                return self._of_case(expression)
            case Call():
                inner = [self.shape(each) for each in expression.arguments]
                return _of_call(expression.function, inner)
            case _:
                return ANYTHING

    def _of_case(self, case: Case) -> Shape:
        found: Shape = frozenset()
        for condition, value in case.branches:
            is_met = self.shape(condition)
            if "true" in is_met:
                found |= self.shape(value)
            if is_met == TRUE:
                return found
        return found | self.shape(case.otherwise)

    def known(self, expression: Expression) -> Expression:
        """Return a key with the facts that hold for these rows as well."""
        together = self._together()
        return expression if together is None else with_facts(expression, narrow(together))

    def among(self, rows: Select, names: Names) -> tuple[Select, Names]:
        """Return rows and names that say no more of private rows than holds for these as well."""
        sources = tuple(
            replace(each, is_optional=each.is_optional or each.name not in self.tables)
            for each in names.sources
        )
        around = Names(sources, parent=names.parent, shared=names.shared)
        return replace(rows, joins=(), where=self._together()), around

    def _together(self) -> Expression | None:
        if len(self.conditions) < 2:
            return next(iter(self.conditions), None)
        return call("and", *self.conditions)


def _of_value(value: object) -> Shape:
    if value is None:
        return NULL
    if isinstance(value, bool):
        return TRUE if value else FALSE
    return frozenset({"zero" if value == 0 else "other"})


def _of_call(function: str, inner: list[Shape]) -> Shape:  # noqa: PLR0911 - one for each kind
    match function:
        case "and":
            return reduce(_both, inner)
        case "or":
            return _negated(reduce(_both, map(_negated, inner)))
        case "not":
            return _negated(inner[0])
        case "is_null" | "is_true" | "is_false":
            what = function.removeprefix("is_")
            yes = TRUE if what in inner[0] else frozenset()
            return yes | (FALSE if inner[0] - {what} else frozenset())
        case "coalesce":
            return _first_known(inner)
        case "in" if inner[0] == NULL:
            return NULL
        case _ if FUNCTIONS[function].is_strict and NULL in inner:
            return NULL
        case _:
            return ANYTHING


def _negated(shape: Shape) -> Shape:
    opposite = {"true": "false", "false": "true", "null": "null"}
    return frozenset(opposite[each] for each in shape & TRUTH)


def _both(one: Shape, other: Shape) -> Shape:
    order = ("false", "null", "true")
    return frozenset(
        order[min(order.index(a), order.index(b))] for a, b in product(one & TRUTH, other & TRUTH)
    )


def _first_known(inner: list[Shape]) -> Shape:
    found: Shape = frozenset()
    for each in inner:
        found |= each - NULL
        if "null" not in each:
            return found
    return found | NULL


def unmatched_rows(
    selection: Selection,
    asked: exp.Expr | None,
    to_expression: Callable[[list[exp.Expr]], Expression],
) -> UnmatchedRows | None:
    """Return the rows that WHERE and the conditions of joins let pass; None if there are none."""
    found = selection.unmatched
    if found is None:
        return None
    nodes = [*found.conditions, *([] if asked is None else [asked])]
    conditions = [each for node in nodes for each in conjuncts_of(to_expression([node]))]
    rows = UnmatchedRows(
        tables=found.tables,
        conditions=tuple(dict.fromkeys(conditions)),
        around=selection.names,
    )
    return rows if all("true" in rows.shape(each) for each in conditions) else None


# --------------------------------------------------------------------------- rejections


def _check_conditions(unmatched: UnmatchedRows) -> None:
    for each in _nulls(unmatched):
        raise JoinError(
            f"{_written(each, unmatched.around)} IS NULL asks for rows of a public table that "
            "have no private rows",
            "Such a list is not protected by noise. Count private rows by group instead: use "
            f"COUNT({_private_column(unmatched.around)}) and GROUP BY",
        )


def _nulls(unmatched: UnmatchedRows) -> Iterator[ColumnOf]:
    """Yield the private columns that must be NULL."""
    for condition in unmatched.conditions:
        match condition:
            case Call(function="is_null", arguments=(ColumnOf() as column,)):
                if column.source not in unmatched.tables:
                    yield column


def _check_key(key: Expression, unmatched: UnmatchedRows) -> None:
    for column in columns_in(key):
        if column.source not in unmatched.tables:
            text = _written(column, unmatched.around)
            raise JoinError(
                f"Groups by {text} have a group for rows of {_tables(unmatched)} without a "
                "private partner",
                f"Use JOIN, or add WHERE {text} IS NOT NULL",
            )


def _check_aggregate(aggregate: Aggregate, unmatched: UnmatchedRows) -> None:
    nothing = ADDING_NOTHING.get(aggregate.statistic, NULL)
    if any(unmatched.shape(each) <= nothing for each in aggregate.arguments):
        return
    column = _private_column(unmatched.around)
    tables = _tables(unmatched)
    if aggregate.argument is None:
        raise JoinError(
            f"{aggregate.text} would also count rows of {tables} without a private partner",
            f"Write COUNT({column}), or use JOIN",
            span=aggregate.span,
        )
    raise JoinError(
        f"{aggregate.text} would also use rows of {tables} without a private partner",
        f"Use JOIN, or add FILTER (WHERE {column} IS NOT NULL)",
        span=aggregate.span,
    )


def refuse_unmatched(unmatched: UnmatchedRows | None, names: Names) -> None:
    """Reject a query whose result would have rows of no unit."""
    if unmatched is not None:
        raise JoinError(
            f"Rows of {_tables(unmatched)} without a private partner belong to no privacy unit",
            f"Use JOIN here, or aggregate in this query, such as COUNT({_private_column(names)})",
        )


def _tables(unmatched: UnmatchedRows) -> str:
    return " and ".join(sorted(unmatched.tables))


def _written(column: ColumnOf, names: Names) -> str:
    found = next(
        (source, out)
        for source in names.sources
        if source.name == column.source
        for out in source.columns
        if out.name == column.name
    )
    return _text(*found)


def _private_column(names: Names) -> str:
    """Return a private column as a query writes it: the unit's, if there is one."""
    found = [
        (source, out)
        for source in names.sources
        if isinstance(source.relation, PrivateRows) and not source.is_optional
        for out in source.columns
    ]
    return _text(*min(found, key=lambda each: not each[1].is_unit))


def _text(source: TableRef, out: OutputColumn) -> str:
    table = table_of(source, out)
    return f"{table}.{out.written}" if table else out.written
