"""Functions of texts that are more than one call: separators, padding, repetition."""

from sqlglot import exp

from discreet.errors import QuestionSizeError, UnsupportedError
from discreet.query.expressions.casts import text_of
from discreet.query.expressions.coercion import coerce
from discreet.query.expressions.dispatch import (
    NameScope,
    NodeRule,
    arguments_of,
    check_parts,
    parts_in,
    translate,
)
from discreet.query.expressions.facts import case_of, literal
from discreet.query.expressions.functions import LONGEST_TEXT, call
from discreet.query.expressions.rejections import rejection, written_name
from discreet.query.parse import span_of
from discreet.query.tree import Expression, Literal

LONGEST_REPLACEMENT = 100


LONGEST_SEPARATOR = 100


MOST_REPEATED = 100


def _concat(node: exp.Expr, scope: NameScope) -> Expression:
    """Return CONCAT(...), which leaves NULL out."""
    texts = [text_of(each, node) for each in arguments_of(node, ("expressions",), scope)]
    filled = [
        call("coalesce", each, literal("")) if each.facts.nullable else each for each in texts
    ]
    return filled[0] if len(filled) == 1 else coerce("concatenate", filled, node)


def _concat_ws(node: exp.Expr, scope: NameScope) -> Expression:
    """Return texts with a separator between them, NULL ones left out.

    Each text gets the separator before it, and the first separator is cut off in the end.
    """
    separator, *texts = arguments_of(node, ("expressions",), scope)
    sign = stated_text(separator)
    if sign is None or len(sign) > LONGEST_SEPARATOR or not texts:
        raise _needs_separator("CONCAT_WS", node)
    pieces = [text_of(each, node) for each in texts]
    begun = [
        case_of(((call("is_null", each), literal("")),), call("concatenate", separator, each))
        for each in pieces
    ]
    whole = begun[0] if len(begun) == 1 else call("concatenate", *begun)
    return call("substring", whole, literal(len(sign) + 1))


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


# --------------------------------------------------------------------------- parts of a text


def stated_text(expression: Expression) -> str | None:
    """Return the text that a literal states; None for all else."""
    value = expression.value if isinstance(expression, Literal) else None
    return value if isinstance(value, str) else None


def stated_integer(expression: Expression) -> int | None:
    """Return the integer that a literal states; None for all else."""
    value = expression.value if isinstance(expression, Literal) else None
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _needs_separator(name: str, node: exp.Expr) -> UnsupportedError:
    return UnsupportedError(
        f"The separator of {name} must be a constant text of 1 to {LONGEST_SEPARATOR} characters",
        "Write it in quotes, such as ','",
        span=span_of(node),
    )


def separated(node: exp.Expr, x: Expression, sign: Expression) -> tuple[Expression, Expression]:
    """Return a text and what separates its parts, or reject."""
    text = stated_text(sign)
    if not text or len(text) > LONGEST_SEPARATOR:
        raise _needs_separator(written_name(node), node)
    return x, sign


def _split_part(node: exp.Expr, scope: NameScope) -> Expression:
    arguments = arguments_of(node, ("this", "delimiter", "part_index"), scope)
    if len(arguments) != 3:
        return coerce("split_part", arguments, node)
    x, sign, place = arguments
    if stated_integer(place) in (0, None):
        raise UnsupportedError(
            "The place of a part must be a constant integer other than 0",
            "Write SPLIT_PART(x, ',', 2), or -1 for the last part",
            span=span_of(node),
        )
    return coerce("split_part", (*separated(node, x, sign), place), node)


def _element(node: exp.Expr, scope: NameScope) -> Expression:
    """Return STRING_SPLIT(x, ',')[2]: NULL if there is no such part."""
    parts = node.this
    while isinstance(parts, exp.Paren):
        parts = parts.this
    place = node.expressions[0] if len(node.expressions) == 1 else None
    is_counted = isinstance(place, exp.Literal) and place.is_int
    if not isinstance(parts, exp.Split) or not is_counted or place is None:
        raise UnsupportedError(
            "An element of a list is not supported on private rows",
            "For a part of a text write SPLIT_PART(x, ',', 2)",
            span=span_of(node),
        )
    number = literal(int(place.name) + 1)  # sqlglot counts from 0
    x, sign = _split_arguments(parts, scope)
    exists = call("greater_or_equal", call("part_count", x, sign), number)
    return case_of(((exists, call("split_part", x, sign, number)),), literal(None, x.facts.kind))


def _split_arguments(node: exp.Expr, scope: NameScope) -> tuple[Expression, Expression]:
    x, sign = arguments_of(node, ("this", "expression"), scope)
    found = separated(node, x, sign)
    coerce("split_part", (*found, literal(1)), node)
    return found


def _length(node: exp.Expr, scope: NameScope) -> Expression:
    """Return how many characters a text has, or how many parts if it is split."""
    check_parts(node, ("this",))
    inner = node.this
    while isinstance(inner, exp.Paren):
        inner = inner.this
    if isinstance(inner, exp.Split):
        return coerce("part_count", _split_arguments(inner, scope), node)
    if isinstance(node, exp.ArraySize):
        raise rejection(node)
    return coerce("length", (translate(inner, scope),), node)


# --------------------------------------------------------------------------- longer texts


def _pad(node: exp.Expr, scope: NameScope) -> Expression:
    check_parts(node, ("this", "expression", "fill_pattern", "is_left"))
    name = "lpad" if node.args.get("is_left") else "rpad"
    x, size, *given = (
        translate(each, scope) for each in parts_in(node, ("this", "expression", "fill_pattern"))
    )
    fill = given[0] if given else literal(" ")
    number, sign = stated_integer(size), stated_text(fill)
    if number is None or not 0 <= number <= LONGEST_TEXT or not sign:
        raise UnsupportedError(
            f"{name.upper()} needs a constant length of 0 to {LONGEST_TEXT:,} and a constant text "
            "to fill with",
            f"Write {name.upper()}(x, 5, '0')",
            span=span_of(node),
        )
    return coerce(name, (x, size, fill), node)


def _repeat(node: exp.Expr, scope: NameScope) -> Expression:
    x, times = arguments_of(node, ("this", "times"), scope)
    number = stated_integer(times)
    if number is None or number > MOST_REPEATED:
        raise UnsupportedError(
            "REPEAT needs a constant number of times",
            f"Write an integer up to {MOST_REPEATED}",
            span=span_of(node),
        )
    if number <= 1:
        return coerce("left", (x, literal(max(number, 0) and LONGEST_TEXT)), node)
    return coerce("concatenate", [x] * number, node)


def _bytes(node: exp.Expr, scope: NameScope) -> Expression:
    return coerce("byte_length", [translate(each, scope) for each in node.expressions], node)


def _bits(node: exp.Expr, scope: NameScope) -> Expression:
    size = coerce("byte_length", arguments_of(node, ("this",), scope), node)
    return call("multiply", size, literal(8))


TEXT_RULES: dict[type[exp.Expr], NodeRule] = {
    exp.Concat: _concat,
    exp.ConcatWs: _concat_ws,
    exp.Trim: _trim,
    exp.Replace: _replace,
    exp.SplitPart: _split_part,
    exp.Bracket: _element,
    exp.Length: _length,
    exp.ArraySize: _length,
    exp.Pad: _pad,
    exp.Repeat: _repeat,
    exp.BitLength: _bits,
}


NAMED_TEXTS: dict[str, NodeRule] = {"strlen": _bytes, "octet_length": _bytes}
"""Rules of functions that sqlglot does not know."""
