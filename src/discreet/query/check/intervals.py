"""Intervals of selected values in SQL after the noise: they go along with unchanged columns."""

from collections.abc import Sequence

from sqlglot import exp

from discreet.query.check.relations import PostQuery, TableRef
from discreet.query.questions import Aggregate, Statistic

WITH_INTERVAL = frozenset({Statistic.QUANTILE, Statistic.MIN, Statistic.MAX})
"""Statistics that are selected together with an interval of values."""

LOW, HIGH = "__low", "__high"
"""How the names of hidden columns begin that hold the ends of intervals."""


def ends_of(aggregates: Sequence[Aggregate]) -> dict[str, tuple[str, str]]:
    """Return the columns of a released table that hold the ends of intervals."""
    return {
        f"a{i}": (f"a{i}_low", f"a{i}_high")
        for i, each in enumerate(aggregates)
        if each.statistic in WITH_INTERVAL
    }


def carry_ends(
    node: exp.Select, names: Sequence[str], sources: tuple[TableRef, ...]
) -> dict[str, tuple[str, str]]:
    """Add hidden columns to a SELECT, and return them: the ends of values that it only names."""
    carried: dict[str, tuple[str, str]] = {}
    hidden: list[exp.Expr] = []
    for number, (name, each) in enumerate(zip(names, list(node.expressions), strict=False)):
        plain = each.unalias().unnest()
        found = _ends(plain, sources) if isinstance(plain, exp.Column) else None
        if found is None:
            continue
        carried[name] = (_unused(f"{LOW}_{number}", names), _unused(f"{HIGH}_{number}", names))
        for column, hidden_name in zip(found, carried[name], strict=True):
            hidden.append(exp.alias_(column, hidden_name, quoted=True, copy=False))
    node.set("expressions", [*node.expressions, *hidden])
    return carried


def drop_ends(opened: PostQuery) -> None:
    """Take the hidden columns out of a SELECT whose intervals nobody reads."""
    if isinstance(opened.tree, exp.Select):
        dropped = {each for ends in opened.ends.values() for each in ends}
        kept = [each for each in opened.tree.expressions if each.alias not in dropped]
        opened.tree.set("expressions", kept)


def _ends(node: exp.Column, sources: tuple[TableRef, ...]) -> tuple[exp.Column, exp.Column] | None:
    table, name = node.table.casefold(), node.name.casefold()
    for source in sources:
        if table and source.name.casefold() != table:
            continue
        for place, out in enumerate(source.columns):
            if out.name.casefold() == name and isinstance(source.relation, PostQuery):
                ends = source.relation.ends.get(source.relation.columns[place])
                return (
                    None if ends is None else (_column(source, ends[0]), _column(source, ends[1]))
                )
    return None


def _unused(name: str, taken: Sequence[str]) -> str:
    while name in {each.casefold() for each in taken}:
        name += "_"
    return name


def _column(source: TableRef, name: str) -> exp.Column:
    return exp.column(
        exp.to_identifier(name, quoted=True), table=exp.to_identifier(source.name, quoted=True)
    )
