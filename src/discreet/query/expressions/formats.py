"""STRFTIME, TO_CHAR, DAYNAME, MONTHNAME and WIDTH_BUCKET, made of functions that all engines have.

Engines differ in names of months, in padding and in what a format can say. Made of parts of a time
and of texts, a format gives the same everywhere, and its groups can be listed.
"""

import re
from collections.abc import Callable, Iterator
from fractions import Fraction

from sqlglot import exp

from discreet.catalog.schema import Kind
from discreet.errors import UnsupportedError
from discreet.query.expressions.coercion import coerce
from discreet.query.expressions.dispatch import NameScope, NodeRule, check_parts, translate
from discreet.query.expressions.facts import case_of, literal, number_of
from discreet.query.expressions.functions import call
from discreet.query.parse import span_of
from discreet.query.tree import Expression, Literal

MONTHS = (
    *("January", "February", "March", "April", "May", "June", "July", "August"),
    *("September", "October", "November", "December"),
)
DAYS = ("Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday")


Piece = Callable[[Expression], Expression]
"""What a directive makes of a time."""


Forms = dict[str, Piece]


def _part(name: str) -> Piece:
    return lambda time: call("date_part", literal(name), time)


def _padded(number: Piece, width: int) -> Piece:
    """Return digits of an integer that has no more of them, with zeros before it."""

    def digits(time: Expression) -> Expression:
        longer = call("add", number(time), literal(10**width if width > 1 else 10))
        return call("right", call("to_text", longer), literal(width))

    return digits


def _plain(number: Piece) -> Piece:
    return lambda time: call("to_text", number(time))


def _named(number: Piece, names: tuple[str, ...], first: int) -> Piece:
    """Return a name for each integer; NULL for NULL."""

    def name(time: Expression) -> Expression:
        found = number(time)
        branches = tuple(
            (call("equal", found, literal(place)), literal(each))
            for place, each in enumerate(names, start=first)
        )
        return case_of(branches, call("to_text", found))

    return name


def _half(time: Expression) -> Expression:
    return call("integer_divide", call("date_part", literal("hour"), time), literal(12))


def _of_twelve(time: Expression) -> Expression:
    """Return the hour on a clock of twelve."""
    later = call("add", call("date_part", literal("hour"), time), literal(11))
    return call("add", call("modulo", later, literal(12)), literal(1))


def _microsecond(time: Expression) -> Expression:
    return call("modulo", call("date_part", literal("microsecond"), time), literal(1_000_000))


def _millisecond(time: Expression) -> Expression:
    return call("modulo", call("date_part", literal("millisecond"), time), literal(1000))


def _week(first: int) -> Piece:
    """Return the number of the week whose first day has this number; days before it have 0."""

    def number(time: Expression) -> Expression:
        weekday = call("date_part", literal("dow"), time)
        since = call("modulo", call("add", weekday, literal(7 - first)), literal(7))
        later = call("add", call("date_part", literal("doy"), time), literal(6))
        return call("integer_divide", call("subtract", later, since), literal(7))

    return number


def _joined_by(separator: str, *pieces: Piece) -> Piece:
    """Return pieces with a text between them."""

    def text(time: Expression) -> Expression:
        found = [each for piece in pieces for each in (literal(separator), piece(time))]
        return call("concatenate", *found[1:])

    return text


