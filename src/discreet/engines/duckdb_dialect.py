"""DuckDB's SQL: how each function is written so that it is total and gives the same in every run.

Whole numbers are computed in 128 bits and cast back, which is NULL on overflow and never raises.
Reals are computed in IEEE arithmetic, where nothing raises, and NaN and infinities become NULL
before anything that would hide them. Times lie in the years 1 to 9999; others are NULL.
"""

from collections.abc import Callable, Mapping, Sequence

from discreet.catalog.schema import Kind
from discreet.engines.dialect import (
    INT64,
    Dialect,
    Function,
    Range,
    Template,
    Written,
    real_literal,
    whole_literal,
)
from discreet.errors import UnsupportedError
from discreet.query.functions import LONGEST_TEXT

LONGEST_REPEATED = 160
"""Longer text is written once, at the cost of a list around its value; else nesting would double
it again and again."""

NULL_INTEGER = "CAST(NULL AS BIGINT)"
EPOCH = "DATE '1970-01-01'"
FIRST_DAY, LAST_DAY = -719_162, 2_932_896
"""0001-01-01 and 9999-12-31 in days since 1970-01-01."""


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


CALENDAR = {
    Kind.DATE: "{0} BETWEEN DATE '0001-01-01' AND DATE '9999-12-31'",
    Kind.TIMESTAMP: (
        "{0} BETWEEN TIMESTAMP '0001-01-01 00:00:00' AND TIMESTAMP '9999-12-31 23:59:59.999999'"
    ),
    Kind.TIMESTAMP_TZ: (
        "{0} BETWEEN TIMESTAMPTZ '0001-01-01 00:00:00+00' "
        "AND TIMESTAMPTZ '9999-12-31 23:59:59.999999+00'"
    ),
}
"""Whether a time is in the years that calendars have; infinite ones are not."""


def in_calendar(text: str, kind: Kind) -> str:
    """Return a time, NULL outside the years 1 to 9999."""
    return only(text, CALENDAR[kind])


# --------------------------------------------------------------------------- whole numbers


def _fits(low: int | None, high: int | None) -> bool:
    return low is not None and high is not None and INT64[0] <= low and high <= INT64[1]


def _whole(argument: Written) -> str:
    """Return a whole number in 64 bits."""
    if _fits(argument.low, argument.high):
        return f"CAST({argument.text} AS BIGINT)" if argument.is_literal else argument.text
    return f"TRY_CAST({argument.text} AS BIGINT)"


def _ends(argument: Written) -> tuple[int, int]:
    low, high = argument.low, argument.high
    return (INT64[0] if low is None else low), (INT64[1] if high is None else high)


Ends = Callable[[Sequence[tuple[int, int]]], tuple[int, int]]


def _arithmetic(sign: str, ends: Ends) -> Function:
    """Return +, - or *: plain if the result must fit 64 bits, else by way of 128 bits."""

    def write(arguments: Sequence[Written]) -> str:
        if arguments[0].kind is Kind.REAL:
            return "(" + f" {sign} ".join(each.text for each in arguments) + ")"
        first, *rest = map(_whole, arguments)
        other = f" {sign} ".join(rest)
        if _fits(*ends([_ends(each) for each in arguments])):
            return f"(CAST({first} AS BIGINT) {sign} {other})"
        return f"TRY_CAST(CAST({first} AS HUGEINT) {sign} {other} AS BIGINT)"

    def range_of(arguments: Sequence[Written]) -> Range:
        found = ends([_ends(each) for each in arguments])
        return found if _fits(*found) else INT64

    return Function(template=write, is_finite=False, carries=frozenset({0, 1}), range=range_of)


def _added(ends: Sequence[tuple[int, int]]) -> tuple[int, int]:
    (a, b), (c, d) = ends
    return a + c, b + d


def _subtracted(ends: Sequence[tuple[int, int]]) -> tuple[int, int]:
    (a, b), (c, d) = ends
    return a - d, b - c


def _multiplied(ends: Sequence[tuple[int, int]]) -> tuple[int, int]:
    (a, b), (c, d) = ends
    corners = (a * c, a * d, b * c, b * d)
    return min(corners), max(corners)


