"""The functions that are supported on private rows: names, total definitions and facts.

Nothing outside this table reaches an engine. Every function is total and gives the same value in
every run: where SQL would raise an error, or floating point would give NaN or an infinity, it is
NULL. Integers have 64 bits, reals are IEEE doubles, and times with a zone are seen in UTC.
Engines write these names in their own SQL.
"""

from dataclasses import dataclass
from typing import Final

from discreet.catalog.schema import Kind
from discreet.query.expressions import facts, intervals
from discreet.query.expressions.facts import Rule
from discreet.query.expressions.intervals import between
from discreet.query.tree import Call, Expression

NUMBER = frozenset({Kind.INTEGER, Kind.REAL})
INTEGER = frozenset({Kind.INTEGER})
REAL = frozenset({Kind.REAL})
TEXT = frozenset({Kind.TEXT})
BOOLEAN = frozenset({Kind.BOOLEAN})
DATE = frozenset({Kind.DATE})
TIME = frozenset({Kind.DATE, Kind.TIMESTAMP, Kind.TIMESTAMP_TZ})
PLAIN = NUMBER | TEXT | BOOLEAN | TIME
"""All kinds whose values can be compared and ordered."""
SCALAR = NUMBER | TEXT | BOOLEAN
ANY = frozenset(Kind)

LONGEST_TEXT: Final = 10_000
"""Functions that can make texts longer are NULL where the result might have more characters."""

TOO_LONG = f"NULL if the result might have more than {LONGEST_TEXT} characters"


@dataclass(frozen=True, slots=True, kw_only=True)
class Function:
    """A function of values of one row."""

    name: str
    meaning: str
    """What it gives for every argument; x, y, z are the first three."""
    accepts: tuple[frozenset[Kind], ...]
    """The kinds of each argument; the last stands for all that follow if there can be more."""
    facts: Rule
    optional: int = 0
    """How many of the last arguments may be left out."""
    is_endless: bool = False
    """Whether there can be any number of arguments more."""
    literals: frozenset[int] = frozenset()
    """Which arguments, from 0, must be literals."""
    is_alike: bool = False
    """Whether all arguments are of one kind."""
    is_strict: bool = True
    """Whether it is NULL as soon as one argument is."""


def call(name: str, *arguments: Expression) -> Call:
    """Return a call with what is known of its values; arguments have the kinds it accepts."""
    return Call(function=name, arguments=arguments, facts=FUNCTIONS[name].facts(arguments))


ARITHMETIC = (
    Function(
        name="add",
        meaning="x + y; NULL on overflow",
        accepts=(NUMBER, NUMBER),
        facts=facts.arithmetic(intervals.add),
        is_alike=True,
    ),
    Function(
        name="subtract",
        meaning="x - y; NULL on overflow",
        accepts=(NUMBER, NUMBER),
        facts=facts.arithmetic(intervals.subtract),
        is_alike=True,
    ),
    Function(
        name="multiply",
        meaning="x · y; NULL on overflow",
        accepts=(NUMBER, NUMBER),
        facts=facts.arithmetic(intervals.multiply),
        is_alike=True,
    ),
    Function(
        name="divide",
        meaning="x / y in floating point; NULL if y is 0 or on overflow",
        accepts=(REAL, REAL),
        facts=facts.arithmetic(intervals.divide, zero=True),
    ),
    Function(
        name="integer_divide",
        meaning="x / y with the fraction cut off, towards 0; NULL if y is 0 or on overflow",
        accepts=(INTEGER, INTEGER),
        facts=facts.arithmetic(facts.quotient, zero=True),
    ),
    Function(
        name="modulo",
        meaning="x - y · trunc(x / y), of x's sign; NULL if y is 0",
        accepts=(NUMBER, NUMBER),
        facts=facts.arithmetic(intervals.modulo, zero=True),
        is_alike=True,
    ),
    Function(
        name="decimal",
        meaning="x / 10 to the power of y, a real: the floating-point number nearest to a decimal",
        accepts=(INTEGER, INTEGER),
        facts=facts.decimal,
        literals=frozenset({1}),
    ),
    Function(
        name="negate",
        meaning="-x; NULL on overflow",
        accepts=(NUMBER,),
        facts=facts.arithmetic(intervals.negate),
    ),
    Function(
        name="abs",
        meaning="|x|; NULL on overflow",
        accepts=(NUMBER,),
        facts=facts.arithmetic(intervals.absolute),
    ),
    Function(
        name="sign",
        meaning="-1, 0 or 1, an integer",
        accepts=(NUMBER,),
        facts=facts.arithmetic(intervals.sign, Kind.INTEGER),
    ),
    Function(
        name="round",
        meaning="x rounded to y decimal digits, to tens and hundreds if y < 0, halves away from 0; "
        "an integer stays one; NULL on overflow",
        accepts=(NUMBER, INTEGER),
        facts=facts.to_digits(intervals.rounded),
        literals=frozenset({1}),
    ),
    Function(
        name="trunc",
        meaning="x with all but y decimal digits cut off, tens and hundreds too if y < 0; an "
        "integer stays one",
        accepts=(NUMBER, INTEGER),
        facts=facts.to_digits(intervals.truncated),
        literals=frozenset({1}),
    ),
)

