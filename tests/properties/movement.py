"""How far a unit moves what is released, found from the definition: by asking two neighbours.

Nothing here uses the sensitivities that a plan computes but to compare with them. What is charged
is read off the noise that would be drawn and off the events that a ledger would be charged.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from math import erfc, exp, floor, sqrt
from typing import Any

import pyarrow as pa

from discreet.accounting.events import (
    ApproximateEvent,
    ComposedEvent,
    DiscreteGaussianEvent,
    DiscreteLaplaceEvent,
    Event,
    ExponentialEvent,
    PermuteAndFlipEvent,
)
from discreet.catalog.schema import Kind
from discreet.engines.base import Engine
from discreet.engines.released import nodes_in, with_released
from discreet.mechanisms.exponential import PermuteAndFlip
from discreet.mechanisms.gaussian import Gaussian
from discreet.mechanisms.gaussian_selection import GaussianPartitionSelection
from discreet.mechanisms.geometric import Geometric
from discreet.mechanisms.row_threshold import RowThreshold
from discreet.query.plan import (
    Plan,
    PlannedComponents,
    PlannedKeySelection,
    PlannedRelease,
    PlannedValueSelection,
)
from discreet.query.questions import Counted, DeclaredGroups
from discreet.query.tree import ContributionBounding, ExactQuery, ReleasedRows
from discreet.release import _array
from discreet.tables import ARROW_TYPES
from tests.statements import unbound

Key = tuple[Any, ...]
Cells = Counter[tuple[Key, int]]
"""Whole numbers by group and cell; what is not there is 0."""

CONSTANTS: tuple[float, ...] = (42.5, -3.0, 7.25, 0.0)
"""What earlier releases of a question gave: the same for both neighbours, as for an analyst."""


def exact_tables(plan: Plan, engine: Engine) -> tuple[tuple[pa.Table, ...], ...]:
    """Return what each query of each release finds in this database."""
    return tuple(
        tuple(
            engine.run(unbound(with_constants(query)), CONSTANTS).unseal()
            for query in planned.queries
        )
        for planned in plan.releases
    )


ROWS: Mapping[Kind, tuple[Any, ...]] = {
    Kind.TEXT: ("flu", "asthma", "f", "m", None, "north", "it's", "", "ALLERGY", "south", "3"),
    Kind.INTEGER: (1, 2, 3, 4, None, 30, -(2**63), 2**63 - 1),
    Kind.REAL: (0.0, 33.25, None, -1e300, 42.5),
    Kind.BOOLEAN: (True, False, None),
}
"""What columns of earlier released tables hold, many rows alike."""


def with_constants(query: ExactQuery) -> ExactQuery:
    """Return a query with rows in place of those that earlier releases gave."""
    listed = [each for each in nodes_in(query) if isinstance(each, ReleasedRows)]
    return with_released(query, {each.number: list(_listed(each)) for each in listed})


def _listed(released: ReleasedRows) -> Iterator[tuple[Any, ...]]:
    for row in range(60):
        yield tuple(
            ROWS[each.kind][row // (1 + 11 * place) % len(ROWS[each.kind])]
            for place, each in enumerate(released.columns)
        )


# --------------------------------------------------------------------------- keys and cells


def _values(column: Iterable[Any]) -> list[Any]:
    """Return a column's values as Python has them."""
    return [each.as_py() for each in column]


def keys_of(planned: PlannedRelease, table: pa.Table, more: int = 0) -> list[Key]:
    """Return the key of each row of an exact table, values as a release shows them."""
    kinds = [ARROW_TYPES[each.expression.facts.kind] for each in planned.aggregation.keys]
    columns = [
        _values(table.column(f"k{number}").cast(kind, safe=False))
        for number, kind in enumerate(kinds)
    ]
    rest = range(len(kinds), len(kinds) + more)
    columns += [_values(table.column(f"k{number}")) for number in rest]
    return list(zip(*columns, strict=True)) if columns else [()] * table.num_rows


