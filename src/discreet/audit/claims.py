"""Every mechanism as subjects, with several epsilons and worst-case neighbours.

These include ties and all-equal scores, both ends of truncated ranges, shifts of all coordinates at
once, and inputs far from 0.
"""

from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from discreet.audit.subjects import (
    AuditCase,
    Outputs,
    Subject,
    SubjectKind,
    at_once,
    one_by_one,
    subjects_of,
)
from discreet.mechanisms import (
    REPLACE,
    AboveThreshold,
    Exponential,
    Extreme,
    Gaussian,
    GaussianPartitionSelection,
    Geometric,
    Laplace,
    NoisyMax,
    NoisyTop,
    NumericSparse,
    PartitionSelection,
    PermuteAndFlip,
    Quantile,
    RandomizedResponse,
    Sparse,
    Staircase,
)
from discreet.mechanisms.quantile_interval import (
    ExtremeInterval,
    QuantileInterval,
    RankedInterval,
)
from discreet.noise.uniform import IntArray

EPSILONS = (Fraction(1, 2), Fraction(1), Fraction(3))


ENOUGH = (Fraction(1), Fraction(4))
"""The epsilons for slow mechanisms."""


DELTA = Fraction(1, 50)
"""Large enough for an audit to detect."""


MANY, SOME, FEW = 100_000, 10_000, 5_000


def subjects() -> tuple[Subject, ...]:
    """Return every mechanism as a subject."""
    return subjects_of(cases(), SubjectKind.MECHANISM)


def cases() -> Iterator[AuditCase]:
    """Yield every mechanism with worst-case neighbours."""
    yield from _whole_numbers()
    yield from _reals()
    yield from _gaussians()
    yield from _choices()
    yield from _tops()
    yield from _streams()
    yield from _keys()
    yield from _ranks()
    yield from _responses()


def _whole_numbers() -> Iterator[AuditCase]:
    add = partial(AuditCase, draw=at_once, runs=MANY)
    for epsilon in EPSILONS:
        one, three = (Geometric(epsilon=epsilon, sensitivity=size) for size in (1, 3))
        cut = one.truncated(0, 10)
        yield add(mechanism=one, here=0, there=1)
        yield add(mechanism=three, here=-5, there=-2, what="sensitivity 3")
        yield add(mechanism=cut, here=0, there=1, what="geometric, low end")
        yield add(mechanism=cut, here=10, there=9, what="geometric, high end")
    one, two = (Geometric(epsilon=1, sensitivity=size) for size in (1, 2))
    far = 2**40
    yield AuditCase(mechanism=one, here=0, there=1, draw=one_by_one, runs=SOME, what="one by one")
    yield add(mechanism=one, here=far, there=far + 1, what="far from 0")
    yield add(mechanism=two, here=[1, 0], there=[0, 1], what="two cells")


def _reals() -> Iterator[AuditCase]:
    add = partial(AuditCase, draw=one_by_one, runs=SOME)
    for epsilon in EPSILONS:
        one = Laplace(epsilon=epsilon, sensitivity=1)
        yield add(mechanism=one, here=0.0, there=1.0)
        yield AuditCase(
            mechanism=one, here=0.0, there=1.0, draw=_coordinates, runs=MANY, what="arrays"
        )
        yield add(mechanism=one.truncated(0, 1), here=0.0, there=1.0, what="Laplace")
    tenth = Laplace(epsilon=1, sensitivity=0.1)
    both = Laplace(epsilon=1, sensitivity=2, answers=2)
    cells = np.array([1.0, 0.0])
    yield add(mechanism=tenth, here=0.3, there=0.4, what="off a grid")
    yield add(mechanism=both, here=cells, there=cells[::-1], what="two cells", runs=FEW)
    for epsilon in ENOUGH:
        stairs = Staircase(epsilon=epsilon, sensitivity=1)
        yield add(mechanism=stairs, here=0.0, there=1.0, runs=FEW)
        yield add(mechanism=stairs, here=0.2, there=0.9, runs=FEW, what="nearer")


