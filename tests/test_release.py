"""Where exact meets noise: which rows appear, what they hold, and how far noise moves them."""

from datetime import date
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from discreet.catalog.schema import Kind
from discreet.postprocess import with_margins
from discreet.query.plan import PlannedRelease
from discreet.query.questions import (
    Aggregate,
    DeclaredGroups,
    Key,
    ListedByCatalog,
    NotDeclared,
    Statistic,
    UndeclaredGroups,
)
from discreet.release import release
from discreet.tables import ExactTable, NoisyTable
from tests.query.evaluate import sums_of
from tests.query.made import (
    COST,
    MINUTES,
    REGION,
    REGIONS,
    ROWS,
    UNITS,
    average,
    by_region,
    column,
    count,
    exact,
    make_policy,
    make_release,
    of,
    plan_of,
    quantile,
    total,
)
from tests.replay import ReplayableEntropy

SOURCE = Path(__file__).parent.parent / "src" / "discreet"
DELTA = Fraction(1, 10**4)
Exact = dict[str, list[Any]]
DAY = column("day", Kind.DATE, bounds=(19_723, 20_088))


def planned_of(*aggregates: Aggregate, **how: Any) -> PlannedRelease:
    epsilon = how.pop("epsilon", 1)
    policy = how.pop("policy", make_policy(delta=DELTA))
    (planned,) = plan_of(make_release(*aggregates, **how), epsilon=epsilon, policy=policy).releases
    return planned


def released(planned: PlannedRelease, *tables: Exact, seed: int = 1) -> NoisyTable:
    entropy = ReplayableEntropy(seed=seed)
    return release(planned, tuple(map(exact, tables)), entropy=entropy)


def shown(planned: PlannedRelease, *tables: Exact) -> Exact:
    return released(planned, *tables).rows.to_pydict()


# --------------------------------------------------------------------------- which rows


def test_only_this_module_opens_exact_tables() -> None:
    files = {path for path in SOURCE.rglob("*.py") if "unseal(" in path.read_text(encoding="utf-8")}
    assert files == {SOURCE / "release.py", SOURCE / "tables.py"}


def test_every_known_key_is_answered_in_public_order_and_no_other() -> None:
    table: Exact = {"k0": ["west", None, "mars", "north"], "s0": [1000, 5000, 5000, 2000]}
    rows = shown(planned_of(ROWS, keys=by_region()), table)
    assert rows["region"] == list(REGIONS)
    assert rows["a0"] == pytest.approx([2000, 0, 1000], abs=200)
    assert rows["a0"][1] != 0


def test_a_null_that_is_a_public_key_is_answered() -> None:
    keys = by_region()[0], DeclaredGroups(rows=(("north",), (None,)), why=ListedByCatalog())
    rows = shown(planned_of(ROWS, keys=keys), {"k0": [None, "south"], "s0": [4000, 9000]})
    assert rows["region"] == ["north", None]
    assert rows["a0"] == pytest.approx([0, 4000], abs=200)


def test_without_keys_there_is_one_row_also_of_an_empty_table() -> None:
    asked = (ROWS, UNITS, average(COST), quantile(COST, "1/2"))
    sums: Exact = {"s0": [0], "s1": [0], "s2": [0]}
    noisy = released(planned_of(*asked), sums, {"units": [0]}, {"cell": [], "n": []})
    assert noisy.rows.num_rows == 1
    gaps = [name for name in noisy.rows.column_names if noisy.rows.column(name).null_count]
    assert gaps == ["a3", *noisy.rows.column_names[-2:]], "only a quantile needs rows"


def test_keys_of_few_units_are_not_shown_and_others_are_sorted() -> None:
    table: Exact = {
        "k0": ["zoo", "one", "app", None],
        "s0": [9000, 1, 8000, 7000],
        "units": [4000, 1, 5000, 6000],
    }
    planned = planned_of(ROWS, UNITS, keys=by_region(known=False))
    rows = shown(planned, table)
    assert rows["region"] == ["app", "zoo", None]
    assert rows["a0"] == pytest.approx([8000, 9000, 7000], abs=300)
    assert rows["a1"] == pytest.approx([5000, 4000, 6000], abs=300)
    assert list(rows) == ["region", "a0", "a1", "m0"]


def test_no_key_at_all_is_an_empty_table_of_the_same_columns() -> None:
    planned = planned_of(ROWS, average(COST), UNITS, keys=by_region(known=False))
    noisy = released(planned, {"k0": [], "units": [], "s0": [], "s1": [], "s2": []})
    assert noisy.rows.num_rows == 0
    assert with_margins(planned, noisy, confidence=0.95).num_rows == 0


