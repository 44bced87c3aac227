"""Translates SQL to expressions over a private row. Nodes that are not listed are rejected.

What is written in DuckDB's SQL keeps its meaning, kinds of results and treatment of NULL included;
where DuckDB would raise an error or give NaN or an infinity, the expression is NULL.
"""

import math

from sqlglot import exp

from discreet.catalog.schema import Kind
from discreet.errors import QuestionSizeError, UnsupportedError
from discreet.query.expressions.casts import cast, combined, negated, text_of
from discreet.query.expressions.coercion import coerce, common_kind
from discreet.query.expressions.dispatch import (
    PLAIN,
    TRANSLATIONS,
    NameScope,
    NodeRule,
    arguments_of,
    check_parts,
    condition,
    parts_in,
    translate,
)
from discreet.query.expressions.facts import literal
from discreet.query.expressions.formats import FORMAT_RULES
from discreet.query.expressions.functions import call
from discreet.query.expressions.literals import (
    UNIT_NAMES,
    Span,
    check_pattern,
    number_from_text,
    span_in,
    unit_in,
)
from discreet.query.expressions.narrowing import case_under
from discreet.query.expressions.rejections import function_name, rejection
from discreet.query.expressions.time_functions import PARTS, UNITS
from discreet.query.parse import DIALECT, span_of
from discreet.query.tree import Expression, Literal

__all__ = ["PLAIN", "TRANSLATIONS", "NameScope", "condition", "translate"]

MOST_IN_LIST = 10_000
LONGEST_REPLACEMENT = 100

ANONYMOUS = {
    "prefix": "starts_with",
    "suffix": "ends_with",
    "clamp": "clamp",
    "instr": "position",
}
"""Functions that sqlglot does not know."""

PART_FUNCTIONS = ("century", "decade", "isoyear", "microsecond", "millisecond", "weekday")


def _anonymous(node: exp.Expr, scope: NameScope) -> Expression:
    name = function_name(node)
    if name in ("date_part", "datepart") and len(node.expressions) == 2:
        return _date_part(node.expressions[0], node.expressions[1], node, scope)
    if name in PART_FUNCTIONS and len(node.expressions) == 1:
        part = literal(UNIT_NAMES[name])
        return coerce("date_part", (part, translate(node.expressions[0], scope)), node)
    if name not in ANONYMOUS:
        raise rejection(node)
    arguments = [translate(each, scope) for each in node.expressions]
    if name == "clamp":
        _check_clamp(arguments, node)
    return coerce(ANONYMOUS[name], arguments, node)


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


def _negative(node: exp.Expr, scope: NameScope) -> Expression:
    return negated(translate(node.this, scope), node)


# --------------------------------------------------------------------------- arithmetic


def _add(node: exp.Expr, scope: NameScope) -> Expression:
    for moment, other in ((node.this, node.expression), (node.expression, node.this)):
        span = span_in(other)
        if span is not None:
            return _moved(translate(moment, scope), span, node)
    a, b = translate(node.this, scope), translate(node.expression, scope)
    for day, number in ((a, b), (b, a)):
        if day.facts.kind is Kind.DATE:
            return coerce("add_days", (day, number), node)
    return combined("add", a, b, node)


def _subtract(node: exp.Expr, scope: NameScope) -> Expression:
    span = span_in(node.expression)
    if span is not None:
        return _moved(translate(node.this, scope), Span(*(-each for each in span)), node)
    a, b = translate(node.this, scope), translate(node.expression, scope)
    if a.facts.kind is Kind.DATE and b.facts.kind is Kind.DATE:
        return coerce("days_between", (a, b), node)
    if a.facts.kind is Kind.DATE and b.facts.kind is Kind.INTEGER:
        return coerce("add_days", (a, coerce("negate", (b,), node)), node)
    if a.facts.kind.is_time or b.facts.kind.is_time:
        raise UnsupportedError(
            "This difference is an interval, which is not supported on private rows",
            "Write DATE_DIFF('day', earlier, later), or use another unit",
            span=span_of(node),
        )
    return combined("subtract", a, b, node)


def _multiply(node: exp.Expr, scope: NameScope) -> Expression:
    return combined(
        "multiply", translate(node.this, scope), translate(node.expression, scope), node
    )


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


def _between(node: exp.Expr, scope: NameScope) -> Expression:
    arguments = arguments_of(node, ("this", "low", "high"), scope)
    x, low, high = arguments
    above = coerce("greater_or_equal", (x, low), node)
    return call("and", above, coerce("less_or_equal", (x, high), node))


def _in(node: exp.Expr, scope: NameScope) -> Expression:
    if node.args.get("query") is not None:
        return scope.subquery(node)
    check_parts(node, ("this", "expressions"))
    if len(node.expressions) > MOST_IN_LIST:
        raise QuestionSizeError(
            f"The list has {len(node.expressions):,} values, and at most {MOST_IN_LIST:,} are "
            "allowed",
            "Put the values into a public table and join it",
            span=span_of(node.this),
        )
    return coerce("in", arguments_of(node, ("this", "expressions"), scope), node)


def _is(node: exp.Expr, scope: NameScope) -> Expression:
    inner = translate(node.this, scope)
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


# --------------------------------------------------------------------------- texts


