"""Parameters outside a proof are refused by name, with what was given and what is right (N6)."""

import pytest

from discreet.errors import ParameterError
from discreet.mechanisms import (
    REPLACE,
    Calibration,
    Exponential,
    Extreme,
    Gaussian,
    Geometric,
    Laplace,
    Neighbours,
    NoisyMax,
    NoisyTop,
    PartitionSelection,
    PermuteAndFlip,
    Quantile,
    RandomizedResponse,
    Sensitivity,
    Sparse,
    Staircase,
    bounded_mean,
    bounded_sum,
    counting_queries,
    histogram,
)
from tests.mechanisms.examples import Maker, every, made

NO_NUMBER = [float("nan"), float("inf"), float("-inf"), True, "1", None, [1], 1j]
NOT_POSITIVE = [0, -1, 0.0, -1e-9]
BEYOND = [1e300, 1e-300]
bad_sizes = pytest.mark.parametrize("value", NO_NUMBER + NOT_POSITIVE + BEYOND, ids=repr)


def refused(name: str, value: object, maker: Maker, **changed: object) -> None:
    """Check that this value is refused by name, is shown, and a rule is given."""
    with pytest.raises(ParameterError, match=f"^{name} must ") as caught:
        made(maker, **changed)
    assert caught.value.name == name
    assert f"{value!r} was given" in str(caught.value) or str(value)[:3] in str(caught.value)


@every()
@bad_sizes
def test_no_epsilon_outside_the_proof_is_taken(maker: Maker, value: object) -> None:
    refused("epsilon", value, maker, epsilon=value)


@every(RandomizedResponse, PartitionSelection, Quantile, Extreme)
@bad_sizes
def test_no_sensitivity_outside_the_proof_is_taken(maker: Maker, value: object) -> None:
    refused("sensitivity", value, maker, sensitivity=value)


@pytest.mark.parametrize("value", [*NO_NUMBER, 0, 1, -1, 2, -1e-300], ids=repr)
@pytest.mark.parametrize("maker", [Gaussian, PartitionSelection])
def test_no_delta_outside_the_proof_is_taken(maker: Maker, value: object) -> None:
    refused("delta", value, maker, delta=value)


@pytest.mark.parametrize("value", [*NO_NUMBER, 0, 2.5, -3, 1e300], ids=repr)
def test_no_number_of_rows_or_groups_outside_the_proof_is_taken(value: object) -> None:
    refused("groups", value, PartitionSelection, groups=value)
    for maker in (Quantile, Extreme):
        refused("rows_per_unit", value, maker, rows_per_unit=value)


@pytest.mark.parametrize("value", [*NO_NUMBER, 0, 1, -0.5, 1.5, 0.12345678901], ids=repr)
def test_no_fraction_outside_the_proof_is_taken(value: object) -> None:
    refused("fraction", value, Quantile, fraction=value)


@pytest.mark.parametrize("value", ["top", None, 1, True], ids=repr)
def test_an_extreme_is_at_one_of_two_ends(value: object) -> None:
    refused("end", value, Extreme, end=value)


@pytest.mark.parametrize("value", [*NO_NUMBER, 0, 2.5, -3], ids=repr)
@pytest.mark.parametrize("maker", [Laplace, Gaussian])
def test_no_number_of_answers_outside_the_proof_is_taken(maker: Maker, value: object) -> None:
    refused("answers", value, maker, answers=value)


@pytest.mark.parametrize("value", [0, 1, 95, -0.5, float("nan"), True, "0.95", None], ids=repr)
@pytest.mark.parametrize("maker", [Geometric, Laplace, Gaussian, Staircase])
def test_no_confidence_but_a_share_is_taken(maker: Maker, value: object) -> None:
    with pytest.raises(ParameterError, match=r"^confidence must "):
        made(maker).margin(value)
    extra = {"delta": 1e-6} if maker is Gaussian else {}
    with pytest.raises(ParameterError, match=r"^confidence must "):
        maker.for_margin(within=1, confidence=value, sensitivity=1, **extra)  # type: ignore[attr-defined]


@pytest.mark.parametrize("value", [0, -1, 2.5, float("nan"), True, None], ids=repr)
@pytest.mark.parametrize("maker", [Geometric, Laplace, Gaussian, Staircase])
def test_an_error_is_for_one_answer_or_more(maker: Maker, value: object) -> None:
    with pytest.raises(ParameterError, match=r"^answers must "):
        made(maker).margin(0.95, value)


