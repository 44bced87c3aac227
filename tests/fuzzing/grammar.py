"""A grammar of questions, made of the checker's own table of what it accepts.

Expressions are drawn from `FUNCTIONS`: the table says which kinds each function takes, where a
value must be stated, and what comes out; `SPELLINGS` says how each is written in SQL.
`test_coverage.py` fails if the checker accepts something that no question of this grammar says.

What it cannot say: data that differ from the twins of `tables.py`; functions that are accepted only
after the noise inside of one another; more than two joins or three levels of queries in one
question; a wanted accuracy instead of a price; other versions or settings of engines. Time and
memory are not looked at.
"""

# ruff: noqa: S608 - this file writes questions

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import product

from sqlglot import exp

from discreet.catalog.schema import Kind, Value
from discreet.query.expressions.casts import CASTS, INTEGERS
from discreet.query.expressions.facts import Function, literal
from discreet.query.expressions.functions import FUNCTIONS, call
from discreet.query.expressions.times import PART_FUNCTIONS
from discreet.query.questions import Statistic
from discreet.query.tree import ColumnOf, Expression, Facts, WindowFunction
from tests.fuzzing import literals
from tests.fuzzing.choices import Choices
from tests.fuzzing.tables import VICTIM

KINDS = tuple(literals.LITERALS)


def _type(type_: exp.DType) -> str:
    """Return what DuckDB's SQL calls a type."""
    return exp.DataType(this=type_).sql(dialect="duckdb")


TYPES = {
    **{name: [_type(each) for each, by in CASTS.items() if by == name] for name in CASTS.values()},
    "to_integer": [_type(each) for each in INTEGERS],
    "to_decimal": ["DECIMAL", "DECIMAL(3, 2)", "DECIMAL(38, 0)", "DECIMAL(38, 38)", "NUMERIC(9)"],
}
"""The types that a cast to them is this function."""

SPELLINGS: dict[str, tuple[str, ...]] = {
    "add": ("({0} + {1})",),
    "subtract": ("({0} - {1})",),
    "multiply": ("({0} * {1})",),
    "divide": ("({0} / {1})",),
    "integer_divide": ("({0} // {1})",),
    "modulo": ("({0} % {1})", "mod({0}, {1})"),
    "decimal": ("({0} * 1.25)", "({0} + 0.001)", "(0.5 - {0})"),
    "negate": ("(-{0})",),
    "abs": ("abs({0})",),
    "sign": ("sign({0})",),
    "round": ("round({0}, {1})", "round({0})"),
    "trunc": ("trunc({0}, {1})", "trunc({0})"),
    "ceil": ("ceil({0})", "ceiling({0})"),
    "floor": ("floor({0})",),
    "sqrt": ("sqrt({0})",),
    "exp": ("exp({0})",),
    "power": ("power({0}, {1})", "({0} ** {1})"),
    "ln": ("ln({0})",),
    "log2": ("log2({0})",),
    "log10": ("log10({0})", "log({0})"),
    "log": ("log({0}, {1})",),
    "equal": ("({0} = {1})",),
    "not_equal": ("({0} <> {1})", "({0} != {1})"),
    "less": ("({0} < {1})",),
    "less_or_equal": ("({0} <= {1})",),
    "greater": ("({0} > {1})",),
    "greater_or_equal": ("({0} >= {1})", "({0} BETWEEN {1} AND {0})"),
    "distinct": ("({0} IS DISTINCT FROM {1})",),
    "not_distinct": ("({0} IS NOT DISTINCT FROM {1})",),
    "in": ("({0} IN ({rest}))", "({0} NOT IN ({rest}))"),
    "and": ("({conjunction})",),
    "or": ("({disjunction})",),
    "not": ("(NOT {0})",),
    "is_null": ("({0} IS NULL)", "({0} IS NOT NULL)"),
    "is_true": ("({0} IS TRUE)", "({0} IS NOT TRUE)"),
    "is_false": ("({0} IS FALSE)",),
    "like": ("({0} LIKE {1})", "({0} NOT LIKE {1})", "({0} LIKE {1} ESCAPE {2})"),
    "ilike": ("({0} ILIKE {1})", "({0} NOT ILIKE {1} ESCAPE {2})", "({0} ILIKE {1} ESCAPE {2})"),
    "coalesce": ("coalesce({all})",),
    "greatest": ("greatest({all})",),
    "least": ("least({all})",),
    "clamp": ("clamp({0}, {1}, {2})",),
    "lower": ("lower({0})", "lcase({0})"),
    "upper": ("upper({0})", "ucase({0})"),
    "length": ("length({0})", "len({0})"),
    "trim": ("trim({0})", "trim({0}, {1})", "trim(BOTH {1} FROM {0})"),
    "ltrim": ("ltrim({0})", "ltrim({0}, {1})", "trim(LEADING {1} FROM {0})"),
    "rtrim": ("rtrim({0})", "rtrim({0}, {1})", "trim(TRAILING {1} FROM {0})"),
    "substring": (
        "substring({0}, {1})",
        "substr({0}, {1}, {2})",
        "substring({0} FROM {1} FOR {2})",
    ),
    "left": ("left({0}, {1})",),
    "right": ("right({0}, {1})",),
    "concat": ("concat({all})",),
    "concatenate": ("({pipes})",),
    "replace": ("replace({0}, {1}, {2})",),
    "starts_with": ("starts_with({0}, {1})", "({0} ^@ {1})", "prefix({0}, {1})"),
    "ends_with": ("ends_with({0}, {1})", "suffix({0}, {1})"),
    "contains": ("contains({0}, {1})",),
    "regexp_matches": (
        *("regexp_matches({0}, {1})", "({0} ~ {1})", "({0} !~ {1})", "({0} ~* 'a[b-k]+')"),
        *("regexp_full_match({0}, {1})", "({0} SIMILAR TO '[a-z]+')"),
    ),
    "regexp_extract": ("regexp_extract({0}, {1}, {2})", "regexp_extract({0}, '[^ ]+')"),
    "regexp_replace": ("regexp_replace({0}, {1}, {2})",),
    "regexp_replace_all": ("regexp_replace({0}, {1}, {2}, 'g')",),
    "byte_length": ("strlen({0})", "octet_length({0})", "bit_length({0})"),
    "ascii": ("ascii({0})",),
    "split_part": ("split_part({0}, {1}, {2})", "string_split({0}, {1})[3]"),
    "part_count": ("len(string_split({0}, {1}))", "array_length(string_split({0}, {1}))"),
    "translate": ("translate({0}, {1}, {2})",),
    "lpad": ("lpad({0}, {1}, {2})", "lpad({0}, {1})"),
    "rpad": ("rpad({0}, {1}, {2})",),
    "position": ("strpos({0}, {1})", "position({1} IN {0})", "instr({0}, {1})"),
    "date_part": ("date_part({0}, {1})", "datepart({0}, {1})", "extract({bare} FROM {1})"),
    "date_trunc": ("date_trunc({0}, {1})", "datetrunc({0}, {1})"),
    "date_diff": ("date_diff({0}, {1}, {2})", "datediff({0}, {1}, {2})"),
    "add_days": ("({0} + {1})", "({0} - {1})"),
    "days_between": ("({0} - {1})",),
    "add_interval": ("({0} + {span})", "({0} - {span})", "date_add({0}, {span})"),
    "add_microseconds": (
        *("({0} + to_microseconds({1}))", "({0} - INTERVAL ({1}) HOUR)", "({0} + to_days({1}))"),
        "({0} + {1} * INTERVAL '1 minute')",
        *(f"({{0}} + to_{unit}s({{1}}))" for unit in ("week", "hour", "minute", "second")),
        "({0} + to_milliseconds({1}))",
    ),
    "time_bucket": (
        *("time_bucket({width}, {0})", "date_bin({width}, {0}, TIMESTAMP '2001-01-01 00:00:07')"),
    ),
    "make_date": ("make_date({0}, {1}, {2})",),
    "to_integer": ("CAST({0} AS {type})", "TRY_CAST({0} AS {type})", "({0})::{type}"),
    "to_real": ("CAST({0} AS {type})", "TRY_CAST({0} AS {type})"),
    "to_single": ("CAST({0} AS {type})", "TRY_CAST({0} AS {type})"),
    "to_decimal": ("CAST({0} AS {type})", "TRY_CAST({0} AS {type})"),
    "to_boolean": ("CAST({0} AS {type})", "TRY_CAST({0} AS {type})"),
    "to_text": ("CAST({0} AS {type})", "TRY_CAST({0} AS {type})"),
    "to_date": ("CAST({0} AS {type})", "TRY_CAST({0} AS {type})", "date({0})"),
    "to_timestamp": ("CAST({0} AS {type})", "TRY_CAST({0} AS {type})"),
}
"""How each function of the table is written: {0}, {1}, ... are its arguments."""

