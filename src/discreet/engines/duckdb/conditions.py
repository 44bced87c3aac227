"""Parts of templates, conditions, texts."""

from collections.abc import Sequence

from discreet.catalog.schema import Kind
from discreet.engines.dialect import (
    CALENDAR,
    COMPARISONS,
    LOGIC,
    FunctionTemplate,
    Template,
    Written,
    braced,
    clamped,
    clamped_span,
    fits,
    hull,
    integer_literal,
    number,
    padded,
    pattern_of,
    plain,
    split_part,
    text_literal,
    words,
)
from discreet.engines.regular import captured, condition_text, replaced
from discreet.query.expressions.functions import LONGEST_TEXT
from discreet.query.expressions.literals import ESCAPE, canonical_pattern
from discreet.query.expressions.regular_text import RE2, Piece

LONGEST_REPEATED = 1000
"""Longer text is written once, at the cost of a list around its value; else nesting would double
it again and again."""


def let(text: str, body: str) -> str:
    """Return the body with an expression in place of every {0}."""
    if len(text) <= LONGEST_REPEATED or body.count("{0}") == 1:
        return body.format(text)
    return f"list_transform([{text}], lambda v: {body.format('v')})[1]"


def only(text: str, condition: str) -> str:
    """Return the expression where a condition on it holds, else NULL."""
    return let(text, f"CASE WHEN {condition} THEN {{0}} END")


def finite(text: str) -> str:
    """Return a real, NULL for NaN and infinities."""
    return only(text, "isfinite({0})")


def canonical_real(text: str) -> str:
    """Return a real, 0.0 for -0.0: equal ones are then the same to the last bit."""
    return f"({text} + 0e0)"


def in_calendar(text: str, kind: Kind) -> str:
    """Return a time, NULL outside the years 1 to 9999."""
    return only(text, CALENDAR[kind])


def integer_text(argument: Written) -> str:
    """Return an integer in 64 bits."""
    if fits(argument.low, argument.high):
        return f"CAST({argument.text} AS BIGINT)" if argument.is_literal else argument.text
    return f"TRY_CAST({argument.text} AS BIGINT)"


def _clamp(arguments: Sequence[Written]) -> str:
    x, low, high = (each.text for each in arguments)
    body = f"CASE WHEN {{0}} < {low} THEN {low} WHEN {{0}} > {high} THEN {high} ELSE {{0}} END"
    return let(x, body)


def _list(name: str) -> FunctionTemplate:
    return FunctionTemplate(template=f"{name}({{all}})", range=hull)


def _in(arguments: Sequence[Written]) -> str:
    x, *others = (each.text for each in arguments)
    return f"({x} IN ({', '.join(others)}))"


def _like(sign: str) -> Template:
    def write(arguments: Sequence[Written]) -> str:
        pattern, is_escaping = canonical_pattern(pattern_of(arguments))
        escape = f" ESCAPE '{ESCAPE}'" if is_escaping else ""
        return f"({arguments[0].text} {sign} {text_literal(pattern)}{escape})"

    return write


CONDITIONS = {
    **{name: plain(f"({{0}} {sign} {{1}})") for name, sign in COMPARISONS.items()},
    **LOGIC,
    "in": plain(_in),
    "like": plain(_like("LIKE")),
    "ilike": plain(_like("ILIKE")),
}


CHOICES = {
    "coalesce": _list("coalesce"),
    "greatest": _list("greatest"),
    "least": _list("least"),
    "clamp": FunctionTemplate(template=_clamp, range=clamped, span=clamped_span),
}


def _texts(name: str) -> Template:
    """Return a function whose first argument is a text and whose numbers are cut to 32 bits."""

    def write(arguments: Sequence[Written]) -> str:
        numbers = [max(-(2**31), min(2**31, number(each))) for each in arguments[1:]]
        return f"{name}({', '.join([arguments[0].text, *map(integer_literal, numbers)])})"

    return write


def _at_most(argument: Written, longest: int) -> str:
    if argument.is_literal:
        return argument.text
    return only(argument.text, f"length({{0}}) <= {longest}")


def _concatenate(arguments: Sequence[Written]) -> str:
    longest = LONGEST_TEXT // len(arguments)
    return "(" + " || ".join(_at_most(each, longest) for each in arguments) + ")"


def _concat(arguments: Sequence[Written]) -> str:
    parts = ", ".join(each.text for each in arguments)
    short = (
        f"list_bool_and(list_transform({{0}}, lambda t: coalesce(length(t), 0) <= {LONGEST_TEXT}))"
    )
    body = f"CASE WHEN {short} THEN coalesce(array_to_string({{0}}, ''), '') END"
    return f"list_transform([[{parts}]], lambda v: {body.format('v')})[1]"


def _replace(arguments: Sequence[Written]) -> str:
    x, old, new = arguments
    longest = LONGEST_TEXT // max(1, len(new.text) - 2)
    return f"replace({_at_most(x, longest)}, {old.text}, {new.text})"


def _part_count(arguments: Sequence[Written]) -> str:
    x, separator = arguments
    rest = f"length(replace({{0}}, {braced(separator.text)}, ''))"
    return let(x.text, f"((length({{0}}) - {rest}) // {len(words(separator))} + 1)")


def _matches(arguments: Sequence[Written]) -> str:
    pattern, longest = condition_text(arguments[1], RE2)
    x = _at_most(arguments[0], longest)
    return f"regexp_matches({x}, {text_literal(pattern)})"


def _extract(arguments: Sequence[Written]) -> str:
    pattern, group, longest = captured(arguments, RE2)
    x = _at_most(arguments[0], longest)
    return f"regexp_extract({x}, {text_literal(pattern)}, {group})"


def _sign(piece: Piece) -> str:
    return f"\\{piece}" if isinstance(piece, int) or piece == "\\" else piece


def _replace_matches(options: str) -> Template:
    def write(arguments: Sequence[Written]) -> str:
        pattern, new, longest = replaced(arguments, RE2, _sign)
        texts = ", ".join(map(text_literal, (pattern, new, *options)))
        return f"regexp_replace({_at_most(arguments[0], longest)}, {texts})"

    return write


TEXTS = {
    "regexp_matches": plain(_matches),
    "regexp_extract": plain(_extract),
    "regexp_replace": plain(_replace_matches("")),
    "regexp_replace_all": plain(_replace_matches("g")),
    "lower": plain("lower({0})"),
    "upper": plain("upper({0})"),
    "length": FunctionTemplate(template="length({0})", range=lambda _: (0, 2**32)),
    "trim": plain("trim({all})"),
    "ltrim": plain("ltrim({all})"),
    "rtrim": plain("rtrim({all})"),
    "substring": plain(_texts("substring")),
    "left": plain(_texts("left")),
    "right": plain(_texts("right")),
    "concat": plain(_concat),
    "concatenate": plain(_concatenate),
    "replace": plain(_replace),
    "starts_with": plain("starts_with({0}, {1})"),
    "ends_with": plain("ends_with({0}, {1})"),
    "contains": plain("contains({0}, {1})"),
    "byte_length": FunctionTemplate(template="strlen({0})", range=lambda _: (0, 2**34)),
    "ascii": FunctionTemplate(template="ascii({0})", range=lambda _: (0, 2**32)),
    "split_part": plain(split_part),
    "part_count": FunctionTemplate(template=_part_count, range=lambda _: (0, 2**32)),
    "translate": plain("translate({0}, {1}, {2})"),
    "lpad": plain(padded("lpad")),
    "rpad": plain(padded("rpad")),
    "position": FunctionTemplate(template="strpos({0}, {1})", range=lambda _: (0, 2**32)),
}
