"""Mechanisms are values: frozen, equal, hashable, readable; and the errors of doing nothing."""

from dataclasses import FrozenInstanceError, fields

import pytest

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


@every()
def test_no_mechanism_takes_a_seed(maker: Maker) -> None:
    with pytest.raises(TypeError, match="seed"):
        made(maker, seed=0)
