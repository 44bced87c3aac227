"""Mechanisms are values: frozen, equal, hashable, readable; and the errors of doing nothing."""

from dataclasses import FrozenInstanceError, fields

import pytest

from discreet import mechanisms
from tests.mechanisms.examples import Maker, every, made


@every()
def test_a_mechanism_cannot_be_changed(maker: Maker) -> None:
    mechanism = made(maker)
    for each in fields(mechanism):
        with pytest.raises(FrozenInstanceError):
            setattr(mechanism, each.name, 0)
    with pytest.raises((FrozenInstanceError, AttributeError, TypeError)):
        mechanism.seed = 0


@every()
def test_equal_parameters_make_equal_mechanisms(maker: Maker) -> None:
    first, second, other = made(maker), made(maker, epsilon=1.0), made(maker, epsilon=2)
    assert first == second != other
    assert hash(first) == hash(second)
    assert len({first, second, other}) == 2
    assert first.event == second.event != other.event


@every()
def test_a_mechanism_reads_as_it_is_written(maker: Maker) -> None:
    text = repr(made(maker, epsilon=0.1))
    assert text.startswith(f"{maker.__name__}(")
    assert "epsilon=0.1" in text or "epsilon=0.05" in text
    assert "Fraction" not in text
    assert "object at" not in text


@pytest.mark.parametrize(
    "text",
    [
        "Gaussian(epsilon=1, delta=1e-06, sensitivity=1, answers=1, releases=1,"
        " calibration='analytic')",
        "AboveThreshold(epsilon=0.1, sensitivity=1, threshold=5, monotone=False,"
        " threshold_share=0.5)",
        "NumericSparse(epsilon=0.1, sensitivity=1, threshold=5, answers=3, monotone=False,"
        " threshold_share=0.25, numeric_share=0.5)",
        "RandomizedResponse.truthful(0.75)",
        "RandomizedResponse.truthful(0.5, categories=5)",
        "RandomizedResponse(epsilon=2, categories=5)",
        "Geometric(epsilon=1, sensitivity=1).truncated(0, 100)",
        "PartitionSelection(epsilon=1, delta=1e-06, groups=3, in_one=2, neighbours='replace')",
        "Quantile(epsilon=1, fraction=0.25, rows_per_unit=2, neighbours='add-remove')",
        "Extreme(epsilon=1, end='max', rows_per_unit=1, neighbours='add-remove')",
        "Sensitivity(l1=2, l2_squared=2, linf=1, neighbours='replace')",
    ],
)
def test_what_is_read_can_be_written(text: str) -> None:
    assert repr(eval(text, vars(mechanisms).copy())) == text  # noqa: S307 - our own words


def test_a_sensitivity_that_is_no_root_reads_by_its_square() -> None:
    two = mechanisms.Gaussian(epsilon=1, delta=1e-6, sensitivity=mechanisms.counting_queries(2))
    assert "sensitivity_squared=2," in repr(two)


@every()
def test_no_mechanism_takes_a_seed(maker: Maker) -> None:
    with pytest.raises(TypeError, match="seed"):
        made(maker, seed=0)
