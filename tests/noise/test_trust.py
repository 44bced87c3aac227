"""What the filters assume of floats is tried at import, and a drift is caught."""

from collections.abc import Callable

import numpy as np
import pytest

from discreet.errors import ArithmeticDriftError
from discreet.noise import trust
from discreet.noise.trust import check_floats
from discreet.noise.uniform import FloatArray

Function = Callable[[FloatArray], FloatArray]


def test_this_machine_is_trusted() -> None:
    check_floats()


def single(function: Function) -> Function:
    """Return the function as 32-bit floats compute it."""
    return lambda x: function(x.astype(np.float32)).astype(np.float64)


def in_one_lane(drift: float) -> Function:
    """Return a drift of the last element alone, which a loop's remainder computes."""

    def drifting(x: FloatArray) -> FloatArray:
        return np.where(np.arange(len(x)) == len(x) - 1, drift, 0.0)

    return drifting


@pytest.mark.parametrize(
    "broken",
    [
        single(np.exp),
        lambda x: np.exp(x) * (1 + 2.0**-44),
        lambda x: np.exp(x) * (1 - 2.0**-44),
        lambda x: np.exp(x) * (1 + in_one_lane(2.0**-40)(x)),
        lambda x: np.full_like(x, np.nan),
    ],
    ids=["single", "above", "below", "lane", "nan"],
)
def test_a_drifting_exp_is_caught(broken: Function) -> None:
    with pytest.raises(ArithmeticDriftError, match=r"numpy\.exp"):
        check_floats(vector_exp=broken)


@pytest.mark.parametrize(
    "broken",
    [
        single(np.log),
        lambda x: np.log(x) + 2.0**-40,
        lambda x: np.log(x) - 2.0**-40,
        lambda x: np.log(x) + in_one_lane(2.0**-40)(x),
        lambda x: np.log(x) + in_one_lane(-(2.0**-44))(x),
    ],
    ids=["single", "above", "below", "lane", "low lane"],
)
def test_a_drifting_log_is_caught(broken: Function) -> None:
    with pytest.raises(ArithmeticDriftError, match=r"numpy\.log"):
        check_floats(vector_log=broken)


@pytest.mark.parametrize("name", ["exp", "log"])
def test_a_drifting_c_library_is_caught(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    sound: Callable[[float], float] = getattr(trust, name)
    monkeypatch.setattr(trust, name, lambda x: sound(x) + 2.0**-40)
    with pytest.raises(ArithmeticDriftError, match=rf"math\.{name}"):
        check_floats()


def test_a_drift_within_the_assumption_is_let_pass() -> None:
    check_floats(
        vector_exp=lambda x: np.exp(x) * (1 + 2.0**-48),
        vector_log=lambda x: np.log(x) - 2.0**-48,
    )