REALS = (
    Function(
        name="ceil",
        meaning="the least whole real ≥ x",
        accepts=(REAL,),
        facts=facts.arithmetic(intervals.ceil),
    ),
    Function(
        name="floor",
        meaning="the largest whole real ≤ x",
        accepts=(REAL,),
        facts=facts.arithmetic(intervals.floor),
    ),
    Function(
        name="sqrt",
        meaning="the square root of x; NULL if x < 0",
        accepts=(REAL,),
        facts=facts.partial(intervals.sqrt, between(0, None), is_open=False),
    ),
    Function(
        name="exp",
        meaning="e to the power of x; NULL on overflow",
        accepts=(REAL,),
        facts=facts.arithmetic(intervals.exp),
    ),
    Function(
        name="power",
        meaning="x to the power of y; NULL on overflow, for 0 to a negative power and for a "
        "negative number to a power that is not whole",
        accepts=(REAL, REAL),
        facts=facts.power,
    ),
    Function(
        name="ln",
        meaning="the natural logarithm of x; NULL if x ≤ 0",
        accepts=(REAL,),
        facts=facts.logarithm(None),
    ),
    Function(
        name="log2",
        meaning="the logarithm of x to the base 2; NULL if x ≤ 0",
        accepts=(REAL,),
        facts=facts.logarithm(2),
    ),
    Function(
        name="log10",
        meaning="the logarithm of x to the base 10; NULL if x ≤ 0",
        accepts=(REAL,),
        facts=facts.logarithm(10),
    ),
    Function(
        name="log",
        meaning="the logarithm of y to the base x, as log10(y) / log10(x); NULL if x ≤ 0, y ≤ 0 or "
        "x = 1",
        accepts=(REAL, REAL),
        facts=facts.any_real,
    ),
)

COMPARISONS = tuple(
    Function(
        name=name,
        meaning=f"x {sign} y; texts are compared by their UTF-8 bytes; FALSE is less than TRUE",
        accepts=(PLAIN, PLAIN),
        facts=facts.condition,
        is_alike=True,
    )
    for name, sign in (
        ("equal", "="),
        ("not_equal", "<>"),
        ("less", "<"),
        ("less_or_equal", "<="),
        ("greater", ">"),
        ("greater_or_equal", ">="),
    )
)

CONDITIONS = (
    Function(
        name="distinct",
        meaning="whether x and y differ, NULL being a value like others; never NULL",
        accepts=(PLAIN, PLAIN),
        facts=facts.always_known,
        is_alike=True,
        is_strict=False,
    ),
    Function(
        name="not_distinct",
        meaning="whether x and y are the same, NULL being a value like others; never NULL",
        accepts=(PLAIN, PLAIN),
        facts=facts.always_known,
        is_alike=True,
        is_strict=False,
    ),
    Function(
        name="in",
        meaning="x = y OR x = z OR ... for all that follow x",
        accepts=(PLAIN, PLAIN),
        facts=facts.condition,
        is_endless=True,
        is_alike=True,
        is_strict=False,
    ),
    Function(
        name="and",
        meaning="x AND y AND ..., in three-valued logic",
        accepts=(BOOLEAN, BOOLEAN),
        facts=facts.condition,
        is_endless=True,
        is_strict=False,
    ),
    Function(
        name="or",
        meaning="x OR y OR ..., in three-valued logic",
        accepts=(BOOLEAN, BOOLEAN),
        facts=facts.condition,
        is_endless=True,
        is_strict=False,
    ),
    Function(name="not", meaning="NOT x", accepts=(BOOLEAN,), facts=facts.condition),
    Function(
        name="is_null",
        meaning="whether x is NULL; never NULL",
        accepts=(ANY,),
        facts=facts.always_known,
        is_strict=False,
    ),
    Function(
        name="is_true",
        meaning="whether x is TRUE; never NULL",
        accepts=(BOOLEAN,),
        facts=facts.always_known,
        is_strict=False,
    ),
    Function(
        name="is_false",
        meaning="whether x is FALSE; never NULL",
        accepts=(BOOLEAN,),
        facts=facts.always_known,
        is_strict=False,
    ),
    *(
        Function(
            name=name,
            meaning=f"whether all of x has the pattern y, letters {how}: % is any text, _ any "
            "character; after z, one character, the next is plain; without z none is",
            accepts=(TEXT, TEXT, TEXT),
            facts=facts.condition,
            optional=1,
            literals=frozenset({1, 2}),
        )
        for name, how in (("like", "as they are"), ("ilike", "in any case"))
    ),
)