PARTS_OF_TIMES = (
    *("year", "quarter", "month", "week", "weekofyear", "day", "dayofmonth", "dayofweek", "isodow"),
    *("dayofyear", "hour", "minute", "second", "epoch", *PART_FUNCTIONS),
)

OTHER_FORMS: dict[Kind | None, tuple[str, ...]] = {
    Kind.INTEGER: (
        *(f"{name}({{time}})" for name in PARTS_OF_TIMES),
        "width_bucket({number}, -1.5, 10, 4)",
        *("yearweek({time})", "epoch_us({time})", "epoch_ms({time})"),
        *("date_sub('hour', {time}, {time})", "datesub('day', {time}, {time})"),
        *("date_part('day', {moments})", "extract(minute FROM {moments})"),
    ),
    Kind.REAL: ("extract(epoch FROM {moments})", "(epoch(-{moments}) / 60)"),
    Kind.DATE: ("last_day({time})",),
    Kind.TIMESTAMP: (
        *("epoch_ms({integer})", "({time} - to_months(2))", "date_sub({time}, {span})"),
        *(f"({{time}} + to_{each}(3))" for each in ("quarters", "years", "decades", "centuries")),
    ),
    Kind.TIMESTAMP_TZ: ("to_timestamp({integer})",),
    Kind.TEXT: (
        *("dayname({time})", "monthname({time})", "strftime({time}, '%Y-%m-%d %H:%M:%S.%f')"),
        *("strftime({time}, '%a %b %p %I %j')", "strftime('%G-W%V-%u %%', {time})"),
        *("strftime({time}, '%c %U %W %g')", "to_char({time}, 'YYYY-MM-DD HH24:MI FMMonth Dy Q')"),
        *("concat_ws(', ', {text}, {integer}, {text})", "repeat({text}, 3)", "repeat({text}, 0)"),
    ),
    None: (
        "CASE {same} WHEN {same} THEN {this} WHEN {same} THEN {this} ELSE {this} END",
        "CASE WHEN {condition} THEN {this} END",
        "if({condition}, {this}, {this})",
        "nullif({this}, {this})",
        "ifnull({this}, {this})",
    ),
    Kind.BOOLEAN: (
        *("({moments} > INTERVAL '3 days')", "({moments} BETWEEN {moments} AND INTERVAL 3 HOUR)"),
        *("({moments} IS NULL)", "(2 * {moments} <> '1 day 2 hours')", "isnan({number})"),
        *("({moments} - {moments} < to_hours({integer}) + {moments})", "isinf({number})"),
        *("({integer} = ANY([1, 7, NULL]))", "({text} <> ALL(ARRAY['a', 'é']))"),
        *("({number} > ANY([0.5, 2]))", "({integer} <= ALL([3, 60]))", "({integer} = SOME([7]))"),
        *("list_contains(['a', 'x', NULL], {text})", "({integer} IN [1, 2])"),
        *("({number} BETWEEN SYMMETRIC 7 AND {number})",),
        "({unit} <> ALL (SELECT u FROM w WHERE g LIKE '%a%'))",
        "({same} BETWEEN {same} AND {same})",
        "({same} NOT BETWEEN {same} AND {same})",
        "({unit} IN (SELECT u FROM w WHERE v > {number}))",
        "({unit} NOT IN (SELECT u FROM w WHERE g LIKE '%a%'))",
        "EXISTS (SELECT 1 FROM w AS inner_rows WHERE inner_rows.u = {unit} AND {condition})",
        "(NOT EXISTS (SELECT 1 FROM t AS others WHERE others.u = {unit} AND others.hiv))",
        "((SELECT COUNT(*) FROM w AS tied WHERE tied.u = {unit}) > {number})",
        "((SELECT MAX(tied.v) FROM w AS tied WHERE tied.u = {unit} HAVING COUNT(*) > 1) > 0)",
        "((SELECT tied.g FROM w AS tied WHERE tied.u = {unit} ORDER BY tied.v LIMIT 1) = 'a')",
        "(3 > ALL (SELECT tied.v FROM w AS tied WHERE tied.u = {unit}))",
        "(3 = ANY (SELECT tied.v FROM w AS tied WHERE tied.u = {unit}))",
        "EXISTS (SELECT 1 FROM w AS tied WHERE tied.u = {unit} GROUP BY tied.g "
        "HAVING COUNT(*) > 1)",
        "({text} IN (SELECT name FROM p WHERE weight > 1))",
        "({text} IN (SELECT s FROM t GROUP BY s HAVING COUNT(*) > 3))",
        "({number} NOT IN (SELECT AVG(x) FROM t GROUP BY n))",
        "({number} > (SELECT MAX(weight) FROM p))",
        "({number} > (SELECT AVG(f) FROM r))",
    ),
}
"""What is accepted and no function of the table; None is for every kind."""


# --------------------------------------------------------------------------- what functions take


@dataclass(frozen=True, slots=True, kw_only=True)
class Production:
    """A function with arguments of certain kinds."""

    function: Function
    kinds: tuple[Kind, ...]


@cache
def productions() -> dict[Kind, dict[str, tuple[Production, ...]]]:
    """Return, for each kind, the functions that give it, by name, and the kinds they can take."""
    found: dict[Kind, dict[str, list[Production]]] = {kind: {} for kind in KINDS}
    for function in FUNCTIONS.values():
        for kinds in _kinds_of(function):
            given = [_any(kind, place in function.literals) for place, kind in enumerate(kinds)]
            if function.name.startswith("date_"):
                given[0] = literal("year")
            result = call(function.name, *given).facts.kind
            made = Production(function=function, kinds=kinds)
            found[result].setdefault(function.name, []).append(made)
    return {
        kind: {name: tuple(each) for name, each in names.items()} for kind, names in found.items()
    }


def _kinds_of(function: Function) -> list[tuple[Kind, ...]]:
    accepts = [[kind for kind in KINDS if kind in each] for each in function.accepts]
    if function.is_endless:
        accepts = [*accepts, accepts[-1], accepts[-1]]
    if function.is_alike:
        return [(kind,) * len(accepts) for kind in accepts[0]]
    return list(product(*accepts))


def _any(kind: Kind, is_stated: bool) -> Expression:
    values: dict[Kind, Value] = {Kind.INTEGER: 1, Kind.REAL: 1.5, Kind.TEXT: "a"}
    if is_stated and kind in values:
        return literal(values[kind])
    return ColumnOf(source="t", name="any", facts=Facts(kind=kind))