def test_keys_of_several_columns_meet_as_wholes() -> None:
    old = Key(name="old", expression=column("old", Kind.BOOLEAN))
    day = Key(name="day", expression=DAY)
    days = (date(2024, 1, 1), date(2024, 1, 2))
    known = DeclaredGroups(
        rows=tuple((each, is_old) for each in days for is_old in (False, True)),
        why=ListedByCatalog(),
    )
    table: Exact = {"k0": [days[1], days[0], date(1999, 1, 1)], "k1": [True, False, True]}
    rows = shown(planned_of(ROWS, keys=((day, old), known)), table | {"s0": [2000, 3000, 9000]})
    assert rows["day"] == [days[0], days[0], days[1], days[1]]
    assert rows["old"] == [False, True, False, True]
    assert rows["a0"] == pytest.approx([3000, 0, 0, 2000], abs=300)


def test_the_shape_of_a_release_does_not_depend_on_the_data() -> None:
    planned = planned_of(ROWS, average(COST), quantile(COST, "1/2"), keys=by_region())
    sums = {"s0": [9], "s1": [9], "s2": [9]}
    full = released(planned, {"k0": ["west"]} | sums, {"k0": ["west"], "cell": [3], "n": [9]})
    empty: Exact = {"k0": [], "s0": [], "s1": [], "s2": []}
    none = released(planned, empty, {"k0": [], "cell": [], "n": []})
    assert full.rows.schema == none.rows.schema
    assert full.rows.column("region") == none.rows.column("region")


# --------------------------------------------------------------------------- which values


def test_values_keep_their_kinds() -> None:
    asked = (
        of(Statistic.MIN, DAY, Kind.DATE),
        of(Statistic.MAX, MINUTES, Kind.INTEGER),
        quantile(MINUTES, "1/2"),
        of(Statistic.MODE, REGION, Kind.TEXT),
        total(MINUTES),
        average(MINUTES),
    )
    planned = planned_of(*asked, epsilon=40)
    rows = shown(
        planned,
        {"s0": [1000], "s1": [1000 * 120]},
        {"cell": list(range(100, 200)), "n": [50] * 100},
        {"cell": list(range(20, 121)), "n": [50] * 101},
        {"k0": ["west", "north", "mars"], "s0": [10, 500, 9000]},
    )
    assert abs(rows["a0"][0] - date(2024, 4, 10)).days <= 3
    assert rows["a1"] == [120]
    assert rows["a2"][0] == pytest.approx(70, abs=2)
    assert isinstance(rows["a2"][0], float)
    assert rows["a3"] == ["north"]
    assert isinstance(rows["a4"][0], int)
    assert rows["a5"][0] == pytest.approx(120, abs=1)


def test_sums_wider_than_64_bits_are_released() -> None:
    huge = Decimal(10**30)
    rows = shown(planned_of(ROWS, total(COST)), {"s0": [huge], "s1": [huge], "s2": [huge]})
    assert rows["a0"][0] > 10**9


def test_counts_are_not_cut_at_zero() -> None:
    keys = (Key(name="g", expression=column("g", Kind.INTEGER)),)
    many = DeclaredGroups(rows=tuple((i,) for i in range(200)), why=ListedByCatalog())
    rows = shown(planned_of(ROWS, keys=(keys, many)), {"k0": [], "s0": []})
    assert min(rows["a0"]) < 0 < max(rows["a0"])


def test_noise_is_not_repeated_from_group_to_group() -> None:
    keys = (Key(name="g", expression=column("g", Kind.INTEGER)),)
    many = DeclaredGroups(rows=tuple((i,) for i in range(100)), why=ListedByCatalog())
    rows = shown(planned_of(average(COST), keys=(keys, many)), {"k0": [], "s0": [], "s1": []})
    assert len({*rows["m0"], *rows["m1"]}) == 200


def test_unknown_keys_may_be_real_or_null() -> None:
    x = (Key(name="x", expression=column("x")),)
    table: Exact = {"k0": [2.5, None, -1.0], "units": [5000, 5000, 5000]}
    rows = shown(planned_of(keys=(x, UndeclaredGroups(why=NotDeclared(columns=("x",))))), table)
    assert rows["x"] == [-1.0, 2.5, None]


# --------------------------------------------------------------------------- half widths

DRAWS = 10_000


def coverage(planned: PlannedRelease, table: dict[str, Any], true: list[float]) -> list[float]:
    """Return how often each aggregate's ± holds its true value, over all groups."""
    noisy = release(planned, (ExactTable(pa.table(table)),), entropy=ReplayableEntropy(seed=7))
    rows = with_margins(planned, noisy, confidence=0.95)
    found = []
    for number, value in enumerate(true):
        off = np.abs(rows.column(f"a{number}").to_numpy() - value)
        found.append(float(np.mean(off <= rows.column(f"a{number}_spread").to_numpy() + 1e-9)))
    return found


