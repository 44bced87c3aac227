"""Rewrites of a rejected query that may be accepted. They follow from the SQL and the catalog.

Nobody promises that a rewrite is accepted, or that it asks what was meant: whoever offers one plans
it first and shows it to its author.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from sqlglot import exp

from discreet.catalog import Catalog
from discreet.catalog.schema import Bounds, Column, ColumnUnit, PrivateTable, Table
from discreet.catalog.shown import end_text
from discreet.errors import (
    JoinError,
    NestedAggregateError,
    NondeterministicError,
    NotGroupedError,
    QuestionError,
    RowLevelError,
    SqlSyntaxError,
    StatementError,
    UnboundedError,
    UnknownNameError,
    UnsupportedError,
)
from discreet.parameters import nearest_name
from discreet.query.expressions.rejections import KNOWN, NONDETERMINISTIC, function_name
from discreet.query.parse import DIALECT, parse, span_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Rewrite:
    """Another query, and what it does differently, in a few words."""

    label: str
    sql: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Rejected:
    """A query, the place where it was rejected, and the tables that there are."""

    text: str
    start: int
    end: int
    catalog: Catalog

    @property
    def written(self) -> str:
        return self.text[self.start : self.end]

    def with_(self, instead: str) -> str:
        """Return the query with other text at the place, and at the bracket that closes it."""
        is_open = self.written.count("(") > self.written.count(")")
        end = self.end + (is_open and self.text[self.end :].startswith(")"))
        return self.text[: self.start] + instead + self.text[end:]

    def tree(self) -> exp.Query | None:
        """Return the tree of the query, if it is SQL."""
        try:
            return parse(self.text)
        except QuestionError:
            return None

    def tables(self) -> list[Table]:
        """Return the tables that the query names, or all if it names none."""
        tree = self.tree()
        names = {each.name.casefold() for each in tree.find_all(exp.Table)} if tree else set()
        found = [each for each in self.catalog.tables if each.name.casefold() in names]
        return found or list(self.catalog.tables)


def rewrites(text: str, error: QuestionError, catalog: Catalog) -> Iterator[Rewrite]:
    """Yield queries that may be meant, the likeliest first."""
    start, end = error.span or (len(text), len(text))
    rejected = _Rejected(text=text, start=start, end=end, catalog=catalog)
    for kind, made in REWRITES.items():
        if isinstance(error, kind):
            yield from made(rejected)


# --------------------------------------------------------------------------- names


def _other_names(rejected: _Rejected) -> Iterator[Rewrite]:
    """Yield the nearest names, and a quoted name as a text."""
    name = rejected.written
    before, dot, last = name.rpartition(".")
    bare, bracket, arguments = last.partition("(")
    if bare.startswith('"') and not bracket:
        literal = exp.Literal.string(bare.strip('"')).sql(dialect=DIALECT)
        yield Rewrite(label=f"Write {literal}", sql=rejected.with_(literal))
    columns = [column.name for table in rejected.tables() for column in table.columns]
    tables = [each.name for each in rejected.catalog.tables]
    functions = [each.upper() for each in KNOWN]
    closing = ")" * (arguments.count("(") + len(bracket) - arguments.count(")"))
    for known in (columns, tables, functions):
        near = nearest_name(bare.strip('"'), known)
        if near is not None:
            instead = before + dot + near + bracket + arguments + closing
            yield Rewrite(label=f"Write {near}", sql=rejected.with_(instead))


# --------------------------------------------------------------------------- rows of people


def _aggregated(rejected: _Rejected) -> Iterator[Rewrite]:
    """Yield a count, an average and a count by groups, of the same rows."""
    tree = rejected.tree()
    select = None if tree is None else tree.find(exp.Select)
    if select is None or _from(select) is None:
        return
    yield from _counted_units(select, rejected)
    rows = _rows_of(select)
    columns = [column for table in rejected.tables() for column in table.columns]
    yield Rewrite(label="Count them", sql=f"SELECT COUNT(*) AS n\n{rows}")
    named = {each.name.casefold() for each in select.find_all(exp.Column)}
    numbers = [each for each in columns if isinstance(each.bounds, Bounds) and each.kind.is_number]
    for column in sorted(numbers, key=lambda each: each.name.casefold() not in named)[:1]:
        text = _identifier(column.name)
        yield Rewrite(
            label=f"Average {column.name}",
            sql=f"SELECT AVG({text}) AS {_identifier(f'average_{column.name}')}\n{rows}",
        )
    for column in [each for each in columns if each.values is not None][:1]:
        text = _identifier(column.name)
        yield Rewrite(
            label=f"Count by {column.name}",
            sql=f"SELECT {text}, COUNT(*) AS n\n{rows}\nGROUP BY {text}",
        )


def _counted_units(select: exp.Select, rejected: _Rejected) -> Iterator[Rewrite]:
    """Yield how many units there are, where groups by the unit were asked for."""
    group = select.args.get("group")
    units = _units(rejected.tables())
    for key in group.expressions if group is not None else ():
        if isinstance(key, exp.Column) and key.name.casefold() in units:
            text = key.sql(dialect=DIALECT)
            sql = f"SELECT COUNT(DISTINCT {text}) AS n\n{_rows_of(select)}"
            yield Rewrite(label=f"Count different {key.name}", sql=sql)


def _listed(rejected: _Rejected) -> Iterator[Rewrite]:
    """Yield the same where a query without any aggregate is not supported."""
    tree = rejected.tree()
    if tree is not None and tree.find(exp.AggFunc) is None:
        yield from _aggregated(rejected)


def _from(select: exp.Expr) -> exp.Expr | None:
    found = select.args.get("from_") or select.args.get("from")
    return found if isinstance(found, exp.Expr) else None


def _units(tables: Iterable[Table]) -> dict[str, str]:
    """Return the columns that name units, by their names in lower case."""
    return {
        each.unit.column.casefold(): each.unit.column
        for each in tables
        if isinstance(each, PrivateTable) and isinstance(each.unit, ColumnUnit)
    }


def _rows_of(select: exp.Select) -> str:
    """Return FROM, JOIN and WHERE of a SELECT, a line each."""
    bare = exp.Select(expressions=[exp.Star()])
    for name in ("with", "with_", "from", "from_", "joins", "where"):
        if value := select.args.get(name):
            bare.set(name, [each.copy() for each in value] if isinstance(value, list) else value)
    return _written(bare).removeprefix("SELECT *\n")


def _identifier(name: str) -> str:
    return exp.to_identifier(name).sql(dialect=DIALECT)


# --------------------------------------------------------------------------- groups, aggregates


def _grouped(rejected: _Rejected) -> Iterator[Rewrite]:
    """Yield the query with one more key, and with an aggregate in place of the column."""
    tree, column = rejected.tree(), rejected.written
    place = None if tree is None else _at(tree, rejected)
    select = None if place is None else place.find_ancestor(exp.Select)
    if tree is None or place is None or select is None:
        return
    if place.find_ancestor(exp.Order, exp.Having) is not None:
        if shorter := _without(tree, rejected, exp.Order):
            yield Rewrite(label="Leave out ORDER BY", sql=shorter)
        return
    group = select.args.get("group") or exp.Group(expressions=[])
    group.append("expressions", place.copy())
    select.set("group", group)
    yield Rewrite(label=f"Group by {column}", sql=_written(tree))
    yield Rewrite(label=f"Average {column}", sql=rejected.with_(f"AVG({column})"))
    different = f"COUNT(DISTINCT {column})"
    yield Rewrite(label=f"Count different {column}", sql=rejected.with_(different))


def _filtered_groups(rejected: _Rejected) -> Iterator[Rewrite]:
    """Yield the query with a condition on groups in HAVING, where it was in WHERE."""
    tree = rejected.tree()
    place = None if tree is None else _at(tree, rejected)
    where = None if place is None else place.find_ancestor(exp.Where)
    if tree is None or place is None or where is None or not isinstance(where.parent, exp.Select):
        return
    select, parts = where.parent, list(where.this.flatten() if _is_and(where) else [where.this])
    moved = [each for each in parts if each is place or place in each.walk()]
    stays = [each for each in parts if each not in moved]
    select.set("where", exp.Where(this=exp.and_(*stays)) if stays else None)
    having = select.args.get("having")
    select.set("having", exp.Having(this=exp.and_(*([having.this] if having else []), *moved)))
    yield Rewrite(label="Move it to HAVING", sql=_written(tree))


def _is_and(where: exp.Where) -> bool:
    return isinstance(where.this, exp.And)


def _counted(rejected: _Rejected) -> Iterator[Rewrite]:
    """Yield counts in place of an aggregate that needs bounds nobody has declared."""
    tree = rejected.tree()
    place = None if tree is None else _at(tree, rejected)
    columns = [] if place is None else list(place.find_all(exp.Column))
    if not columns:
        return
    text = columns[0].sql(dialect=DIALECT)
    yield Rewrite(label=f"Count {text}", sql=rejected.with_(f"COUNT({text})"))
    different = f"COUNT(DISTINCT {text})"
    yield Rewrite(label=f"Count different {text}", sql=rejected.with_(different))


# --------------------------------------------------------------------------- joins, times


def _joined_on_unit(rejected: _Rejected) -> Iterator[Rewrite]:
    """Yield the query with the privacy unit among what its tables are joined on."""
    tree = rejected.tree()
    for join in tree.find_all(exp.Join) if tree is not None else ():
        first = None if join.parent is None else _from(join.parent)
        sides = [first.this, join.this] if first is not None else []
        units = [_unit_column(each, rejected.catalog) for each in sides]
        if tree is None or len(units) != 2 or None in units:
            continue
        left, right = (str(each) for each in units)
        same = f"{left} = {right}"
        condition = join.args.get("on")
        join.set("using", None)
        join.set("on", exp.maybe_parse(same, dialect=DIALECT))
        yield Rewrite(label=f"Join on {same}", sql=_written(tree))
        if condition is not None:
            join.set("on", exp.and_(same, condition, dialect=DIALECT))
            yield Rewrite(label=f"Also join on {same}", sql=_written(tree))


def _unit_column(node: exp.Expr, catalog: Catalog) -> str | None:
    """Return the unit's column of a table, as a query writes it."""
    named = (each for each in catalog.tables if each.name.casefold() == node.name.casefold())
    table = next(named, None) if isinstance(node, exp.Table) else None
    if not isinstance(table, PrivateTable) or not isinstance(table.unit, ColumnUnit):
        return None
    return exp.column(table.unit.column, table=node.alias_or_name).sql(dialect=DIALECT)