def _concat(node: exp.Expr, scope: NameScope) -> Expression:
    """Return CONCAT(...), which leaves NULL out."""
    texts = [text_of(each, node) for each in arguments_of(node, ("expressions",), scope)]
    filled = [
        call("coalesce", each, literal("")) if each.facts.nullable else each for each in texts
    ]
    return filled[0] if len(filled) == 1 else coerce("concatenate", filled, node)


def _trim(node: exp.Expr, scope: NameScope) -> Expression:
    check_parts(node, ("this", "expression", "position"))
    name = {"LEADING": "ltrim", "TRAILING": "rtrim"}.get(str(node.args.get("position")), "trim")
    return coerce(
        name, [translate(each, scope) for each in parts_in(node, ("this", "expression"))], node
    )


def _replace(node: exp.Expr, scope: NameScope) -> Expression:
    arguments = arguments_of(node, ("this", "expression", "replacement"), scope)
    found = coerce("replace", arguments, node)
    new = arguments[2]
    if isinstance(new, Literal) and len(str(new.value)) > LONGEST_REPLACEMENT:
        raise QuestionSizeError(
            "The replacement text of REPLACE is too long",
            f"Use at most {LONGEST_REPLACEMENT:,} characters",
            span=span_of(node),
        )
    return found


# --------------------------------------------------------------------------- times


def _extract(node: exp.Expr, scope: NameScope) -> Expression:
    check_parts(node, ("this", "expression"))
    return _date_part(node.this, node.expression, node, scope)


def _part_of(name: str) -> NodeRule:
    def found(node: exp.Expr, scope: NameScope) -> Expression:
        moment = arguments_of(node, ("this",), scope)
        return coerce("date_part", (literal(name), *moment), node)

    return found


def _date_part(part: exp.Expr, moment: exp.Expr, node: exp.Expr, scope: NameScope) -> Expression:
    name = unit_in(part, node, tuple(PARTS))
    return coerce("date_part", (literal(name), translate(moment, scope)), node)


def _date_trunc(node: exp.Expr, scope: NameScope) -> Expression:
    check_parts(node, ("this", "unit"))
    unit = unit_in(node.args["unit"], node, UNITS)
    return coerce("date_trunc", (literal(unit), translate(node.this, scope)), node)


def _date_diff(node: exp.Expr, scope: NameScope) -> Expression:
    check_parts(node, ("this", "expression", "unit", "date_part_boundary"))
    unit = unit_in(node.args.get("unit"), node, UNITS)
    both = [translate(node.expression, scope), translate(node.this, scope)]
    return coerce("date_diff", (literal(unit), *both), node)


def _date_add(node: exp.Expr, scope: NameScope) -> Expression:
    span = span_in(node.expression)
    if span is None or node.args.get("unit") is not None:
        raise UnsupportedError(
            "DATE_ADD needs a date and an interval", "Write d + INTERVAL 1 DAY", span=span_of(node)
        )
    return _moved(translate(node.this, scope), span, node)


def _moved(moment: Expression, span: Span, node: exp.Expr) -> Expression:
    return coerce("add_interval", (moment, *map(literal, span)), node)


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


TRANSLATIONS.update(
    {
        exp.Column: _column,
        exp.Literal: _number_or_text,
        exp.RawString: lambda node, _: literal(str(node.this)),
        exp.Boolean: lambda node, _: literal(bool(node.this)),
        exp.Null: lambda _node, _: literal(None),
        exp.Pi: lambda _node, _: literal(math.pi),
        exp.Neg: _negative,
        exp.Add: _add,
        exp.Sub: _subtract,
        exp.Mul: _multiply,
        exp.Mod: _modulo,
        exp.IntDiv: _integer_divide,
        exp.Log: _logarithm,
        exp.Round: _to_digits,
        exp.Trunc: _to_digits,
        exp.And: _chain,
        exp.Or: _chain,
        exp.DPipe: _chain,
        exp.Between: _between,
        exp.In: _in,
        exp.Is: _is,
        exp.Like: _like,
        exp.ILike: _like,
        exp.Escape: _escape,
        exp.Case: _case,
        exp.If: _if,
        exp.Nullif: _nullif,
        exp.Concat: _concat,
        exp.Trim: _trim,
        exp.Replace: _replace,
        exp.Extract: _extract,
        exp.Year: _part_of("year"),
        exp.Quarter: _part_of("quarter"),
        exp.Month: _part_of("month"),
        exp.Week: _part_of("week"),
        exp.WeekOfYear: _part_of("week"),
        exp.Day: _part_of("day"),
        exp.DayOfMonth: _part_of("day"),
        exp.DayOfWeek: _part_of("dow"),
        exp.DayOfWeekIso: _part_of("isodow"),
        exp.DayOfYear: _part_of("doy"),
        exp.Hour: _part_of("hour"),
        exp.Minute: _part_of("minute"),
        exp.Second: _part_of("second"),
        exp.TimeToUnix: _part_of("epoch"),
        exp.TimestampTrunc: _date_trunc,
        exp.DateTrunc: _date_trunc,
        exp.DateDiff: _date_diff,
        exp.DateAdd: _date_add,
        exp.Date: _date,
        exp.Cast: _cast,
        exp.TryCast: _cast,
        exp.Anonymous: _anonymous,
        exp.Window: _window,
        exp.Exists: lambda node, scope: scope.subquery(node),
        exp.Subquery: lambda node, scope: scope.subquery(node),
    }
)
TRANSLATIONS.update(FORMAT_RULES)
