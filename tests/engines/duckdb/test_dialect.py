"""Every function of a private row is total: awkward values give a value or NULL, never an error."""

from collections.abc import Iterator
from datetime import date, datetime
from fractions import Fraction
from math import isfinite

import pyarrow as pa
import pytest

from discreet.catalog.schema import Kind, Value
from discreet.engines.duckdb.dialect import DUCKDB
from discreet.engines.public_store import PublicStore
from discreet.query.expressions.facts import literal
from discreet.query.expressions.functions import FUNCTIONS, call
from discreet.query.plan.quantization import ValueGrid, quantize
from discreet.query.tree import Call, Expression
from tests.engines.calls import NASTY, all_calls
from tests.engines.made import column


@pytest.fixture(scope="module")
def store() -> Iterator[PublicStore]:
    store = PublicStore()
    yield store
    store.close()


def test_every_function_can_be_written() -> None:
    assert set(FUNCTIONS) == set(DUCKDB.functions)


def domains(expression: Call) -> dict[tuple[str, str], tuple[Value, ...]]:
    return {
        ("v", f"x{number}"): NASTY[each.facts.kind]
        for number, each in enumerate(expression.arguments)
    }


@pytest.mark.parametrize("name", FUNCTIONS)
def test_awkward_values_raise_nothing_and_reals_stay_finite(name: str, store: PublicStore) -> None:
    tried = 0
    for expression in all_calls(FUNCTIONS[name]):
        values = store.evaluate(expression, domains(expression))
        assert all(isfinite(each) for each in values if isinstance(each, float)), expression
        assert len(values) > 0
        tried += 1
    assert tried


KNOWN: list[tuple[Expression, Value]] = [
    (call("add", literal(2**63 - 1), literal(1)), None),
    (call("add", literal(2**31 - 1), literal(1)), 2**31),
    (call("multiply", literal(2**32), literal(2**31)), None),
    (call("negate", literal(-(2**63))), None),
    (call("abs", literal(-(2**63))), None),
    (call("integer_divide", literal(-7), literal(2)), -3),
    (call("integer_divide", literal(-(2**63)), literal(-1)), None),
    (call("integer_divide", literal(1), literal(0)), None),
    (call("modulo", literal(-7), literal(2)), -1),
    (call("modulo", literal(-7.5), literal(2.0)), -1.5),
    (call("divide", literal(1.0), literal(0.0)), None),
    (call("divide", literal(1.0), call("exp", literal(1000.0))), None),
    (call("log", literal(0.0), literal(8.0)), None),
    (call("log", literal(2.0), literal(8.0)), 3.0),
    (call("sqrt", literal(-1.0)), None),
    (call("exp", call("negate", call("exp", literal(1000.0)))), None),
    (call("greatest", call("exp", literal(1000.0)), literal(1.0)), 1.0),
    (call("is_null", call("ln", literal(0.0))), True),
    (call("round", literal(1250), literal(-2)), 1300),
    (call("to_integer", literal(2.5), literal(-9), literal(9)), 2),
    (call("to_integer", literal("2.5"), literal(-9), literal(9)), 3),
    (call("to_integer", literal("secret"), literal(-9), literal(9)), None),
    (call("to_integer", literal(300), literal(-128), literal(127)), None),
    (call("to_real", literal("nan")), None),
    (call("to_date", literal("infinity")), None),
    (call("to_timestamp", literal("2024-01-01 10:00:00+02")), datetime(2024, 1, 1, 10)),
    (call("make_date", literal(2023), literal(2), literal(29)), None),
    (call("make_date", literal(2024), literal(2), literal(29)), date(2024, 2, 29)),
    (call("make_date", literal(0), literal(1), literal(1)), None),
    (call("add_days", literal(date(9999, 12, 31)), literal(1)), None),
    (call("add_days", literal(date(2024, 2, 28)), literal(2)), date(2024, 3, 1)),
    (call("date_part", literal("century"), literal(date(2000, 1, 1))), 20),
    (
        call("date_diff", literal("century"), literal(date(1999, 6, 1)), literal(date(2000, 6, 1))),
        1,
    ),
    (call("date_diff", literal("week"), literal(date(2024, 1, 8)), literal(date(2024, 1, 2))), 0),
    (call("concat", literal("a"), literal(None, Kind.TEXT), literal("b")), "ab"),
    (call("concatenate", literal("a"), literal(None, Kind.TEXT)), None),
    (call("like", literal("a%b"), literal("a!%b"), literal("!")), True),
    (call("like", literal("a\\b"), literal("a\\b")), True),
    (call("position", literal("abc"), literal("")), 1),
    (call("clamp", literal(None, Kind.REAL), literal(0.0), literal(1.0)), None),
    (call("in", literal(1), literal(2), literal(None, Kind.INTEGER)), None),
]


