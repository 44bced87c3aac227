"""Parameters from callers, checked and made exact.

A float means the decimal that it prints as: 0.1 is 1/10, not 3602879701896397/2**55. After these
checks, every parameter is a `Fraction` or an `int` inside its stated range.
"""

import re
from collections.abc import Iterable
from dataclasses import fields
from decimal import Decimal
from difflib import get_close_matches
from enum import Enum
from fractions import Fraction
from functools import lru_cache
from math import isfinite
from numbers import Integral, Rational
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import numpy as np

from discreet.errors import COMMANDS, ParameterError, readable

if TYPE_CHECKING:
    from _typeshed import DataclassInstance


def nearest_name(name: str, known: Iterable[str]) -> str | None:
    """Return the known name that is most similar to this one, or None if none is similar."""
    folded = {each.casefold(): each for each in known}
    found = get_close_matches(name.casefold(), folded, n=1, cutoff=0.6)
    return folded[found[0]] if found else None


def did_you_mean(name: str, known: Iterable[str], *, otherwise: str) -> str:
    """Return "Did you mean ...?" with the nearest known name, or other words if none is near."""
    near = nearest_name(name, known)
    return otherwise if near is None else f"Did you mean {near}?"


Real: TypeAlias = int | float | Fraction | Decimal | np.integer[Any] | np.floating[Any]
"""The types of a rational parameter: int, float, Fraction, Decimal or a NumPy scalar."""


Choice = TypeVar("Choice", bound=Enum)


EXPONENT_MOST = 5000
"""Decimals with a larger power of ten are rejected, because nobody means them."""


def rational(  # noqa: PLR0913 - a range has four possible limits
    name: str,
    value: object,
    *,
    above: Fraction | int | None = None,
    least: Fraction | int | None = None,
    below: Fraction | int | None = None,
    most: Fraction | int | None = None,
) -> Fraction:
    """Return value as the exact number it means, or raise `ParameterError`."""
    number = _fraction(value)
    if number is None:
        raise ParameterError(name, value, "must be a finite number, not text, true/false or NaN")
    if above is not None and not _is_less(above, number):
        raise ParameterError(name, value, f"must be more than {readable(Fraction(above))}")
    if least is not None and _is_less(number, least):
        raise ParameterError(name, value, f"must be {readable(Fraction(least))} or more")
    if below is not None and not _is_less(number, below):
        raise ParameterError(name, value, f"must be less than {readable(Fraction(below))}")
    if most is not None and _is_less(most, number):
        raise ParameterError(name, value, f"must be {readable(Fraction(most))} or less")
    return number


def _is_less(a: Fraction | int, b: Fraction | int) -> bool:
    """Return a < b: what fractions compare, without asking first what kind of number each is."""
    return a.numerator * b.denominator < b.numerator * a.denominator


WRITTEN = re.compile("-?[0-9]+(?:/[0-9]+)?")
"""How a fraction is written. Short texts such as 1e999999999 would take all memory."""


def fraction_from(text: str) -> Fraction:
    """Return the fraction that `str` wrote; anything else is a ValueError or ZeroDivisionError."""
    if not isinstance(text, str) or WRITTEN.fullmatch(text) is None:
        raise ValueError("This is not a fraction")
    return Fraction(text)


def integer(name: str, value: object, *, least: int | None = None, most: int | None = None) -> int:
    """Return value as an int, or raise `ParameterError`. 3.0 is 3, and 3.5 is rejected."""
    number = _fraction(value)
    if number is None or number.denominator != 1:
        raise ParameterError(name, value, "must be a whole number")
    return int(rational(name, value, least=least, most=most))


def confidence_level(value: object) -> Fraction:
    """Return a confidence strictly between 0 and 1."""
    number = rational("confidence", value, above=0)
    if number < 1:
        return number
    fix = f"For {readable(number)}%, write {readable(number / 100)}" if 1 < number < 100 else ""
    raise ParameterError("confidence", value, "must be less than 1", fix)


def flag(name: str, value: object) -> bool:
    """Return value if it is True or False, or raise `ParameterError`."""
    if not isinstance(value, bool | np.bool_):
        raise ParameterError(name, value, "must be True or False")
    return bool(value)


def plain_text(name: str, value: object, *, what: str = "must be text") -> str:
    """Return value if it is text that can name something, or raise `ParameterError`."""
    if not isinstance(value, str):
        raise ParameterError(name, value, what)
    if not value.strip() or COMMANDS.search(value) or "\n" in value or "\t" in value:
        raise ParameterError(name, value, f"{what}, not empty and without control characters")
    return value


def choice(name: str, value: object, kind: type[Choice]) -> Choice:
    """Return a choice, given as itself or by its name, or raise `ParameterError`."""
    try:
        return kind(value)
    except ValueError:
        names = " or ".join(repr(each.value) for each in kind)
    raise ParameterError(name, value, f"must be {names}")


def _fraction(value: object) -> Fraction | None:  # noqa: PLR0911 - one for each kind
    if type(value) is Fraction:
        return value
    if isinstance(value, bool | np.bool_):
        return None
    if isinstance(value, Integral):
        return Fraction(int(value))
    if isinstance(value, Rational):
        return Fraction(value)
    if isinstance(value, Decimal):
        # With an enormous exponent, the exact number would take all memory.
        is_usual = value.is_finite() and abs(value.adjusted()) <= EXPONENT_MOST
        return Fraction(value) if is_usual else None
    if isinstance(value, float | np.floating):
        # str() of a NumPy or Python float is the shortest decimal that reads back as itself.
        return _decimal(str(value)) if isfinite(value) else None
    return None


@lru_cache(maxsize=1024)
def _decimal(text: str) -> Fraction:
    """Return the number that a decimal writes; the same few are given again and again."""
    return Fraction(text)


def freeze_fields(value: object, **settled: object) -> None:
    """Set the fields of a frozen value, once, from its constructor."""
    for name, each in settled.items():
        object.__setattr__(value, name, each)


def call_text(value: "DataclassInstance") -> str:
    """Return a value as a readable call: Geometric(epsilon=0.5, sensitivity=1)."""
    shown = {each.name: getattr(value, each.name) for each in fields(value) if each.repr}
    return as_call(type(value).__name__, **shown)


def given_text(value: "DataclassInstance") -> str:
    """Return a value as a readable call, without the fields that are None."""
    shown = {each.name: getattr(value, each.name) for each in fields(value) if each.repr}
    given = {name: each for name, each in shown.items() if each is not None}
    return as_call(type(value).__name__, **given)


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
