"""Translates SQL to expressions over a private row. Nodes that are not listed are rejected.

What is written in DuckDB's SQL keeps its meaning, kinds of results and treatment of NULL included;
where DuckDB would raise an error or give NaN or an infinity, the expression is NULL.
"""

import math

from sqlglot import exp

from discreet.catalog.schema import Kind
from discreet.errors import UnsupportedError
from discreet.query.expressions.casts import cast, combined, text_of
from discreet.query.expressions.coercion import coerce, common_kind
from discreet.query.expressions.dispatch import (
    PLAIN,
    TRANSLATIONS,
    NameScope,
    NodeRule,
    arguments_of,
    check_parts,
    condition,
    is_span,
    translate,
    with_spans,
)
from discreet.query.expressions.facts import literal
from discreet.query.expressions.formats import FORMAT_RULES, NAMED_FORMATS
from discreet.query.expressions.functions import call
from discreet.query.expressions.lists import LIST_RULES
from discreet.query.expressions.literals import check_pattern, number_from_text
from discreet.query.expressions.narrowing import case_under
from discreet.query.expressions.patterns import PATTERN_RULES
from discreet.query.expressions.rejections import function_name, rejection
from discreet.query.expressions.spans import NAMED_SPANS, SPAN_RULES, microseconds_of
from discreet.query.expressions.texts import NAMED_TEXTS, TEXT_RULES
from discreet.query.expressions.times import NAMED_TIMES, TIME_RULES
from discreet.query.parse import DIALECT, span_of
from discreet.query.tree import Expression

__all__ = ["PLAIN", "TRANSLATIONS", "NameScope", "condition", "translate"]

ANONYMOUS = {
    "prefix": "starts_with",
    "suffix": "ends_with",
    "clamp": "clamp",
    "instr": "position",
}
"""Functions that sqlglot does not know."""


def _anonymous(node: exp.Expr, scope: NameScope) -> Expression:
    name = function_name(node)
    if name in NAMED:
        return NAMED[name](node, scope)
    if name not in ANONYMOUS:
        raise rejection(node)
    arguments = [translate(each, scope) for each in node.expressions]
    if name == "clamp":
        _check_clamp(arguments, node)
    return coerce(ANONYMOUS[name], arguments, node)


NAMED: dict[str, NodeRule] = {**NAMED_FORMATS, **NAMED_SPANS, **NAMED_TEXTS, **NAMED_TIMES}
"""Rules of functions that sqlglot does not know, and that are more than one call."""


def _check_clamp(arguments: list[Expression], node: exp.Expr) -> None:
    ends = [each.facts.interval.low for each in arguments[1:3]]
    if len(ends) == 2 and ends[0] is not None and ends[1] is not None and ends[0] > ends[1]:
        raise UnsupportedError(
            "The bounds of CLAMP are in the wrong order",
            f"Write CLAMP({', '.join(node.expressions[i].sql(DIALECT) for i in (0, 2, 1))})",
            span=span_of(node),
        )


# --------------------------------------------------------------------------- values


def _number_or_text(node: exp.Expr, _: NameScope) -> Expression:
    if node.args.get("is_string"):
        return literal(str(node.this))
    value = number_from_text(str(node.this))
    if value is None:
        raise UnsupportedError(
            "This number is too large",
            "Write a number between -1e308 and 1e308",
            span=span_of(node),
        )
    return literal(value)


# --------------------------------------------------------------------------- arithmetic


def _modulo(node: exp.Expr, scope: NameScope) -> Expression:
    return combined("modulo", translate(node.this, scope), translate(node.expression, scope), node)


def _integer_divide(node: exp.Expr, scope: NameScope) -> Expression:
    """Return x // y: DuckDB cuts off the fraction of integers only, and divides reals."""
    both = [translate(node.this, scope), translate(node.expression, scope)]
    are_integers = all(each.facts.kind is Kind.INTEGER for each in both)
    return coerce("integer_divide" if are_integers else "divide", both, node)


def _logarithm(node: exp.Expr, scope: NameScope) -> Expression:
    if node.args.get("expression") is None:
        return coerce("log10", (translate(node.this, scope),), node)
    base, x = translate(node.this, scope), translate(node.expression, scope)
    # sqlglot reads LOG10(x) as LOG(10, x), which DuckDB computes otherwise: the name's length
    # tells them apart.
    name = {4: "log2", 5: "log10"}.get(node.meta.get("end", 0) - node.meta.get("start", 0) + 1)
    return coerce("log", (base, x), node) if name is None else coerce(name, (x,), node)


def _to_digits(node: exp.Expr, scope: NameScope) -> Expression:
    check_parts(node, ("this", "decimals"))
    name = "trunc" if isinstance(node, exp.Trunc) else "round"
    digits = node.args.get("decimals")
    number = literal(0) if digits is None else translate(digits, scope)
    return coerce(name, (translate(node.this, scope), number), node)


# --------------------------------------------------------------------------- conditions


def _chain(node: exp.Expr, scope: NameScope) -> Expression:
    """Return a chain of ANDs, of ORs or of ||s as one call, however long it is."""
    name = CHAINS[type(node)]
    arguments = [translate(each, scope) for each in _links(node)]
    if name == "concatenate":
        arguments = [text_of(each, node) for each in arguments]
    return coerce(name, arguments, node)


CHAINS: dict[type[exp.Expr], str] = {exp.And: "and", exp.Or: "or", exp.DPipe: "concatenate"}


