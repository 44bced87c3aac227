"""The choice of a mechanism for a stream."""

from contextlib import suppress
from typing import Any

from discreet.errors import ParameterError
from discreet.parameters import Real, rational
from discreet.streams.mechanism import StreamMechanism
from discreet.streams.square_root import SquareRoot
from discreet.streams.tree import Tree


def best_mechanism(  # noqa: PLR0913 - each is a term of the guarantee
    *,
    ticks: int,
    epsilon: Real,
    delta: Real = 0,
    rows_per_unit: int = 1,
    rows_per_tick: int | None = None,
    magnitude: int = 1,
    cells: int = 1,
) -> StreamMechanism:
    """Return the mechanism of least rms deviation that lets streams react and keeps no secrets.

    The choice depends on public parameters only. Without delta it is a tree of the best arity.
    """
    terms: dict[str, Any] = {
        "ticks": ticks,
        "epsilon": epsilon,
        "rows_per_unit": rows_per_unit,
        "rows_per_tick": rows_per_tick,
        "magnitude": magnitude,
        "cells": cells,
    }
    found: list[StreamMechanism] = [Tree.best(**terms)]
    if rational("delta", delta, least=0, below=1):
        with suppress(ParameterError):  # a large epsilon leaves no delta to the grid
            found += [SquareRoot(**terms, delta=delta), Tree.best(**terms, delta=delta)]
    return min(found, key=lambda each: each.rms_deviation)