# --------------------------------------------------------------------------- relations


@dataclass(frozen=True, slots=True, kw_only=True)
class Relation:
    """What stands in FROM, and what it offers."""

    text: str
    columns: dict[Kind, tuple[str, ...]]
    unit: str | None
    secret: str = "TRUE"  # noqa: S105 - a condition
    """A condition that holds for the victim's rows alone, as far as the unit lets it."""
    known: tuple[str, ...] = ()
    """Keys whose values are public."""
    common: str = ""
    """WITH, if the relation is given a name there."""


def _t(name: str) -> Relation:
    columns = {
        Kind.INTEGER: ("k", "i", "j", "u"),
        Kind.REAL: ("x", "y"),
        Kind.TEXT: ("s", "n"),
        Kind.DATE: ("d", "e"),
        Kind.TIMESTAMP: ("m",),
        Kind.TIMESTAMP_TZ: ("z",),
        Kind.BOOLEAN: ("b", "hiv"),
    }
    return Relation(
        text=f"t AS {name}",
        columns={kind: tuple(f"{name}.{each}" for each in all_) for kind, all_ in columns.items()},
        unit=f"{name}.u",
        secret=f"{name}.hiv",
        known=(f"{name}.s", f"{name}.k", f"{name}.b", f"date_trunc('month', {name}.d)"),
    )


def _w(name: str) -> Relation:
    return Relation(
        text=f"w {name}",
        columns={
            Kind.INTEGER: (f"{name}.w_id",),
            Kind.REAL: (f"{name}.v",),
            Kind.TEXT: (f"{name}.g",),
        },
        unit=f"{name}.u",
    )


def _c(name: str) -> Relation:
    return Relation(
        text=f"c {name}",
        columns={Kind.INTEGER: (f"{name}.q",), Kind.TEXT: (f"{name}.h",)},
        unit=None,
        known=(f"{name}.h",),
    )


def _r(name: str) -> Relation:
    return Relation(
        text=f"r {name}",
        columns={
            Kind.INTEGER: (f"{name}.a",),
            Kind.REAL: (f"{name}.f",),
            Kind.TEXT: (f"{name}.o",),
        },
        unit=None,
        known=(f"{name}.o", f"{name}.a"),
    )


def _p(name: str) -> Relation:
    return Relation(
        text=f"p {name}",
        columns={
            Kind.INTEGER: (f"{name}.k",),
            Kind.REAL: (f"{name}.weight",),
            Kind.TEXT: (f"{name}.name",),
            Kind.DATE: (f"{name}.day",),
        },
        unit=None,
        known=(f"{name}.name", f"{name}.k"),
    )


def _constants(name: str) -> Relation:
    """Return constants at the ends of what columns can hold."""
    rows = (
        "(1, 'it''s \"a\"', 1e300, DATE '9999-12-31', TIMESTAMP '0001-01-01 00:00:00', TRUE)",
        "(-9223372036854775808, '\\%_', -0.0, NULL, NULL, FALSE)",
        "(9223372036854775807, '', 5e-324, DATE '0001-01-01', TIMESTAMP '2024-02-29', NULL)",
        "(NULL, NULL, NULL, DATE '1970-01-01', NULL, NULL), (2, 'old', 0.1, NULL, NULL, TRUE)",
    )
    return Relation(
        text=f"(VALUES {', '.join(rows)}) AS {name}(k, word, weight, day, moment, flag)",
        columns={
            Kind.INTEGER: (f"{name}.k",),
            Kind.REAL: (f"{name}.weight",),
            Kind.TEXT: (f"{name}.word",),
            Kind.DATE: (f"{name}.day",),
            Kind.TIMESTAMP: (f"{name}.moment",),
            Kind.BOOLEAN: (f"{name}.flag",),
        },
        unit=None,
        known=(f"{name}.word", f"{name}.k"),
    )


def _public_result(name: str) -> Relation:
    """Return the result of a query over a public table."""
    query = "SELECT k, COUNT(*) AS n, MAX(name) AS name, SUM(weight) AS weight FROM p GROUP BY k"
    return Relation(
        text=f"({query}) AS {name}",
        columns={
            Kind.INTEGER: (f"{name}.k", f"{name}.n"),
            Kind.REAL: (f"{name}.weight",),
            Kind.TEXT: (f"{name}.name",),
        },
        unit=None,
        known=(f"{name}.name", f"{name}.n"),
    )


def _released(name: str, key: str, kind: Kind) -> Relation:
    """Return what is released by a key, and what SQL makes of it."""
    query = (
        f"SELECT {key} AS k, COUNT(*) AS n, AVG(x) AS x, MAX(d) AS d, COUNT(*) > 9 AS f, "
        f"'<' || CAST(COUNT(*) AS TEXT) AS word FROM t GROUP BY {key}"
    )
    columns: dict[Kind, tuple[str, ...]] = {
        Kind.INTEGER: (f"{name}.n",),
        Kind.REAL: (f"{name}.x",),
        Kind.TEXT: (f"{name}.word",),
        Kind.DATE: (f"{name}.d",),
        Kind.BOOLEAN: (f"{name}.f",),
    }
    columns[kind] = (*columns.get(kind, ()), f"{name}.k")
    return Relation(text=f"({query}) AS {name}", columns=columns, unit=None, known=(f"{name}.k",))


KEYS = {"s": Kind.TEXT, "n": Kind.TEXT, "k": Kind.INTEGER, "e": Kind.DATE, "m": Kind.TIMESTAMP}
"""Keys that are released beside rows, some of them declared."""


def _far(name: str) -> Relation:
    return Relation(
        text=f"far AS {name}",
        columns={Kind.INTEGER: (f"{name}.k",), Kind.TEXT: (f"{name}.label",)},
        unit=None,
        known=(f"{name}.label",),
    )


def _beside(left: Relation, right: Relation, text: str) -> Relation:
    columns = {
        kind: left.columns.get(kind, ()) + right.columns.get(kind, ())
        for kind in {**left.columns, **right.columns}
    }
    return replace(left, text=text, columns=columns, known=left.known + right.known)


JOINS = ("JOIN", "INNER JOIN", "LEFT JOIN", "LEFT OUTER JOIN")

OUTER_JOINS = (
    "{left} RIGHT JOIN {right} ON {on}",
    "{left} FULL JOIN {right} ON {on}",
    "{left} FULL OUTER JOIN {right} USING (u)",
    "{left} NATURAL JOIN {right}",
    "{left} NATURAL RIGHT JOIN {right}",
    "{left} SEMI JOIN {right} ON {on}",
    "{left} ANTI JOIN {right} USING (u)",
    "(({left}) JOIN ({right}) ON {on})",
    "w AS o LEFT JOIN ({left} JOIN {right} ON {on}) ON o.u = a.u",
    "main.{left} FULL JOIN public.{right} ON {on} LEFT JOIN main.p ON main.p.k = a.k",
    "{left} JOIN {right} ON {on} RIGHT JOIN w AS o ON o.u = a.u",
    "{left} JOIN {right} ON {on} FULL JOIN w AS o ON o.u = a.u AND o.v > a.x",
)

PUBLIC_FIRST = (
    "{left} LEFT JOIN {right} ON {on}",
    "{right} RIGHT JOIN {left} ON {on}",
    "{right} FULL JOIN {left} ON {on}",
    "{left} LEFT JOIN ({right} JOIN w AS o ON o.u = a.u) ON {on}",
)