def many_groups() -> tuple[tuple[Key, ...], DeclaredGroups]:
    keys = (Key(name="g", expression=column("g", Kind.INTEGER)),)
    return keys, DeclaredGroups(rows=tuple((i,) for i in range(DRAWS)), why=ListedByCatalog())


@pytest.mark.parametrize("share", [Fraction(1, 20), Fraction(1, 2)])
def test_nineteen_of_twenty_numbers_are_within_their_half_width(share: Fraction) -> None:
    """A true 95 % strays from it by more than 1 % once in 200 000 such tests."""
    asked = (ROWS, count(COST), total(COST), average(COST))
    planned = planned_of(*asked, keys=many_groups(), policy=make_policy())
    n, steps = 5000, planned.components[0].measure.total
    sums = {"s0": [n] * DRAWS, "s1": [int(n * steps * share)] * DRAWS, "s2": [n + 100] * DRAWS}
    true = [n + 100, n, float(n * 500 * share), float(500 * share)]
    for each in coverage(planned, {"k0": range(DRAWS), **sums}, true):
        assert each == pytest.approx(0.95, abs=0.01)


def test_half_widths_of_single_cells_and_moments_cover_as_often() -> None:
    asked = (total(MINUTES), of(Statistic.VAR_POP, COST), of(Statistic.STDDEV_SAMP, COST))
    planned = planned_of(*asked, keys=many_groups(), policy=make_policy())
    n, steps = 50_000, planned.components[1].measure.total
    sums = {"s0": [100 * n], "s1": [n], "s2": [n * steps // 2], "s3": [n * steps // 3]}
    table = {"k0": range(DRAWS)} | {name: values * DRAWS for name, values in sums.items()}
    variance = 500**2 * (1 / 3 - 1 / 4)
    for each in coverage(planned, table, [100 * n, variance, (variance * n / (n - 1)) ** 0.5]):
        assert each == pytest.approx(0.95, abs=0.01)


def test_means_beside_deviations_keep_their_half_width_in_large_tables() -> None:
    """At n · epsilon = 10^7 values on a grid of 2^15 points would be off by far more than ±."""
    asked = (average(COST), total(COST), of(Statistic.STDDEV_POP, COST))
    planned = planned_of(*asked, keys=many_groups(), policy=make_policy())
    n, grid = 10**7, Fraction(500, 1 << 15)
    low, high = (8_000 + Fraction(1, 2)) * grid, (24_000 + Fraction(1, 2)) * grid

    def covered(*values: Fraction) -> list[float]:
        """Return how often the true numbers are covered if half of the rows has each value."""
        sums = sums_of(planned.components[0].measure.sums, [{"cost": each} for each in values])
        table = {f"s{i}": [n // 2 * each] * DRAWS for i, each in enumerate(sums)}
        mean = float(low + high) / 2
        return coverage(
            planned, {"k0": range(DRAWS), **table}, [mean, n * mean, float(8000 * grid)]
        )

    for each in covered(low, high):
        assert each == pytest.approx(0.95, abs=0.01)
    assert max(covered(low + grid / 2, high + grid / 2)[:2]) < 0.5


def test_gaussian_half_widths_cover_as_often() -> None:
    asked = tuple(average(column(f"x{i}", bounds=(0, 1))) for i in range(30))
    planned = planned_of(*asked, keys=many_groups())
    assert planned.delta > 0
    n, steps = 50_000, planned.components[0].measure.total
    sums = {f"s{i}": [n * steps // 4 if i % 2 else n] * DRAWS for i in range(60)}
    for each in coverage(planned, {"k0": range(DRAWS), **sums}, [0.25] * 3):
        assert each == pytest.approx(0.95, abs=0.01)


def test_half_widths_that_hold_for_all_groups_are_wider() -> None:
    planned = planned_of(ROWS, average(COST), keys=by_region())
    noisy = released(planned, {"k0": ["west"], "s0": [500], "s1": [500], "s2": [600]})
    each, both = (
        with_margins(planned, noisy, confidence=0.95, simultaneous=at_once).to_pydict()
        for at_once in (False, True)
    )
    assert both["a0_spread"] > each["a0_spread"]
    assert list(each) == ["region", "a0", "a1", "a0_spread", "a1_spread"]


def test_values_that_were_chosen_have_no_half_width() -> None:
    planned = planned_of(quantile(COST, "1/2"), of(Statistic.MODE, REGION, Kind.TEXT))
    noisy = released(planned, {"cell": [3], "n": [50]}, {"k0": ["west"], "s0": [50]})
    rows = with_margins(planned, noisy, confidence=0.95).to_pydict()
    assert rows["a0_spread"] == rows["a1_spread"] == [None]