def _through_wide(template: str, real: str) -> Template:
    """Return a function of one number, of reals as given, of whole numbers in 128 bits."""

    def write(arguments: Sequence[Written]) -> str:
        if arguments[0].kind is Kind.REAL:
            return real.format(arguments[0].text)
        wide = f"CAST({_whole(arguments[0])} AS HUGEINT)"
        return f"TRY_CAST({template.format(wide)} AS BIGINT)"

    return write


def _divided(sign: str) -> Template:
    def write(arguments: Sequence[Written]) -> str:
        x, y = arguments
        if x.kind is Kind.REAL:
            return f"({x.text} {sign} {y.text})"
        if y.is_literal and y.value == 0:
            return NULL_INTEGER
        divisor = _whole(y) if y.is_literal else only(_whole(y), "{0} <> 0")
        return f"TRY_CAST(CAST({_whole(x)} AS HUGEINT) {sign} ({divisor}) AS BIGINT)"

    return write


def _rounded(name: str) -> Template:
    def write(arguments: Sequence[Written]) -> str:
        x, digits = arguments[0], _number(arguments[1])
        if x.kind is Kind.REAL:
            return f"{name}({x.text}, {whole_literal(max(-400, min(400, digits)))})"
        if digits >= 0:
            return _whole(x)
        wide = f"{name}(CAST({_whole(x)} AS HUGEINT), {whole_literal(max(-30, digits))})"
        return f"TRY_CAST({wide} AS BIGINT)"

    return write


def _decimal(arguments: Sequence[Written]) -> str:
    power = real_literal(10.0 ** max(-300, min(300, _number(arguments[1]))))
    return f"(CAST({_whole(arguments[0])} AS DOUBLE) / {power})"


def _number(argument: Written) -> int:
    """Return a literal's whole number."""
    if not isinstance(argument.value, int):
        raise UnsupportedError("a number must be written out here", "replace it by a whole number")
    return argument.value


def _words(argument: Written) -> str:
    """Return a literal's text."""
    if not isinstance(argument.value, str):
        raise UnsupportedError("a text must be written out here", "replace it by a quoted text")
    return argument.value


# --------------------------------------------------------------------------- texts


def _texts(name: str) -> Template:
    """Return a function whose first argument is a text and whose numbers are cut to 32 bits."""

    def write(arguments: Sequence[Written]) -> str:
        numbers = [max(-(2**31), min(2**31, _number(each))) for each in arguments[1:]]
        return f"{name}({', '.join([arguments[0].text, *map(whole_literal, numbers)])})"

    return write


def _like(sign: str) -> Template:
    def write(arguments: Sequence[Written]) -> str:
        x, pattern, *escapes = arguments
        if not escapes:
            return f"({x.text} {sign} {pattern.text})"
        words, escape = _words(pattern), _words(escapes[0])
        if len(escape) != 1 or _ends_in_escape(words, escape):
            raise UnsupportedError(
                "the pattern ends in its escape character, or that is not one character",
                "escape with one character, and let another one follow it",
            )
        return f"({x.text} {sign} {pattern.text} ESCAPE {escapes[0].text})"

    return write


def _ends_in_escape(pattern: str, escape: str) -> bool:
    return (len(pattern) - len(pattern.rstrip(escape))) % 2 == 1


def _not_too_long(argument: Written) -> str:
    if argument.is_literal:
        return argument.text
    return only(argument.text, f"length({{0}}) <= {LONGEST_TEXT}")


def _concatenate(arguments: Sequence[Written]) -> str:
    return "(" + " || ".join(map(_not_too_long, arguments)) + ")"


def _concat(arguments: Sequence[Written]) -> str:
    parts = ", ".join(each.text for each in arguments)
    short = (
        f"list_bool_and(list_transform({{0}}, lambda t: coalesce(length(t), 0) <= {LONGEST_TEXT}))"
    )
    body = f"CASE WHEN {short} THEN array_to_string({{0}}, '') END"
    return f"list_transform([[{parts}]], lambda v: {body.format('v')})[1]"


def _replace(arguments: Sequence[Written]) -> str:
    x, old, new = arguments
    return f"replace({_not_too_long(x)}, {old.text}, {new.text})"


