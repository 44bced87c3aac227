"""The functions that are supported on private rows: names, total definitions and facts.

Nothing outside this table reaches an engine. Every function is total and gives the same value in
every run: where SQL would raise an error, or floating point would give NaN or an infinity, it is
NULL. Integers have 64 bits, reals are IEEE doubles, and times with a zone are seen in UTC.
Engines write these names in their own SQL.
"""

from typing import Final

from discreet.query.expressions import facts, number_functions, time_functions
from discreet.query.expressions.facts import (
    ANY,
    BOOLEAN,
    INTEGER,
    NUMBER,
    PLAIN,
    SCALAR,
    TEXT,
    TIME,
    Function,
)
from discreet.query.expressions.number_functions import ARITHMETIC, REALS
from discreet.query.expressions.regular import LONGEST_SEARCHED
from discreet.query.expressions.time_functions import TIMES
from discreet.query.tree import Call, Expression

LONGEST_TEXT: Final = 10_000
"""Functions that can make texts longer are NULL where the result might have more characters."""


TOO_LONG = f"NULL if the result might have more than {LONGEST_TEXT} characters"


def call(name: str, *arguments: Expression) -> Call:
    """Return a call with what is known of its values; arguments have the kinds it accepts."""
    return Call(function=name, arguments=arguments, facts=FUNCTIONS[name].facts(arguments))


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


FOUND = (
    f"y, of the subset that all databases read alike; NULL if x has more than {LONGEST_TEXT} "
    f"characters, or more than {LONGEST_SEARCHED} if y has +, * or {{n,}} and does not begin with ^"
)


PATTERNS = (
    Function(
        name="regexp_matches",
        meaning=f"whether x contains a match of the regular expression {FOUND}",
        accepts=(TEXT, TEXT),
        facts=facts.perhaps,
        literals=frozenset({1}),
    ),
    Function(
        name="regexp_extract",
        meaning="the group z, or all of it if z is 0, of the first match of the regular "
        f"expression {FOUND}; empty if there is none",
        accepts=(TEXT, TEXT, INTEGER),
        facts=facts.joined_text,
        literals=frozenset({1, 2}),
    ),
    *(
        Function(
            name=name,
            meaning=f"x with {which} of the regular expression y replaced by z, in which \\1 is "
            f"the first group; {TOO_LONG}",
            accepts=(TEXT, TEXT, TEXT),
            facts=facts.joined_text,
            literals=frozenset({1, 2}),
        )
        for name, which in (
            ("regexp_replace", "the first match"),
            ("regexp_replace_all", "all matches"),
        )
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
    *PATTERNS,
    Function(
        name="byte_length",
        meaning="how many bytes x has in UTF-8, an integer",
        accepts=(TEXT,),
        facts=facts.count,
    ),
    Function(
        name="ascii",
        meaning="the number of the first character of x in Unicode; 0 if x is empty",
        accepts=(TEXT,),
        facts=facts.count,
    ),
    Function(
        name="split_part",
        meaning="part z of x, counted from 1, or from the end if z < 0; parts are separated by y; "
        "empty if there is no such part",
        accepts=(TEXT, TEXT, INTEGER),
        facts=facts.text,
        literals=frozenset({1, 2}),
    ),
    Function(
        name="part_count",
        meaning="how many parts of x are separated by y, an integer; 1 if x is empty",
        accepts=(TEXT, TEXT),
        facts=facts.count,
        literals=frozenset({1}),
    ),
    Function(
        name="translate",
        meaning="x with each character of y replaced by the one at its place in z, or removed if "
        "there is none",
        accepts=(TEXT, TEXT, TEXT),
        facts=facts.text,
        literals=frozenset({1, 2}),
    ),
    *(
        Function(
            name=name,
            meaning=f"x with z, again and again, {where} it until it has y characters; its first "
            "y characters if it has more",
            accepts=(TEXT, INTEGER, TEXT),
            facts=facts.text,
            literals=frozenset({1, 2}),
        )
        for name, where in (("lpad", "before"), ("rpad", "behind"))
    ),
    Function(
        name="position",
        meaning="where y first occurs in x, counted from 1, an integer; 0 if it does not, 1 if y "
        "is empty",
        accepts=(TEXT, TEXT),
        facts=facts.count,
    ),
)


CASTS = (
    Function(
        name="to_integer",
        meaning="x as an integer: reals are rounded, halves to the even neighbour; texts are read, "
        "halves away from 0; FALSE is 0, TRUE is 1; NULL if it cannot be, is less than y or more "
        "than z",
        accepts=(SCALAR, INTEGER, INTEGER),
        facts=number_functions.to_integer,
        literals=frozenset({1, 2}),
    ),
    Function(
        name="to_real",
        meaning="x as a real: texts are read; FALSE is 0, TRUE is 1; NULL if it cannot be",
        accepts=(SCALAR,),
        facts=number_functions.to_real,
    ),
    Function(
        name="to_single",
        meaning="x as a real that is rounded to a 32-bit floating-point number; NULL if it cannot "
        "be",
        accepts=(SCALAR,),
        facts=number_functions.to_single,
    ),
    Function(
        name="to_decimal",
        meaning="x as a real that is rounded to z decimal digits, halves away from 0; NULL if it "
        "then has more than y digits, or cannot be computed",
        accepts=(SCALAR, INTEGER, INTEGER),
        facts=number_functions.to_decimal,
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
        facts=time_functions.to_date,
    ),
    Function(
        name="to_timestamp",
        meaning="x as a timestamp: texts are read; a date becomes its first moment; NULL if it "
        "cannot be",
        accepts=(TEXT | TIME,),
        facts=time_functions.to_timestamp,
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
