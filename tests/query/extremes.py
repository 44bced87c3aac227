"""Questions at the edges of arithmetic: every function and cast, over constants that are extreme.

Slots: n is a number, t a text, b a condition, m a moment, d a date; capitals are constants.
"""

# ruff: noqa: S608 - questions are made here

from collections.abc import Sequence
from hashlib import sha256
from itertools import count
from typing import Any, TypeVar

from discreet.query.expressions.time_functions import PARTS, UNITS

NUMBERS = (
    *("0", "1", "-1", "7", "64", "1000", "-129", "65536", "4294967296", "0.1", "1.5", "-0.0"),
    *("9223372036854775807", "-9223372036854775808", "9223372036854775808", "1e18", "1e19"),
    *("-9223372036854775809", "18446744073709551616", "1e308", "-1e300", "1e-300", "5e-324"),
    *("0e0", "-0e0", "NULL", "9" * 308, "9" * 399, "0." + "0" * 300 + "1", "0." + "3" * 300),
)
TEXTS = (
    *("''", "'a'", "'1e400'", "'-1e300'", "'9999-12-31'", "'0001-01-01'", "'infinity'", "'nan'"),
    *("'2024-02-30'", "'" + "9" * 400 + "'", "NULL"),
)
PATTERNS = ("'a'", "'^a+$'", "'(a|b)c*'", "'[^a-z]+1'", "'(a+)+$'", "'.*'", "'['", "''", "NULL")
MOMENTS = (
    *("TIMESTAMP '0001-01-01 00:00:00'", "TIMESTAMP '9999-12-31 23:59:59.999999'"),
    *("TIMESTAMPTZ '0001-01-01 00:00:00+14'", "TIMESTAMPTZ '9999-12-31 23:59:59-14'"),
)
DATES = ("DATE '0001-01-01'", "DATE '9999-12-31'", "DATE '2024-02-29'", "NULL")
SPANS = (
    *("1 DAY", "999999999 YEAR", "999999999 CENTURY", "-1 MICROSECOND", "0 DAY"),
    *("'-999999999 months'", "'999999999 years -999999999 days'", "'1 year 1 day 1 us'"),
)
TYPES = (
    *("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT"),
    *("HUGEINT", "DOUBLE", "FLOAT", "BOOLEAN", "DECIMAL", "DECIMAL(1,0)", "DECIMAL(38,38)"),
    *("DECIMAL(38,0)", "DECIMAL(5,9)", "DECIMAL(1e9)", "DECIMAL(99,1)", "DECIMAL(x)"),
)

OF_NUMBERS = {
    **{f"to_{kind}": "{cast}({any} AS {type})" for kind in ("integer", "real", "single")},
    **{f"to_{kind}": "{cast}({any} AS {type})" for kind in ("decimal", "boolean")},
    "add": "({n} + {n})",
    "subtract": "({n} - {n})",
    "multiply": "({n} * {n})",
    "divide": "({n} / {n})",
    "integer_divide": "({n} // {n})",
    "modulo": "({n} % {n})",
    "decimal": "({n} * 1.1)",
    "negate": "-({n})",
    **{name: name + "({n})" for name in ("abs", "sign", "ceil", "floor", "sqrt", "exp", "ln")},
    **{name: name + "({n})" for name in ("log2", "log10")},
    "log": "log({n}, {n})",
    "power": "power({n}, {N})",
    "round": "round({n}, {N})",
    "trunc": "trunc({n}, {N})",
    "clamp": "clamp({n}, {N}, {N})",
    "coalesce": "coalesce({n}, {n})",
    "greatest": "greatest({n}, {n})",
    "least": "least({n}, {n})",
    "length": "length({t})",
    "position": "strpos({t}, {t})",
    "ascii": "ascii({t})",
    "byte_length": "strlen({t})",
    "part_count": "len(string_split({t}, {T}))",
    "date_part": "date_part('{part}', {m})",
    "date_diff": "date_diff('{unit}', {m}, {m})",
    "days_between": "({d} - {d})",
    "case": "CASE WHEN {b} THEN {n} ELSE {n} END",
    "nullif": "nullif({n}, {n})",
}
OF_TEXTS = {
    "lower": "lower({t})",
    "upper": "upper({t})",
    "trim": "trim({t}, {T})",
    "ltrim": "ltrim({t}, {T})",
    "rtrim": "rtrim({t}, {T})",
    "substring": "substring({t}, {N}, {N})",
    "left": "left({t}, {N})",
    "right": "right({t}, {N})",
    "concat": "concat({t}, {n})",
    "concatenate": "({t} || {t})",
    "replace": "replace({t}, {T}, {T})",
    "to_text": "CAST({any} AS VARCHAR)",
    "split_part": "split_part({t}, {T}, {N})",
    "lpad": "lpad({t}, 64, 'ab')",
    "rpad": "rpad({t}, {N}, 'ab')",
    "translate": "translate({t}, {T}, {T})",
    "regexp_extract": "regexp_extract({t}, {P}, 0)",
    "regexp_replace": "regexp_replace({t}, {P}, {T})",
    "regexp_replace_all": "regexp_replace({t}, {P}, {T}, 'g')",
}
OF_CONDITIONS = {
    "equal": "({n} = {n})",
    "not_equal": "({m} <> {m})",
    "less": "({c} < {N})",
    "less_or_equal": "({n} <= {n})",
    "greater": "({c} > {N})",
    "greater_or_equal": "({m} >= {m})",
    "distinct": "({t} IS DISTINCT FROM {t})",
    "not_distinct": "({c} IS NOT DISTINCT FROM {N})",
    "in": "({c} IN ({N}, {N}, {N}))",
    "and": "({b} AND {b})",
    "or": "({b} OR {b})",
    "not": "(NOT {b})",
    "is_null": "({any} IS NULL)",
    "is_true": "({b} IS TRUE)",
    "is_false": "({b} IS FALSE)",
    "like": "({t} LIKE 'a%')",
    "ilike": "({t} ILIKE '_')",
    "starts_with": "starts_with({t}, {t})",
    "ends_with": "suffix({t}, {t})",
    "contains": "contains({t}, {t})",
    "between": "({c} BETWEEN {N} AND {N})",
    "regexp_matches": "regexp_matches({t}, {P})",
}
OF_MOMENTS = {
    "date_trunc": "date_trunc('{unit}', {m})",
    "add_interval": "({m} {sign} INTERVAL {span})",
    "to_timestamp": "{cast}({t} AS TIMESTAMP)",
    "add_microseconds": "({m} {sign} ({m} - {m}))",
    "time_bucket": "time_bucket(INTERVAL {span}, {m})",
}
OF_DATES = {
    "add_days": "({d} {sign} {n})",
    "make_date": "make_date({n}, {n}, {n})",
    "to_date": "{cast}({any} AS DATE)",
}

