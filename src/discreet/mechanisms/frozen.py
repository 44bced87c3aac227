"""Frozen values whose constructor takes what people write and keeps what is exact."""

from dataclasses import fields
from enum import Enum
from fractions import Fraction
from typing import TYPE_CHECKING

from discreet.errors import readable

if TYPE_CHECKING:
    from _typeshed import DataclassInstance


def settle(value: object, **fields: object) -> None:
    """Set the fields of a frozen value, once, from its own constructor."""
    for name, field in fields.items():
        object.__setattr__(value, name, field)


def written(value: "DataclassInstance") -> str:
    """Return a value as people would write it: Geometric(epsilon=0.5, sensitivity=1)."""
    shown = [
        f"{each.name}={_text(getattr(value, each.name))}" for each in fields(value) if each.repr
    ]
    return f"{type(value).__name__}({', '.join(shown)})"


def _text(value: object) -> str:
    match value:
        case Fraction():
            return readable(value)
        case Enum():
            return repr(value.value)
        case _:
            return repr(value)