# --------------------------------------------------------------------------- questions

WINDOWS: dict[WindowFunction, tuple[str, ...]] = {
    WindowFunction.ROW_NUMBER: ("ROW_NUMBER()",),
    WindowFunction.RANK: ("RANK()",),
    WindowFunction.DENSE_RANK: ("DENSE_RANK()",),
    WindowFunction.LAG: ("LAG({this})", "LAG({this}, 2)", "LAG({this}, 99999999999, {this})"),
    WindowFunction.LEAD: ("LEAD({this})", "LEAD({this}, 1, {this})"),
    WindowFunction.FIRST_VALUE: ("FIRST_VALUE({this})",),
    WindowFunction.LAST_VALUE: ("LAST_VALUE({this})",),
    WindowFunction.COUNT: ("COUNT(*)", "COUNT({this})"),
    WindowFunction.SUM: ("SUM({integer})",),
    WindowFunction.MIN: ("MIN({this})",),
    WindowFunction.MAX: ("MAX({this})",),
}
FRAMES = (
    "",
    "ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW",
    "ROWS UNBOUNDED PRECEDING",
    "ROWS BETWEEN 2 PRECEDING AND CURRENT ROW",
    "ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING",
)

AGGREGATES: dict[Statistic, tuple[str, ...]] = {
    Statistic.COUNT_ROWS: ("COUNT(*)", "COUNT(1)", "COUNT()"),
    Statistic.COUNT: ("COUNT({any})", "COUNT_IF({condition})", "COUNTIF({condition})"),
    Statistic.COUNT_UNITS: ("COUNT(DISTINCT {unit})",),
    Statistic.COUNT_DISTINCT: (
        "COUNT(DISTINCT {any})",
        "APPROX_COUNT_DISTINCT({any})",
        "COUNT(DISTINCT ({any}, {text}))",
        "COUNT(DISTINCT {any}, {number})",
    ),
    Statistic.SUM: ("SUM({bounded})", "SUM({bounded} ORDER BY {any})"),
    Statistic.SUM_DISTINCT: ("SUM(DISTINCT {bounded})",),
    Statistic.AVG: ("AVG({bounded})", "MEAN({bounded})", "AVG(DISTINCT {bounded})"),
    Statistic.VAR_SAMP: ("VARIANCE({bounded})", "VAR_SAMP({bounded})"),
    Statistic.VAR_POP: ("VAR_POP({bounded})",),
    Statistic.STDDEV_SAMP: ("STDDEV({bounded})", "STDDEV_SAMP({bounded})"),
    Statistic.STDDEV_POP: ("STDDEV_POP({bounded})",),
    Statistic.CORR: ("CORR({bounded}, {bounded})",),
    Statistic.COVAR_POP: ("COVAR_POP({bounded}, {bounded})",),
    Statistic.COVAR_SAMP: ("COVAR_SAMP({bounded}, {bounded})",),
    Statistic.REGR_SLOPE: ("REGR_SLOPE({bounded}, {bounded})",),
    Statistic.REGR_INTERCEPT: ("REGR_INTERCEPT({bounded}, {bounded})",),
    Statistic.REGR_R2: ("REGR_R2({bounded}, {bounded})",),
    Statistic.REGR_COUNT: ("REGR_COUNT({bounded}, {bounded})",),
    Statistic.REGR_AVGX: ("REGR_AVGX({bounded}, {bounded})",),
    Statistic.REGR_AVGY: ("REGR_AVGY({bounded}, {bounded})",),
    Statistic.REGR_SXX: ("REGR_SXX({bounded}, {bounded})",),
    Statistic.REGR_SYY: ("REGR_SYY({bounded}, {bounded})",),
    Statistic.REGR_SXY: ("REGR_SXY({bounded}, {bounded})",),
    Statistic.QUANTILE: (
        "MEDIAN({bounded})",
        "MEDIAN({moment})",
        "PERCENTILE_CONT(0.9) WITHIN GROUP (ORDER BY {bounded})",
        "PERCENTILE_DISC(0.25) WITHIN GROUP (ORDER BY {bounded} DESC)",
        "QUANTILE_CONT({bounded}, 0.5)",
        "QUANTILE_DISC({moment}, 0)",
        "QUANTILE({bounded}, 1)",
        "APPROX_QUANTILE({bounded}, 0.1)",
        "QUANTILE_CONT({bounded}, [0.1, 0.9])",
        "QUANTILE_DISC({moment}, [0.25, 0.5])[2]",
        "PERCENTILE_CONT(ARRAY[0, 0.5]) WITHIN GROUP (ORDER BY {bounded} DESC)",
        "APPROX_QUANTILE({bounded}, [0.5])",
        "APPROX_QUANTILES({bounded}, 2)",
        "APPROX_QUANTILES({bounded}, 4)[OFFSET(1)]",
    ),
    Statistic.MIN: ("MIN({bounded})", "MIN({moment})", "MIN(DISTINCT {bounded})"),
    Statistic.MAX: ("MAX({bounded})", "MAX({moment})", "MAX(DISTINCT {bounded})"),
    Statistic.MODE: ("MODE({key})", "MODE() WITHIN GROUP (ORDER BY {key})"),
}
PER_UNIT = (
    *("COUNT(*)", "COUNT({any})", "COUNT(DISTINCT {any})", "SUM({bounded})", "SUM({integer})"),
    *("AVG({bounded})", "MIN({bounded})", "MAX({bounded})", "MIN({moment})", "MAX({moment})"),
    "MEDIAN({bounded})",
    *("AVG({bounded}) FILTER (WHERE {condition})",),
    *("MIN({any})", "MAX({text})", "MAX({any}) FILTER (WHERE {condition})", "ANY_VALUE({any})"),
    *("BOOL_OR({condition})", "LOGICAL_AND({condition}) FILTER (WHERE {condition})"),
    *("EVERY({condition})", "ARG_MAX({any}, {number})", "MAX_BY({this}, {any})"),
    *("ARG_MIN({any}, {time}) FILTER (WHERE {condition})", "FIRST({any} ORDER BY {time}, {any})"),
    *("FIRST({this} ORDER BY {any} DESC NULLS FIRST)", "LAST({any} ORDER BY {integer})"),
    *("ANY_VALUE({any} ORDER BY {text})", "(ARRAY_AGG({any} ORDER BY {text} DESC))[1]"),
    *("LAST({any} ORDER BY {number} NULLS FIRST) FILTER (WHERE {condition})",),
    *("COUNT(DISTINCT ({any}, {number}))", "COUNT(DISTINCT {any}, {text})"),
)