def _gaussians() -> Iterator[AuditCase]:
    add = partial(AuditCase, draw=one_by_one, runs=FEW, delta=DELTA)
    for epsilon in EPSILONS:
        one = Gaussian(epsilon=epsilon, delta=DELTA, sensitivity=1)
        yield add(mechanism=one, here=0.0, there=1.0, draw=_coordinates, runs=MANY, what="arrays")
        yield add(mechanism=one, here=0, there=1, runs=SOME, what="whole numbers")
    classical = Gaussian(epsilon=0.9, delta=DELTA, sensitivity=1, calibration="classical")
    both = Gaussian(epsilon=1, delta=DELTA, sensitivity=1, answers=2)
    twice = Gaussian(epsilon=1, delta=DELTA, sensitivity=1, releases=2)
    moved = np.array([0.6, 0.8])
    yield add(mechanism=classical, here=0.0, there=1.0, what="classical")
    yield add(mechanism=both, here=0 * moved, there=moved, what="two answers")
    yield add(mechanism=twice, here=0.0, there=1.0, draw=_twice, what="released twice")
    by_rho = Gaussian.for_rho(Fraction(1, 8), delta=DELTA, sensitivity=1)
    yield add(mechanism=by_rho, here=0, there=1, runs=SOME, what="whole numbers, by rho")


ALL_EQUAL, ONE_UP = [0, 0, 0, 0], [1, 0, 0, 0]


FIRST_LEADS, OTHERS_LEAD = [1, 0, 0, 0], [0, 1, 1, 1]


def _choices() -> Iterator[AuditCase]:
    for epsilon in ENOUGH:
        for name in (Exponential, PermuteAndFlip, NoisyMax):
            yield from _pairs(partial(name, epsilon=epsilon, sensitivity=1))
        textbook = partial(NoisyMax, epsilon=epsilon, sensitivity=1, noise="laplace")
        yield from _pairs(textbook, "Laplace noise, ")


def _pairs(make: Callable[..., Any], kind: str = "") -> Iterator[AuditCase]:
    add = partial(AuditCase, draw=one_by_one, runs=FEW)
    moved, up = f"{kind}all scores moved", f"{kind}all equal, or one up"
    yield add(mechanism=make(), here=FIRST_LEADS, there=OTHERS_LEAD, what=moved)
    yield add(mechanism=make(monotone=True), here=ALL_EQUAL, there=ONE_UP, what=up)


def _tops() -> Iterator[AuditCase]:
    add = partial(AuditCase, draw=one_by_one, runs=FEW)
    for epsilon in ENOUGH:
        make = partial(NoisyTop, epsilon=epsilon, sensitivity=1, count=2)
        moved, up = "all scores moved", "all equal, or two up"
        yield add(mechanism=make(), here=[1, 1, 0, 0], there=[0, 0, 1, 1], what=moved)
        yield add(mechanism=make(monotone=True), here=ALL_EQUAL, there=[1, 1, 0, 0], what=up)


def _streams() -> Iterator[AuditCase]:
    add = partial(AuditCase, draw=one_by_one, runs=FEW)
    for epsilon in ENOUGH:
        for name in (AboveThreshold, partial(Sparse, answers=2), NumericSparse):
            make: Callable[..., Any]
            make = partial(name, epsilon=epsilon, sensitivity=1, threshold=0)
            moved, up = "all at the threshold, or moved", "all at the threshold, or up"
            yield add(mechanism=make(), here=[-1, -1, -1, 1], there=[0, 0, 0, 0], what=moved)
            yield add(mechanism=make(monotone=True), here=[0, 0, 0, 0], there=[1, 1, 1, 1], what=up)


def _keys() -> Iterator[AuditCase]:
    add = partial(AuditCase, draw=_selected, runs=MANY, delta=DELTA)
    for epsilon in EPSILONS:
        one = PartitionSelection(epsilon=epsilon, delta=DELTA)
        edge = one.threshold
        for here in (0, edge, 2 * edge):
            what = f"a key of {here} units or {here + 1}"
            yield add(mechanism=one, here=here, there=here + 1, what=what)
    two = PartitionSelection(epsilon=1, delta=DELTA, groups=2)
    replaced = PartitionSelection(epsilon=1, delta=DELTA, neighbours="replace")
    edge = replaced.threshold
    many = GaussianPartitionSelection(epsilon=1, delta=DELTA, groups=4)
    yield add(mechanism=many, here=[1] * 4, there=[0] * 4, what="four keys of one unit")
    far = [2 * many.threshold] * 4
    yield add(mechanism=many, here=far, there=[n + 1 for n in far], what="four keys of many units")
    yield add(mechanism=two, here=[1, 1], there=[0, 0], what="two keys of one unit")
    yield add(mechanism=replaced, here=[edge, edge], there=[edge - 1, edge + 1], what="replaced")


