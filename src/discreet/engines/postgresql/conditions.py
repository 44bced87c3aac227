"""Parts of templates, conditions, texts."""

from collections.abc import Callable, Sequence
from math import isfinite
from zlib import crc32

from discreet.catalog.schema import Kind
from discreet.engines.dialect import (
    CALENDAR,
    COMPARISONS,
    INT64,
    LOGIC,
    NULL_INTEGER,
    FunctionTemplate,
    Template,
    Written,
    clamped,
    hull,
    number,
    padded,
    pattern_of,
    plain,
    split_part,
    words,
)
from discreet.engines.regular import captured_whole, condition_text, replaced
from discreet.errors import UnsupportedError
from discreet.query.expressions.functions import LONGEST_TEXT
from discreet.query.expressions.literals import ESCAPE, canonical_pattern
from discreet.query.expressions.regular_text import POSTGRESQL as STYLE
from discreet.query.expressions.regular_text import Piece

LONGEST_REPEATED = 80
"""Longer texts are computed once, in a query of their own; else nesting would double them again
and again."""


NULL_REAL = "CAST(NULL AS DOUBLE PRECISION)"


def let(body: str, *texts: str) -> str:
    """Return the body with expressions in place of {0}, {1}, ..., each computed once if long.

    OFFSET 0 keeps the planner from writing the expressions back into the body.
    """
    given, named = [], []
    alias = f"l{crc32('|'.join(texts).encode()):08x}"
    for place, text in enumerate(texts):
        is_short = len(text) <= LONGEST_REPEATED or body.count(f"{{{place}}}") <= 1
        given.append(text if is_short else f"{alias}.v{place}")
        named += [] if is_short else [f"{text} AS v{place}"]
    written = body.format(*given)
    if not named:
        return f"({written})"
    return f"(SELECT {written} FROM (SELECT {', '.join(named)} OFFSET 0) AS {alias})"  # noqa: S608


def only(text: str, condition: str) -> str:
    """Return the expression where a condition on it holds, else NULL."""
    return let(f"CASE WHEN {condition} THEN {{0}} END", text)


def finite(text: str) -> str:
    """Return a real, NULL for NaN and infinities."""
    nan, plus, minus = (
        f"CAST('{each}' AS DOUBLE PRECISION)" for each in ("NaN", "Infinity", "-Infinity")
    )
    return f"NULLIF(NULLIF(NULLIF({text}, {nan}), {plus}), {minus})"


def canonical_real(text: str) -> str:
    """Return a real, 0.0 for -0.0: equal ones are then the same to the last bit."""
    return f"({text} + {real_text(0.0)})"


def narrow(text: str, low: int = INT64[0], high: int = INT64[1]) -> str:
    """Return a number without fraction as a whole one of 64 bits, NULL outside its ends.

    LEAST and GREATEST leave NULL out, so that it becomes an end beyond the last, and NULL again.
    """
    below, above = f"{low - 1}", f"{high + 1}"
    held = f"GREATEST(LEAST(CAST({text} AS NUMERIC), {above}), {below})"
    return f"CAST(NULLIF(NULLIF({held}, {above}), {below}) AS BIGINT)"


def real_text(value: float) -> str:
    """Return a floating-point number as SQL that reads back as the very same one."""
    return f"CAST('{value!r}' AS DOUBLE PRECISION)" if isfinite(value) else NULL_REAL


def integer_number(value: int) -> str:
    """Return an integer of 64 bits, NULL if it has more; comparisons look at its value."""
    return f"CAST('{value}' AS BIGINT)" if INT64[0] <= value <= INT64[1] else NULL_INTEGER


def quoted_text(value: str) -> str:
    """Return a text that is compared by its bytes."""
    if "\0" in value:
        raise UnsupportedError(
            "A text contains the character NUL, which PostgreSQL does not support",
            "Write the query without it",
        )
    return "CAST('" + value.replace("'", "''") + '\' AS TEXT) COLLATE "C"'


def in_calendar(text: str, kind: Kind) -> str:
    """Return a time, NULL outside the years 1 to 9999."""
    return only(text, CALENDAR[kind])


def of_texts(body: str) -> Template:
    """Return a template whose arguments are computed once each."""
    return lambda arguments: let(body, *(each.text for each in arguments))


def farthest(arguments: Sequence[Written]) -> float | None:
    """Return how far from 0 the farthest argument can be, if that is known of all."""
    known = [each.reach for each in arguments if each.reach is not None]
    return max(known) if len(known) == len(arguments) else None


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


