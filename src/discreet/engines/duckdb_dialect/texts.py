"""Texts."""

from collections.abc import Sequence

from discreet.engines.dialect import Function, Template, Written, whole_literal
from discreet.engines.duckdb_dialect.parts import only
from discreet.engines.templates import number, plain
from discreet.query.expressions.functions import LONGEST_TEXT


def _texts(name: str) -> Template:
    """Return a function whose first argument is a text and whose numbers are cut to 32 bits."""

    def write(arguments: Sequence[Written]) -> str:
        numbers = [max(-(2**31), min(2**31, number(each))) for each in arguments[1:]]
        return f"{name}({', '.join([arguments[0].text, *map(whole_literal, numbers)])})"

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


TEXTS = {
    "lower": plain("lower({0})"),
    "upper": plain("upper({0})"),
    "length": Function(template="length({0})", range=lambda _: (0, 2**32)),
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
    "position": Function(template="strpos({0}, {1})", range=lambda _: (0, 2**32)),
}
