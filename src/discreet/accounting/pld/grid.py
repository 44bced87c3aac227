"""Losses on an even grid, never smaller than they were.

Mass at a loss between two grid points is split between them so that its total under P and under Q
stays what it was: "connect the dots" (Doroshenko et al. 2022, Theorem 4.1). Splitting spreads the
likelihood ratio and keeps its mean, so every hockey-stick divergence can only grow, and to second
order in the width of the grid.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor, fsum, gcd, inf, isinf, lcm, sqrt

import numpy as np

from discreet.accounting.approximate import Floats
from discreet.accounting.pld.pairs import Atoms, Pair
from discreet.accounting.pld.stretches import Stretch
from discreet.accounting.rounding import TRUST, float_up
from discreet.errors import HIDDEN, ParameterError

COARSENESS = 1e-5
"""About how much of the variance of all losses together the grid may add."""

LEAST_WINDOW = 2**16
"""About the fewest points that the window of the transform is given."""

MOST_POINTS = 2_000_000
"""The most grid points for all distributions together. Beyond, a coarser grid is used."""

MOST_TRANSFORMED = 30_000_000
"""The most points in all transforms together. Beyond, a coarser grid is used."""

MOST_COMPOSED = 10**9
"""The most releases in total, because the rounding of their losses adds up."""

LEAST_DEVIATION, LARGEST_LOSS = 1e-12, 1e6
"""The range of losses that a grid is made for."""

LOWER_TAIL = 1e-17
"""Mass that may be moved up to the lowest loss kept; it costs at most itself in delta."""


Weighted = Sequence[tuple[Pair, int]]
"""Pairs, and how often each is composed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LossLaw:
    """Masses at losses start · width, (start + 1) · width, ...; the rest is at infinity.

    True losses exceed these by at most `drift`, an allowance for float rounding.
    """

    start: int
    masses: Floats
    infinite: float
    drift: float


def grid_width(pairs: Weighted, tail: float) -> float:
    """Return a width that all lattice losses fall on if possible, fine enough for the others."""
    finest = _finest(pairs, tail)
    common = _common_unit(pairs)
    if common is not None and common > finest and all(_is_lattice(pair) for pair, _ in pairs):
        return float_up(common)
    aim = max(_resolution(pairs), finest) or 1.0
    units = [common, _heaviest_unit(pairs)]
    unit = next((each for each in units if each is not None and 8 * each > aim), None)
    return aim if unit is None else float_up(unit / ceil(unit / Fraction(aim)))


def refuse_the_extreme(pairs: Weighted, tail: float) -> None:
    """Reject losses that floats on one grid cannot hold. Other accountants handle them."""
    count = sum(count for _, count in pairs)
    if count > MOST_COMPOSED:
        raise ParameterError("count", count, f"must be {MOST_COMPOSED} or less for PLD")
    largest = max(_reach(part, tail)[1] for pair, _ in pairs for part in pair.parts)
    if largest > LARGEST_LOSS or 0 < sqrt(_spread(pairs)) < LEAST_DEVIATION:
        rule = f"must have losses between {LEAST_DEVIATION:g} and {LARGEST_LOSS:g} for PLD"
        raise ParameterError("events", HIDDEN, rule)


def law_on_grid(pair: Pair, width: float, tail: float) -> LossLaw:
    """Return a distribution on the grid that dominates the pair's loss."""
    pieces = [_placed(part, width, tail) for part in pair.parts]
    start = min(piece.start for piece in pieces)
    end = max(piece.start + len(piece.masses) for piece in pieces)
    masses = np.zeros(end - start)
    for piece in pieces:
        masses[piece.start - start : piece.start - start + len(piece.masses)] += piece.masses
    return LossLaw(
        start=start,
        masses=np.trim_zeros(masses, "b"),
        infinite=pair.infinite + sum(piece.infinite for piece in pieces),
        drift=max(piece.drift for piece in pieces),
    )


def _is_lattice(pair: Pair) -> bool:
    """Return whether every loss is a multiple of the unit, or zero."""
    if pair.unit is None:
        return all(isinstance(part, Atoms) and not part.losses.any() for part in pair.parts)
    return all(isinstance(part, Atoms) for part in pair.parts)


def _common_unit(pairs: Weighted) -> Fraction | None:
    units = [pair.unit for pair, _ in pairs if pair.unit is not None]
    if not units:
        return None
    return Fraction(gcd(*(u.numerator for u in units)), lcm(*(u.denominator for u in units)))


def _heaviest_unit(pairs: Weighted) -> Fraction | None:
    weights = [(count * pair.unit**2, pair.unit) for pair, count in pairs if pair.unit is not None]
    return max(weights)[1] if weights else None


def _resolution(pairs: Weighted) -> float:
    """Return the width at which splitting adds about COARSENESS to the variance of the sum.

    Splitting adds at most width²/4 to the variance of one loss.
    """
    spread = _spread(pairs)
    splitting = sqrt(4 * COARSENESS * spread / sum(count for _, count in pairs))
    return min(splitting, _window(spread) / LEAST_WINDOW)


