"""Every function gives the same on every engine, over awkward values, and never an error."""

from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from sqlglot import exp

from discreet.catalog.schema import Kind
from discreet.query.expressions.facts import case_of, literal
from discreet.query.expressions.functions import FUNCTIONS, call
from discreet.query.expressions.translate import translate
from discreet.query.parse import parse
from discreet.query.tree import Call, Expression
from tests.engines.calls import FIXED, all_calls
from tests.engines.contract import OTHERS, Holder, engine_of
from tests.engines.contract_values import (
    AWKWARD,
    PLACES,
    awkward_table,
    evaluated,
    is_same,
)
from tests.engines.made import column

ULPS = {"exp": 2, "power": 2, "ln": 2, "log2": 4, "log10": 2, "log": 4}
"""What IEEE leaves to the library may differ by so many units of the last place; the rest not."""


UNLIKE = {("to_decimal", Kind.TEXT, 38, 38)}
"""DuckDB reads no text with an exponent as DECIMAL(38, 38)."""


@pytest.fixture(scope="module")
def embedded() -> Iterator[Holder]:
    engine = engine_of("duckdb", {"awkward": awkward_table()})
    yield engine
    engine.close()


@pytest.fixture(scope="module", params=OTHERS)
def other(request: pytest.FixtureRequest) -> Iterator[Holder]:
    engine = engine_of(request.param, {"awkward": awkward_table()})
    yield engine
    engine.close()


def is_compared(expression: Call) -> bool:
    first, *others = expression.arguments
    values = (getattr(each, "value", None) for each in others)
    return (expression.function, first.facts.kind, *values) not in UNLIKE


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_gives_the_same_everywhere(name: str, embedded: Holder, other: Holder) -> None:
    calls = list(filter(is_compared, all_calls(FUNCTIONS[name])))
    for start in range(0, len(calls), 20):
        some = calls[start : start + 20]
        for here, there in zip(evaluated(embedded, some), evaluated(other, some), strict=True):
            for expression, expected, found in zip(some, here, there, strict=True):
                assert is_same(found, expected, ULPS.get(name, 0)), (expression, expected, found)


MADE = [
    "strftime(t, '%Y-%m-%d %H:%M:%S.%f')",
    "strftime(t, '%a %A %b %B %p %I')",
    "strftime(t, '%G-W%V-%u %w %j %y é {0} %%')",
    "strftime(t, '%-d/%-m %-H %-I')",
    *("dayname(t)", "monthname(t)", "last_day(t)", "yearweek(t)", "epoch_ms(t)", "epoch_us(t)"),
    *("strftime(t, '%c|%x|%X|%T|%U|%W|%g|%-M %-S %-j')", "to_char(t, 'YYYY-MM-DD HH24:MI:SS.US')"),
    *("to_char(t, 'Day, FMMonth DY mon HH12 am D WW IW Q \"T\" FMDD')",),
    *("time_bucket(INTERVAL '15 minutes', t)", "time_bucket(INTERVAL '5 days', t)"),
    *("t - t2 > INTERVAL '3 days'", "EXTRACT(epoch FROM t - t2) / 60", "t + to_minutes(i)"),
    *("date_part('day', t - t2)", "date_part('hour', t2 - t)", "t + (t2 - t) * 2"),
    *("date_sub('hour', t, t2)", "to_timestamp(i)", "epoch_ms(i)", "i = ANY([1, NULL])"),
    *("concat_ws(', ', s, i, s)", "repeat(s, 3)", "string_split(s, ' ')[2]", "isnan(x)"),
    *("width_bucket(x, 0, 10, 5)", "width_bucket(x, -1.5, 0.3, 7)", "width_bucket(i, 0, 1e18, 3)"),
]
"""Functions that are made of others."""


class Awkward:
    """The columns of the awkward table, each kind by a letter; a `NameScope` for `translate`."""

    def __init__(self, time: Kind) -> None:
        self.kinds = {"t": time, "t2": time, "x": Kind.REAL, "i": Kind.INTEGER, "s": Kind.TEXT}

    def column(self, node: exp.Column) -> Expression:
        return column("x1" if node.name.endswith("2") else "x0", self.kinds[node.name])

    def window(self, node: exp.Window) -> Expression:
        raise NotImplementedError

    def subquery(self, node: exp.Expr) -> Expression:
        raise NotImplementedError


