"""What random questions found, each as small as it can be."""

# ruff: noqa: S608 - this file writes questions

from collections.abc import Iterator

import pytest

from discreet.curator import Curator
from discreet.errors import UnsupportedError
from tests.fuzzing.running import twins


@pytest.fixture(scope="module")
def curator() -> Iterator[Curator]:
    with twins("duckdb", is_prepared=False, names=("present",)) as (only,):
        yield only


@pytest.mark.parametrize("value", ["NULL", "CASE WHEN u = 7 THEN NULL END", "coalesce(NULL, NULL)"])
def test_mode_of_nothing_but_null_is_refused_before_the_charge(
    curator: Curator, value: str
) -> None:
    before = curator.remaining
    with pytest.raises(UnsupportedError, match="no values except NULL"):
        curator.ask(f"SELECT MODE({value}) FROM t", epsilon=1)
    assert curator.remaining == before


def test_a_variance_of_far_values_has_an_error_bar_under_gaussian_noise(curator: Curator) -> None:
    """The square of its weight is beyond what a floating-point number can be."""
    asked = "STDDEV(clamp(x, -1e100, 1e100)), COUNT(DISTINCT u), STDDEV(clamp(y, 0, 9))"
    assert len(curator.ask(f"SELECT k, {asked} FROM t GROUP BY k", epsilon=1).rows) == 12


@pytest.mark.parametrize("key", ["make_date(-400, 0, 0)", "CAST('x' AS INTEGER)"])
def test_a_key_without_columns_is_computed_as_keys_are(curator: Curator, key: str) -> None:
    """NULL where DuckDB would fail: it once was computed anew after the noise."""
    (row,) = curator.ask(f"SELECT {key} AS k, COUNT(*) FROM t GROUP BY {key}", epsilon=1).rows
    assert row["k"] is None
