"""What a question can state: values at the ends of kinds, odd texts, patterns, spans of time."""

from discreet.catalog.schema import Kind
from discreet.query.expressions.literals import UNIT_NAMES
from discreet.query.expressions.time_functions import PARTS, UNITS
from tests.fuzzing.choices import Choices
from tests.fuzzing.tables import TEXTS

ODD_TEXTS = (
    *(each for each in TEXTS if each is not None),
    *("ı", "ẞ", "ς", "K", "\u0345", "ŉ", "ǅ", "\u2028", "\u200f", "\ufeff", "\uffff", "'", "''"),
    *("!", "\\", "%", "_", "{}", "{all}", "{0:9}", "$1", "?", "--", "/*", ";", "nan", "-infinity"),
    *("1e-400", "0x10", "1_000", "9223372036854775808", "24:00", "2024-06-30 23:59:60", "a" * 300),
)

WHOLE = (
    *("0", "1", "-1", "2", "7", "11", "100", "-400", "400", "2147483647", "-2147483648"),
    *("2147483648", "9223372036854775807", "-9223372036854775807", "-9223372036854775808"),
)
REAL = (
    *("0e0", "0.0", "-0.0", "0.1", "-2.5", "3.5", "1e0", "1e308", "-1e308", "5e-324", "1e-300"),
    *("1.7976931348623157e308", "99999999999999999999", "0.000000000000000001", "pi()"),
)
DATES = ("0001-01-01", "9999-12-31", "1970-01-01", "2024-02-29", "1969-12-31", "2024-07-01")
TIMES = (
    *("0001-01-01 00:00:00", "9999-12-31 23:59:59.999999", "2024-02-29 12:30:00"),
    *("1969-12-31 23:59:59.999999", "2024-06-30 00:00:00.000001"),
)

LITERALS: dict[Kind, tuple[str, ...]] = {
    Kind.INTEGER: WHOLE,
    Kind.REAL: REAL,
    Kind.TEXT: tuple("'" + each.replace("'", "''") + "'" for each in ODD_TEXTS),
    Kind.BOOLEAN: ("TRUE", "FALSE"),
    Kind.DATE: tuple(f"DATE '{each}'" for each in DATES),
    Kind.TIMESTAMP: tuple(f"TIMESTAMP '{each}'" for each in TIMES),
    Kind.TIMESTAMP_TZ: ("NULL",),
}

RANGES: dict[Kind, tuple[tuple[str, str], ...]] = {
    Kind.INTEGER: (("0", "10"), ("-5", "95"), ("-2147483648", "2147483647"), ("3", "3")),
    Kind.REAL: (("0", "1"), ("-5e0", "95e0"), ("-1e100", "1e100"), ("-0.0", "0.0")),
    Kind.DATE: (("DATE '2024-01-01'", "DATE '2024-12-31'"), ("DATE '0001-01-01'",) * 2),
    Kind.TIMESTAMP: (("TIMESTAMP '2024-01-01 00:00:00'", "TIMESTAMP '2024-12-31 23:59:59'"),),
    Kind.TIMESTAMP_TZ: (("'2024-01-01 00:00:00+00'", "'2024-12-31 23:59:59+00'"),),
}
"""Ends for CLAMP, by kind."""


PATTERNS = (
    *("'^([a-zé]+)$'", "'(a+)+'", "'([0-9]{2,4})-[0-9]'", "'(?:a|b|é)+x?(y)?'", r"'(\s+)[^ ]'"),
    *("'^https?://(?:www[.])?([^/]+)/'", "'([^a])'", r"'(.)\n'", "'(😀|ß)'", "'^.*(.)$'", "'a*a'"),
)
REPLACEMENTS = (r"'<\1>'", "''", r"'\0$1é'", "'x'")
"""Of regular expressions, and groups of them; some cannot be read."""


SEPARATORS = ("','", "' '", "'a'", "'é'", "'{0}'", "'--'", "'x%'")
SIZES = ("1", "2", "3", "9999")
TEXT_ARGUMENTS: dict[str, tuple[tuple[str, ...], ...]] = {
    "regexp_matches": (PATTERNS,),
    "regexp_extract": (PATTERNS, ("0", "1", "1")),
    **dict.fromkeys(("regexp_replace", "regexp_replace_all"), (PATTERNS, REPLACEMENTS)),
    "split_part": (SEPARATORS, ("1", "-1", "2", "99")),
    "part_count": (SEPARATORS,),
    **dict.fromkeys(("lpad", "rpad"), (SIZES, SEPARATORS)),
}
"""What functions of texts take at the places behind the first."""


def stated(choices: Choices, kind: Kind) -> str:
    """Return a value of a kind as SQL."""
    if kind is Kind.TEXT and choices.is_one_of(12):
        return "$$raw 'text'$$"
    return "NULL" if choices.is_one_of(15) else choices.one(LITERALS[kind])


def argument(choices: Choices, function: str, place: int, kind: Kind) -> str:
    """Return what stands in a place of a function where only a stated value is accepted."""
    if function in ("date_part", "date_trunc", "date_diff"):
        allowed = PARTS if function == "date_part" else UNITS
        return f"'{choices.one([name for name, unit in UNIT_NAMES.items() if unit in allowed])}'"
    if kind is Kind.INTEGER and function in ("round", "trunc", "left", "right", "substring"):
        return choices.one(("0", "1", "2", "-1", "-3", "17", "309", *WHOLE))
    if function in TEXT_ARGUMENTS:
        return choices.one(TEXT_ARGUMENTS[function][place - 1])
    if function == "replace" and place == 2:
        return choices.one(("'x'", "''", "'ab{0}é'"))
    return choices.one(LITERALS[kind])


def pattern(choices: Choices, *, has_escape: bool) -> list[str]:
    """Return a pattern, and its escape character if it has one; most can be read, not all."""
    escape = choices.one(("!", "\\", "é", "É", "a", "A", "%", "_", "😀", "İ", "ß", "''", "{"))
    is_careful = not choices.is_one_of(6)
    pieces = ["%", "_", "a", "A", "b", "é", "İ", "ß", "!", "\\", "''", "x", "12", "e\u0301", "{0}"]
    if has_escape:
        escaped = [escape + each for each in ("%", "_", escape)]
        pieces = [each for each in pieces if escape not in each or not is_careful] + escaped
    text = "".join(choices.one(pieces) for _ in range(choices.below(5)))
    return [f"'{text}'", f"'{escape}'"] if has_escape else [f"'{text}'"]


def span(choices: Choices) -> str:
    """Return a span of time."""
    unit = choices.one([name for name, unit in UNIT_NAMES.items() if unit in UNITS])
    number = choices.one(("0", "1", "-1", "13", "400", "999999999", "-999999999"))
    if choices.is_one_of(3):
        return f"INTERVAL {number.removeprefix('-')} {UNIT_NAMES[unit].upper()}"
    return f"INTERVAL '{number} {unit}'"


def width(choices: Choices) -> str:
    """Return the width of a bucket of time."""
    return f"INTERVAL '{choices.one(('15 minutes', '7 days', '36 hours', '1 day', '90 seconds'))}'"
