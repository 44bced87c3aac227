"""Texts, by code points."""

from collections.abc import Sequence

from discreet.engines.dialect import Function, Template, Written, text_literal
from discreet.engines.spark_dialect.parts import only
from discreet.engines.spark_dialect.parts import text_literal as spark_literal
from discreet.engines.templates import number, plain
from discreet.query.expressions.functions import LONGEST_TEXT

LOWER = f"lower(translate({{0}}, {spark_literal('İΣ')}, {spark_literal('iσ')}))"
UPPER = f"upper(translate({{0}}, {spark_literal('ß')}, {spark_literal('ẞ')}))"
"""Letter by letter: Java would make two of these letters, or look at where they stand."""

FAR = 10**9
"""No text has so many characters."""


def _cut(argument: Written) -> int:
    return max(-FAR, min(FAR, number(argument)))


def _substring(arguments: Sequence[Written]) -> str:
    """Return the characters between two places, of which the second may be the earlier one."""
    x, place, *rest = arguments
    start = _cut(place)
    if not rest:
        return f"substring({x.text}, {start if start < 0 else max(1, start)})"
    size = _cut(rest[0])
    first, last = (start, start + size) if size >= 0 else (start + size, start)
    if start < 0:
        return f"substring({x.text}, {first}, {last - first})"
    first, last = max(1, first), max(1, last)
    return f"substring({x.text}, {first}, {last - first})"


def _left(arguments: Sequence[Written]) -> str:
    x, size = arguments[0].text, _cut(arguments[1])
    if size >= 0:
        return f"substring({x}, 1, {size})"
    return f"substring({x}, 1, greatest(length({x}) - {-size}, 0))"


def _right(arguments: Sequence[Written]) -> str:
    x, size = arguments[0].text, _cut(arguments[1])
    if size < 0:
        return f"substring({x}, {1 - size})"
    return f"substring({x}, -{size}, {size})" if size else f"substring({x}, 1, 0)"


def _trim(side: str) -> Template:
    def write(arguments: Sequence[Written]) -> str:
        x, *characters = (each.text for each in arguments)
        return f"trim({side} {characters[0] if characters else chr(39) + ' ' + chr(39)} FROM {x})"

    return write


def _at_most(argument: Written, longest: int) -> str:
    if argument.is_literal:
        return argument.text
    return only(argument.text, f"length({{0}}) <= {longest}")


def _concatenate(arguments: Sequence[Written]) -> str:
    longest = LONGEST_TEXT // len(arguments)
    return "concat(" + ", ".join(_at_most(each, longest) for each in arguments) + ")"


def _concat(arguments: Sequence[Written]) -> str:
    texts = [each.text for each in arguments]
    short = " AND ".join(f"coalesce(length({each}), 0) <= {LONGEST_TEXT}" for each in texts)
    return f"CASE WHEN {short} THEN concat_ws('', {', '.join(texts)}) END"


def _replace(arguments: Sequence[Written]) -> str:
    x, old, new = arguments
    longest = LONGEST_TEXT // max(1, len(text_literal(str(new.value))) - 2)
    return f"replace({_at_most(x, longest)}, {old.text}, {new.text})"


TEXTS = {
    "lower": plain(LOWER),
    "upper": plain(UPPER),
    "length": Function(template="length({0})", range=lambda _: (0, 2**32)),
    "trim": plain(_trim("BOTH")),
    "ltrim": plain(_trim("LEADING")),
    "rtrim": plain(_trim("TRAILING")),
    "substring": plain(_substring),
    "left": plain(_left),
    "right": plain(_right),
    "concat": plain(_concat),
    "concatenate": plain(_concatenate),
    "replace": plain(_replace),
    "starts_with": plain("startswith({0}, {1})"),
    "ends_with": plain("endswith({0}, {1})"),
    "contains": plain("contains({0}, {1})"),
    "position": Function(template="instr({0}, {1})", range=lambda _: (0, 2**32)),
}