def _ranks() -> Iterator[AuditCase]:
    """Yield rows at both ends of a grid: one more changes the ranks of all points between them."""
    add = partial(AuditCase, draw=_points, runs=FEW)
    for epsilon in ENOUGH:
        middle = Quantile(epsilon=epsilon, fraction=Fraction(1, 2))
        decile = Quantile(epsilon=epsilon, fraction=Fraction(9, 10))
        most, least = (Extreme(epsilon=epsilon, end=end) for end in ("max", "min"))
        yield add(mechanism=middle, here=[3, 3], there=[3, 4], what="median")
        yield add(mechanism=middle, here=[0, 0], there=[0, 1], what="median of none or one")
        yield add(mechanism=decile, here=[9, 1], there=[9, 2], what="0.9")
        yield add(mechanism=most, here=[10, 4], there=[10, 5], what="max")
        yield add(mechanism=least, here=[0, 0], there=[1, 0], what="min of none or one")
        with_ends = QuantileInterval(epsilon=epsilon, fraction=Fraction(1, 2))
        beyond = ExtremeInterval(epsilon=epsilon, end="max")
        add_all = partial(AuditCase, draw=_intervals, runs=FEW)
        yield add_all(mechanism=with_ends, here=[3, 3], there=[3, 4], what="median, interval")
        yield add_all(mechanism=with_ends, here=[0, 0], there=[0, 1], what="interval of one row")
        yield add_all(mechanism=beyond, here=[10, 4], there=[10, 5], what="max, interval")
        single = Quantile(epsilon=epsilon, fraction=Fraction(9, 10), neighbours=REPLACE, groups=1)
        yield AuditCase(
            mechanism=single,
            draw=_single_points,
            here=[9, 1],
            there=[8, 2],
            runs=FEW,
            what="0.9 of one group, replaced",
        )


def _responses() -> Iterator[AuditCase]:
    add = partial(AuditCase, draw=at_once, runs=MANY)
    for epsilon in EPSILONS:
        for categories in (2, 5):
            response = RandomizedResponse(epsilon=epsilon, categories=categories)
            yield add(mechanism=response, here=0, there=1, what=f"{categories} categories")
    coins = RandomizedResponse.fair_coins()
    yield AuditCase(
        mechanism=coins, here=True, there=False, draw=one_by_one, runs=FEW, what="coins"
    )


def _coordinates(mechanism: Any, exact: float, count: int) -> Outputs:
    """Release one array of `count` answers, in which each is a separate run.

    Each coordinate is audited alone. The cost of the whole array is not audited here.
    """
    if isinstance(mechanism, Gaussian):
        wide: Any = Gaussian(
            epsilon=mechanism.epsilon, delta=mechanism.delta, sensitivity=1, answers=count
        )
    else:
        wide = Laplace(epsilon=mechanism.epsilon, sensitivity=mechanism.sensitivity, answers=count)
    released: Outputs = wide.release(np.full(count, exact))
    return released


def _twice(mechanism: Gaussian, exact: float, count: int) -> Outputs:
    return [(mechanism.release(exact), mechanism.release(exact)) for _ in range(count)]


def _selected(
    mechanism: PartitionSelection | GaussianPartitionSelection, exact: int | list[int], count: int
) -> Outputs:
    """Show or hide `count` groups with the same number of units, or tuples of groups."""
    numbers = mechanism.release(np.tile(exact, count)).numbers
    return numbers if isinstance(exact, int) else numbers.reshape(count, len(exact))


def _points(mechanism: Quantile, exact: list[int], count: int) -> Outputs:
    """Choose a point of a grid of six for each of `count` groups, with rows at both its ends."""
    return mechanism.release_many(*_groups(exact, count))


def _single_points(mechanism: Quantile, exact: list[int], count: int) -> Outputs:
    """Choose a point of the same grid `count` times, for one group each."""
    cells, counts, _, size = _groups(exact, 1)
    return np.array([mechanism.release(cells, counts, size) for _ in range(count)])


def _intervals(mechanism: RankedInterval, exact: list[int], count: int) -> Outputs:
    """Choose points with intervals for the same groups, and say which are supported."""
    found = mechanism.release_many(*_groups(exact, count))
    return np.stack([found.points, found.lows, found.highs, found.is_supported], axis=1)


def _groups(exact: list[int], count: int) -> tuple[IntArray, IntArray, IntArray, int]:
    """Return `count` groups with so many rows at both ends of a grid of six points."""
    held = np.array(exact)
    cells = np.flatnonzero(held) * 5
    counts, ends = held[held > 0], np.arange(count + 1) * len(cells)
    return np.tile(cells, count), np.tile(counts, count), ends, 6