AFTERWARDS = (
    "SELECT MAX(a0) FROM ({one}) AS first",
    "SELECT UNNEST(q), q[1] + 1, len(q) FROM (SELECT QUANTILE_DISC(clamp(x, 0, 9), [0, 1]) AS q "
    "FROM t) AS first",
    "SELECT SUM(p.weight), AVG(t.k * p.k), MAX(p.day) FROM t JOIN p ON t.k = p.k",
    "SELECT * EXCLUDE (a0) FROM (SELECT *, 1 AS more FROM ({one}) AS first) AS second",
    "SELECT a0 FROM ({one}) AS first UNION ALL SELECT a0 FROM ({one}) AS second",
    "SELECT a0 FROM ({one}) AS first UNION ALL SELECT a0 FROM ({other}) AS second",
    "SELECT a0 FROM ({one}) AS first UNION SELECT day FROM p",
    "SELECT COUNT(*) FROM t UNION SELECT COUNT(*) FROM w",
    "((SELECT COUNT(*) AS n FROM t) UNION ALL (SELECT COUNT(*) FROM w)) ORDER BY n LIMIT 1",
    "SELECT name FROM p INTERSECT SELECT s FROM (SELECT s, COUNT(*) FROM t GROUP BY s) AS q "
    "EXCEPT SELECT 'old'",
    "WITH first AS ({one}) SELECT f.a0, (SELECT COUNT(*) FROM p) FROM first AS f",
    "WITH first(one, two) AS (SELECT u, x FROM t) SELECT SUM(two), COUNT(DISTINCT one) FROM first",
    "SELECT v.a, q.n FROM (VALUES ('old', 1), ('new', 2)) AS v(a, b) JOIN (SELECT s, COUNT(*) AS n "
    "FROM t GROUP BY s) AS q ON q.s = v.a",
    "SELECT s, RANK() OVER w AS place FROM t GROUP BY s WINDOW w AS (ORDER BY COUNT(*))",
    "SELECT v.k, (SELECT COUNT(*) + 1 FROM t WHERE t.k = v.k AND t.x > 3) AS n FROM p AS v",
    "SELECT name FROM p WHERE weight < (SELECT SUM(t.x) FROM t WHERE t.k = p.k AND t.s = p.name)",
    "SELECT v.k, COUNT(*) AS n FROM t JOIN p AS v ON t.k = v.k GROUP BY v.k "
    "QUALIFY ROW_NUMBER() OVER (ORDER BY n) < 4",
    "SELECT COUNT(*) FROM t, LATERAL (SELECT COUNT(*) AS n FROM w WHERE w.u = t.u) AS tied "
    "WHERE tied.n > 1",
    "SELECT COUNT(*) FROM t LEFT JOIN LATERAL (SELECT w.g FROM w WHERE w.u = t.u ORDER BY w.v "
    "LIMIT 1) AS tied ON TRUE WHERE tied.g = 'a'",
    "SELECT COUNT(*) FROM (SELECT u, UNNEST(string_split(n, ' ')[1:3]) AS word FROM t) AS words",
    "SELECT word, COUNT(*) FROM t, UNNEST(list_slice(string_split(t.n, 'a'), 2, 4)) AS q(word) "
    "WHERE word <> '' GROUP BY word",
    'SELECT COUNT(*) AS "a""b ☃ {0}" FROM "T" AS "a" WHERE "a"."X" > 3',
)
"""Questions about what was released: SQL that comes after the noise."""

COMPUTED_AFTERWARDS = (
    *("format('{:d}', n)", "format('{:d} {}', n)", "format('{}', x)", "format('{:d}', x)"),
    *("printf('%d', n)", "printf('%d', x)", "printf('%s', s)", "strftime(d, '%Y-%m')"),
    *("strftime(d, '%Q')", "strftime(d, s)", "strptime(s, '%Y')", "strptime('2024', '%Y')"),
    *("monthname(d)", "dayname(d)", "bar(n, 0, 10, 20)", "bar(n, 0, 10, n)", "list_value(n, 1)"),
    *("list_sum(list_value(n))", "even(x)", "cbrt(x)", "gamma(n)", "lgamma(n)", "isnan(x)"),
    *("isfinite(x)", "isinf(x)", "to_days(CAST(n AS INTEGER))", "to_months(CAST(n AS INTEGER))"),
    *("d + to_years(CAST(n AS INTEGER))", "last_day(d)", "try(CAST(s AS INTEGER))", "md5(s)"),
    *("make_timestamp(n, 1, 1, 1, 1, 1)", "sin(n)", "asin(n)", "atan2(n, x)", "degrees(n)"),
    *("reverse(s)", "split_part(s, s, CAST(n AS INTEGER))", "concat_ws(s, s, n)", "gcd(n, 4)"),
    *("lcm(n, n)", "bit_count(n)", "chr(CAST(n AS INTEGER))", "ascii(s)", "initcap(s)"),
    *("typeof(n)", "century(d)", "era(d)", "CAST(n AS TINYINT)", "CAST(x AS SMALLINT)"),
    *("CAST(s AS INTEGER)", "CAST(d AS TIMESTAMP)", "n * n * n * n * n * n * n", "n // (n - n)"),
    *("factorial(CAST(n AS INTEGER))", "ntile(n) OVER ()", "ntile(3) OVER (ORDER BY n)"),
    *("nth_value(n, 2) OVER (ORDER BY s)", "cume_dist() OVER (ORDER BY n)", "date_trunc(s, d)"),
    *("percent_rank() OVER (ORDER BY n)", "(SELECT q.n)", "sqrt(n - 500)", "ln(-n)", "x ** 999"),
)
"""Of a number n, a real x, a text s and a date d that were released; some fail for some of them."""

SETS = ("ROLLUP ({})", "CUBE ({})", "GROUPING SETS (({}), ())", "GROUPING SETS ({}, ())")
"""How keys are grouped by in several sets."""

SET_QUESTIONS = (
    "SELECT s, k, GROUPING(s), GROUPING_ID(s, k), COUNT(*) AS size FROM t GROUP BY CUBE (s, k) "
    "ORDER BY size DESC LIMIT 3",
    "SELECT s, k, AVG(x) FROM t GROUP BY s, ROLLUP (k)",
    "SELECT s, k, MEDIAN(x) FROM t GROUP BY GROUPING SETS ((s, k), s, ())",
    "SELECT COUNT(*) FROM (SELECT u FROM t EXCEPT SELECT k FROM p) AS q",
    "SELECT s FROM t INTERSECT SELECT name FROM p",
    "SELECT COUNT(*) FROM (SELECT s FROM t UNION SELECT s FROM t WHERE x > 3) AS q",
    "SELECT COUNT(*) FROM (SELECT u, s FROM t UNION ALL BY NAME SELECT s, u FROM t) AS q",
    "SELECT DISTINCT ON (s) s, k, COUNT(*) AS size FROM t GROUP BY s, k ORDER BY s, size DESC",
    "SELECT COUNT(*) FROM (SELECT u, s, COUNT(*) AS size FROM t GROUP BY u, s "
    "QUALIFY ROW_NUMBER() OVER (PARTITION BY u ORDER BY size) = 1) AS q",
)
"""Sets of keys, set operations with public rows and without the unit, first rows of groups."""