def _fixed(rejected: _Rejected) -> Iterator[Rewrite]:
    """Yield the last declared day in place of a clock, and the query without the condition."""
    tree = rejected.tree()
    clock = None if tree is None else _changing(tree)
    if tree is None or clock is None:
        return
    columns = (column for table in rejected.tables() for column in table.columns)
    days = [each for each in columns if each.kind.is_time and isinstance(each.bounds, Bounds)]
    for column in days[:1]:
        day, other = _last(column)[:10], tree.copy()
        if (found := _changing(other)) is not None:
            found.replace(exp.cast(exp.Literal.string(day), "date"))
            sql = _written(other).replace(f"CAST('{day}' AS DATE)", f"DATE '{day}'")
            yield Rewrite(label=f"Write DATE '{day}'", sql=sql)
    where = clock.find_ancestor(exp.Where)
    if where is not None:
        where.pop()
        yield Rewrite(label="Leave out the condition", sql=_written(tree))


def _changing(tree: exp.Expr) -> exp.Expr | None:
    """Return the first function whose value changes."""
    return next((each for each in tree.walk() if function_name(each) in NONDETERMINISTIC), None)


def _last(column: Column) -> str:
    assert isinstance(column.bounds, Bounds)  # noqa: S101 - only such columns are asked for
    return end_text(column, column.bounds.high)