CHOICES = (
    Function(
        name="coalesce",
        meaning="the first that is not NULL",
        accepts=(PLAIN,),
        facts=facts.first_known,
        is_endless=True,
        is_alike=True,
        is_strict=False,
    ),
    Function(
        name="greatest",
        meaning="the largest of those that are not NULL; NULL if all are",
        accepts=(PLAIN,),
        facts=facts.greatest,
        is_endless=True,
        is_alike=True,
        is_strict=False,
    ),
    Function(
        name="least",
        meaning="the smallest of those that are not NULL; NULL if all are",
        accepts=(PLAIN,),
        facts=facts.least,
        is_endless=True,
        is_alike=True,
        is_strict=False,
    ),
    Function(
        name="clamp",
        meaning="y if x < y, z if x > z, else x",
        accepts=(NUMBER | TIME, NUMBER | TIME, NUMBER | TIME),
        facts=facts.clamped,
        literals=frozenset({1, 2}),
        is_alike=True,
    ),
)

TEXTS = (
    Function(name="lower", meaning="x in lower case", accepts=(TEXT,), facts=facts.text),
    Function(name="upper", meaning="x in upper case", accepts=(TEXT,), facts=facts.text),
    Function(
        name="length",
        meaning="how many Unicode code points x has, an integer",
        accepts=(TEXT,),
        facts=facts.count,
    ),
    *(
        Function(
            name=name,
            meaning=f"x without the characters of y (spaces, if left out) at {side}",
            accepts=(TEXT, TEXT),
            facts=facts.text,
            optional=1,
            literals=frozenset({1}),
        )
        for name, side in (("trim", "both ends"), ("ltrim", "its start"), ("rtrim", "its end"))
    ),
    Function(
        name="substring",
        meaning="the characters of x from place y, counted from 1, at most z of them (all, if left "
        "out); places ≤ 0 and lengths < 0 as DuckDB has them",
        accepts=(TEXT, INTEGER, INTEGER),
        facts=facts.text,
        optional=1,
        literals=frozenset({1, 2}),
    ),
    Function(
        name="left",
        meaning="the first y characters of x; all but the last -y if y < 0",
        accepts=(TEXT, INTEGER),
        facts=facts.text,
        literals=frozenset({1}),
    ),
    Function(
        name="right",
        meaning="the last y characters of x; all but the first -y if y < 0",
        accepts=(TEXT, INTEGER),
        facts=facts.text,
        literals=frozenset({1}),
    ),
    Function(
        name="concat",
        meaning=f"all texts in a row, NULL ones left out, empty if all are; {TOO_LONG}",
        accepts=(TEXT,),
        facts=facts.joined_text,
        is_endless=True,
        is_strict=False,
    ),
    Function(
        name="concatenate",
        meaning=f"all texts in a row; {TOO_LONG}",
        accepts=(TEXT, TEXT),
        facts=facts.joined_text,
        is_endless=True,
    ),
    Function(
        name="replace",
        meaning=f"x with every y replaced by z; x if y is empty; {TOO_LONG}",
        accepts=(TEXT, TEXT, TEXT),
        facts=facts.joined_text,
        literals=frozenset({1, 2}),
    ),
    *(
        Function(
            name=name,
            meaning=f"whether x {what} y; it does if y is empty",
            accepts=(TEXT, TEXT),
            facts=facts.condition,
        )
        for name, what in (
            ("starts_with", "begins with"),
            ("ends_with", "ends with"),
            ("contains", "contains"),
        )
    ),
    Function(
        name="position",
        meaning="where y first stands in x, counted from 1, an integer; 0 if it does not, 1 if y "
        "is empty",
        accepts=(TEXT, TEXT),
        facts=facts.count,
    ),
)