DEEPEST = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Writer:
    """Writes expressions over a relation."""

    choices: Choices
    relation: Relation
    used: set[str] = field(default_factory=set)

    # ----------------------------------------------------------------------- expressions

    def expression(self, kind: Kind, depth: int = DEEPEST) -> str:
        """Return an expression of a kind."""
        if depth <= 0 or self.choices.is_one_of(8):
            return self.leaf(kind)
        if self.choices.is_one_of(5):
            return self.guarded(kind, depth - 1)
        if self.choices.is_one_of(6):
            return self.other(kind, depth - 1)
        return self.called(kind, depth - 1)

    def leaf(self, kind: Kind) -> str:
        """Return a column, or a stated value."""
        columns = self.relation.columns.get(kind, ())
        if columns and not self.choices.is_one_of(3):
            return self.choices.one(columns)
        return literals.stated(self.choices, kind)

    def guarded(self, kind: Kind, depth: int) -> str:
        """Return one value for the victim and another for everybody else."""
        hostile = literals.stated(self.choices, kind)
        other = self.expression(kind, depth)
        return f"CASE WHEN {self.victim()} THEN {hostile} ELSE {other} END"

    def victim(self) -> str:
        """Return a condition that only the victim's rows meet, if they can be told apart."""
        if self.relation.unit is None:
            return self.relation.secret
        here = f"{self.relation.unit} = {VICTIM}"
        return here if self.choices.is_one_of(2) else f"{here} AND {self.relation.secret}"

    def other(self, kind: Kind, depth: int) -> str:
        """Return a form that is no function of the table."""
        forms = (*OTHER_FORMS[None], *OTHER_FORMS.get(kind, ()))
        form = self.choices.one(forms)
        if "{unit}" in form and self.relation.unit is None:
            form = OTHER_FORMS[None][0]
        return self.filled(form, kind, depth)

    def filled(self, form: str, kind: Kind, depth: int) -> str:
        """Return a form with expressions in place of what it names."""
        same = self.choices.one(KINDS[:-1])
        time = self.choices.one((Kind.DATE, Kind.TIMESTAMP, Kind.TIMESTAMP_TZ))
        stamp = self.choices.one((Kind.TIMESTAMP, Kind.TIMESTAMP_TZ))
        kinds = {
            "{same}": same,
            "{this}": kind,
            "{condition}": Kind.BOOLEAN,
            "{number}": Kind.REAL,
            "{integer}": Kind.INTEGER,
            "{text}": Kind.TEXT,
            "{any}": same,
            "{time}": time,
            "{stamp}": stamp,
        }
        form = form.replace("{moments}", "({stamp} - {stamp})")
        for name, each in kinds.items():
            while name in form:
                form = form.replace(name, self.expression(each, depth), 1)
        for name, text in (("{bounded}", self.bounded), ("{moment}", self.moment)):
            while name in form:
                form = form.replace(name, text(depth), 1)
        form = form.replace("{key}", self.key()).replace("{span}", literals.span(self.choices))
        return form.replace("{unit}", self.relation.unit or "NULL")

    def bounded(self, depth: int = 1) -> str:
        """Return a number with bounds."""
        kind = self.choices.one((Kind.INTEGER, Kind.REAL))
        low, high = self.choices.one(literals.RANGES[kind])
        return f"clamp({self.expression(kind, depth)}, {low}, {high})"

    def moment(self, depth: int = 1) -> str:
        """Return a time with bounds."""
        kind = self.choices.one((Kind.DATE, Kind.TIMESTAMP, Kind.TIMESTAMP_TZ))
        if kind not in self.relation.columns:
            kind = Kind.DATE
        low, high = literals.RANGES[kind][0]
        return f"clamp({self.expression(kind, depth)}, {low}, {high})"

    def called(self, kind: Kind, depth: int) -> str:
        """Return a function of the table that gives this kind."""
        by_name = productions()[kind]
        if not by_name:
            return self.leaf(kind)
        made = self.choices.one(by_name[self.choices.one(tuple(by_name))])
        return self.written(made, self.choices.one(SPELLINGS[made.function.name]), depth)

    def written(self, made: Production, spelling: str, depth: int) -> str:
        """Return a function with arguments of the kinds that it takes."""
        name, kinds = made.function.name, made.kinds
        arguments = [
            literals.argument(self.choices, name, place, each)
            if place in made.function.literals
            else self.expression(each, depth)
            for place, each in enumerate(kinds)
        ]
        if name in ("like", "ilike"):
            arguments[1:] = literals.pattern(self.choices, has_escape="{2}" in spelling)
        if name == "clamp":
            arguments[1:] = self.choices.one(literals.RANGES[kinds[0]])
        return self.spelt(name, spelling, arguments)

    def spelt(self, name: str, spelling: str, arguments: Sequence[str]) -> str:
        """Return a function's arguments as a spelling has them."""
        self.used.add(name)
        words = {
            "{rest}": ", ".join(arguments[1:]),
            "{all}": ", ".join(arguments),
            "{conjunction}": " AND ".join(arguments),
            "{disjunction}": " OR ".join(arguments),
            "{pipes}": " || ".join(arguments),
            "{bare}": arguments[0].strip("'"),
            "{span}": literals.span(self.choices),
            "{width}": literals.width(self.choices),
            "{type}": self.choices.one(TYPES.get(name, ["INT"])),
            **{f"{{{place}}}": each for place, each in enumerate(arguments)},
        }
        return _replaced(spelling, words)

    # ----------------------------------------------------------------------- parts of questions

    def condition(self, depth: int = DEEPEST) -> str:
        """Return a condition on rows."""
        return self.expression(Kind.BOOLEAN, depth)

    def key(self) -> str:
        """Return what rows are grouped by."""
        if self.relation.known and not self.choices.is_one_of(3):
            return self.choices.one(self.relation.known)
        return self.expression(self.choices.one(KINDS), 1)

    def aggregate(self, listed: Sequence[str] | None = None) -> str:
        """Return an aggregate over the rows of many units, or of one."""
        if listed is None:
            listed = AGGREGATES[self.choices.one(tuple(AGGREGATES))]
        form = self.choices.one(listed)
        if "{unit}" in form and self.relation.unit is None:
            form = "COUNT(*)"
        text = self.filled(form, Kind.INTEGER, self.choices.below(DEEPEST))
        if self.choices.is_one_of(6) and "FILTER" not in text:
            text += f" FILTER (WHERE {self.condition(1)})"
        return text

    def where(self) -> str:
        """Return WHERE, or nothing."""
        return "" if self.choices.is_one_of(3) else f" WHERE {self.condition()}"

    def window(self) -> str:
        """Return a function over the rows of the same unit."""
        function = self.choices.one(tuple(WINDOWS))
        form = self.choices.one(WINDOWS[function])
        kind = self.choices.one(KINDS[:-1])
        partition = self.relation.unit or "NULL"
        if self.choices.is_one_of(3):
            partition += f", {self.key()}"
        order = self.expression(self.choices.one(KINDS[:-1]), 1)
        how = self.choices.one(("", " DESC", " NULLS FIRST", " DESC NULLS LAST"))
        ordered = f" ORDER BY {order}{how}"
        frame = self.choices.one(FRAMES[1:])
        over = f"PARTITION BY {partition}{ordered} {frame}"
        if function in (WindowFunction.LAG, WindowFunction.LEAD) or "()" in form:
            over = f"PARTITION BY {partition}{ordered}"
        elif self.choices.is_one_of(3):
            over = f"PARTITION BY {partition}"
        return f"{self.filled(form, kind, 1)} OVER ({over})"


def _replaced(spelling: str, words: dict[str, str]) -> str:
    """Return a text with names in braces replaced, and none that stands in what was put in."""
    parts, rest = [], spelling
    while rest:
        found = [(rest.index(name), name) for name in words if name in rest]
        if not found:
            break
        place, name = min(found)
        parts += [rest[:place], words[name]]
        rest = rest[place + len(name) :]
    return "".join([*parts, rest])