@pytest.mark.parametrize("text", MADE)
def test_a_function_made_of_others_gives_the_same_everywhere(
    text: str, embedded: Holder, other: Holder
) -> None:
    times = (Kind.TIMESTAMP, Kind.TIMESTAMP_TZ) + (Kind.DATE,) * ("t2" not in text)
    made = [translate(parse(f"SELECT {text}").selects[0], Awkward(each)) for each in times]
    for here, there in zip(evaluated(embedded, made), evaluated(other, made), strict=True):
        for expression, expected, found in zip(made, here, there, strict=True):
            assert is_same(found, expected), (expression, expected, found)


# --------------------------------------------------------------------------- inside one another


def _leaves(kind: Kind) -> st.SearchStrategy[Expression]:
    columns = st.integers(0, PLACES - 1).map(lambda n: column(f"x{n}", kind))
    literals = st.sampled_from(AWKWARD[kind]).map(lambda value: literal(value, kind))
    return st.one_of(columns, columns, literals)


@st.composite
def expressions(draw: st.DrawFn) -> list[Expression]:
    """Return several expressions, the later ones made of the earlier ones too."""
    pool: dict[Kind, list[Expression]] = {kind: [] for kind in AWKWARD}
    made: list[Expression] = []
    for _ in range(draw(st.integers(2, 10))):
        expression = draw(st.one_of(_calls(pool), _cases(pool)))
        made.append(expression)
        exact = not isinstance(expression, Call) or expression.function not in ULPS
        if exact and expression.facts.kind in pool:
            pool[expression.facts.kind].append(expression)
    return made


def _part(pool: dict[Kind, list[Expression]], kind: Kind) -> st.SearchStrategy[Expression]:
    return st.one_of(_leaves(kind), st.sampled_from(pool[kind])) if pool[kind] else _leaves(kind)


@st.composite
def _calls(draw: st.DrawFn, pool: dict[Kind, list[Expression]]) -> Expression:
    function = FUNCTIONS[draw(st.sampled_from(sorted(FUNCTIONS)))]
    accepts = function.accepts + function.accepts[-1:] * function.is_endless
    alike = draw(st.sampled_from(_kinds(function.accepts[0])))
    fixed = iter(draw(st.sampled_from(FIXED.get(function.name, [()]))))
    arguments: list[Expression] = []
    for number, accepted in enumerate(accepts):
        kinds = _kinds(accepted)
        kind = alike if function.is_alike and alike in kinds else draw(st.sampled_from(kinds))
        if number not in function.literals:
            arguments.append(draw(_part(pool, kind)))
        elif function.name == "clamp":
            arguments.append(literal(draw(st.sampled_from(AWKWARD[kind])), kind))
        elif (value := next(fixed, None)) is not None:
            arguments.append(literal(value))
    made = call(function.name, *arguments)
    assume(is_compared(made))
    return made


@st.composite
def _cases(draw: st.DrawFn, pool: dict[Kind, list[Expression]]) -> Expression:
    kind = draw(st.sampled_from(list(AWKWARD)))
    condition, value, otherwise = (draw(_part(pool, each)) for each in (Kind.BOOLEAN, kind, kind))
    return case_of(((condition, value),), otherwise)


def _kinds(accepted: frozenset[Kind]) -> list[Kind]:
    return sorted(set(AWKWARD) & accepted, key=lambda kind: kind.value)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(made=expressions(), inside=st.booleans())
def test_functions_inside_one_another_give_the_same_everywhere(
    embedded: Holder, other: Holder, made: list[Expression], inside: bool
) -> None:
    rows = (evaluated(each, made, inside=inside) for each in (embedded, other))
    for here, there in zip(*rows, strict=True):
        for expression, expected, found in zip(made, here, there, strict=True):
            ulps = ULPS.get(expression.function, 0) if isinstance(expression, Call) else 0
            assert is_same(found, expected, ulps), (expression, expected, found)


@pytest.mark.parametrize("inside", [False, True])
def test_deep_expressions_are_computed_in_steps(
    embedded: Holder, other: Holder, inside: bool
) -> None:
    """Written out, each level would stand three times in the next: 3^20 texts."""
    deep: Expression = column("x0", Kind.REAL)
    for _ in range(20):
        deep = call("negate", call("sqrt", call("clamp", deep, literal(-9.0), literal(9.0))))
        deep = call("abs", call("add", deep, column("x1", Kind.REAL)))
    asked = [deep, call("round", deep, literal(2))]  # which names the columns of a table v again
    found = (evaluated(each, asked, inside=inside) for each in (embedded, other))
    for here, there in zip(*found, strict=True):
        assert all(map(is_same, there, here))