def _short(names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(each[:3] for each in names)


DIRECTIVES: dict[str, Piece] = {
    "%Y": _padded(_part("year"), 4),
    "%y": _padded(_part("year"), 2),
    "%m": _padded(_part("month"), 2),
    "%d": _padded(_part("day"), 2),
    "%H": _padded(_part("hour"), 2),
    "%I": _padded(_of_twelve, 2),
    "%M": _padded(_part("minute"), 2),
    "%S": _padded(_part("second"), 2),
    "%f": _padded(_microsecond, 6),
    "%g": _padded(_millisecond, 3),
    "%p": _named(_half, ("AM", "PM"), 0),
    "%j": _padded(_part("doy"), 3),
    "%a": _named(_part("dow"), _short(DAYS), 0),
    "%A": _named(_part("dow"), DAYS, 0),
    "%b": _named(_part("month"), _short(MONTHS), 1),
    "%B": _named(_part("month"), MONTHS, 1),
    "%u": _plain(_part("isodow")),
    "%w": _plain(_part("dow")),
    "%G": _padded(_part("isoyear"), 4),
    "%V": _padded(_part("week"), 2),
    "%U": _padded(_week(0), 2),
    "%W": _padded(_week(1), 2),
    "%-d": _plain(_part("day")),
    "%-m": _plain(_part("month")),
    "%-H": _plain(_part("hour")),
    "%-I": _plain(_of_twelve),
    "%-M": _plain(_part("minute")),
    "%-S": _plain(_part("second")),
    "%-j": _plain(_part("doy")),
}
DIRECTIVES |= {
    "%x": _joined_by("-", *(DIRECTIVES[each] for each in ("%Y", "%m", "%d"))),
    "%X": _joined_by(":", *(DIRECTIVES[each] for each in ("%H", "%M", "%S"))),
}
DIRECTIVES |= {
    "%T": DIRECTIVES["%X"],
    "%c": _joined_by(" ", DIRECTIVES["%x"], DIRECTIVES["%X"]),
}
"""What a format can say, as DuckDB has it."""


LONGEST_FORMAT = 100


_WORDS = re.compile(r"%-?[A-Za-z%]|[^%]+|%", re.ASCII | re.DOTALL)


def _formatted(node: exp.Expr, scope: NameScope) -> Expression:
    check_parts(node, ("this", "format"))
    time, form = node.this, node.args["format"]
    if isinstance(time, exp.Literal) and time.is_string and not isinstance(form, exp.Literal):
        time, form = form, time
    return _text(translate(time, scope), _WORDS.findall(_stated_format(form, node)), node)


def _stated_format(form: exp.Expr | None, node: exp.Expr) -> str:
    if not (isinstance(form, exp.Literal) and form.is_string):
        raise UnsupportedError(
            "The format of a time must be a constant", "Write it in quotes", span=span_of(node)
        )
    return str(form.name)


def _text(time: Expression, words: list[str], node: exp.Expr) -> Expression:
    """Return a time as text, by the words of a format."""
    # What is no time is rejected in the words of the function that reads its parts.
    coerce("date_part", (literal("year"), time), node)
    pieces = [
        DIRECTIVES[each](time) if each in DIRECTIVES else literal(each)
        for each in _joined(_read(words, node))
    ]
    return _joined_pieces(pieces, ", ".join(DIRECTIVES), node)


def _joined_pieces(pieces: list[Expression], example: str, node: exp.Expr) -> Expression:
    if len(pieces) > LONGEST_FORMAT or all(isinstance(each, Literal) for each in pieces):
        raise UnsupportedError(
            "This format has no part of a time, or too many",
            f"Use some of {example}",
            span=span_of(node),
        )
    return pieces[0] if len(pieces) == 1 else call("concatenate", *pieces)


def _read(words: list[str], node: exp.Expr) -> Iterator[str]:
    """Yield directives and plain texts."""
    for each in words:
        if each.startswith("%") and each not in ("%%", *DIRECTIVES):
            raise UnsupportedError(
                f"{each} in a format is not supported on private rows",
                f"Use {', '.join(DIRECTIVES)}, and plain text",
                span=span_of(node),
            )
        yield "%" if each == "%%" else each


def _joined(words: Iterator[str]) -> Iterator[str]:
    """Yield directives, and plain texts that follow each other as one."""
    plain = ""
    for each in words:
        if each not in DIRECTIVES:
            plain += each
            continue
        if plain:
            yield plain
        plain = ""
        yield each
    if plain:
        yield plain


def _name_of(directive: str) -> NodeRule:
    def found(node: exp.Expr, scope: NameScope) -> Expression:
        check_parts(node, ("this",))
        return _text(translate(node.this, scope), [directive], node)

    return found


# --------------------------------------------------------------------------- TO_CHAR


def _wide(names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(each.ljust(9) for each in names)


def _upper(names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(map(str.upper, names))


def _lower(names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(map(str.lower, names))


def _as_they_are(names: tuple[str, ...]) -> tuple[str, ...]:
    return names


CASES: tuple[tuple[Callable[[str], str], Callable[[tuple[str, ...]], tuple[str, ...]]], ...] = (
    (str.capitalize, _as_they_are),
    (str.upper, _upper),
    (str.lower, _lower),
)
"""How a pattern of TO_CHAR is spelt, and the case of the names that it then gives."""


def _names(word: str, full: str, number: Piece, names: tuple[str, ...], first: int) -> Forms:
    """Return how TO_CHAR writes names: short and long, each in three cases."""
    found: Forms = {}
    for spell, case in CASES:
        found[spell(word)] = _named(number, case(_short(names)), first)
        found[spell(full)] = _named(number, case(_wide(names)), first)
        found["FM" + spell(full)] = _named(number, case(names), first)
    return found


def _plus(number: Piece, more: int) -> Piece:
    return lambda time: call("add", number(time), literal(more))


def _week_of_days(time: Expression) -> Expression:
    """Return the week of the year, the first of which begins on the first day."""
    later = call("add", call("date_part", literal("doy"), time), literal(6))
    return call("integer_divide", later, literal(7))


PATTERNS: Forms = {
    **{
        name: DIRECTIVES[each]
        for name, each in {
            "YYYY": "%Y",
            "YY": "%y",
            "MM": "%m",
            "DDD": "%j",
            "DD": "%d",
            "HH24": "%H",
            "HH12": "%I",
            "HH": "%I",
            "MI": "%M",
            "SS": "%S",
            "MS": "%g",
            "US": "%f",
            "IYYY": "%G",
            "IW": "%V",
            "ID": "%u",
            "AM": "%p",
            "PM": "%p",
            "FMMM": "%-m",
            "FMDDD": "%-j",
            "FMDD": "%-d",
            "FMHH24": "%-H",
            "FMHH12": "%-I",
            "FMHH": "%-I",
            "FMMI": "%-M",
            "FMSS": "%-S",
        }.items()
    },
    **dict.fromkeys(("am", "pm"), _named(_half, ("am", "pm"), 0)),
    "Q": _plain(_part("quarter")),
    "WW": _padded(_week_of_days, 2),
    "D": _plain(_plus(_part("dow"), 1)),
    **_names("mon", "month", _part("month"), MONTHS, 1),
    **_names("dy", "day", _part("dow"), DAYS, 0),
}
"""What a format of PostgreSQL's TO_CHAR can say; FM leaves padding out."""


_CHAR_WORDS = re.compile(
    "|".join(sorted(PATTERNS, key=len, reverse=True)) + r'|"[^"]*"|[^A-Za-z"]|[A-Za-z]+|"',
    re.DOTALL,
)


def _to_char(node: exp.Expr, scope: NameScope) -> Expression:
    if len(node.expressions) != 2:
        raise UnsupportedError(
            "TO_CHAR needs a time and a format", "Write TO_CHAR(t, 'YYYY-MM')", span=span_of(node)
        )
    form = _stated_format(node.expressions[1], node)
    time = translate(node.expressions[0], scope)
    if not time.facts.kind.is_time:
        raise UnsupportedError(
            "TO_CHAR of a number is not supported on private rows",
            "Round the number and cast it with CAST(... AS VARCHAR)",
            span=span_of(node),
        )
    words = _CHAR_WORDS.findall(form)
    pieces = [PATTERNS[each](time) if each in PATTERNS else _quoted(each, node) for each in words]
    return _joined_pieces(pieces, "YYYY-MM-DD HH24:MI:SS", node)


def _quoted(word: str, node: exp.Expr) -> Expression:
    is_quoted = len(word) > 1 and word.startswith('"')
    if not is_quoted and (word.isalpha() or word == '"'):
        raise UnsupportedError(
            f"{word} in a format of TO_CHAR is not supported on private rows",
            f"Use {', '.join(_SHOWN)}. Write other text in double quotes",
            span=span_of(node),
        )
    return literal(word.strip('"') if is_quoted else word)


_SHOWN = ("YYYY", "MM", "DD", "HH24", "HH12", "MI", "SS", "Mon", "FMMonth", "Dy", "FMDay", "Q")


# --------------------------------------------------------------------------- buckets


WIDEST = 10**300
"""Ends of buckets are not so far apart that the difference would overflow."""


def _width_bucket(node: exp.Expr, scope: NameScope) -> Expression:
    """Return 1 to n between two literals, 0 below the first and n + 1 from the second on."""
    check_parts(node, ("this", "min_value", "max_value", "num_buckets"))
    low, high, number = (
        _stated(node.args.get(each), scope) for each in ("min_value", "max_value", "num_buckets")
    )
    is_whole = number is not None and number.denominator == 1 and 1 <= number <= 100_000
    inner = translate(node.this, scope)
    is_valid = inner.facts.kind.is_number and is_whole
    is_valid = is_valid and low is not None and high is not None and low < high <= low + WIDEST
    if low is None or high is None or number is None or not is_valid:
        raise UnsupportedError(
            "WIDTH_BUCKET needs a number, two constants, the lower one first, and a constant "
            "number of buckets",
            "Write WIDTH_BUCKET(x, low, high, n), with n from 1 to 100,000",
            span=span_of(node),
        )
    x = inner if inner.facts.kind is Kind.REAL else call("to_real", inner)
    least, most, most_buckets = float(low), float(high), int(number)
    inside = call("clamp", x, literal(least), literal(most))
    share = call("divide", call("subtract", inside, literal(least)), literal(most - least))
    place = call("floor", call("multiply", share, literal(float(most_buckets))))
    last = call("least", place, literal(float(most_buckets - 1)))
    bucket = call("to_integer", last, literal(0), literal(most_buckets))
    return case_of(
        (
            (call("less", x, literal(least)), literal(0)),
            (call("greater_or_equal", x, literal(most)), literal(most_buckets + 1)),
        ),
        call("add", bucket, literal(1)),
    )


def _stated(node: exp.Expr | None, scope: NameScope) -> Fraction | None:
    found = None if node is None else translate(node, scope)
    return number_of(found.value) if isinstance(found, Literal) else None


FORMAT_RULES: dict[type[exp.Expr], NodeRule] = {
    exp.TimeToStr: _formatted,
    exp.Dayname: _name_of("%A"),
    exp.Monthname: _name_of("%B"),
    exp.WidthBucket: _width_bucket,
}


NAMED_FORMATS: dict[str, NodeRule] = {"to_char": _to_char}
"""Rules of functions that stay what the query calls them."""