# --------------------------------------------------------------------------- times


def _moment(argument: Written) -> str:
    """Return a time as a timestamp of UTC."""
    match argument.kind:
        case Kind.DATE:
            return f"CAST({argument.text} AS TIMESTAMP)"
        case Kind.TIMESTAMP_TZ:
            return f"timezone('UTC', {argument.text})"
        case _:
            return argument.text


def _as_kind_of(text: str, argument: Written) -> str:
    """Return a timestamp of UTC with a time zone if the argument has one, inside the calendar."""
    inside = in_calendar(text, Kind.TIMESTAMP)
    return f"timezone('UTC', {inside})" if argument.kind is Kind.TIMESTAMP_TZ else inside


def _date_trunc(arguments: Sequence[Written]) -> str:
    unit, x = arguments
    return _as_kind_of(f"date_trunc({unit.text}, {_moment(x)})", x)


def _date_diff(arguments: Sequence[Written]) -> str:
    unit, start, end = arguments
    if _words(unit) in ("decade", "century"):
        years = 10 if _words(unit) == "decade" else 100
        first, last = (f"date_part('year', {_moment(each)}) // {years}" for each in (start, end))
        return f"({last} - {first})"
    if _words(unit) == "week":
        first, last = (f"CAST({_moment(each)} AS DATE)" for each in (start, end))
        return f"(({last} - {first}) // 7)"
    return f"date_diff({unit.text}, {_moment(start)}, {_moment(end)})"


def _add_days(arguments: Sequence[Written]) -> str:
    day, number = arguments
    number_of_day = f"CAST({day.text} - {EPOCH} AS HUGEINT) + {_whole(number)}"
    inside = only(f"({number_of_day})", f"{{0}} BETWEEN {FIRST_DAY} AND {LAST_DAY}")
    return f"({EPOCH} + CAST({inside} AS INTEGER))"


def _add_interval(arguments: Sequence[Written]) -> str:
    x, *numbers = arguments
    months, days, microseconds = map(_number, numbers)
    if abs(months) > 120_000 or abs(days) > 4_000_000 or abs(microseconds) > 4 * 10**17:
        kind = "TIMESTAMPTZ" if x.kind is Kind.TIMESTAMP_TZ else "TIMESTAMP"
        return f"CAST(NULL AS {kind})"
    moved = _moment(x)
    moved += f" + to_months({months})" if months else ""
    moved += f" + to_days({days})" if days else ""
    moved += f" + to_microseconds(CAST({microseconds} AS BIGINT))" if microseconds else ""
    return _as_kind_of(f"({moved})", x)


def _make_date(arguments: Sequence[Written]) -> str:
    parts = ", ".join(map(_whole, arguments))
    digits = "{{:04d}}-{{:02d}}-{{:02d}}".format()
    return in_calendar(f"TRY_CAST(format('{digits}', {parts}) AS DATE)", Kind.DATE)


def _date_part(arguments: Sequence[Written]) -> str:
    part, x = arguments
    return f"date_part({part.text}, {_moment(x)})"


# --------------------------------------------------------------------------- casts


def _to_integer(arguments: Sequence[Written]) -> str:
    x, *ends = arguments
    low, high = map(_number, ends)
    text = _whole(x) if x.kind is Kind.INTEGER else f"TRY_CAST({x.text} AS BIGINT)"
    if low <= INT64[0] and high >= INT64[1]:
        return text
    return only(text, f"{{0}} BETWEEN {whole_literal(low)} AND {whole_literal(high)}")


def _integer_range(arguments: Sequence[Written]) -> Range:
    return max(INT64[0], _number(arguments[1])), min(INT64[1], _number(arguments[2]))


def _to_decimal(arguments: Sequence[Written]) -> str:
    x, *numbers = arguments
    width, scale = map(_number, numbers)
    if not (1 <= width <= 38 and 0 <= scale <= width):
        raise UnsupportedError(
            f"there is no DECIMAL({width}, {scale})", "use 1 to 38 digits, no more behind the point"
        )
    return f"CAST(TRY_CAST({x.text} AS DECIMAL({width}, {scale})) AS DOUBLE)"