class Questions:
    """Questions that follow from a seed."""

    def __init__(self, seed: str) -> None:
        self.choices = Choices(seed)

    def question(self) -> str:
        """Return the next question."""
        if self.choices.is_one_of(12):
            return self.of_releases()
        return self.release(self.relation(2))

    # ----------------------------------------------------------------------- FROM

    def relation(self, depth: int) -> Relation:
        """Return what stands in FROM."""
        forms: list[Callable[[int], Relation]] = [self.single, self.on_unit, self.contradicting]
        forms += [self.with_public, self.with_released, self.on_path]
        forms += [self.outer, self.public_first]
        if depth > 0:
            forms += [self.derived, self.per_unit, self.united, self.windowed, self.distinct]
            forms.append(self.first_rows)
        return self.choices.one(forms)(depth)

    def single(self, _: int) -> Relation:
        return self.choices.one((_t, _t, _t, _w, _c, _r))("a")

    def on_unit(self, _: int) -> Relation:
        left = _t("a")
        right = self.choices.one((_t, _w))("b")
        join = self.choices.one(JOINS)
        both = _beside(left, right, "")
        if self.choices.is_one_of(3) and right.text.startswith("w"):
            return replace(both, text=f"{left.text} {join} {right.text} USING (u)", unit="u")
        more = Writer(choices=self.choices, relation=both).condition(2)
        on = f"a.u = b.u AND {more}" if self.choices.is_one_of(2) else "a.u = b.u"
        return replace(both, text=f"{left.text} {join} {right.text} ON {on}")

    def contradicting(self, _: int) -> Relation:
        """Return an optional side that is empty, whatever statistics of its columns say."""
        left, right = _t("a"), self.choices.one((_t, _w, _far))("b")
        never = {"t": "b.k > 100", "w": "b.v < -1", "f": "b.k = a.k"}[right.text[0]]
        on = never if right.unit is None else f"a.u = b.u AND {never}"
        return _beside(left, right, f"{left.text} LEFT JOIN {right.text} ON {on}")

    def with_public(self, _: int) -> Relation:
        made = (_p, _far, _p, _far, _constants, _public_result)
        left, right = _t("a"), self.choices.one(made)("b")
        both = _beside(left, right, "")
        more = Writer(choices=self.choices, relation=both).condition(1)
        text = self.choices.one(
            (
                f"{left.text} JOIN {right.text} ON a.k = b.k",
                f"{left.text} LEFT JOIN {right.text} ON a.k = b.k AND {more}",
                f"{right.text} JOIN {left.text} ON a.k = b.k",
                f"{left.text} CROSS JOIN {right.text}",
                f"{left.text}, {right.text}",
            )
        )
        return replace(both, text=text)

    def with_released(self, _: int) -> Relation:
        """Return rows beside what is released of them before, by a key of both."""
        key = self.choices.one(tuple(KEYS))
        left, right = _t("a"), _released("b", key, KEYS[key])
        more = Writer(choices=self.choices, relation=_beside(left, right, "")).condition(1)
        text = self.choices.one(
            (
                f"{left.text} JOIN {right.text} ON a.{key} = b.k",
                f"{left.text} LEFT JOIN {right.text} ON a.{key} = b.k AND {more}",
                f"{right.text} JOIN {left.text} ON a.{key} = b.k",
            )
        )
        return _beside(left, right, text)

    def on_path(self, _: int) -> Relation:
        left, right = _c("a"), _w("b")
        both = _beside(left, right, f"{left.text} JOIN {right.text} ON a.w_id = b.w_id")
        return replace(both, unit="b.u")

    def outer(self, _: int) -> Relation:
        """Return joins that keep rows without a partner, joins in brackets, and filters."""
        left, right = _t("a"), self.choices.one((_t, _w))("b")
        both = replace(_beside(left, right, ""), unit=None)
        more = Writer(choices=self.choices, relation=both).condition(1)
        on = f"a.u = b.u AND ({more})" if self.choices.is_one_of(2) else "a.u = b.u"
        form = self.choices.one(OUTER_JOINS)
        text = form.format(left=left.text, right=right.text, on=on)
        if "SEMI" in form or "ANTI" in form:
            return replace(left, text=text)
        return replace(both, text=text)

    def public_first(self, _: int) -> Relation:
        """Return a public table whose rows stay without a private partner."""
        left, right = self.choices.one((_p, _far))("b"), _t("a")
        form = self.choices.one(PUBLIC_FIRST)
        on = "a.k = b.k AND a.x > 1" if self.choices.is_one_of(2) else "a.k = b.k"
        text = form.format(left=left.text, right=right.text, on=on)
        return replace(right, text=text, unit=None, known=left.known)

    # ----------------------------------------------------------------------- queries in FROM

    def with_unit(self, depth: int) -> Relation:
        found = self.relation(depth)
        return found if found.unit is not None else _t("a")

    def named(self, query: str, relation: Relation, inner: Relation) -> Relation:
        """Return a query in FROM, or in WITH, with a name."""
        common = inner.common
        if self.choices.is_one_of(3):
            common = f"{common}, q AS ({query})" if common else f"WITH q AS ({query})"
            return replace(relation, text="q", common=common)
        return replace(relation, text=f"({query}) AS q", common=common)

    def derived(self, depth: int) -> Relation:
        inner = self.with_unit(0 if depth < 2 else depth - 1)
        writer = Writer(choices=self.choices, relation=inner)
        made = {kind: writer.expression(kind, 2) for kind in KINDS[:-1]}
        columns = ", ".join(f"{text} AS c{place}" for place, text in enumerate(made.values()))
        secret = f"({inner.secret}) AS secret"
        query = f"SELECT {inner.unit} AS u, {secret}, {columns} FROM {inner.text}{writer.where()}"
        if self.choices.is_one_of(8):
            query = f"SELECT * FROM ({query}) AS everything"
        return self.named(query, _of_query(tuple(made)), inner)

    def per_unit(self, depth: int) -> Relation:
        inner = self.with_unit(0 if depth < 2 else depth - 1)
        writer = Writer(choices=self.choices, relation=inner)
        counted = writer.aggregate(("COUNT(*)", "SUM({integer})", "COUNT(DISTINCT {any})"))
        columns = f"{counted} AS c0, {writer.aggregate(('AVG({bounded})',))} AS c1"
        more = f", {writer.aggregate(PER_UNIT)} AS extra"
        key = f", {writer.key()}" if self.choices.is_one_of(3) else ""
        having = f" HAVING COUNT(*) > 1 OR {writer.aggregate(PER_UNIT)} IS NULL"
        query = (
            f"SELECT {inner.unit} AS u, {columns}{more} FROM {inner.text}{writer.where()} "
            f"GROUP BY {inner.unit}{key}{having if self.choices.is_one_of(3) else ''}"
        )
        return self.named(query, _of_query((Kind.INTEGER, Kind.REAL), secret="TRUE"), inner)  # noqa: S106

    def united(self, _: int) -> Relation:
        parts = []
        kinds = tuple(self.choices.one(KINDS[:-1]) for _ in range(2))
        for inner in (self.with_unit(0), self.with_unit(0)):
            writer = Writer(choices=self.choices, relation=inner)
            made = ", ".join(
                f"{writer.expression(kind, 2)} AS c{place}" for place, kind in enumerate(kinds)
            )
            parts.append(
                f"SELECT {inner.unit} AS u, ({inner.secret}) AS secret, {made} "
                f"FROM {inner.text}{writer.where()}"
            )
        words = ("UNION ALL", "UNION ALL", "UNION", "INTERSECT", "EXCEPT")
        return self.named(f" {self.choices.one(words)} ".join(parts), _of_query(kinds), _t("a"))

    def first_rows(self, _: int) -> Relation:
        """Return one row of each unit, or of each unit and key."""
        inner = self.with_unit(0)
        writer = Writer(choices=self.choices, relation=inner)
        kind = self.choices.one(KINDS[:-1])
        parts = f"{inner.unit}, {writer.key()}" if self.choices.is_one_of(2) else inner.unit
        order = f" ORDER BY {parts}, {writer.leaf(Kind.REAL)} DESC"
        query = (
            f"SELECT DISTINCT ON ({parts}) {inner.unit} AS u, ({inner.secret}) AS secret, "
            f"{writer.expression(kind, 2)} AS c0 FROM {inner.text}{writer.where()}"
            f"{order if self.choices.is_one_of(2) else ''}"
        )
        return self.named(query, _of_query((kind,)), inner)

    def windowed(self, _: int) -> Relation:
        inner = self.with_unit(0)
        writer = Writer(choices=self.choices, relation=inner)
        qualify = f" QUALIFY {writer.window()} IS NOT NULL" if self.choices.is_one_of(3) else ""
        over = f"PARTITION BY {inner.unit} ORDER BY {writer.leaf(Kind.REAL)}"
        is_named = self.choices.is_one_of(3)
        query = (
            f"SELECT {inner.unit} AS u, ({inner.secret}) AS secret, "
            f"ROW_NUMBER() OVER {'by_unit' if is_named else f'({over})'} "
            f"AS c0, {writer.window()} AS extra FROM {inner.text}{writer.where()}"
            f"{f' WINDOW by_unit AS ({over})' if is_named else ''}{qualify}"
        )
        return self.named(query, _of_query((Kind.INTEGER,)), inner)

    def distinct(self, _: int) -> Relation:
        inner = self.with_unit(0)
        writer = Writer(choices=self.choices, relation=inner)
        kind = self.choices.one(KINDS[:-1])
        query = (
            f"SELECT DISTINCT {inner.unit} AS u, ({inner.secret}) AS secret, "
            f"{writer.expression(kind, 2)} AS c0 FROM {inner.text}{writer.where()}"
        )
        return self.named(query, _of_query((kind,)), inner)

    # ----------------------------------------------------------------------- releases

    def release(self, relation: Relation) -> str:
        """Return a SELECT of aggregates, by groups or not, with what may follow."""
        writer = Writer(choices=self.choices, relation=relation)
        if self.choices.is_one_of(20):
            return f"{relation.common} SELECT DISTINCT {writer.key()} FROM {relation.text}".strip()
        keys = [writer.key() for _ in range(self.choices.one((0, 0, 1, 1, 2)))]
        asked = [writer.aggregate() for _ in range(self.choices.one((1, 1, 2, 3)))]
        columns = [
            *(f"{text} AS key{place}" for place, text in enumerate(keys)),
            *(f"{text} AS a{place}" for place, text in enumerate(asked)),
        ]
        groups = {
            0: ", ".join(keys),
            1: ", ".join(str(place + 1) for place in range(len(keys))),
            2: ", ".join(f"key{place}" for place in range(len(keys))),
            3: "ALL",
        }[self.choices.below(4)]
        if keys and groups != "ALL" and self.choices.is_one_of(6):
            groups = self.choices.one(SETS).replace("{}", groups)
        grouping = f" GROUP BY {groups}" if keys else ""
        return (
            f"{relation.common} SELECT {', '.join(columns)} FROM {relation.text}"
            f"{writer.where()}{grouping}{self.after(bool(keys))}"
        ).strip()

    def after(self, has_keys: bool) -> str:
        """Return clauses that act on released numbers."""
        having = " HAVING COUNT(*) > 1" if has_keys and self.choices.is_one_of(5) else ""
        ways = ("", " DESC", " DESC NULLS LAST", " NULLS FIRST")
        order = f" ORDER BY a0{self.choices.one(ways)}" if self.choices.is_one_of(4) else ""
        limit = " LIMIT 5 OFFSET 1" if order and self.choices.is_one_of(2) else ""
        return f"{having}{order}{limit}"

    def of_releases(self) -> str:
        """Return a question about what was released: SQL that comes after the noise."""
        one, other = (self.release(replace(self.single(0), common="")) for _ in range(2))
        form = self.choices.one((*AFTERWARDS, *AFTERWARDS, *computed_afterwards()))
        return form.replace("{one}", one).replace("{other}", other)


