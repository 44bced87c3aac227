"""Calls of every function, with columns of every kind and awkward literals."""

from collections.abc import Iterator
from datetime import UTC, date, datetime
from itertools import islice, product

from discreet.catalog.schema import Kind, Value
from discreet.query.expressions.facts import Function, literal
from discreet.query.expressions.functions import call
from discreet.query.expressions.time_functions import DAY, PARTS, UNITS
from discreet.query.tree import Call, Expression
from tests.engines.made import column

NASTY: dict[Kind, tuple[Value, ...]] = {
    Kind.BOOLEAN: (False, True, None),
    Kind.INTEGER: (0, 1, -1, 7, 2**31, -(2**31) - 1, 2**63 - 1, -(2**63), None),
    Kind.REAL: (0.0, -0.0, 1.0, -1.5, 5e-324, 1.7976931348623157e308, -1e308, 2.0**63, 0.5, None),
    Kind.TEXT: ("", "a", "'; DROP TABLE t --", "nan", "1e400", "-7", "2024-02-30", "ß👍\0%_", None),
    Kind.DATE: (date(1, 1, 1), date(9999, 12, 31), date(2024, 2, 29), None),
    Kind.TIMESTAMP: (datetime(1, 1, 1), datetime(9999, 12, 31, 23, 59, 59, 999999), None),
    Kind.TIMESTAMP_TZ: (
        datetime(1, 1, 1, tzinfo=UTC),
        datetime(9999, 12, 31, 23, 59, 59, 999999, tzinfo=UTC),
        None,
    ),
}


FIXED: dict[str, list[tuple[Value, ...]]] = {
    "round": [(0,), (2,), (-2,), (400,), (-400,), (2**62,), (-(2**62),)],
    "trunc": [(0,), (2,), (-2,), (400,), (-400,)],
    "like": [("a%",), ("%\\_%", "\\"), ("",)],
    "ilike": [("A%",), ("%!%%", "!")],
    "trim": [("",), ("a'",)],
    "ltrim": [("",), ("a'",)],
    "rtrim": [("",), ("a'",)],
    "substring": [(0,), (-1, 2), (2**63 - 1, 1), (-(2**63), -(2**63))],
    "left": [(0,), (2**63 - 1,), (-(2**63),)],
    "right": [(0,), (2**63 - 1,), (-(2**63),)],
    "replace": [("", "x"), ("a", "aa")],
    "regexp_matches": [("^[a-z]+$",), ("[0-9]{2}",), ("a|A|é",), ("[^a]",), ("^-?[0-9]+",)],
    "regexp_extract": [("([0-9]+)-([0-9]+)", 2), ("[^ ]+", 0), ("(a)?b?", 1), ("ß(.)", 1)],
    "regexp_replace": [("[a-z]", "<\\0>"), ("^(2)", "$1\\1"), ("[^ ]+", "\\\\5")],
    "regexp_replace_all": [("[a-z]", "<\\0>"), ("(2)([0-9])", "\\2\\1"), ("[^ ]", "é$&")],
    "split_part": [(",", 1), ("-", -1), ("a", 2), (" ", 2**40), ("👍%", -2)],
    "part_count": [("-",), ("a",), ("👍",), ("{0}",)],
    "translate": [("aA", "é"), ("", "x"), ("2-é'", "👍\\x"), ("aa", "xy")],
    "lpad": [(5, "0"), (0, "x"), (3, "é👍"), (-1, "ab")],
    "rpad": [(5, "0"), (0, "x"), (3, "é👍"), (-(2**40), "ab")],
    "time_bucket": [(1, 0), (900_000_000, 0), (7 * DAY, 5 * DAY), (10**17, -1), (DAY, 7)],
    "date_part": [(each,) for each in PARTS],
    "date_trunc": [(each,) for each in UNITS],
    "date_diff": [(each,) for each in UNITS[::2]],
    "add_interval": [(1, 1, 1), (2**62, 0, 0), (0, -(2**62), 0), (-1, 0, 2**62), (120_000, 0, 0)],
    "decimal": [(0,), (2,), (15,)],
    "to_integer": [(-(2**63), 2**63 - 1), (-128, 127)],
    "to_decimal": [(38, 10), (5, 2), (1, 0), (38, 38)],
}
"""Arguments that must be literals, function by function."""


def all_calls(function: Function) -> Iterator[Call]:
    """Yield calls with columns of every kind that is accepted, and awkward literals."""
    accepts = function.accepts + function.accepts[-1:] * function.is_endless
    kinds = [sorted(set(NASTY) & each, key=lambda kind: kind.value) for each in accepts]
    for combination in product(*kinds):
        if function.is_alike and len(set(combination)) > 1:
            continue
        for fixed in FIXED.get(function.name, [()]):
            yield call(function.name, *_arguments(function, combination, fixed))


def _arguments(
    function: Function, kinds: tuple[Kind, ...], fixed: tuple[Value, ...]
) -> Iterator[Expression]:
    given = iter(fixed)
    for number, kind in enumerate(kinds):
        if number not in function.literals:
            yield column(f"x{number}", kind)
        elif function.name == "clamp":
            yield literal(NASTY[kind][number - 1], kind)
        elif found := list(islice(given, 1)):
            yield literal(found[0], kind)