def _to_boolean(arguments: Sequence[Written]) -> str:
    x = arguments[0]
    if x.kind.is_number:
        return f"({x.text} <> 0)"
    return f"TRY_CAST({x.text} AS BOOLEAN)"


def _to_date(arguments: Sequence[Written]) -> str:
    x = arguments[0]
    if x.kind is Kind.TEXT:
        return in_calendar(f"TRY_CAST({x.text} AS DATE)", Kind.DATE)
    return x.text if x.kind is Kind.DATE else f"CAST({_moment(x)} AS DATE)"


def _to_timestamp(arguments: Sequence[Written]) -> str:
    x = arguments[0]
    if x.kind is Kind.TEXT:
        return in_calendar(f"TRY_CAST({x.text} AS TIMESTAMP)", Kind.TIMESTAMP)
    return _moment(x)


# --------------------------------------------------------------------------- choices


def _hull(arguments: Sequence[Written]) -> Range:
    lows = [each.low for each in arguments]
    highs = [each.high for each in arguments]
    if None in lows or None in highs:
        return None, None
    return min(x for x in lows if x is not None), max(x for x in highs if x is not None)


def _clamped(arguments: Sequence[Written]) -> Range:
    _, low, high = arguments
    is_ordered = low.low is not None and high.high is not None and low.low <= high.high
    return (low.low, high.high) if is_ordered else _hull(arguments)


def _clamp(arguments: Sequence[Written]) -> str:
    x, low, high = (each.text for each in arguments)
    body = f"CASE WHEN {{0}} < {low} THEN {low} WHEN {{0}} > {high} THEN {high} ELSE {{0}} END"
    return let(x, body)


def _log(arguments: Sequence[Written]) -> str:
    base, x = (each.text for each in arguments)
    return f"(log10({x}) / {finite(f'log10({base})')})"


def _list(name: str) -> Function:
    return Function(template=f"{name}({{all}})", range=_hull)


def _joined(word: str) -> Template:
    return lambda arguments: "(" + f" {word} ".join(each.text for each in arguments) + ")"


def _in(arguments: Sequence[Written]) -> str:
    x, *others = (each.text for each in arguments)
    return f"({x} IN ({', '.join(others)}))"


def _plain(template: Template) -> Function:
    return Function(template=template)


def _real(template: Template, *, carries: tuple[int, ...] = ()) -> Function:
    return Function(template=template, is_finite=False, carries=frozenset(carries))


ARITHMETIC = {
    "add": _arithmetic("+", _added),
    "subtract": _arithmetic("-", _subtracted),
    "multiply": _arithmetic("*", _multiplied),
    "divide": _real("({0} / {1})", carries=(0,)),
    "integer_divide": _plain(_divided("//")),
    "modulo": _real(_divided("%"), carries=(0,)),
    "negate": _real(_through_wide("(-{0})", "(-{0})"), carries=(0,)),
    "abs": _real(_through_wide("abs({0})", "abs({0})"), carries=(0,)),
    "sign": Function(template="CAST(sign({0}) AS BIGINT)", range=lambda _: (-1, 1)),
    "round": _real(_rounded("round"), carries=(0,)),
    "trunc": _real(_rounded("trunc"), carries=(0,)),
    "ceil": _real("ceil({0})", carries=(0,)),
    "floor": _real("floor({0})", carries=(0,)),
    "decimal": _real(_decimal),
}

REALS = {
    "sqrt": _real("sqrt({0})", carries=(0,)),
    "exp": _real("exp({0})"),
    "power": _real("pow({0}, {1})"),
    "ln": _real("ln({0})", carries=(0,)),
    "log2": _real("log2({0})", carries=(0,)),
    "log10": _real("log10({0})", carries=(0,)),
    "log": _real(_log),
}