# --------------------------------------------------------------------------- one of each


def one_of_each(seed: str) -> Iterator[str]:
    """Yield questions that together say every spelling, type, form, aggregate and window."""
    choices = Choices(seed)
    writer = Writer(choices=choices, relation=_t("a"))
    for texts in _batches([f"COUNT({each})" for each in _one_of_each_expression(writer)]):
        yield f"SELECT {', '.join(texts)} FROM t AS a"
    for forms in AGGREGATES.values():
        listed = ", ".join(writer.filled(each, Kind.INTEGER, 1) for each in forms)
        yield f"SELECT a.s, {listed} FROM t AS a GROUP BY a.s"
        yield f"SELECT {listed} FROM t AS a LEFT JOIN far AS b ON a.k = b.k"
        empty = "t AS a LEFT JOIN t AS b ON a.u = b.u AND b.k > 100"
        yield f"SELECT b.k, {listed} FROM {empty} GROUP BY b.k"
    for form in OUTER_JOINS:
        joined = form.format(left="t AS a", right="w AS b", on="a.u = b.u AND a.x > b.v")
        yield f"SELECT COUNT(*), COUNT(a.x), SUM(clamp(a.i, 0, 9)) FROM {joined}"
    for form in PUBLIC_FIRST:
        joined = form.format(left="p AS b", right="t AS a", on="a.k = b.k AND a.x > b.weight")
        yield f"SELECT b.name, COUNT(a.x), SUM(clamp(a.i, 0, 9)) FROM {joined} GROUP BY b.name"
    for form in PER_UNIT:
        made = writer.filled(form, Kind.INTEGER, 1)
        yield f"SELECT COUNT(c) FROM (SELECT a.u, {made} AS c FROM t AS a GROUP BY a.u) AS q"
    for form in (each for forms in WINDOWS.values() for each in forms):
        for frame in FRAMES[1:]:
            over = f"PARTITION BY a.u ORDER BY a.k, {writer.leaf(Kind.TEXT)} {frame}"
            made = f"{writer.filled(form, Kind.DATE, 1)} OVER ({over})"
            yield f"SELECT COUNT(c) FROM (SELECT a.u, {made} AS c FROM t AS a) AS q"
    one = "SELECT s, COUNT(*) AS a0 FROM t GROUP BY s"
    other = "SELECT MAX(clamp(d, DATE '2024-01-01', DATE '2024-12-31')) AS a0 FROM t"
    yield from SET_QUESTIONS
    for form in (*AFTERWARDS, *computed_afterwards()):
        yield form.replace("{one}", one).replace("{other}", other)


def computed_afterwards() -> Iterator[str]:
    """Yield questions that compute something in rows of what was released."""
    for place, form in enumerate(COMPUTED_AFTERWARDS):
        key = ("s", "n")[place % 2]
        released = f"{key} AS s, COUNT(*) AS n, AVG(x) AS x, MAX(d) AS d FROM t GROUP BY {key}"
        yield f"SELECT {form} AS computed FROM (SELECT {released}) AS q"


def _one_of_each_expression(writer: Writer) -> Iterator[str]:
    for kind, names in productions().items():
        for name, made in names.items():
            for spelling in SPELLINGS[name]:
                for each in TYPES.get(name, [""]) if "{type}" in spelling else [""]:
                    one = writer.choices.one(made)
                    yield writer.written(one, spelling.replace("{type}", each), 1)
        for form in (*OTHER_FORMS[None], *OTHER_FORMS.get(kind, ())):
            yield writer.filled(form, kind, 1)


def _batches(texts: list[str], size: int = 8) -> Iterator[list[str]]:
    for place in range(0, len(texts), size):
        yield texts[place : place + size]


def _of_query(kinds: tuple[Kind, ...], secret: str = "q.secret") -> Relation:  # noqa: S107
    columns: dict[Kind, tuple[str, ...]] = {}
    for place, kind in enumerate(kinds):
        columns[kind] = (*columns.get(kind, ()), f"q.c{place}")
    return Relation(text="q", columns=columns, unit="q.u", secret=secret)
