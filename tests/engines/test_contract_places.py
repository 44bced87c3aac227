"""Places of whole numbers between bounds: on every engine no value of a wide range is lost."""

from collections.abc import Iterator
from fractions import Fraction

import pyarrow as pa
import pytest

from discreet.catalog.schema import Kind
from discreet.query.plan.quantization import ValueGrid, quantize
from discreet.query.tree import Scan
from tests.engines.contract import ENGINES, Holder, engine_of
from tests.engines.made import column, listed, private, select

LEAST, MOST = -(2**63), 2**63 - 1

WHOLE = [LEAST, -(2**62), -1, 0, 1, 2**53 + 1, 2**62, MOST]


@pytest.fixture(scope="module", params=ENGINES)
def engine(request: pytest.FixtureRequest) -> Iterator[Holder]:
    ids = range(len(WHOLE))
    table = pa.table({"patient_id": ids, "x": pa.array(WHOLE, pa.int64())})
    made = engine_of(request.param, {"visits": table})
    yield made
    made.close()


@pytest.mark.parametrize("steps", [1, 2**20 - 1, 2**30])
@pytest.mark.parametrize("bounds", [(LEAST, MOST), (-(2**62), 2**62), (-(2**62) - 1, MOST)])
def test_no_whole_number_is_lost_between_bounds_that_are_far_apart(
    engine: Holder, bounds: tuple[int, int], steps: int
) -> None:
    """Their difference does not fit into 64 bits: NULL in its place would leave rows out."""
    low, high = bounds
    grid = ValueGrid(low=Fraction(low), high=Fraction(high), steps=steps)
    rows = select(Scan(table=private(engine)), column("x"), quantize(column("x"), grid))
    found = dict(listed(engine, rows, Kind.INTEGER, Kind.INTEGER))
    assert set(found) == set(WHOLE)
    for value, place in found.items():
        inside = Fraction(max(low, min(high, value)) - low) / (high - low) * steps
        assert place is not None
        assert 0 <= place <= steps
        assert abs(place - inside) <= 0.5 + 2**-20