TIMES = (
    Function(
        name="date_part",
        meaning="the part x (a name of facts.PARTS) of the time y, an integer: dow is 0 for Sunday "
        "and isodow 7; week and isoyear are ISO; second, millisecond and microsecond count from "
        "the minute on; decade is year / 10; century 20 ends with the year 2000; epoch is seconds "
        "since 1970, a real",
        accepts=(TEXT, TIME),
        facts=facts.date_part,
        literals=frozenset({0}),
    ),
    Function(
        name="date_trunc",
        meaning="the first moment of the unit x (of moments.UNITS) that the time y lies in, a "
        "timestamp, with time zone if y has one; weeks begin on Monday, decades and centuries in "
        "years divisible by 10 and 100",
        accepts=(TEXT, TIME),
        facts=facts.date_trunc,
        literals=frozenset({0}),
    ),
    Function(
        name="date_diff",
        meaning="how many units x (of moments.UNITS) begin after the time y and up to the time z, "
        "negative if z is earlier, an integer; but weeks are whole sevens of days between the two "
        "days, the rest cut off",
        accepts=(TEXT, TIME, TIME),
        facts=facts.date_diff,
        literals=frozenset({0}),
    ),
    Function(
        name="add_days",
        meaning="the date y days after x; NULL if out of range",
        accepts=(DATE, INTEGER),
        facts=facts.add_days,
    ),
    Function(
        name="days_between",
        meaning="x - y in days, an integer",
        accepts=(DATE, DATE),
        facts=facts.arithmetic(intervals.subtract, Kind.INTEGER),
    ),
    Function(
        name="add_interval",
        meaning="the timestamp, with time zone if x has one, y months, then z days, then so many "
        "microseconds after x; a day that the month does not have becomes its last; NULL if out of "
        "range",
        accepts=(TIME, INTEGER, INTEGER, INTEGER),
        facts=facts.add_interval,
        literals=frozenset({1, 2, 3}),
    ),
    Function(
        name="make_date",
        meaning="the date of year x, month y and day z; NULL if there is none",
        accepts=(INTEGER, INTEGER, INTEGER),
        facts=facts.make_date,
    ),
)

CASTS = (
    Function(
        name="to_integer",
        meaning="x as an integer: reals are rounded, halves to the even neighbour; texts are read, "
        "halves away from 0; FALSE is 0, TRUE is 1; NULL if it cannot be, is less than y or more "
        "than z",
        accepts=(SCALAR, INTEGER, INTEGER),
        facts=facts.to_integer,
        literals=frozenset({1, 2}),
    ),
    Function(
        name="to_real",
        meaning="x as a real: texts are read; FALSE is 0, TRUE is 1; NULL if it cannot be",
        accepts=(SCALAR,),
        facts=facts.to_real,
    ),
    Function(
        name="to_single",
        meaning="x as a real that is rounded to a 32-bit floating-point number; NULL if it cannot "
        "be",
        accepts=(SCALAR,),
        facts=facts.to_single,
    ),
    Function(
        name="to_decimal",
        meaning="x as a real that is rounded to z decimal digits, halves away from 0; NULL if it "
        "then has more than y digits in all, or cannot be",
        accepts=(SCALAR, INTEGER, INTEGER),
        facts=facts.to_decimal,
        literals=frozenset({1, 2}),
    ),
    Function(
        name="to_boolean",
        meaning="x as a condition: numbers other than 0 are TRUE; texts are read; NULL if it "
        "cannot be",
        accepts=(SCALAR,),
        facts=facts.to_boolean,
    ),
    Function(
        name="to_text",
        meaning="x as text, as DuckDB writes it; -0.0 as 0.0, which it equals",
        accepts=(PLAIN,),
        facts=facts.text,
    ),
    Function(
        name="to_date",
        meaning="x as a date: texts are read; a timestamp becomes its day; NULL if it cannot be",
        accepts=(TEXT | TIME,),
        facts=facts.to_date,
    ),
    Function(
        name="to_timestamp",
        meaning="x as a timestamp: texts are read; a date becomes its first moment; NULL if it "
        "cannot be",
        accepts=(TEXT | TIME,),
        facts=facts.to_timestamp,
    ),
)

FUNCTIONS: dict[str, Function] = {
    each.name: each
    for each in (
        *ARITHMETIC,
        *REALS,
        *COMPARISONS,
        *CONDITIONS,
        *CHOICES,
        *TEXTS,
        *TIMES,
        *CASTS,
    )
}
"""Every function by its name."""
