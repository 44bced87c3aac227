"""Lists of values: IN, BETWEEN, ANY, ALL and LIST_CONTAINS, as comparisons joined by AND and OR."""

from sqlglot import exp

from discreet.errors import QuestionSizeError, UnsupportedError
from discreet.query.expressions.coercion import coerce
from discreet.query.expressions.dispatch import (
    PLAIN,
    NameScope,
    NodeRule,
    arguments_of,
    check_parts,
    translate,
    with_spans,
)
from discreet.query.expressions.facts import is_null
from discreet.query.expressions.functions import call
from discreet.query.expressions.spans import COMPARED, alike, compared
from discreet.query.parse import span_of
from discreet.query.tree import Expression, Literal

MOST_IN_LIST = 10_000


MOST_COMPARED = 100
"""Values of a list that each get a comparison of their own."""


def _between(node: exp.Expr, scope: NameScope) -> Expression:
    check_parts(node, ("this", "low", "high", "symmetric"))
    parts = [with_spans(node.args[each], scope) for each in ("this", "low", "high")]
    x, low, high = alike(parts, node)
    found = _inside(x, low, high, node)
    if not node.args.get("symmetric"):
        return found
    return call("or", found, _inside(x, high, low, node))


def _inside(x: Expression, low: Expression, high: Expression, node: exp.Expr) -> Expression:
    above = coerce("greater_or_equal", (x, low), node)
    return call("and", above, coerce("less_or_equal", (x, high), node))


def _in(node: exp.Expr, scope: NameScope) -> Expression:
    if node.args.get("query") is not None:
        return scope.subquery(node)
    check_parts(node, ("this", "expressions"))
    _check_size(node.expressions, MOST_IN_LIST, node)
    return coerce("in", arguments_of(node, ("this", "expressions"), scope), node)


def _check_size(values: list[exp.Expr], most: int, node: exp.Expr) -> None:
    if len(values) > most:
        raise QuestionSizeError(
            f"The list has {len(values):,} values, and at most {most:,} are allowed",
            "Put the values into a public table and join it",
            span=span_of(node.this),
        )


# --------------------------------------------------------------------------- ANY and ALL


def _compared(node: exp.Expr, scope: NameScope) -> Expression:
    """Return a comparison with a value, or with some or all values of a list."""
    name, _ = PLAIN[type(node)]
    word, inner = _quantified(node.expression)
    if word is None or inner is None:
        return compared(name, node.this, node.expression, node, scope)
    if isinstance(inner, exp.Query):
        return _with_subquery(node, word, inner, scope)
    values = _listed(inner, node)
    if (word, name) == ("ANY", "equal"):
        return _in(exp.In(this=node.this.copy(), expressions=values), scope)
    if (word, name) == ("ALL", "not_equal"):
        return call("not", _in(exp.In(this=node.this.copy(), expressions=values), scope))
    _check_size(values, MOST_COMPARED, node)
    found = [compared(name, node.this, each, node, scope) for each in values]
    return found[0] if len(found) == 1 else call("or" if word == "ANY" else "and", *found)


def _quantified(node: exp.Expr) -> tuple[str | None, exp.Expr | None]:
    """Return ANY or ALL, and what stands behind it."""
    if isinstance(node, exp.Any | exp.All):
        inner = node.this
        while isinstance(inner, exp.Paren | exp.Subquery):
            inner = inner.this
        return ("ANY" if isinstance(node, exp.Any) else "ALL"), inner
    is_named = isinstance(node, exp.Anonymous) and len(node.expressions) == 1
    word = {"all": "ALL", "some": "ANY", "any": "ANY"}.get(node.name.lower()) if is_named else None
    return word, node.expressions[0] if word is not None else None


def _with_subquery(node: exp.Expr, word: str, query: exp.Query, scope: NameScope) -> Expression:
    """Return x = ANY (SELECT ...) as IN, x <> ALL (SELECT ...) as NOT IN."""
    is_any = word == "ANY" and isinstance(node, exp.EQ)
    if not is_any and not (word == "ALL" and isinstance(node, exp.NEQ)):
        raise UnsupportedError(
            f"This comparison with {word} (SELECT ...) is not supported on private rows",
            "Compare with (SELECT MIN(...) ...) or (SELECT MAX(...) ...), or use IN (SELECT ...)",
            span=span_of(node),
        )
    found = exp.In(this=node.this.copy(), query=exp.Subquery(this=query.copy()))
    found.parent = node.parent
    return scope.subquery(found) if is_any else call("not", scope.subquery(found))


def _listed(node: exp.Expr, whole: exp.Expr) -> list[exp.Expr]:
    if not isinstance(node, exp.Array | exp.Tuple) or not node.expressions:
        raise UnsupportedError(
            "A list of values is needed here", "Write it as [1, 2, 3]", span=span_of(whole)
        )
    return [each.copy() for each in node.expressions]


def _list_contains(node: exp.Expr, scope: NameScope) -> Expression:
    """Return whether a list has a value; NULL in the list equals nothing."""
    check_parts(node, ("this", "expression"))
    values = [translate(each, scope) for each in _listed(node.this, node)]
    if not all(isinstance(each, Literal) for each in values):
        raise UnsupportedError(
            "The list must have constants only", "Write x = a OR x = b", span=span_of(node)
        )
    _check_size(list(node.this.expressions), MOST_IN_LIST, node)
    x = translate(node.expression, scope)
    return coerce("in", (x, *(each for each in values if not is_null(each))), node)


LIST_RULES: dict[type[exp.Expr], NodeRule] = {
    **dict.fromkeys(COMPARED, _compared),
    exp.Between: _between,
    exp.In: _in,
    exp.ArrayContains: _list_contains,
}
