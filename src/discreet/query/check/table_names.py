"""Schemas before names of tables and columns: main.visits, public.visits.cost."""

from collections.abc import Iterable, Iterator

from sqlglot import exp

from discreet.errors import UnknownNameError
from discreet.query.parse import DIALECT, span_of

SCHEMAS = ("main", "public")
"""What DuckDB and PostgreSQL call the schema of tables that have no other. All tables are in it."""


def check_schema(node: exp.Expr) -> bool:
    """Return whether a table or column has a schema before it, or reject one that is not known."""
    schema, database = node.args.get("db"), node.args.get("catalog")
    if schema is None:
        return False
    bare = node.copy()
    bare.set("db", None)
    bare.set("catalog", None)
    bare.set("alias", None)
    name = bare.sql(dialect=DIALECT)
    if database is not None:
        raise UnknownNameError(
            f"There is no database {database.name}", f"Write {name}", span=span_of(node)
        )
    if schema.name.casefold() not in SCHEMAS:
        raise UnknownNameError(
            f"There is no schema {schema.name}",
            "Write main or public, or leave the schema out",
            span=span_of(node),
        )
    return True


def settle_schemas(nodes: Iterable[exp.Expr]) -> None:
    """Remove schemas before columns of tables that FROM names without an alias; reject others."""
    for column in nodes:
        if not isinstance(column, exp.Column) or not check_schema(column):
            continue
        tables = [each for each in _tables_around(column) if each.name.casefold() == _table(column)]
        if all(each.alias for each in tables):
            written = f"{column.args['db'].name}.{column.table}"
            alias = f"{tables[0].alias}." if tables else ""
            raise UnknownNameError(
                f"FROM has no table {written}",
                f"Write {alias}{column.name}",
                span=span_of(column),
            )
        column.set("db", None)


def _table(column: exp.Column) -> str:
    return column.table.casefold()


def _tables_around(node: exp.Expr) -> Iterator[exp.Table]:
    """Yield the tables in FROM of the queries around a node, the nearest first."""
    select = node.find_ancestor(exp.Select)
    while select is not None:
        clause = select.args.get("from_")
        sources = [] if clause is None else [clause.this]
        sources += [each.this for each in select.args.get("joins") or ()]
        for each in sources:
            yield from _tables_in(each)
        select = select.find_ancestor(exp.Select)


def _tables_in(source: exp.Expr) -> Iterator[exp.Table]:
    """Yield a table and those joined to it, in brackets or not; tables in queries left out."""
    if isinstance(source, exp.Table):
        yield source
    elif isinstance(source, exp.Subquery) and isinstance(source.this, exp.Table | exp.Subquery):
        yield from _tables_in(source.this)
    for join in source.args.get("joins") or ():
        yield from _tables_in(join.this)
