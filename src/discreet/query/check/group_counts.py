"""COUNT(*) over the groups of private rows: the number of different groups, not of those shown.

SELECT COUNT(*) FROM (SELECT DISTINCT a, b FROM t) asks how many pairs (a, b) there are. If the
pairs were released and then counted, small groups would be missing. COUNT(DISTINCT ...) is released
instead: of a itself if it is the only key and never NULL, else of a text that is the same for equal
keys only, in which NULL is a value like others.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from discreet.query.check.aggregates import WRITTEN, is_aggregate
from discreet.query.check.post_select import written_name
from discreet.query.check.tuple_texts import are_tuple_kinds, tuple_text
from discreet.query.parse import DIALECT
from discreet.query.tree import Expression

OUTER = {"expressions", "from_", "with_"}
INNER = {"expressions", "from_", "joins", "where", "group", "distinct"}
"""The clauses that a SELECT of this form may have, outside and inside."""

REPEATS = "discreet_repeats"
"""The mark of a query around which UNION drops repeated rows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupCount:
    """SELECT COUNT(*) FROM (inner), as copies that may be used up."""

    outer: exp.Select
    inner: exp.Select


def group_count_from(node: exp.Select) -> GroupCount | None:
    """Return a SELECT that only counts the rows of SELECT DISTINCT or GROUP BY, else None."""
    if _clauses(node) - OUTER or not _counts_rows(node.expressions):
        return None
    outer = node.copy()
    clause = outer.args.get("from_")
    inner = None if clause is None else _inner(outer, clause.this)
    return None if inner is None else GroupCount(outer=outer, inner=inner)


def counting(count: GroupCount, keys: Sequence[exp.Expr], value: exp.Expr) -> exp.Select:
    """Return the columns of the outer SELECT with COUNT(DISTINCT value) in place of COUNT(*)."""
    listed = ", ".join(each.sql(dialect=DIALECT) for each in keys)
    columns = [
        exp.alias_(each.unalias(), written_name(each), quoted=True, copy=True)
        for each in count.outer.expressions
    ]
    for each in [found for column in columns for found in column.find_all(exp.Count)]:
        each.set("this", exp.Distinct(expressions=[value.copy()]))
        each.meta[WRITTEN] = f"COUNT(DISTINCT {listed})"
    return exp.Select(expressions=columns, with_=count.outer.args.get("with_"))


def value_of(nodes: Sequence[exp.Expr], keys: Sequence[Expression]) -> exp.Expr | None:
    """Return one value, never NULL, that is the same for the same keys only; None if none is."""
    if not are_tuple_kinds(keys):
        return None
    if len(keys) == 1 and not keys[0].facts.nullable:
        return nodes[0].copy()
    return tuple_text(nodes)


def _clauses(node: exp.Expr) -> set[str]:
    return {name for name, value in node.args.items() if value}


def _counts_rows(columns: Sequence[exp.Expr]) -> bool:
    """Return whether columns are made of COUNT(*) and constants only."""
    parts = [part for each in columns for part in each.walk()]
    counts = [part for part in parts if isinstance(part, exp.Count)]
    is_plain = all(_is_of_all(each) for each in counts)
    others = (exp.Column, exp.Query, exp.Window, exp.Filter)
    has_more = any(
        isinstance(part, others) or (is_aggregate(part) and not isinstance(part, exp.Count))
        for part in parts
    )
    return bool(counts) and is_plain and not has_more


def _is_of_all(count: exp.Count) -> bool:
    inner = count.this
    return inner is None or isinstance(inner, exp.Star | exp.Literal)


def _inner(outer: exp.Select, source: exp.Expr) -> exp.Select | None:
    """Return the query that is counted; one that WITH names is taken out of WITH."""
    if source.args.get("joins"):
        return None
    if isinstance(source, exp.Table):
        found = _named(outer, source)
    else:
        alias = source.args.get("alias")
        is_bare = isinstance(source, exp.Subquery) and not _clauses(source) - {"this", "alias"}
        has_names = isinstance(alias, exp.TableAlias) and bool(alias.columns)
        found = source.this if is_bare and not has_names else None
    if isinstance(found, exp.Union):
        return _distinct_of(found)
    return found if isinstance(found, exp.Select) and _is_grouped(found) else None


def _distinct_of(union: exp.Union) -> exp.Select | None:
    """Return UNION as SELECT DISTINCT over UNION ALL."""
    if _clauses(union) - {"this", "expression", "distinct"} or not union.args.get("distinct"):
        return None
    union.set("distinct", False)
    union.meta[REPEATS] = True
    rows = exp.Subquery(this=union, alias=exp.TableAlias(this=exp.to_identifier("__all")))
    return exp.Select(expressions=[exp.Star()], from_=exp.From(this=rows), distinct=exp.Distinct())


def _named(outer: exp.Select, table: exp.Table) -> exp.Query | None:
    clause = outer.args.get("with_")
    if clause is None or clause.args.get("recursive") or _clauses(table) - {"this", "alias"}:
        return None
    name = table.name.casefold()
    entries = [each for each in clause.expressions if each.alias.casefold() == name]
    uses = [each for each in outer.find_all(exp.Table) if each.name.casefold() == name]
    if len(entries) != 1 or len(uses) != 1 or entries[0].args["alias"].columns:
        return None
    left = [each for each in clause.expressions if each is not entries[0]]
    clause.set("expressions", left)
    if not left:
        outer.set("with_", None)
    body = entries[0].this
    return body if isinstance(body, exp.Query) else None


def _is_grouped(inner: exp.Select) -> bool:
    distinct, group = inner.args.get("distinct"), inner.args.get("group")
    if _clauses(inner) - INNER or (distinct is None) == (group is None):
        return False
    if distinct is not None and distinct.args.get("on"):
        return False
    return not any(is_aggregate(part) for each in inner.expressions for part in each.walk())