CONDITIONS = {
    "equal": _plain("({0} = {1})"),
    "not_equal": _plain("({0} <> {1})"),
    "less": _plain("({0} < {1})"),
    "less_or_equal": _plain("({0} <= {1})"),
    "greater": _plain("({0} > {1})"),
    "greater_or_equal": _plain("({0} >= {1})"),
    "distinct": _plain("({0} IS DISTINCT FROM {1})"),
    "not_distinct": _plain("({0} IS NOT DISTINCT FROM {1})"),
    "in": _plain(_in),
    "and": _plain(_joined("AND")),
    "or": _plain(_joined("OR")),
    "not": _plain("(NOT {0})"),
    "is_null": _plain("({0} IS NULL)"),
    "is_true": _plain("coalesce({0}, FALSE)"),
    "is_false": _plain("coalesce(NOT {0}, FALSE)"),
    "like": _plain(_like("LIKE")),
    "ilike": _plain(_like("ILIKE")),
}

CHOICES = {
    "coalesce": _list("coalesce"),
    "greatest": _list("greatest"),
    "least": _list("least"),
    "clamp": Function(template=_clamp, range=_clamped),
}

TEXTS = {
    "lower": _plain("lower({0})"),
    "upper": _plain("upper({0})"),
    "length": Function(template="length({0})", range=lambda _: (0, 2**32)),
    "trim": _plain("trim({all})"),
    "ltrim": _plain("ltrim({all})"),
    "rtrim": _plain("rtrim({all})"),
    "substring": _plain(_texts("substring")),
    "left": _plain(_texts("left")),
    "right": _plain(_texts("right")),
    "concat": _plain(_concat),
    "concatenate": _plain(_concatenate),
    "replace": _plain(_replace),
    "starts_with": _plain("starts_with({0}, {1})"),
    "ends_with": _plain("ends_with({0}, {1})"),
    "contains": _plain("contains({0}, {1})"),
    "position": Function(template="strpos({0}, {1})", range=lambda _: (0, 2**32)),
}

TIMES = {
    "date_part": Function(template=_date_part, range=lambda _: (-(10**8), 10**8)),
    "date_trunc": _plain(_date_trunc),
    "date_diff": _plain(_date_diff),
    "add_days": _plain(_add_days),
    "days_between": Function(template="({0} - {1})", range=lambda _: (-(10**7), 10**7)),
    "add_interval": _plain(_add_interval),
    "make_date": _plain(_make_date),
}

CASTS = {
    "to_integer": Function(template=_to_integer, range=_integer_range),
    "to_real": _real("TRY_CAST({0} AS DOUBLE)"),
    "to_single": _real("CAST(TRY_CAST({0} AS FLOAT) AS DOUBLE)"),
    "to_decimal": _plain(_to_decimal),
    "to_boolean": _plain(_to_boolean),
    "to_text": _plain("CAST({0} AS VARCHAR)"),
    "to_date": _plain(_to_date),
    "to_timestamp": _plain(_to_timestamp),
}

TYPES: Mapping[Kind, str] = {
    Kind.BOOLEAN: "BOOLEAN",
    Kind.INTEGER: "BIGINT",
    Kind.REAL: "DOUBLE",
    Kind.TEXT: "VARCHAR",
    Kind.DATE: "DATE",
    Kind.TIMESTAMP: "TIMESTAMP",
    Kind.TIMESTAMP_TZ: "TIMESTAMPTZ",
    Kind.INTERVAL: "INTERVAL",
    Kind.OTHER: "VARCHAR",
}

DUCKDB = Dialect(
    name="duckdb",
    functions={**ARITHMETIC, **REALS, **CONDITIONS, **CHOICES, **TEXTS, **TIMES, **CASTS},
    types=TYPES,
    reads={},  # tables are loaded with finite reals and times inside the calendar
    keys={
        Kind.INTEGER: "TRY_CAST({0} AS BIGINT)",
        Kind.REAL: "({0} + 0e0)",  # -0.0 becomes 0.0
        Kind.OTHER: "CAST({0} AS VARCHAR)",
    },
    row_id="rowid",
    hash="hash({all})",
    whole="TRY_CAST({0} AS BIGINT)",
    wide_sum="CAST(coalesce(sum({0}), 0) AS HUGEINT)",
    as_wide="CAST({0} AS HUGEINT)",
    as_real="CAST({0} AS DOUBLE)",
    finite=finite,
    quantile="quantile_cont({0}, 0.5)",
)
