"""Parts of templates, conditions, texts."""

import re
from collections.abc import Sequence

from discreet.catalog.schema import Kind
from discreet.engines.dialect import (
    COMPARISONS,
    LOGIC,
    FunctionTemplate,
    Template,
    Written,
    braced,
    clamped,
    fits,
    hull,
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
from discreet.query.expressions.literals import Sign, escaped
from discreet.query.expressions.regular_text import JAVA, Piece

LONGEST_REPEATED = 1000
"""Longer text is written once, at the cost of a list around its value; else nesting would double
it again and again."""


VALUE = "__v"
"""What a value is called that is computed once. No query can call a table so: of one named like it,
Spark would look for the column in the value."""


LARGEST = "1.7976931348623157e308"


PLAIN_TEXT = re.compile(r"[A-Za-z0-9 .,:;_/@#&()<>=+*%^-]*", re.ASCII)
"""Texts in which Spark's parser sees nothing but themselves."""


OURS = re.compile(r'`(?:[^`]|``)*`|"(\w+)"', re.ASCII)


def spark_text(value: str) -> str:
    """Return a text as SQL; bytes, unless all of it is plain: backslashes and $ mean something."""
    if PLAIN_TEXT.fullmatch(value):
        return f"'{value}'"
    return f"CAST(X'{value.encode('utf-8', 'replace').hex()}' AS STRING)"


def with_our_names(text: str) -> str:
    """Return a statement whose own plain names, in double quotes elsewhere, are in backticks.

    Spark reads what is in double quotes as text. Names of others are in backticks already, and no
    text of this dialect has a double quote or a backtick in it.
    """
    return OURS.sub(lambda found: f"`{found[1]}`" if found[1] else found[0], text)


def let(text: str, body: str) -> str:
    """Return the body with an expression in place of every {0}."""
    if len(text) <= LONGEST_REPEATED or body.count("{0}") == 1:
        return body.format(text)
    return f"transform(array({text}), {VALUE} -> {body.format(VALUE)})[0]"


def only(text: str, condition: str) -> str:
    """Return the expression where a condition on it holds, else NULL."""
    return let(text, f"CASE WHEN {condition} THEN {{0}} END")


def finite(text: str) -> str:
    """Return a real, NULL for NaN and infinities; NaN is larger than all others here."""
    return only(text, f"abs({{0}}) <= {LARGEST}")


def canonical_real(text: str) -> str:
    """Return a real, 0.0 for -0.0: equal ones are then the same to the last bit."""
    return f"({text} + 0e0)"


CALENDAR = {
    Kind.DATE: "{0} BETWEEN DATE'0001-01-01' AND DATE'9999-12-31'",
    Kind.TIMESTAMP: (
        "{0} BETWEEN TIMESTAMP_NTZ'0001-01-01 00:00:00' "
        "AND TIMESTAMP_NTZ'9999-12-31 23:59:59.999999'"
    ),
    Kind.TIMESTAMP_TZ: (
        "{0} BETWEEN TIMESTAMP_LTZ'0001-01-01 00:00:00+00:00' "
        "AND TIMESTAMP_LTZ'9999-12-31 23:59:59.999999+00:00'"
    ),
}
"""Whether a time is in the years that calendars have."""


def in_calendar(text: str, kind: Kind) -> str:
    """Return a time, NULL outside the years 1 to 9999."""
    return only(text, CALENDAR[kind])


def integer_text(argument: Written) -> str:
    """Return an integer in 64 bits; what counts or measures has 32 in Spark."""
    if fits(argument.low, argument.high):
        return f"CAST({argument.text} AS BIGINT)"
    return f"try_cast({argument.text} AS BIGINT)"


LOWER = f"lower(translate({{0}}, {spark_text('İΣ')}, {spark_text('iσ')}))"


UPPER = f"upper(translate({{0}}, {spark_text('ß')}, {spark_text('ẞ')}))"
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


def _part_count(arguments: Sequence[Written]) -> str:
    x, separator = arguments
    rest = f"length(replace({{0}}, {braced(separator.text)}, ''))"
    return let(x.text, f"((length({{0}}) - {rest}) div {len(words(separator))} + 1)")


def _matches(arguments: Sequence[Written]) -> str:
    pattern, longest = condition_text(arguments[1], JAVA)
    x = _at_most(arguments[0], longest)
    return f"({x} RLIKE {spark_text(pattern)})"


def _extract(arguments: Sequence[Written]) -> str:
    pattern, group, longest = captured(arguments, JAVA)
    x = _at_most(arguments[0], longest)
    return f"regexp_extract({x}, {spark_text(pattern)}, {group})"


def _sign(piece: Piece) -> str:
    if isinstance(piece, int):
        return f"${piece}"
    return f"\\{piece}"


def _sign_behind(piece: Piece) -> str:
    """Return a piece of a replacement where two more groups stand before all others."""
    return _sign(piece + 2 if isinstance(piece, int) else piece)


def _replace_all(arguments: Sequence[Written]) -> str:
    pattern, new, longest = replaced(arguments, JAVA, _sign)
    x = _at_most(arguments[0], longest)
    return f"regexp_replace({x}, {spark_text(pattern)}, {spark_text(new)})"


def _replace_first(arguments: Sequence[Written]) -> str:
    """Return a text whose first match is replaced; Spark knows only all of them.

    From the start of the text on, the shortest text before a match is found once, and kept.
    """
    pattern, new, longest = replaced(arguments, JAVA, _sign_behind)
    if pattern.startswith("^"):
        return _replace_all(arguments)
    x, first = _at_most(arguments[0], longest), spark_text(f"^((?s:.*?))({pattern})")
    return f"regexp_replace({x}, {first}, {spark_text('$1' + new)})"


TEXTS = {
    "regexp_matches": plain(_matches),
    "regexp_extract": plain(_extract),
    "regexp_replace": plain(_replace_first),
    "regexp_replace_all": plain(_replace_all),
    "lower": plain(LOWER),
    "upper": plain(UPPER),
    "length": FunctionTemplate(template="length({0})", range=lambda _: (0, 2**32)),
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
    "byte_length": FunctionTemplate(template="octet_length({0})", range=lambda _: (0, 2**34)),
    "ascii": FunctionTemplate(template="ascii({0})", range=lambda _: (0, 2**32)),
    "split_part": plain(split_part),
    "part_count": FunctionTemplate(template=_part_count, range=lambda _: (0, 2**32)),
    "translate": plain("translate({0}, {1}, {2})"),
    "lpad": plain(padded("lpad")),
    "rpad": plain(padded("rpad")),
    "position": FunctionTemplate(template="instr({0}, {1})", range=lambda _: (0, 2**32)),
}


def _clamp(arguments: Sequence[Written]) -> str:
    x, low, high = (each.text for each in arguments)
    body = f"CASE WHEN {{0}} < {low} THEN {low} WHEN {{0}} > {high} THEN {high} ELSE {{0}} END"
    return let(x, body)


def _list(name: str) -> FunctionTemplate:
    def write(arguments: Sequence[Written]) -> str:
        if len(arguments) == 1:
            return arguments[0].text
        return f"{name}({', '.join(each.text for each in arguments)})"

    return FunctionTemplate(template=write, range=hull)


def _in(arguments: Sequence[Written]) -> str:
    """Return membership; long lists are looked up by bits, for which -0.0 must not differ."""
    x, *others = arguments
    more = " + 0e0" if x.kind is Kind.REAL else ""
    return f"({x.text}{more} IN ({', '.join(each.text + more for each in others)}))"


def _like(letters: str) -> Template:
    """Return a match of the letters with a pattern, in time proportional to their number.

    Spark makes a regular expression of LIKE in which each % may try every place after the one
    before: the text of one row could stall a query. So patterns are written in that form only
    if they have no second place to try, and else as an expression that tries none twice.
    """

    def write(arguments: Sequence[Written]) -> str:
        signs = pattern_of(arguments)
        is_plain = _places_to_try(signs) <= 1
        form = escaped(signs, "\\") if is_plain else _regular(signs)
        verb = "LIKE" if is_plain else "RLIKE"
        x, pattern = arguments[0].text, spark_text(form)
        return f"({letters.format(x)} {verb} {letters.format(pattern)})"

    return write


def _places_to_try(signs: Sequence[Sign]) -> int:
    """Return how many % stand before something that may not be found behind them."""
    text = "".join(each.letter if each.is_wild else "x" for each in signs)
    return text.rstrip("%").count("%")


def _regular(signs: Sequence[Sign]) -> str:
    """Return a regular expression that finds each part at the first place there is, for good.

    Parts have a fixed length, so that the first place leaves the most to the others; the last one
    stands at the end. No letter of the expression changes with its case.
    """
    parts = [""]
    for each in signs:
        if each.is_wild and each.letter == "%":
            parts.append("")
        else:
            parts[-1] += "." if each.is_wild else _escaped(each.letter)
    first, *others, last = parts
    return f"(?s)^{first}{''.join(f'(?>.*?{each})' for each in others)}.*{last}(?!.)"


def _escaped(letter: str) -> str:
    return f"\\{letter}" if letter.isascii() and not letter.isalnum() else letter


CONDITIONS = {
    **{name: plain(f"({{0}} {sign} {{1}})") for name, sign in COMPARISONS.items()},
    **LOGIC,
    "in": plain(_in),
    "like": plain(_like("{0}")),
    "ilike": plain(_like(LOWER)),
}


CHOICES = {
    "coalesce": _list("coalesce"),
    "greatest": _list("greatest"),
    "least": _list("least"),
    "clamp": FunctionTemplate(template=_clamp, range=clamped),
}