def shown_keys(planned: PlannedRelease) -> set[Key] | None:
    """Return the keys that are answered, whatever the data; None if the data decide."""
    known = planned.aggregation.groups
    if not isinstance(known, DeclaredGroups):
        return None
    if not planned.aggregation.keys:
        return {()}
    columns = [
        _values(_array([row[number] for row in known.rows], key.expression.facts.kind))
        for number, key in enumerate(planned.aggregation.keys)
    ]
    return set(zip(*columns, strict=True))


def cells_of(planned: PlannedRelease, measured: PlannedComponents, table: pa.Table) -> Cells:
    """Return the cells of each group that is answered, as whole numbers."""
    shown = shown_keys(planned)
    sums = [
        [int(each or 0) for each in _values(table.column(name))]
        for name in measured.measured.columns
    ]
    found: Cells = Counter()
    for key, *row in zip(keys_of(planned, table), *sums, strict=True):
        if shown is None or key in shown:
            for cell, times in enumerate(measured.measure.cells):
                found[key, cell] += sum(a * x for a, x in zip(times, row, strict=True))
    return found


def apart(here: Counter[Any], there: Counter[Any]) -> list[int]:
    """Return the differences that are not 0."""
    moved = (here[each] - there[each] for each in {*here, *there})
    return [each for each in moved if each]


# --------------------------------------------------------------------------- what is charged


def check_movement(
    plan: Plan,
    here: Sequence[tuple[pa.Table, ...]],
    there: Sequence[tuple[pa.Table, ...]],
) -> None:
    """Assert that no release of the plan tells two neighbours apart by more than it is charged."""
    for planned, before, after in zip(plan.releases, here, there, strict=True):
        events = list(planned.events)
        if planned.key_selection is not None:
            event = events.pop(0)
            number = planned.key_selection.key_selection.query
            _check_selection(planned, planned.key_selection, before[number], after[number], event)
        measured = [
            [cells_of(planned, each, side[each.measured.query]) for side in (before, after)]
            for each in planned.components
        ]
        if planned.key_selection is not None:
            _check_row_threshold(planned.key_selection, measured)
        groups = None if planned.key_selection else len(shown_keys(planned) or "1")
        of_picks = [each.events(groups) for each in planned.value_selections]
        first = len(events) - sum(map(len, of_picks))
        assert events[first:] == [event for each in of_picks for event in each]
        _check_noise(planned, measured, events[:first])
        for pick, own in zip(planned.value_selections, of_picks, strict=True):
            number = pick.value_selection.query
            _check_pick(planned, pick, before[number], after[number], own)


def _check_selection(
    planned: PlannedRelease,
    selection: PlannedKeySelection,
    here: pa.Table,
    there: pa.Table,
    event: Event,
) -> None:
    selecting, mechanism = selection.key_selection, selection.mechanism
    if isinstance(mechanism, RowThreshold):
        assert event == ApproximateEvent(epsilon=Fraction(0), delta=mechanism.delta)
        return
    numbers = [_selecting_numbers(planned, side, selecting.column) for side in (here, there)]
    moved = [abs(each) for each in apart(*numbers)]
    if selecting.of is Counted.UNITS:
        assert all(each == 1 for each in moved), "a unit counts more than once in a group"
    if isinstance(mechanism, GaussianPartitionSelection):
        _check_gaussian_selection(mechanism, moved, event)
        return
    # Discrete Laplace noise of this scale costs 1 / scale for each step that a number moves.
    assert sum(moved) / mechanism.scale <= mechanism.epsilon, "a unit is in too many groups"
    # A key whose number moves by c can give what its neighbour cannot as often as c alone is shown.
    beyond = sum(mechanism.distribution(each).kept for each in moved)
    assert beyond <= mechanism.delta * (1 + 1e-9), "delta"
    assert event == ApproximateEvent(epsilon=mechanism.epsilon, delta=mechanism.delta)