FORMS = {"n": OF_NUMBERS, "t": OF_TEXTS, "b": OF_CONDITIONS, "m": OF_MOMENTS, "d": OF_DATES}
EVERY = {name for forms in FORMS.values() for name in forms}
LEAVES = {
    "n": (*NUMBERS, *("i", "j", "x", "y") * 5),
    "t": (*TEXTS, *("t",) * 4),
    "b": ("b", "TRUE", "FALSE", "NULL"),
    "m": (*MOMENTS, "s", "z", "d"),
    "d": (*DATES, "d", "CAST(s AS DATE)"),
    "c": ("i", "j", "x", "y"),
    "N": NUMBERS,
    "T": TEXTS,
    "P": PATTERNS,
    "cast": ("CAST", "TRY_CAST"),
    "type": TYPES,
    "part": tuple(PARTS),
    "unit": UNITS,
    "span": SPANS,
    "sign": ("+", "-"),
}
QUESTIONS = (
    "SELECT COUNT(*) FROM visits WHERE {b}",
    "SELECT SUM({n}) FROM visits WHERE {b}",
    "SELECT AVG(clamp({n}, -1e300, 1e308)) FROM visits",
    "SELECT STDDEV(clamp({n}, -1e149, 1e149)) FROM visits",
    "SELECT MEDIAN({n}), MAX({n}) FROM visits",
    "SELECT {n} AS g, COUNT(*) FROM visits GROUP BY 1",
    "SELECT {m} AS g, COUNT(DISTINCT {any}) FROM visits GROUP BY 1",
    "SELECT SUM(q) FROM (SELECT patient_id, SUM({n}) AS q FROM visits GROUP BY 1) WHERE q > {N}",
)
PRICES: tuple[dict[str, Any], ...] = (
    {"epsilon": 1},
    {"epsilon": 1e-6},
    {"within": 1e-9},
    {"within": 1e300},
)


T = TypeVar("T")


class Chances:
    """Choices that look random and follow from a seed."""

    def __init__(self, seed: object) -> None:
        self._seed, self._numbers = seed, count()

    def below(self, size: int) -> int:
        digest = sha256(f"{self._seed} {next(self._numbers)}".encode()).digest()
        return int.from_bytes(digest) % size

    def one_of(self, things: Sequence[T]) -> T:
        return things[self.below(len(things))]


def filled(form: str, depth: int, chance: Chances) -> str:
    """Return a form whose slots hold expressions, nested so deep."""
    while (start := form.find("{")) >= 0:
        end = form.index("}", start)
        slot = form[start + 1 : end]
        slot = chance.one_of("ntbm") if slot == "any" else slot
        if depth and slot in FORMS:
            inner = chance.one_of(list(FORMS[slot].values()))
            found = filled(inner, depth - 1, chance)
        else:
            found = chance.one_of(LEAVES[slot])
        form = form[:start] + found + form[end + 1 :]
    return form


def of_function(name: str, chance: Chances) -> str:
    """Return a question in which a function meets extremes."""
    kind = next(each for each, forms in FORMS.items() if name in forms)
    made = filled(FORMS[kind][name], chance.below(2), chance)
    place = {"b": "CASE WHEN {} THEN 1 END", "t": "length({})"}.get(kind, "{}").format(made)
    if kind in "md":
        return f"SELECT {place} AS g, COUNT(*) FROM visits GROUP BY 1"
    summed = chance.one_of((place, f"clamp({place}, 0, 5)"))
    return f"SELECT SUM({summed}), COUNT(*) FROM visits WHERE {place} > {chance.one_of(NUMBERS)}"


def any_question(chance: Chances) -> str:
    """Return a question of some shape, with expressions nested up to three deep."""
    return filled(chance.one_of(QUESTIONS), 1 + chance.below(3), chance)