def _part_count(arguments: Sequence[Written]) -> str:
    x, separator = arguments
    rest = "length(replace({0}, {1}, ''))"
    body = f"(length({{0}}) - {rest}) / {len(words(separator))} + 1"
    return let(f"CAST({body} AS BIGINT)", x.text, separator.text)


COUNT: Callable[[Sequence[Written]], tuple[int, int]] = lambda _: (0, 2**32)  # noqa: E731


def _matches(arguments: Sequence[Written]) -> str:
    pattern, longest = condition_text(arguments[1], STYLE)
    x = _at_most(arguments[0], longest)
    return f"({x} ~ {quoted_text(pattern)})"


def _extract(arguments: Sequence[Written]) -> str:
    pattern, group, longest = captured_whole(arguments, STYLE)
    x = _at_most(arguments[0], longest)
    found = f"coalesce((regexp_match({{0}}, {{1}}))[{group}], '')"
    return let(f"CASE WHEN {{0}} IS NOT NULL THEN {found} END", x, quoted_text(pattern))


def _sign(piece: Piece) -> str:
    if piece == 0:
        return "\\&"
    return f"\\{piece}" if isinstance(piece, int) or piece == "\\" else piece


def _replace_matches(options: str) -> Template:
    def write(arguments: Sequence[Written]) -> str:
        pattern, new, longest = replaced(arguments, STYLE, _sign)
        texts = ", ".join(map(quoted_text, (pattern, new, *options)))
        return f"regexp_replace({_at_most(arguments[0], longest)}, {texts})"

    return write


TEXTS = {
    "regexp_matches": plain(_matches),
    "regexp_extract": plain(_extract),
    "regexp_replace": plain(_replace_matches("")),
    "regexp_replace_all": plain(_replace_matches("g")),
    "lower": plain(_lower),
    "upper": plain(_upper),
    "length": FunctionTemplate(template="CAST(length({0}) AS BIGINT)", range=COUNT),
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
    "byte_length": FunctionTemplate(template="CAST(octet_length({0}) AS BIGINT)", range=COUNT),
    "ascii": FunctionTemplate(template="CAST(ascii({0}) AS BIGINT)", range=COUNT),
    "split_part": plain(split_part),
    "part_count": FunctionTemplate(template=_part_count, range=COUNT),
    "translate": plain("translate({0}, {1}, {2})"),
    "lpad": plain(padded("lpad")),
    "rpad": plain(padded("rpad")),
    "position": FunctionTemplate(template="CAST(strpos({0}, {1}) AS BIGINT)", range=COUNT),
}


def _clamp(arguments: Sequence[Written]) -> str:
    body = "CASE WHEN {0} < {1} THEN {1} WHEN {0} > {2} THEN {2} ELSE {0} END"
    return let(body, *(each.text for each in arguments))


def _list(name: str) -> FunctionTemplate:
    return FunctionTemplate(template=f"{name}({{all}})", range=hull, reach=farthest)


def _compared(argument: Written) -> str:
    """Return what is compared; an integer that needs more than 64 bits is still itself."""
    value = argument.value
    is_wide = isinstance(value, int) and not INT64[0] <= value <= INT64[1]
    return f"CAST('{value}' AS NUMERIC)" if is_wide else argument.text


def _comparison(sign: str) -> FunctionTemplate:
    return plain(lambda arguments: f"({f' {sign} '.join(map(_compared, arguments))})")


def _in(arguments: Sequence[Written]) -> str:
    x, *others = map(_compared, arguments)
    return f"({x} IN ({', '.join(others)}))"


def _like(*, in_any_case: bool) -> Template:
    def write(arguments: Sequence[Written]) -> str:
        pattern, is_escaping = canonical_pattern(pattern_of(arguments))
        both = [arguments[0].text, quoted_text(pattern)]
        x, form = map(lowered, both) if in_any_case else both
        return f"({x} LIKE {form} ESCAPE '{ESCAPE if is_escaping else ''}')"

    return write


CONDITIONS = {
    **{name: _comparison(sign) for name, sign in COMPARISONS.items()},
    **LOGIC,
    "in": plain(_in),
    "like": plain(_like(in_any_case=False)),
    "ilike": plain(_like(in_any_case=True)),
}


CHOICES = {
    "coalesce": _list("coalesce"),
    "greatest": _list("greatest"),
    "least": _list("least"),
    "clamp": FunctionTemplate(
        template=_clamp, range=clamped, reach=lambda given: farthest(given[1:])
    ),
}