# --------------------------------------------------------------------------- what is no SQL


def _first_query(rejected: _Rejected) -> Iterator[Rewrite]:
    """Yield the first of several queries, and a count of rows that were to be changed."""
    first, _, rest = rejected.text.partition(";")
    if rest.strip():
        yield Rewrite(label="Keep the first query", sql=first.strip())
    match first.split(None, 1):
        case [verb, where] if verb.upper() == "DELETE":
            yield Rewrite(label="Count the rows instead", sql=f"SELECT COUNT(*) AS n {where}")


def _closed(rejected: _Rejected) -> Iterator[Rewrite]:
    """Yield the query with a bracket closed, or without a comma that is too many."""
    text, start = rejected.text, rejected.start
    before, after = text[:start].rstrip(), text[start:]
    yield Rewrite(label="Close the bracket", sql=f"{before}) {after}".rstrip())
    if before.endswith(","):
        yield Rewrite(label="Leave out the comma", sql=f"{before[:-1]}\n{after}")
    yield Rewrite(label="Close the bracket at the end", sql=f"{text.rstrip()})")
    yield Rewrite(label="Close the quote at the end", sql=f"{text.rstrip()}'")


REWRITES: Mapping[type[QuestionError], Callable[[_Rejected], Iterator[Rewrite]]] = {
    UnknownNameError: _other_names,
    RowLevelError: _aggregated,
    NotGroupedError: _grouped,
    NestedAggregateError: _filtered_groups,
    UnboundedError: _counted,
    JoinError: _joined_on_unit,
    NondeterministicError: _fixed,
    StatementError: _first_query,
    SqlSyntaxError: _closed,
    UnsupportedError: _listed,
}
"""What is tried for each kind of rejection."""


# --------------------------------------------------------------------------- trees


def _at(tree: exp.Expr, rejected: _Rejected) -> exp.Expr | None:
    """Return the column or function at the place, or else what is there."""
    place = (rejected.start, rejected.end)
    found = [each for each in tree.walk() if span_of(each) == place]
    own = (each for each in found if isinstance(each, exp.Column | exp.Func))
    return next(own, found[0] if found else None)


def _without(tree: exp.Query, rejected: _Rejected, clause: type[exp.Expr]) -> str | None:
    """Return the query without the clause around the place."""
    place = _at(tree, rejected)
    around = None if place is None else place.find_ancestor(clause)
    if around is None or around.parent is None:
        return None
    around.pop()
    return _written(tree)


def _written(tree: exp.Expr) -> str:
    """Return SQL with a line for each clause."""
    text = tree.sql(dialect=DIALECT, pretty=True)
    has_lines = any("\n" in str(each.this) for each in tree.find_all(exp.Literal, exp.Identifier))
    return text if has_lines else re.sub(r"\n +", " ", text)