def _check_row_threshold(selection: PlannedKeySelection, measured: list[list[Cells]]) -> None:
    """Assert that keys that one side alone has are shown with delta at most, all together."""
    mechanism, number = selection.mechanism, selection.key_selection.measure
    if not isinstance(mechanism, RowThreshold) or number is None:
        return
    sides = measured[number]
    here, there = ({key for key, _ in side} for side in sides)
    shown = 0.0
    for side, own in ((sides[0], here - there), (sides[1], there - here)):
        for key in own:
            cells = [side[key, cell] for cell in range(mechanism.cells)]
            assert all(each >= 0 for each in cells), "a cell below 0"
            shown += mechanism.keep_probability(sum(cells) // mechanism.total)
    assert shown <= float(mechanism.delta) * (1 + 1e-3), "delta"


def _check_gaussian_selection(
    mechanism: GaussianPartitionSelection, moved: Sequence[int], event: Event
) -> None:
    """Assert that the noise hides m numbers that move by one, and the threshold keys of one."""
    noise = mechanism.noise
    assert len(moved) <= noise.answers, "a unit is in too many groups"
    deviations = sqrt(len(moved) / noise.variance)
    hidden = _gaussian_delta(deviations, float(mechanism.epsilon))
    alone = len(moved) * mechanism.distribution(1).kept
    assert hidden + alone <= float(mechanism.delta) * (1 + 1e-9), "delta"
    if isinstance(event, ComposedEvent):
        drawn, shown = event.events
        assert drawn == noise.event
        assert isinstance(shown, ApproximateEvent)
        assert shown.epsilon == 0
        assert alone <= float(shown.delta)
        return
    assert event == ApproximateEvent(epsilon=mechanism.epsilon, delta=mechanism.delta)


def _selecting_numbers(planned: PlannedRelease, table: pa.Table, column: str) -> Counter[Key]:
    whole = (int(each or 0) for each in _values(table.column(column)))
    return Counter(dict(zip(keys_of(planned, table), whole, strict=True)))


def _check_noise(
    planned: PlannedRelease, measured: list[list[Cells]], events: Sequence[Event]
) -> None:
    noises = [each.noise for each in planned.components]
    gaussian = [each for each in noises if isinstance(each, Gaussian)]
    if gaussian:
        assert len(gaussian) == len(noises)
        _check_gaussian(gaussian, measured, events)
        return
    for sides, noise, event in zip(measured, noises, events, strict=True):
        assert isinstance(noise, Geometric)
        assert isinstance(event, DiscreteLaplaceEvent)
        assert sum(map(abs, apart(*sides))) <= event.sensitivity, "L1"
        assert event.scale == noise.scale


def _check_gaussian(
    noises: list[Gaussian], measured: list[list[Cells]], events: Sequence[Event]
) -> None:
    """Assert that the noise hides both sides' distance in L2, in steps of the noise's grid."""
    squares = [
        sum(each * each for each in apart(*(_in_steps(side, noise.step) for side in sides)))
        for sides, noise in zip(measured, noises, strict=True)
    ]
    (event,) = events
    if isinstance(event, ApproximateEvent):
        shift = sum(
            square / noise.event.variance for square, noise in zip(squares, noises, strict=True)
        )
        delta = _gaussian_delta(sqrt(shift), float(event.epsilon))
        assert delta <= float(event.delta) * (1 + 1e-9), "L2"
        return
    parts = event.events if isinstance(event, ComposedEvent) else (event,)
    for square, noise, part in zip(squares, noises, parts, strict=True):
        assert isinstance(part, DiscreteGaussianEvent)
        assert square <= part.sensitivity_squared, "L2"
        assert part.variance == noise.event.variance


def _in_steps(cells: Cells, step: Fraction) -> Cells:
    return Counter({each: floor(number / step) for each, number in cells.items()})


def _gaussian_delta(mu: float, epsilon: float) -> float:
    """Return the least delta at which noise of one deviation hides a shift of mu deviations."""
    if mu == 0:
        return 0.0

    def below(x: float) -> float:
        return erfc(-x / sqrt(2)) / 2

    return below(mu / 2 - epsilon / mu) - exp(epsilon) * below(-mu / 2 - epsilon / mu)


# --------------------------------------------------------------------------- choices


def _check_pick(
    planned: PlannedRelease,
    pick: PlannedValueSelection,
    here: pa.Table,
    there: pa.Table,
    events: Sequence[Event],
) -> None:
    """Assert that the odds of no choice, over all groups together, move by more than e^epsilon."""
    mechanism = pick.mechanism
    if isinstance(mechanism, PermuteAndFlip):
        (event,) = events
        assert isinstance(event, PermuteAndFlipEvent)
        moved = list(_modes_apart(planned, pick, here, there))
        is_one_way = all(x >= 0 for each in moved for x in each) or all(
            x <= 0 for each in moved for x in each
        )
        assert is_one_way or not mechanism.monotone, "scores move both ways"
        total = sum(max(map(abs, each), default=0) for each in moved)
        factor = 1 if mechanism.monotone else 2
        assert total <= mechanism.sensitivity, "scores"
        assert factor * total * mechanism.rate <= mechanism.epsilon
        assert event.epsilon == mechanism.epsilon == pick.epsilon
        return
    counted, *chosen = events
    assert isinstance(counted, DiscreteLaplaceEvent)
    rows = list(_rows_apart(planned, pick, here, there))
    assert sum(rows) <= counted.sensitivity == mechanism.count.sensitivity, "rows"
    assert counted.answers >= len(rows)
    spent = Fraction(counted.sensitivity) / counted.scale
    choices = mechanism.choices(_size(pick))
    for number, (event, choice) in enumerate(zip(chosen, choices, strict=True)):
        assert isinstance(event, ExponentialEvent)
        away = sum(_ranks_apart(planned, pick, number, here, there), Fraction(0))
        assert away <= choice.by.sensitivity, "scores"
        assert 2 * away * choice.by.rate <= choice.by.epsilon == event.epsilon
        spent += event.epsilon
    assert spent == mechanism.epsilon == pick.epsilon


def _size(pick: PlannedValueSelection) -> int:
    assert pick.value_selection.grid is not None
    return pick.value_selection.grid.steps + 1


def _modes_apart(
    planned: PlannedRelease, pick: PlannedValueSelection, here: pa.Table, there: pa.Table
) -> Iterator[list[int]]:
    """Yield, for each group, how far the number of rows of each value of a domain moves."""
    shown, domain = shown_keys(planned), set(pick.value_selection.domain)
    scores: list[Counter[Key]] = []
    for side in (here, there):
        numbers = [int(each) for each in _values(side.column("s0"))]
        found: Counter[Key] = Counter()
        for key, number in zip(keys_of(planned, side, more=1), numbers, strict=True):
            if key[-1] in domain and (shown is None or key[:-1] in shown):
                found[key] += number
        scores.append(found)
    groups = {key[:-1] for side in scores for key in side}
    for group in groups:
        yield [scores[0][(*group, each)] - scores[1][(*group, each)] for each in domain]


def _sides(
    planned: PlannedRelease, pick: PlannedValueSelection, here: pa.Table, there: pa.Table
) -> Iterator[tuple[Counter[int], Counter[int]]]:
    """Yield, for each group, how many rows are at each point on either side."""
    size, shown = _size(pick), shown_keys(planned)
    sides: list[dict[Key, Counter[int]]] = []
    for side in (here, there):
        found: dict[Key, Counter[int]] = {}
        cells, counts = (_values(side.column(name)) for name in ("cell", "n"))
        for key, cell, count in zip(keys_of(planned, side), cells, counts, strict=True):
            assert 0 <= cell < size, "a point beyond the ruler"
            if shown is None or key in shown:
                found.setdefault(key, Counter())[int(cell)] += int(count)
        sides.append(found)
    for key in {*sides[0], *sides[1]}:
        yield sides[0].get(key, Counter()), sides[1].get(key, Counter())


def _rows_apart(
    planned: PlannedRelease, pick: PlannedValueSelection, here: pa.Table, there: pa.Table
) -> Iterator[int]:
    """Yield, for each group, how far its number of rows moves."""
    for a, b in _sides(planned, pick, here, there):
        yield abs(sum(a.values()) - sum(b.values()))


def _ranks_apart(
    planned: PlannedRelease,
    pick: PlannedValueSelection,
    number: int,
    here: pa.Table,
    there: pa.Table,
) -> Iterator[Fraction]:
    """Yield, for each group, the most that the score of a point moves, in rows."""
    size = _size(pick)
    for a, b in _sides(planned, pick, here, there):
        # Scores are constant between the points that hold rows.
        corners = {0, size - 1} | {z + d for z in {*a, *b} for d in (-1, 0, 1)}
        points = [z for z in corners if 0 <= z < size]
        scores = [_scores(pick, number, each, points) for each in (a, b)]
        yield max(abs(x - y) for x, y in zip(*scores, strict=True))


def _scores(
    pick: PlannedValueSelection, number: int, rows: Counter[int], points: Sequence[int]
) -> list[Fraction]:
    """Return minus the distance of each point's ranks to the target rank."""
    mechanism, size = pick.mechanism, _size(pick)
    assert not isinstance(mechanism, PermuteAndFlip)
    choice = mechanism.choices(size)[number]
    target, scores = Fraction(choice.target(sum(rows.values())), choice.parts), []
    for point in points:
        least = sum(count for cell, count in rows.items() if cell < point)
        below, above = least - target, target - (least + rows[point])
        if choice.has_open_ends:
            below = below if point else Fraction(0)
            above = above if point < size - 1 else Fraction(0)
        scores.append(-max(below, above, Fraction(0)))
    return scores


# --------------------------------------------------------------------------- additivity


def check_additivity(
    plan: Plan,
    here: Sequence[tuple[pa.Table, ...]],
    there: Sequence[tuple[pa.Table, ...]],
    own: Sequence[tuple[pa.Table, ...]],
) -> None:
    """Assert that a unit's going takes away what it gives alone, and touches no other unit's."""
    for planned, *sides in zip(plan.releases, here, there, own, strict=True):
        for number, query in enumerate(planned.queries):
            if (
                query.bounding is ContributionBounding.PAIRS
            ):  # different values may be shared with others
                continue
            extra = len(query.keys) - len(planned.aggregation.keys)
            whole, rest, alone = (_numbers(planned, side[number], extra) for side in sides)
            assert apart(whole, _added(rest, alone)) == [], "another unit's rows changed"


def _added(a: Counter[Any], b: Counter[Any]) -> Counter[Any]:
    """Return the sum, negative numbers kept."""
    return Counter({each: a[each] + b[each] for each in {*a, *b}})


def _numbers(planned: PlannedRelease, table: pa.Table, extra: int) -> Counter[Any]:
    """Return every whole number of an exact table, by key, cell and column."""
    found: Counter[Any] = Counter()
    cells = _values(table.column("cell")) if "cell" in table.column_names else None
    keys = keys_of(planned, table, more=extra)
    for name in table.column_names:
        if name == "cell" or name.startswith("k"):
            continue
        for row, number in enumerate(_values(table.column(name))):
            found[keys[row], None if cells is None else cells[row], name] += int(number or 0)
    return found


def same_tables(
    here: Sequence[tuple[pa.Table, ...]], there: Sequence[tuple[pa.Table, ...]]
) -> bool:
    """Return whether every number and key is the same; engines give groups in any order."""
    return all(
        _in_order(a).equals(_in_order(b))
        for before, after in zip(here, there, strict=True)
        for a, b in zip(before, after, strict=True)
    )


def _in_order(table: pa.Table) -> pa.Table:
    """Return the groups of an exact table in the order of their keys."""
    names = [each for each in table.column_names if each.startswith("k") or each == "cell"]
    return table.sort_by([(each, "ascending") for each in names]) if names else table
