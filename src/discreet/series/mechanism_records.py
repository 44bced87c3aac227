"""Mechanisms of streams as JSON, in a permanent format: a series of years must mean the same."""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from discreet.streams import BufferedToeplitz, SquareRoot, StreamMechanism, Tree
from discreet.streams.gaussian_grid import GaussianGrid

Record = dict[str, Any]

SHARED = ("ticks", "cells", "rows_per_unit", "rows_per_tick", "magnitude")

KINDS: Mapping[str, type] = {
    "square-root/1": SquareRoot,
    "buffered-toeplitz/1": BufferedToeplitz,
    "tree/1": Tree,
}


def record_from_mechanism(mechanism: StreamMechanism) -> Record:
    """Return a mechanism as a JSON object."""
    tag = next(tag for tag, kind in KINDS.items() if type(mechanism) is kind)
    record: Record = {"tag": tag, **{name: getattr(mechanism, name) for name in SHARED}}
    record |= {"epsilon": str(mechanism.epsilon), "delta": str(mechanism.delta)}
    record["step"] = str(_step(mechanism))
    if isinstance(mechanism, Tree):
        record["arity"] = mechanism.arity
    if isinstance(mechanism, BufferedToeplitz):
        record |= {"decays": list(map(str, mechanism.decays))}
        record |= {"weights": list(map(str, mechanism.weights))}
    return record


def mechanism_from_record(record: Mapping[str, Any]) -> StreamMechanism:
    """Return the mechanism that `record_from_mechanism` wrote, or raise ValueError.

    Stored numbers are multiples of a step. A version that would read them with another one, or draw
    further ticks with it, must not.
    """
    terms = {name: record[name] for name in SHARED}
    terms |= {"epsilon": Fraction(record["epsilon"]), "delta": Fraction(record["delta"])}
    kind = KINDS[record["tag"]]
    if kind is Tree:
        terms["arity"] = record["arity"]
    if kind is BufferedToeplitz:
        terms["decays"] = tuple(map(Fraction, record["decays"]))
        terms["weights"] = tuple(map(Fraction, record["weights"]))
    made: StreamMechanism = kind(**terms)
    if str(_step(made)) != record["step"]:
        raise ValueError(record["step"])
    return made


def _step(mechanism: StreamMechanism) -> Fraction:
    """Return what one step of a released number is worth: it follows from all of the terms."""
    match mechanism:
        case (
            SquareRoot(grid=grid) | BufferedToeplitz(grid=grid) | Tree(noise=GaussianGrid() as grid)
        ):
            return grid.step
        case _:
            return Fraction(1)
