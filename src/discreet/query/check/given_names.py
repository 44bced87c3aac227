"""Names that a query gives to relations and their columns."""

from collections.abc import Iterable
from dataclasses import replace

from sqlglot import exp

from discreet.catalog.schema import PublicTable
from discreet.errors import UnsupportedError
from discreet.query.check.relations import PostQuery, PrivateRows
from discreet.query.check.table_names import settle_schemas
from discreet.query.parse import span_of
from discreet.query.tree import ColumnOf, NamedExpression, Select


def settle_names(tree: exp.Expr) -> None:
    """Reject reserved names, and settle schemas before columns, in one walk through the tree."""
    nodes = list(tree.find_all(exp.Table, exp.TableAlias, exp.Column))
    _refuse_reserved(nodes)
    settle_schemas(nodes)


def _refuse_reserved(nodes: Iterable[exp.Expr]) -> None:
    """Reject relations named as those are that are made here, so that none is mistaken."""
    for each in nodes:
        if not isinstance(each, exp.Table | exp.TableAlias):
            continue
        if each.alias_or_name.startswith("__") or each.name.startswith("__"):
            raise UnsupportedError(
                f"{(each.alias_or_name or each.name)[:40]} is not allowed as a name, because names "
                "that begin with __ are reserved",
                "Choose another name",
                span=span_of(each),
            )


def alias_columns(node: exp.Expr) -> list[exp.Identifier]:
    """Return the names of columns that stand behind an alias."""
    alias = node.args.get("alias")
    return list(alias.columns) if isinstance(alias, exp.TableAlias) else []


def fitting_names(
    names: tuple[str, ...], relation: PrivateRows | PublicTable | PostQuery, node: exp.Expr
) -> tuple[str, ...]:
    """Return the names that a query gives to columns, or reject more names than columns."""
    width = len(relation.columns)
    if len({each.casefold() for each in names}) < len(names):
        what = "Two columns have the same name"
        raise UnsupportedError(what, "Give each a different name", span=span_of(node))
    if len(names) > width:
        raise UnsupportedError(
            f"There are {len(names)} names for {width} column{'' if width == 1 else 's'}",
            "Give at most as many names as there are columns",
            span=span_of(node),
        )
    return names


NAMED = "__named"
"""What rows are called while their columns get other names."""


def renamed_rows(private: PrivateRows, names: tuple[str, ...]) -> PrivateRows:
    """Return private rows whose first columns have these names."""
    if not names:
        return private
    given = (*names, *(each.name for each in private.columns[len(names) :]))
    columns = tuple(
        NamedExpression(
            name=name, expression=ColumnOf(source=NAMED, name=out.name, facts=out.facts)
        )
        for name, out in zip(given, private.columns, strict=True)
    )
    return replace(
        private,
        rows=Select(source=private.rows, name=NAMED, columns=columns),
        columns=tuple(
            replace(out, name=name) for name, out in zip(given, private.columns, strict=True)
        ),
    )
