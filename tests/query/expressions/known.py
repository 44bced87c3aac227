"""Columns with what is declared of them, values that keep it, and expressions of them."""

from datetime import date, datetime
from fractions import Fraction
from functools import cache
from typing import Any

import duckdb
import pyarrow as pa

from discreet.catalog.schema import Kind, Value
from discreet.query.expressions.facts import number_of
from discreet.query.expressions.time_functions import PARTS, UNITS
from discreet.query.expressions.translate import translate
from discreet.query.tree import Expression, Facts, Interval
from tests.query.nasty import Names, parsed

MONEY = Fraction(1, 4)


def bounded(kind: Kind, low: Any, high: Any, **more: Any) -> Facts:
    ends = [number_of(each) for each in (low, high)]
    return Facts(kind=kind, interval=Interval(low=ends[0], high=ends[1]), **more)


FACTS = {
    "age": bounded(Kind.INTEGER, 0, 120, step=Fraction(1), nullable=False),
    "change": bounded(Kind.INTEGER, -20, 50, step=Fraction(1)),
    "cost": bounded(Kind.REAL, 0, 500, step=MONEY, nullable=False),
    "ratio": bounded(Kind.REAL, Fraction(1, 2), 4, nullable=False),
    "wild": Facts(kind=Kind.REAL),
    "region": Facts(kind=Kind.TEXT, domain=("north", "south"), nullable=False),
    "note": Facts(kind=Kind.TEXT),
    "day": bounded(Kind.DATE, date(2023, 11, 30), date(2024, 12, 31), step=Fraction(1)),
    "visit": bounded(
        Kind.TIMESTAMP,
        datetime(2024, 1, 1),
        datetime(2024, 9, 30, 12),
        step=Fraction(1),
        nullable=False,
    ),
    "insured": Facts(kind=Kind.BOOLEAN, domain=(False, True, None)),
}


VALUES: dict[str, list[Any]] = {
    "age": [0, 17, 120, 65, 1],
    "change": [-20, 50, None, 0, 7, -1],
    "cost": [0.0, 500.0, 10.25, 99.75, 250.5, 0.25, 1.0],
    "ratio": [0.5, 4.0, 1.0, 2.75],
    "wild": [1e300, None, -1e300, 0.0, -2.5, 3.5],
    "region": ["north", "south", "south"],
    "note": ["", None, "flu", "a b", "12", "2024-05-01"],
    "day": [date(2023, 11, 30), date(2024, 12, 31), None, date(2024, 2, 29), date(2024, 3, 31)],
    "visit": [datetime(2024, 1, 1), datetime(2024, 9, 30, 12), datetime(2024, 5, 6, 7, 8, 9, 10)],
    "insured": [True, False, None, True],
}


EXPRESSIONS = [
    *("age + change", "age - change", "age * change", "-change", "age / ratio", "cost / change"),
    *("age // change", "age % 7", "change % 7", "cost % ratio", "cost * 1.2 + age", "wild + 1"),
    *("abs(change)", "sign(change)", "sign(age)", "ceil(ratio)", "floor(cost / 3)", "round(cost)"),
    *("round(cost / 3, 1)", "round(age, -1)", "trunc(cost / 7)", "trunc(change, -1)"),
    *("sqrt(cost)", "sqrt(change)", "ln(ratio)", "ln(cost)", "ln(cost + 1)", "log(age + 1)"),
    *("log2(ratio)", "exp(ratio)", "exp(age)", "power(ratio, 2)", "power(change, 2)"),
    *("power(change, 3)", "power(ratio, -1)", "power(ratio, 0.5)", "ratio ^ age", "2 ^ ratio"),
    *("least(wild, 10)", "greatest(wild, 10)", "least(greatest(wild, 0), 100)"),
    *("greatest(change, age)", "greatest(change, -5)", "least(change, NULL)", "clamp(wild, 1, 2)"),
    *("clamp(age, 18, 65)", "coalesce(change, 100)", "coalesce(wild, cost)", "nullif(age, 0)"),
    *("coalesce(change, wild, 1)", "CASE WHEN insured THEN 1 ELSE 0 END"),
    *("CASE WHEN cost >= 1 THEN ln(cost) END", "CASE WHEN change > 0 THEN 10 / change END"),
    *("CASE WHEN insured THEN 'yes' WHEN NOT insured THEN 'no' END", "coalesce(region, 'none')"),
    *("CASE WHEN age IN (1, 17) THEN age * 2 ELSE 0 END", "if(insured, region, 'west')"),
    *(
        "age > 18",
        "change = 0",
        "region = 'north'",
        "note LIKE 'a%'",
        "insured IS TRUE",
        "NOT insured",
    ),
    *("insured AND age > 3", "change IS NULL", "change IS DISTINCT FROM 7", "age IN (1, 2)"),
    *(
        "length(note)",
        "length(region)",
        "position('o' IN region)",
        "upper(region)",
        "region || '!'",
    ),
    *("concat(note, region)", "left(region, 1)", "contains(region, 'n')", "trim(region)"),
    *(f"date_part('{part}', {column})" for part in PARTS for column in ("day", "visit")),
    *(f"date_trunc('{unit}', {column})" for unit in UNITS for column in ("day", "visit")),
    *(f"date_diff('{unit}', day, visit)" for unit in UNITS),
    *("date_diff('week', visit, day)", "day + 7", "day - age", "day - DATE '2024-01-01'"),
    *("day + INTERVAL 1 MONTH", "day - INTERVAL '1 year 3 days'", "visit + INTERVAL 36 HOUR"),
    *("make_date(2000 + age, 2, 29)", "make_date(2024, 1, age)", "CAST(visit AS DATE)"),
    *(
        "CAST(day AS TIMESTAMP)",
        "CAST(note AS DATE)",
        "CAST(cost AS INTEGER)",
        "CAST(age AS DOUBLE)",
    ),
    *("CAST(note AS INTEGER)", "CAST(age * 3 AS TINYINT)", "CAST(insured AS INTEGER)"),
    *("CAST(cost / 3 AS DECIMAL(5, 1))", "CAST(cost AS DECIMAL(3, 1))", "CAST(cost / 3 AS FLOAT)"),
    *("CAST(age AS BOOLEAN)", "CAST(day AS VARCHAR)", "year(greatest(day, DATE '2024-06-01'))"),
]


@cache
def database() -> duckdb.DuckDBPyConnection:
    connection = duckdb.connect()
    rows = 420
    columns = {
        name: [values[n % len(values)] for n in range(rows)] for name, values in VALUES.items()
    }
    connection.register("t", pa.table(columns))
    return connection


def known(text: str) -> Expression:
    return translate(parsed(text), Names(FACTS))


def holds(value: Value, facts: Facts) -> bool:
    """Return whether the facts hold for a value, but for rounding in its last digits."""
    if value is None:
        return facts.nullable and (facts.domain is None or None in facts.domain)
    number = number_of(value)
    if facts.domain is not None and value not in facts.domain:
        return False
    if number is None:
        return True
    slack = abs(number) / 2**48 if facts.kind is Kind.REAL else Fraction(0)
    low, high = facts.interval.low, facts.interval.high
    is_inside = (low is None or low <= number + slack) and (high is None or number - slack <= high)
    is_on_step = facts.step is None or ((number - (low or 0)) / facts.step).denominator == 1
    return is_inside and is_on_step