def _finest(pairs: Weighted, tail: float) -> float:
    """Return the width below which there would be too many points."""
    reaches = [_reach(part, tail) for pair, _ in pairs for part in pair.parts]
    span = fsum(high - low for low, high in reaches)
    transformed = _window(_spread(pairs)) * max(len(pairs), 20)
    return max(span / MOST_POINTS, transformed / MOST_TRANSFORMED)


def _window(spread: float) -> float:
    """Return about how wide the window of `convolution` will be."""
    return 20 * sqrt(spread)


def _spread(pairs: Weighted) -> float:
    return fsum(count * part.spread for pair, count in pairs for part in pair.parts)


def _reach(part: Atoms | Stretch, tail: float) -> tuple[float, float]:
    if isinstance(part, Atoms):
        return float(part.losses.min()), float(part.losses.max())
    return part.reach(tail)


def _placed(part: Atoms | Stretch, width: float, tail: float) -> LossLaw:
    if isinstance(part, Atoms):
        return _placed_atoms(part, width, tail)
    return _placed_stretch(part, width, tail)


def _placed_atoms(atoms: Atoms, width: float, tail: float) -> LossLaw:
    losses, p, infinite = _without_tails(atoms, tail)
    position = losses / width
    nearest = np.rint(position)
    # An atom this near a grid point is on it; the difference is within the drift.
    on = np.abs(position - nearest) <= 2.0**-46 * (1 + np.abs(position))
    low = np.where(on, nearest, np.floor(position))
    share = _share_up(np.exp(-(position - low) * width), width)
    up = np.where(on, 0.0, np.minimum(1.0, share + 4 * TRUST / -np.expm1(-width)))
    start = int(low.min())
    index = (low - start).astype(np.intp)
    size = int(index.max()) + 2
    masses: Floats = np.bincount(index, p * (1 - up), size).astype(np.float64)
    masses += np.bincount(index + 1, p * up, size)
    return LossLaw(
        start=start, masses=masses * (1 + TRUST), infinite=infinite, drift=_drift(losses, width)
    )


def _without_tails(atoms: Atoms, tail: float) -> tuple[Floats, Floats, float]:
    """Return losses and masses, the top of mass tail sent to infinity, the bottom moved up."""
    order = np.argsort(atoms.losses)
    losses, p = atoms.losses[order], atoms.p[order]
    from_top = np.cumsum(p[::-1])[::-1]
    kept = max(1, int(np.count_nonzero(from_top > tail)))
    lowest = min(kept - 1, int(np.count_nonzero(np.cumsum(p) <= LOWER_TAIL)))
    infinite = float(from_top[kept]) * (1 + 2.0**-40) if kept < len(p) else 0.0
    return np.maximum(losses[:kept], losses[lowest]), p[:kept], infinite


def _placed_stretch(part: Stretch, width: float, tail: float) -> LossLaw:
    (low, high), most = part.reach(tail), part.reach(0.0)[1]
    is_bounded = not isinf(most)
    last = (most if is_bounded else high) / width
    # A bounded stretch ends at its last loss; rounding may leave that past an edge, within drift.
    start, end = floor(low / width), ceil(last - 2.0**-44 * (1 + abs(last)))
    edges = np.arange(start, max(end, start + 1) + 1, dtype=np.float64) * width
    trust = part.trust(edges[:-1], edges[1:])
    p, q = (mass * (1 + trust) for mass in part.mass(edges[:-1], edges[1:]))
    outside = np.array([-inf, edges[-1]]), np.array([edges[0], inf])
    below, above = part.mass(*outside)[0] * (1 + part.trust(*outside))
    up = np.minimum(1.0, _stretch_share_up(edges, p, q) + 4 * trust / -np.expm1(-width))
    masses = np.append(p * (1 - up), 0.0) + np.append(below, p * up)
    masses[-1] += above if is_bounded else 0.0
    return LossLaw(
        start=start,
        masses=masses * (1 + TRUST),
        # The first term covers masses too small for a float to hold all their digits.
        infinite=1e-305 + (0.0 if is_bounded else above),
        drift=_drift(edges, width),
    )


def _stretch_share_up(edges: Floats, p: Floats, q: Floats) -> Floats:
    # e^low Q/P lies between e^-width and 1; where Q underflows all goes up.
    ratio = np.exp(np.minimum(edges[:-1], 700.0)) * q / np.maximum(p, 1e-320)
    return _share_up(ratio, float(edges[1] - edges[0]))


def _share_up(ratio: Floats, width: float) -> Floats:
    """Return what part of a mass goes to the upper point: ratio = 1 keeps Q/P at the lower."""
    return np.asarray(np.clip((1 - ratio) / -np.expm1(-width), 0.0, 1.0))


def _drift(losses: Floats, width: float) -> float:
    return 2.0**-43 * (width + float(np.max(np.abs(losses))))
