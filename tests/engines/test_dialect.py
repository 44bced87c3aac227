"""Where computed reals lie: proved from what is written, so that no check is needed."""

from math import inf, nextafter
from operator import add, mul, sub

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.catalog.schema import Kind
from discreet.engines.dialect import Written, clamped_span, span_by, whole_ends

reals = st.floats(-1e9, 1e9, allow_nan=False)


def within(low: float, high: float) -> Written:
    return Written(text="x", kind=Kind.REAL, span=(low, high))


@given(reals, reals, reals, st.floats(1e-6, 1e6))
def test_what_is_clamped_moved_and_scaled_lies_where_it_is_said_to(
    x: float, first: float, second: float, scale: float
) -> None:
    low, high = sorted((first, second))
    span = clamped_span([within(-inf, inf), within(low, low), within(high, high)])
    assert span == (low, high)
    moved = span_by(sub)([within(*span), within(low, low)])
    assert moved is not None
    scaled = span_by(mul)([within(*moved), within(scale, scale)])
    assert scaled is not None
    value = (min(max(x, low), high) - low) * scale
    assert scaled[0] <= value <= scaled[1]
    least, most = whole_ends(scaled)
    assert least <= round(value) <= most


@given(reals, reals, reals, reals)
def test_a_sum_lies_between_the_sums_of_its_ends(a: float, b: float, c: float, d: float) -> None:
    (a, b), (c, d) = sorted((a, b)), sorted((c, d))
    span = span_by(add)([within(a, b), within(c, d)])
    assert span is not None
    assert span[0] <= (a + b) / 2 + c <= span[1] or (a + b) / 2 > b


def test_nothing_is_said_of_what_may_overflow_or_is_not_known() -> None:
    assert span_by(mul)([within(0, 1e300), within(1e300, 1e300)]) is None
    assert span_by(add)([Written(text="x", kind=Kind.REAL), within(1, 1)]) is None
    assert clamped_span([within(0, 1), within(2, 2), within(1, 1)]) is None


@pytest.mark.parametrize(
    ("span", "ends"),
    [
        ((0.0, 50_000.0), (0, 50_000)),
        ((0.0, nextafter(50_000.0, inf)), (0, 50_000)),
        ((0.0, 49_999.5), (0, 50_000)),
        ((-0.5, 0.5), (-1, 1)),
        ((0.3, 0.7), (0, 1)),
    ],
)
def test_rounding_goes_no_further_than_it_is_said_to(
    span: tuple[float, float], ends: tuple[int, int]
) -> None:
    """The engine rounds halves its own way; a narrower claim, cut off at the point, would fail."""
    assert whole_ends(span) == ends
    with duckdb.connect() as connection:
        for each in span:
            ((found,),) = connection.execute("SELECT CAST(? AS BIGINT)", [each]).fetchall()
            assert ends[0] <= found <= ends[1]
    assert int(0.7) < 1 == whole_ends((0.7, 0.7))[1]