def _links(node: exp.Expr) -> list[exp.Expr]:
    waiting, found = [node], []
    while waiting:
        each: exp.Expr = waiting.pop()
        if isinstance(each, exp.Paren):
            waiting.append(each.this)
        elif type(each) is type(node):
            waiting += [each.expression, each.this]
        else:
            found.append(each)
    return found


def _is(node: exp.Expr, scope: NameScope) -> Expression:
    inner = with_spans(node.this, scope)
    inner = microseconds_of(inner) if is_span(inner) else inner
    match node.expression:
        case exp.Null():
            return coerce("is_null", (inner,), node)
        case exp.Boolean():
            name = "is_true" if node.expression.this else "is_false"
            return coerce(name, (inner,), node)
    raise rejection(node)


def _like(node: exp.Expr, scope: NameScope, escape: exp.Expr | None = None) -> Expression:
    check_parts(node, ("this", "expression", "negate"))
    pattern = translate(node.expression, scope)
    arguments = [translate(node.this, scope), pattern]
    if escape is not None:
        arguments.append(translate(escape, scope))
    check_pattern(arguments[1:], node)
    found = coerce("ilike" if isinstance(node, exp.ILike) else "like", arguments, node)
    return call("not", found) if node.args.get("negate") else found


def _escape(node: exp.Expr, scope: NameScope) -> Expression:
    if not isinstance(node.this, exp.Like | exp.ILike):
        raise rejection(node)
    return _like(node.this, scope, node.expression)


# --------------------------------------------------------------------------- choices


def _case(node: exp.Expr, scope: NameScope) -> Expression:
    check_parts(node, ("this", "ifs", "default"))
    default = node.args.get("default")
    otherwise = literal(None) if default is None else translate(default, scope)
    conditions = [_case_condition(node, each.this, scope) for each in node.args["ifs"]]
    values = [translate(each.args["true"], scope) for each in node.args["ifs"]]
    *values, otherwise = common_kind([*values, otherwise], node)
    return case_under(tuple(zip(conditions, values, strict=True)), otherwise)


def _case_condition(node: exp.Expr, when: exp.Expr, scope: NameScope) -> Expression:
    if node.this is None:
        return condition(when, scope)
    return coerce("equal", (translate(node.this, scope), translate(when, scope)), when)


def _if(node: exp.Expr, scope: NameScope) -> Expression:
    check_parts(node, ("this", "true", "false"))
    default = node.args.get("false")
    otherwise = literal(None) if default is None else translate(default, scope)
    value, otherwise = common_kind([translate(node.args["true"], scope), otherwise], node)
    return case_under(((condition(node.this, scope), value),), otherwise)


def _nullif(node: exp.Expr, scope: NameScope) -> Expression:
    x, y = translate(node.this, scope), translate(node.expression, scope)
    same = coerce("equal", (x, y), node)
    return case_under(((same, literal(None, x.facts.kind)),), x)


# --------------------------------------------------------------------------- casts


def _cast(node: exp.Expr, scope: NameScope) -> Expression:
    check_parts(node, ("this", "to"))
    return cast(translate(node.this, scope), node.args["to"], node)


def _date(node: exp.Expr, scope: NameScope) -> Expression:
    check_parts(node, ("this",))
    return cast(translate(node.this, scope), exp.DataType.build("date"), node)


# --------------------------------------------------------------------------- all others


def _window(node: exp.Expr, scope: NameScope) -> Expression:
    if not isinstance(node, exp.Window):
        raise rejection(node)
    return scope.window(node)


def _column(node: exp.Expr, scope: NameScope) -> Expression:
    if not isinstance(node, exp.Column) or isinstance(node.this, exp.Star):
        raise rejection(node.this)
    return scope.column(node)


def _finite(name: str) -> NodeRule:
    """Return the rule of ISFINITE and its like: numbers are finite, and all others are NULL."""

    def found(node: exp.Expr, scope: NameScope) -> Expression:
        (x,) = arguments_of(node, ("this",), scope)
        coerce("abs", (x,), node)
        return call(name, x, x)

    return found


TRANSLATIONS.update(
    {
        exp.Column: _column,
        exp.Literal: _number_or_text,
        exp.RawString: lambda node, _: literal(str(node.this)),
        exp.Boolean: lambda node, _: literal(bool(node.this)),
        exp.Null: lambda _node, _: literal(None),
        exp.Pi: lambda _node, _: literal(math.pi),
        exp.Mod: _modulo,
        exp.IntDiv: _integer_divide,
        exp.Log: _logarithm,
        exp.Round: _to_digits,
        exp.Trunc: _to_digits,
        exp.IsNan: _finite("not_equal"),
        exp.IsInf: _finite("not_equal"),
        exp.And: _chain,
        exp.Or: _chain,
        exp.DPipe: _chain,
        exp.Is: _is,
        exp.Like: _like,
        exp.ILike: _like,
        exp.Escape: _escape,
        exp.Case: _case,
        exp.If: _if,
        exp.Nullif: _nullif,
        exp.Date: _date,
        exp.Cast: _cast,
        exp.TryCast: _cast,
        exp.Anonymous: _anonymous,
        exp.Window: _window,
        exp.Exists: lambda node, scope: scope.subquery(node),
        exp.Subquery: lambda node, scope: scope.subquery(node),
    }
)
for rules in (FORMAT_RULES, LIST_RULES, PATTERN_RULES, SPAN_RULES, TEXT_RULES, TIME_RULES):
    TRANSLATIONS.update(rules)
