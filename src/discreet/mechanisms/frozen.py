"""Frozen values whose constructor accepts any number and stores it exactly."""

from dataclasses import fields
from enum import Enum
from fractions import Fraction
from typing import TYPE_CHECKING

from discreet.errors import readable

if TYPE_CHECKING:
    from _typeshed import DataclassInstance


def settle(value: object, **settled: object) -> None:
    """Set the fields of a frozen value, once, from its constructor."""
    for name, each in settled.items():
        object.__setattr__(value, name, each)


def written(value: "DataclassInstance") -> str:
    """Return a value as a readable call: Geometric(epsilon=0.5, sensitivity=1)."""
    shown = {each.name: getattr(value, each.name) for each in fields(value) if each.repr}
    return as_call(type(value).__name__, **shown)


def as_call(function: str, **arguments: object) -> str:
    """Return a readable call, with numbers as decimals and choices by name."""
    shown = [f"{name}={_text(value)}" for name, value in arguments.items()]
    return f"{function}({', '.join(shown)})"


def _text(value: object) -> str:
    match value:
        case Fraction():
            return readable(value)
        case Enum():
            return repr(value.value)
        case _:
            return repr(value)
