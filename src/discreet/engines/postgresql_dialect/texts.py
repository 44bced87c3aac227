"""Texts. They are compared by their bytes, not by the collation of the database."""

from collections.abc import Callable, Sequence

from discreet.engines.dialect import Function, Template, Written
from discreet.engines.postgresql_dialect.parts import let, only
from discreet.engines.templates import number, plain
from discreet.query.expressions.functions import LONGEST_TEXT

C = ' COLLATE "C"'
LETTERS = ' COLLATE "pg_c_utf8"'
"""Upper and lower case as Unicode has them, letter by letter; PostgreSQL 17 and later."""

MOST = 2**29
"""No text has so many characters."""


def lowered(text: str) -> str:
    """Return a text in lower case."""
    return f"lower({text}{LETTERS}){C}"


def _lower(arguments: Sequence[Written]) -> str:
    return f"({lowered(arguments[0].text)})"


def _upper(arguments: Sequence[Written]) -> str:
    return f"(upper(replace({arguments[0].text}, 'ß', 'ẞ'){LETTERS}){C})"


def _counted(name: str) -> Template:
    def write(arguments: Sequence[Written]) -> str:
        places = max(-MOST, min(MOST, number(arguments[1])))
        return f"{name}({arguments[0].text}, {places})"

    return write


def _trimmed(name: str) -> Template:
    return lambda arguments: f"{name}({', '.join(each.text for each in arguments)})"


def _substring(arguments: Sequence[Written]) -> str:
    """Return characters from a place on; negative places count from the end."""
    x, start, *lengths = arguments
    first = max(-MOST, min(MOST, number(start)))
    size = MOST if not lengths else max(-MOST, min(MOST, number(lengths[0])))
    back = f" - {-size}" if size < 0 else ""
    if first < 0:
        at = f"length({{0}}) - {-first - 1}{back}"
        return let(
            f"substring({{0}}, {at if lengths else f'greatest({at}, 1)'}, {abs(size)})", x.text
        )
    first = first if lengths else max(first, 1)
    return f"substring({x.text}, {first}{back}, {abs(size)})"


def _at_most(argument: Written, longest: int) -> str:
    if argument.is_literal:
        return argument.text
    return only(argument.text, f"length({{0}}) <= {longest}")


def _concatenate(arguments: Sequence[Written]) -> str:
    longest = LONGEST_TEXT // len(arguments)
    return "(" + " || ".join(_at_most(each, longest) for each in arguments) + ")"


def _concat(arguments: Sequence[Written]) -> str:
    places = [f"{{{number}}}" for number in range(len(arguments))]
    short = " AND ".join(f"coalesce(length({each}), 0) <= {LONGEST_TEXT}" for each in places)
    joined = " || ".join(f"coalesce({each}, '')" for each in places)
    return let(f"CASE WHEN {short} THEN {joined} END", *(each.text for each in arguments))


def _replace(arguments: Sequence[Written]) -> str:
    x, old, new = arguments
    size = len(new.value) if isinstance(new.value, str) else 1
    longest = LONGEST_TEXT // max(1, size)
    return f"replace({_at_most(x, longest)}, {old.text}, {new.text})"


def _of(body: str) -> Template:
    return lambda arguments: let(body, *(each.text for each in arguments))


COUNT: Callable[[Sequence[Written]], tuple[int, int]] = lambda _: (0, 2**32)  # noqa: E731

TEXTS = {
    "lower": plain(_lower),
    "upper": plain(_upper),
    "length": Function(template="CAST(length({0}) AS BIGINT)", range=COUNT),
    "trim": plain(_trimmed("btrim")),
    "ltrim": plain(_trimmed("ltrim")),
    "rtrim": plain(_trimmed("rtrim")),
    "substring": plain(_substring),
    "left": plain(_counted("left")),
    "right": plain(_counted("right")),
    "concat": plain(_concat),
    "concatenate": plain(_concatenate),
    "replace": plain(_replace),
    "starts_with": plain("starts_with({0}, {1})"),
    "ends_with": plain(_of("right({0}, length({1})) = {1}")),
    "contains": plain("(strpos({0}, {1}) > 0)"),
    "position": Function(template="CAST(strpos({0}, {1}) AS BIGINT)", range=COUNT),
}
