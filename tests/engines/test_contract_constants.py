"""Constants that no engine may trip over: it folds them when it plans, before any condition."""

from collections.abc import Iterator, Sequence

import pytest

from discreet.catalog.schema import Kind, Value
from discreet.query.expressions.facts import Function, case_of, literal
from discreet.query.expressions.functions import CASTS, FUNCTIONS, call
from discreet.query.tree import Expression
from tests.engines.calls import FIXED
from tests.engines.contract import ENGINES, Holder, engine_of
from tests.engines.contract_values import AWKWARD, awkward_table, evaluated
from tests.engines.made import column
from tests.query.extremes import Chances

CALLS = {"duckdb": 25, "postgresql": 25, "spark": 3}
"""So many calls of each function; Spark takes its time."""

AT_ONCE = 25
"""Expressions of one statement."""

HOSTILE = ("1e400", "-1e-400", "1e999999", "9" * 400, "0x1F", "0xFFFFFFFFFFFFFFFFFF", "infinity")
CAST_NAMES = [each.name for each in CASTS]
NEVER, SURELY = literal(value=False), literal(value=True)


@pytest.fixture(scope="module", params=ENGINES)
def engine(request: pytest.FixtureRequest) -> Iterator[tuple[str, Holder]]:
    made = engine_of(request.param, {"awkward": awkward_table().slice(0, 3)})
    yield request.param, made
    made.close()


def disguises(value: Expression) -> list[Expression]:
    """Return a constant in forms that a planner sees through."""
    kind = value.facts.kind
    here, null = column("x1", kind), literal(None, kind)
    return [
        value,
        case_of(((SURELY, value),), here),
        case_of(((column("x0", Kind.BOOLEAN), value),), value),
        case_of(((call("and", column("x0", Kind.BOOLEAN), NEVER), here),), value),
        call("coalesce", value, here),
        call("coalesce", null, value),
        call("greatest", value, null),
    ]


def made_calls(function: Function, number: int) -> Iterator[Expression]:
    """Yield calls whose arguments are constants, all of them or some."""
    chance = Chances(function.name)
    accepts = function.accepts + function.accepts[-1:] * function.is_endless
    for _ in range(number):
        kinds = [chance.one_of(sorted(set(AWKWARD) & each, key=str)) for each in accepts]
        kinds = [kinds[0]] * len(kinds) if function.is_alike else kinds
        fixed = iter(chance.one_of(FIXED.get(function.name, [()])))
        is_constant, arguments = chance.below(2), list[Expression]()
        for place, kind in enumerate(kinds):
            stated = literal(chance.one_of(AWKWARD[kind]), kind)
            if place in function.literals and function.name != "clamp":
                arguments += [literal(each, kind) for each in _next(fixed)]
            elif place in function.literals:
                arguments.append(stated)
            elif is_constant or chance.below(2):
                arguments.append(chance.one_of(disguises(stated)))
            else:
                arguments.append(column(f"x{place % 3}", kind))
        yield call(function.name, *arguments)


def _next(values: Iterator[Value]) -> list[Value]:
    return [each for each in [next(values, None)] if each is not None]


def evaluate_all(engine: Holder, calls: Sequence[Expression]) -> int:
    """Compute all, several in one statement, and return how many there were."""
    for start in range(0, len(calls), AT_ONCE):
        some = calls[start : start + AT_ONCE]
        assert len(evaluated(engine, some)) == 3
    return len(calls)


def test_no_function_of_constants_fails(engine: tuple[str, Holder]) -> None:
    name, held = engine
    calls = [each for function in FUNCTIONS.values() for each in made_calls(function, CALLS[name])]
    assert evaluate_all(held, calls) >= CALLS[name] * len(FUNCTIONS)


def test_no_cast_of_a_hostile_text_fails(engine: tuple[str, Holder]) -> None:
    name, held = engine
    texts = [literal(each) for each in (*HOSTILE, *AWKWARD[Kind.TEXT]) if each is not None]
    forms = [each for text in texts for each in (disguises(text) if name != "spark" else [text])]
    calls = [
        call(cast, each, *map(literal, fixed))
        for cast in CAST_NAMES
        for fixed in FIXED.get(cast, [()])[:1]
        for each in forms
    ]
    assert evaluate_all(held, calls) == len(forms) * len(CAST_NAMES)
