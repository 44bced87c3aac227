"""Synthetic columns: values that a catalog allows, all equally likely."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa

from discreet.attacks.secret import Relation, Secret
from discreet.attacks.wording import identity
from discreet.catalog import Bounds, Column, Kind, Value
from discreet.catalog.schema import time_from_number
from discreet.noise import bernoulli, uniform_integers
from discreet.noise.uniform import IntArray
from discreet.tables import ARROW_TYPES

Array: TypeAlias = "pa.Array[Any]"

MOST_VALUES = 1 << 20
"""The largest number of different values that are drawn from a range."""

FREE = Bounds(low=Fraction(0), high=Fraction(999))
"""The range of numbers and days without declared bounds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Domain:
    """The possible values of a synthetic column, by index; `is_ordered` if they increase."""

    size: int
    value: Callable[[int], Value]
    is_ordered: bool = False


def domain_of(column: Column) -> Domain:
    """Return the values that a column may have: the declared ones, or some of its kind."""
    if column.values is not None:
        return _listed(column.values)
    if column.kind is Kind.BOOLEAN:
        return _listed((False, True))
    if column.kind is Kind.TEXT:
        return Domain(size=1000, value=lambda i: f"text {i}")
    if column.kind is Kind.OTHER:
        return _listed((None,))
    return _range(column, column.bounds if isinstance(column.bounds, Bounds) else FREE)


def _listed(values: Sequence[Value]) -> Domain:
    return Domain(size=len(values), value=values.__getitem__)


def _range(column: Column, bounds: Bounds) -> Domain:
    """Return values from the lower bound in declared steps, or in at most MOST_VALUES steps."""
    kind, width = column.kind, bounds.high - bounds.low
    least = column.step or (width / 1000 if kind is Kind.REAL else Fraction(1))
    step = least * max(1, width / least // MOST_VALUES)

    def value(i: int) -> Value:
        number = bounds.low + i * step
        if kind is Kind.REAL:
            return float(number)
        return int(number) if kind is Kind.INTEGER else _time(number, kind)

    return Domain(size=int(width / step) + 1, value=value, is_ordered=True)


def _time(number: Fraction, kind: Kind) -> date | None:
    return time_from_number(number, kind)


def arrow_column(kind: Kind, values: Sequence[Value]) -> Array:
    """Return values as a column of an Arrow table."""
    return pa.array(values, ARROW_TYPES.get(kind, pa.binary()))


def identifying(kind: Kind, people: int) -> Array:
    """Return a column with a different value for each person."""
    return arrow_column(kind, [identity(kind, each) for each in range(people)])


def made_up_column(column: Column, people: int) -> Array:
    """Return a random value for each person."""
    domain = domain_of(column)
    return _drawn(column, domain, uniform_integers(domain.size, people))


def _drawn(column: Column, domain: Domain, numbers: IntArray) -> Array:
    return arrow_column(column.kind, [domain.value(int(each)) for each in numbers])


# --------------------------------------------------------------------------- secrets


def secret_in(column: Column) -> Secret | None:
    """Return a condition on a column that can be the secret, or None if the column has none.

    A boolean column is the condition itself. Otherwise, the condition is that the value is the
    first listed one, or that it is in the upper half of the bounds.
    """
    domain = domain_of(column)
    is_declared = column.values is not None or isinstance(column.bounds, Bounds)
    if domain.size < 2 or not (is_declared or column.kind is Kind.BOOLEAN):
        return None
    if column.kind is Kind.BOOLEAN:
        return Secret(column=column.name)
    if not domain.is_ordered:
        return Secret(column=column.name, value=domain.value(0))
    middle = domain.value(domain.size // 2)
    return Secret(column=column.name, relation=Relation.AT_LEAST, value=middle)


def secret_column(column: Column, people: int) -> Array:
    """Return values for which the column's secret is a fair coin for each person."""
    domain = domain_of(column)
    if column.kind is Kind.BOOLEAN:
        return arrow_column(column.kind, bernoulli(0.5, people).tolist())
    first = domain.size // 2 if domain.is_ordered else 1
    low = uniform_integers(first, people)
    high = first + uniform_integers(domain.size - first, people)
    return _drawn(column, domain, np.where(bernoulli(0.5, people), low, high))
