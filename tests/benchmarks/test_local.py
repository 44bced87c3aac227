"""The benchmark of local privacy: plain NumPy does the same surveys, and lines are read back."""

import numpy as np
import pytest

from benchmarks.local_cases import (
    PROTOCOLS,
    Measured,
    Survey,
    line_from,
    measure,
    measured_from,
    population,
)
from benchmarks.local_numpy import way


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_plain_numpy_estimates_every_value(protocol: str) -> None:
    report, count = way(protocol, 10)
    values = population(10, 20_000)
    found = count(report(values), len(values))
    assert found.shape == (10,)
    assert np.abs(found - np.bincount(values, minlength=10)).max() < 10_000


def test_a_survey_of_few_people_is_timed_whole_and_read_back() -> None:
    found = measure(Survey("k-ary", 10, 200), *way("k-ary", 10))
    assert isinstance(found, Measured)
    assert found.client.people == found.server.people == 200
    assert measured_from(line_from(found)) == found