@pytest.mark.parametrize("value", [0, -1, float("nan"), float("inf"), True, None, "1"], ids=repr)
@pytest.mark.parametrize("maker", [Geometric, Laplace, Gaussian, Staircase])
def test_no_target_error_but_a_positive_one_is_taken(maker: Maker, value: object) -> None:
    extra = {"delta": 1e-6} if maker is Gaussian else {}
    with pytest.raises(ParameterError, match=r"^within must "):
        maker.for_margin(within=value, confidence=0.95, sensitivity=1, **extra)  # type: ignore[attr-defined]


@pytest.mark.parametrize("value", [0, -1, 1.5, True, None, "3"], ids=repr)
@pytest.mark.parametrize("maker", [Geometric, Laplace, Gaussian])
def test_no_budget_is_for_less_than_one_release(maker: Maker, value: object) -> None:
    extra = {"delta": 1e-6} if maker is Gaussian else {}
    with pytest.raises(ParameterError, match=r"^releases must "):
        maker.for_budget(epsilon=1, releases=value, sensitivity=1, **extra)  # type: ignore[attr-defined]


@pytest.mark.parametrize("value", ["fancy", None, 1, ""], ids=repr)
def test_a_calibration_without_a_theorem_is_refused(value: object) -> None:
    refused("calibration", value, Gaussian, calibration=value)


@pytest.mark.parametrize("epsilon", [1, 1.5, 100])
def test_the_classical_calibration_ends_where_its_proof_does(epsilon: float) -> None:
    refused("epsilon", epsilon, Gaussian, epsilon=epsilon, calibration=Calibration.CLASSICAL)
    assert Gaussian(epsilon=0.999, delta=1e-6, sensitivity=1, calibration="classical").scale > 0


@pytest.mark.parametrize("sensitivity", [0.5, 1.5, 1e-12])
def test_whole_numbers_have_whole_sensitivities(sensitivity: float) -> None:
    refused("sensitivity", sensitivity, Geometric, sensitivity=sensitivity)


@pytest.mark.parametrize("monotone", [1, 0, "yes", None])
@pytest.mark.parametrize("maker", [Exponential, PermuteAndFlip, NoisyMax, NoisyTop, Sparse])
def test_monotone_is_true_or_false_and_nothing_like_it(maker: Maker, monotone: object) -> None:
    refused("monotone", monotone, maker, monotone=monotone)


@pytest.mark.parametrize(
    ("low", "high", "named"),
    [
        (1, 1, "bounds"),
        (2, 1, "bounds"),
        (float("nan"), 1, "low"),
        (0, float("inf"), "high"),
        (None, 1, "low"),
        (0, "1", "high"),
        (True, 2, "low"),
    ],
)
def test_bounds_that_bound_nothing_are_refused(low: object, high: object, named: str) -> None:
    for function in (bounded_sum, bounded_mean):
        with pytest.raises(ParameterError, match=f"^{named} must "):
            function(low, high)  # type: ignore[arg-type]  # wrong on purpose


@pytest.mark.parametrize("value", [0, -1, 1.5, None, True, "2"], ids=repr)
def test_no_counts_are_not_counted(value: object) -> None:
    with pytest.raises(ParameterError, match=r"^count must "):
        counting_queries(value)  # type: ignore[arg-type]


def test_neighbours_may_be_given_by_name() -> None:
    assert histogram("replace") == histogram(REPLACE) != histogram("add-remove")
    assert bounded_sum(-10, 500, "replace") == bounded_sum(-10, 500, REPLACE)
    by_name = bounded_mean(0, 1, least=9, neighbours="replace")
    assert by_name == bounded_mean(0, 1, least=9, neighbours=REPLACE)
    assert by_name.neighbours is REPLACE


@pytest.mark.parametrize("value", ["swap", None, 1, True], ids=repr)
def test_neighbours_are_one_of_two(value: object) -> None:
    with pytest.raises(ParameterError, match=r"^neighbours must be 'add-remove' or 'replace'"):
        histogram(value)  # type: ignore[arg-type]


@pytest.mark.parametrize("value", [*NO_NUMBER, *NOT_POSITIVE], ids=repr)
@pytest.mark.parametrize("name", ["l1", "l2_squared", "linf"])
def test_a_sensitivity_made_by_hand_is_checked(name: str, value: object) -> None:
    norms: dict[str, object] = {"l1": 1, "l2_squared": 1, "linf": 1, name: value}
    with pytest.raises(ParameterError, match=f"^{name} must "):
        Sensitivity(**norms, neighbours=REPLACE)  # type: ignore[arg-type]


def test_a_sensitivity_made_by_hand_of_floats_means_their_decimals() -> None:
    made_of_floats = Sensitivity(l1=0.1, l2_squared=0.01, linf=0.1, neighbours=Neighbours.REPLACE)  # type: ignore[arg-type]
    assert made_of_floats.l1 * 10 == 1
    assert made_of_floats.l2 == pytest.approx(0.1)