@pytest.mark.parametrize(("expression", "expected"), KNOWN)
def test_a_function_has_its_total_meaning(
    expression: Expression, expected: Value, store: PublicStore
) -> None:
    (value,) = store.evaluate(expression, {})
    assert value == expected
    assert type(value) is type(expected)


RULERS: dict[Kind, list[tuple[int | Fraction, int | Fraction]]] = {
    Kind.BOOLEAN: [(0, 1)],
    Kind.INTEGER: [(0, 1), (-(2**63), 2**63 - 1), (Fraction(1, 2), 7)],
    Kind.REAL: [(0, 1), (-(10**308), 2 * 10**307), (Fraction(1, 10), Fraction(3, 10)), (-3, 2**53)],
}


@pytest.mark.parametrize("kind", [each for each in NASTY if each is not Kind.TEXT])
@pytest.mark.parametrize("steps", [1, 3, 1 << 10, 1 << 30])
def test_no_value_is_placed_outside_a_ruler(kind: Kind, steps: int, store: PublicStore) -> None:
    """Sensitivities rest on this."""
    for low, high in RULERS.get(kind, [(0, 1), (-3, 10**6)]):
        ruler = ValueGrid(low=Fraction(low), high=Fraction(high), steps=steps)
        values = store.evaluate(quantize(column("x", kind), ruler), {("v", "x"): NASTY[kind]})
        assert all(each is None or 0 <= int(str(each)) <= steps for each in values)
        assert None in values


def test_a_value_is_placed_at_the_nearest_point(store: PublicStore) -> None:
    cents = ValueGrid(low=Fraction(0), high=Fraction(500), steps=50_000)
    assert store.evaluate(quantize(literal(0.29), cents), {}) == (29,)
    years = ValueGrid(low=Fraction(0), high=Fraction(120), steps=60)
    assert store.evaluate(quantize(column("x"), years), {("v", "x"): (59, 1_000)}) == (30, 60)


def test_a_long_text_is_not_made_longer(store: PublicStore) -> None:
    text = column("s", Kind.TEXT)
    rows = {("v", "s"): ("x" * 1_000_001, "x" * 10, None)}
    assert store.evaluate(call("concat", text, literal("y")), rows) == ("x" * 10 + "y", "y", None)
    assert store.evaluate(call("concatenate", text, literal("y")), rows) == ("x" * 10 + "y", None)
    assert store.evaluate(call("replace", text, literal("x"), literal("")), rows) == ("", None)


def test_text_grows_with_depth_no_faster_than_the_expression(store: PublicStore) -> None:
    expression: Expression = column("x", Kind.REAL)
    for _ in range(20):
        expression = call(
            "exp", call("negate", call("clamp", expression, literal(0.0), literal(9.0)))
        )
    values = store.evaluate(expression, {("v", "x"): (0.5,)})
    assert len(values) == 1
    assert values[0] is not None


def test_a_pattern_that_ends_in_its_escape_is_refused() -> None:
    from_pattern = call("like", column("s", Kind.TEXT), literal("a!"), literal("!"))
    with pytest.raises(Exception, match="escape"):
        PublicStore().evaluate(from_pattern, {("v", "s"): ("a",)})


def test_negative_zero_and_zero_are_one_key(store: PublicStore) -> None:
    (value,) = store.evaluate(column("x", Kind.REAL), {("v", "x"): (-0.0, 0.0)})
    assert str(value) == "0.0"


def test_arrow_tables_of_the_store_keep_their_types(store: PublicStore) -> None:
    given = pa.table({"d": pa.array([date(2024, 1, 1)]), "n": pa.array([1.5])})
    assert store.run("SELECT d, n FROM given", {"given": given}).schema == given.schema
