"""Plans: the price that was asked, the noise of least error, refusals before any data."""

from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.accounting.budget import Budget
from discreet.accounting.events import (
    ApproximateEvent,
    ComposedEvent,
    DiscreteGaussianEvent,
    DiscreteLaplaceEvent,
    ExponentialEvent,
)
from discreet.accounting.zcdp import zcdp_rho
from discreet.catalog.catalog import Accounting
from discreet.catalog.schema import Kind
from discreet.errors import (
    QuestionSizeError,
    TargetError,
    UnboundedError,
    UnknownKeysError,
    UnsupportedError,
    readable,
)
from discreet.estimators import KeyCount, MarginPerCount, RankMargin
from discreet.mechanisms.gaussian import Gaussian
from discreet.mechanisms.geometric import Geometric
from discreet.mechanisms.partition_selection import PartitionSelection
from discreet.mechanisms.quantile_interval import ExtremeInterval, QuantileInterval
from discreet.mechanisms.sensitivity import ADD_REMOVE, REPLACE, Neighbours
from discreet.query.noise_reasons import GaussianNarrower, LaplaceNarrower
from discreet.query.plan import Plan, make_plan
from discreet.query.plan.noise_choice import NoiseRule
from discreet.query.plan.plan import EpsilonTarget, MarginTarget
from discreet.query.questions import (
    Aggregate,
    Aggregation,
    Clamped,
    Counted,
    DeclaredGroups,
    Key,
    ListedByCatalog,
    NullValues,
    OneRowPerUnit,
    Statistic,
)
from discreet.query.tree import ContributionBounding
from tests.query.made import (
    CHANGE,
    COST,
    MINUTES,
    REGION,
    ROWS,
    UNITS,
    average,
    by_region,
    charged,
    column,
    count,
    make_policy,
    make_question,
    make_release,
    of,
    plan_of,
    quantile,
    total,
)

DELTA = Fraction(1, 10**6)
LEVEL = Fraction(95, 100)

AGGREGATES = (
    ROWS,
    UNITS,
    count(COST),
    total(COST),
    average(COST),
    total(CHANGE),
    of(Statistic.VAR_SAMP, MINUTES),
    of(Statistic.STDDEV_POP, CHANGE),
    of(Statistic.COUNT_DISTINCT, COST, Kind.INTEGER),
    of(Statistic.SUM_DISTINCT, CHANGE, Kind.INTEGER),
    of(Statistic.MIN, MINUTES, Kind.INTEGER),
    of(Statistic.MODE, REGION, Kind.TEXT),
    quantile(COST, "9/10"),
)

asked = st.lists(st.sampled_from(AGGREGATES), min_size=1, max_size=6)
epsilons = st.fractions(min_value=Fraction(1, 20), max_value=10, max_denominator=1000)


# --------------------------------------------------------------------------- the price


@settings(deadline=None, max_examples=60)
@given(asked, asked, epsilons, st.sampled_from([ADD_REMOVE, REPLACE]), st.booleans())
def test_the_price_is_exactly_what_was_asked_for(
    one: list[Aggregate],
    other: list[Aggregate],
    epsilon: Fraction,
    neighbours: Neighbours,
    is_known: bool,
) -> None:
    releases = (make_release(*one), make_release(*other, keys=by_region(known=is_known)))
    policy = make_policy(delta=DELTA, neighbours=neighbours)
    plan = plan_of(*releases, epsilon=epsilon, policy=policy)
    assert charged(plan) == (epsilon, plan.delta)
    assert plan.epsilon == epsilon
    assert plan.delta <= policy.delta_per_question
    budget = Budget(epsilon=epsilon, delta=DELTA, filter="basic")
    for each in plan.events:
        budget = budget.charge(each)
    assert budget.remaining().epsilon == 0


@settings(deadline=None, max_examples=30)
@given(asked, epsilons)
def test_a_part_is_charged_what_its_mechanism_has(one: list[Aggregate], epsilon: Fraction) -> None:
    (planned,) = plan_of(make_release(*one, keys=by_region()), epsilon=epsilon).releases
    paid = [each.epsilon for each in planned.components] + [
        each.epsilon for each in planned.value_selections
    ]
    assert sum(paid) == epsilon
    for each in planned.components:
        assert isinstance(each.noise, Geometric)
        assert each.noise.epsilon == each.epsilon


def test_all_statistics_of_one_expression_have_the_price_of_one_count() -> None:
    (alone,) = plan_of(make_release(count(COST))).releases
    many = (ROWS, count(COST), total(COST), average(COST), of(Statistic.VAR_POP, COST))
    (together,) = plan_of(make_release(*many)).releases
    (one,), (all_of_them,) = alone.components, together.components
    rows = [each.noise.scale / each.measure.total for each in (one, all_of_them)]
    assert rows[0] == rows[1] == 10


def test_equal_aggregates_are_released_once() -> None:
    plan = plan_of(make_release(ROWS, ROWS, quantile(COST, "1/2"), quantile(COST, "1/2")))
    (planned,) = plan.releases
    assert len(planned.components) == len(planned.value_selections) == 1
    assert planned.estimators[0] == planned.estimators[1]


def test_a_unit_of_one_row_is_counted_as_a_row() -> None:
    (planned,) = plan_of(make_release(ROWS, UNITS, is_one_row=True)).releases
    assert len(planned.components) == 1
    assert planned.components[0].noise.scale == 1
    assert planned.queries[0].bounding is ContributionBounding.NONE


def test_units_without_keys_are_the_cheapest_question() -> None:
    (planned,) = plan_of(make_release(UNITS, limit=50)).releases
    assert planned.components[0].noise.scale == 1
    assert planned.queries[0].bounding is ContributionBounding.UNITS_ONLY


def test_units_by_group_count_in_at_most_as_many_groups_as_there_are() -> None:
    (planned,) = plan_of(make_release(UNITS, limit=50, keys=by_region())).releases
    assert planned.components[0].noise.scale == 3


def test_different_values_of_a_short_list_are_at_most_all_of_it() -> None:
    kinds = of(Statistic.COUNT_DISTINCT, REGION, Kind.INTEGER)
    (planned,) = plan_of(make_release(kinds)).releases
    assert planned.queries[0].contribution_limit == 3
    assert planned.components[0].noise.scale == 3


def test_replacing_a_unit_costs_twice_where_it_can_move() -> None:
    policy = make_policy(neighbours=REPLACE)
    for release, scale in (
        (make_release(ROWS), 10),
        (make_release(ROWS, keys=by_region()), 20),
        (make_release(count(COST)), 10),
        (make_release(UNITS), 1),
    ):
        (planned,) = plan_of(release, policy=policy).releases
        assert planned.components[0].noise.scale == scale
    (mean,) = plan_of(make_release(average(COST)), policy=policy).releases
    assert mean.components[0].noise.scale == 20 * mean.components[0].measure.total


def test_a_question_about_public_tables_is_free() -> None:
    for target in (EpsilonTarget(1), MarginTarget(5)):
        plan = make_plan(make_question(), target, make_policy())
        assert plan.events == ()
        assert plan.epsilon == plan.delta == 0


def test_quantiles_are_charged_once_for_all_groups() -> None:
    plan = plan_of(make_release(quantile(COST, "1/2"), keys=by_region()))
    counted, *chosen = plan.events
    rows = plan.releases[0].value_selections[0].value_selection.rows
    assert counted == DiscreteLaplaceEvent(sensitivity=rows, scale=Fraction(10 * rows), answers=3)
    shares = (Fraction(7, 10), Fraction(1, 10), Fraction(1, 10))
    assert chosen == [ExponentialEvent(epsilon=each) for each in shares]


@pytest.mark.parametrize("fraction", ["1/10000000", "9999999/10000000"])
def test_a_fraction_that_no_grid_of_ranks_has_is_rejected_as_such(fraction: str) -> None:
    with pytest.raises(UnsupportedError, match="too close to 0 or 1"):
        plan_of(make_release(quantile(COST, fraction)))
    assert plan_of(make_release(quantile(COST, "1/1000000"))).epsilon > 0


@pytest.mark.parametrize("fraction", ["9/10", "1/2", "0", "1"])
def test_the_only_group_of_replaced_units_has_the_noise_of_its_rows(fraction: str) -> None:
    """With several groups, the rows of a replaced unit may leave one group for another."""
    policy = make_policy(neighbours=REPLACE)
    points = {}
    for keys in (None, by_region()):
        release = make_release(quantile(COST, fraction), keys=keys)
        (planned,) = plan_of(release, policy=policy).releases
        (pick,) = planned.value_selections
        assert isinstance(pick.mechanism, QuantileInterval | ExtremeInterval)
        points[keys is None] = pick.mechanism.point
    moved = {"9/10": Fraction(9, 10), "1/2": Fraction(1, 2)}.get(fraction, Fraction(1))
    rows = points[True].rows_per_unit
    assert points[True].sensitivity == rows
    assert points[False].sensitivity == 2 * rows * moved


def test_quantiles_without_a_step_are_read_off_a_fine_grid() -> None:
    """A grid of 2^14 points, or 2^12 for unknown groups, was coarser than the noise."""
    for keys in (None, by_region()):
        (planned,) = plan_of(make_release(quantile(COST, "1/2"), keys=keys)).releases
        pick = planned.value_selections[0].value_selection
        assert pick.is_rounded
        assert pick.grid is not None
        assert pick.grid.steps == (1 << 20) - 1
    (whole,) = plan_of(make_release(quantile(MINUTES, "1/2"))).releases
    pick = whole.value_selections[0].value_selection
    assert not pick.is_rounded
    assert pick.grid is not None
    assert pick.grid.steps == 240


# --------------------------------------------------------------------------- which noise


def many_columns() -> list[Aggregate]:
    return [total(column(f"x{i}", bounds=(0, 1))) for i in range(60)]


def test_gaussian_noise_is_taken_where_it_is_smaller() -> None:
    release = make_release(*many_columns())
    (planned,) = plan_of(release, policy=make_policy(delta=DELTA)).releases
    assert all(isinstance(each.noise, Gaussian) for each in planned.components)
    assert isinstance(planned.noise_reason, GaussianNarrower)
    assert planned.noise_reason.ratio < 1
    (laplace,) = plan_of(release).releases
    spreads = [each.expected_margins(LEVEL)[0] for each in (planned, laplace)]
    assert isinstance(spreads[0], float)
    assert isinstance(spreads[1], float)
    assert spreads[0] < 0.9 * spreads[1]


def test_gaussian_noise_is_charged_as_what_it_is() -> None:
    release = make_release(*many_columns())
    basic = plan_of(release, policy=make_policy(delta=DELTA))
    assert basic.events == (ApproximateEvent(epsilon=Fraction(1), delta=DELTA / 100),)
    policy = make_policy(delta=DELTA, accounting=Accounting.CONCENTRATED)
    (event,) = plan_of(release, policy=policy).events
    assert isinstance(event, ComposedEvent)
    assert all(isinstance(each, DiscreteGaussianEvent) for each in event.events)


@pytest.mark.parametrize("is_grouped", [False, True])
def test_at_equal_rho_gaussian_noise_is_smaller_and_takes_no_delta(is_grouped: bool) -> None:
    keys = by_region() if is_grouped else None
    release = make_release(ROWS, UNITS, average(COST), keys=keys)
    policy = make_policy(delta=DELTA, accounting=Accounting.CONCENTRATED)
    laplace, gaussian = (
        make_plan(make_question(release), EpsilonTarget(Fraction(1, 10)), policy, rule)
        for rule in NoiseRule
    )
    (before,), (after,) = laplace.releases, gaussian.releases
    assert all(isinstance(each.noise, Geometric) for each in before.components)
    assert all(isinstance(each.noise, Gaussian) for each in after.components)
    cost = [sum(map(zcdp_rho, each.events)) for each in (laplace, gaussian)]
    assert cost[0] == cost[1]
    assert gaussian.epsilon == laplace.epsilon
    assert gaussian.delta == 0
    for wide, narrow in zip(
        before.expected_margins(LEVEL), after.expected_margins(LEVEL), strict=True
    ):
        assert _size(narrow) < 0.75 * _size(wide)
    assert isinstance(after.noise_reason, GaussianNarrower)
    assert after.noise_reason.ratio < 0.66
    assert after.noise_reason.rho == cost[1]
    assert gaussian.identities[0].whole != laplace.identities[0].whole


def _size(margin: object) -> float:
    assert isinstance(margin, float | MarginPerCount)
    return margin if isinstance(margin, float) else margin.numerator


def test_a_margin_needs_less_rho_with_gaussian_noise() -> None:
    policy = make_policy(delta=DELTA, accounting=Accounting.CONCENTRATED)
    laplace, gaussian = (
        make_plan(make_question(make_release(ROWS)), MarginTarget(100), policy, rule)
        for rule in NoiseRule
    )
    assert zcdp_rho(gaussian.events[0]) < 0.5 * zcdp_rho(laplace.events[0])
    assert gaussian.releases[0].expected_margins(LEVEL)[0] <= 100  # type: ignore[operator]


@pytest.mark.parametrize(
    ("release", "delta"),
    [
        (make_release(ROWS), 0),
        (make_release(UNITS, keys=by_region(known=False)), None),
        (make_release(quantile(COST, "1/2")), None),
        (make_release(*many_columns()), None),
    ],
    ids=["without a delta", "undeclared groups", "nothing measured", "Gaussian noise anyway"],
)
def test_elsewhere_equal_rho_changes_nothing(release: Aggregation, delta: int | None) -> None:
    policy = make_policy(delta=DELTA, accounting=Accounting.CONCENTRATED)
    target = EpsilonTarget(Fraction(1, 10), delta=delta)
    one, other = (make_plan(make_question(release), target, policy, rule) for rule in NoiseRule)
    assert one.events == other.events
    assert one.identities == other.identities


def test_few_numbers_get_laplace_noise_also_with_a_delta() -> None:
    plan = plan_of(make_release(ROWS, average(COST)), policy=make_policy(delta=DELTA))
    assert plan.delta == 0
    assert isinstance(plan.releases[0].noise_reason, LaplaceNarrower)


# --------------------------------------------------------------------------- groups


def test_unknown_keys_are_selected_and_their_units_come_free() -> None:
    release = make_release(UNITS, ROWS, keys=by_region(known=False))
    plan = plan_of(release, policy=make_policy(delta=DELTA))
    (planned,) = plan.releases
    assert planned.key_selection is not None
    assert planned.key_selection.mechanism.groups == 10
    assert planned.estimators[0] == KeyCount()
    assert len(planned.components) == 1
    assert len(planned.queries) == 1
    assert planned.queries[0].units
    assert plan.delta == DELTA / 100


def test_unknown_keys_are_selected_by_rows_where_these_alone_are_counted() -> None:
    """All of epsilon goes into one number, which selects the keys and is the count."""
    release = make_release(ROWS, keys=by_region(known=False))
    (planned,) = plan_of(release, policy=make_policy(delta=DELTA)).releases
    assert planned.key_selection is not None
    assert planned.key_selection.key_selection.of is Counted.ROWS
    mechanism = planned.key_selection.mechanism
    assert isinstance(mechanism, PartitionSelection)
    assert mechanism.epsilon == 1
    assert mechanism.groups == mechanism.in_one == 10
    assert planned.estimators == (KeyCount(),)
    assert planned.components == ()
    assert not planned.queries[0].units


def test_unknown_keys_are_selected_by_units_where_these_are_asked_for() -> None:
    release = make_release(ROWS, UNITS, keys=by_region(known=False))
    (planned,) = plan_of(release, policy=make_policy(delta=DELTA)).releases
    assert planned.key_selection is not None
    assert planned.key_selection.key_selection.of is Counted.UNITS
    assert planned.key_selection.key_selection.in_one == 1


def test_unknown_keys_are_selected_by_the_rows_of_an_average() -> None:
    release = make_release(ROWS, average(COST), keys=by_region(known=False))
    (planned,) = plan_of(release, policy=make_policy(delta=DELTA)).releases
    assert planned.key_selection is not None
    assert planned.key_selection.key_selection.of is Counted.ROWS
    assert planned.key_selection.key_selection.measure == 0


def test_keys_alone_are_a_selection_and_nothing_else() -> None:
    plan = plan_of(make_release(keys=by_region(known=False)), policy=make_policy(delta=DELTA))
    assert plan.events == (ApproximateEvent(epsilon=Fraction(1), delta=DELTA / 100),)
    assert plan.releases[0].queries[0].bounding is ContributionBounding.UNITS_ONLY


def test_rows_of_units_with_one_row_come_free_with_the_selection() -> None:
    release = make_release(ROWS, keys=by_region(known=False), is_one_row=True)
    (planned,) = plan_of(release, policy=make_policy(delta=DELTA)).releases
    assert planned.components == ()
    assert planned.epsilon == 1


def test_unknown_keys_are_refused_without_a_delta() -> None:
    with pytest.raises(
        UnknownKeysError, match=r"GROUP BY region needs a list.*declare values for region"
    ):
        plan_of(make_release(ROWS, keys=by_region(known=False)))


def test_public_keys_alone_are_refused() -> None:
    with pytest.raises(UnsupportedError, match="COUNT"):
        plan_of(make_release(keys=by_region()))


def test_a_delta_of_zero_cannot_select_keys() -> None:
    question = make_question(make_release(ROWS, keys=by_region(known=False)))
    with pytest.raises(TargetError, match="delta"):
        make_plan(question, EpsilonTarget(1, delta=0), make_policy(delta=DELTA))


# --------------------------------------------------------------------------- refusals


def test_missing_bounds_name_every_column_that_lacks_them() -> None:
    for aggregate in (total(column("visit")), quantile(column("visit"), "1/2")):
        with pytest.raises(UnboundedError, match=r"visit = \{ bounds = \[low, high\] \}"):
            plan_of(make_release(aggregate))


def test_a_mode_needs_to_know_its_values() -> None:
    with pytest.raises(UnsupportedError, match="values"):
        plan_of(make_release(of(Statistic.MODE, column("note", Kind.TEXT), Kind.TEXT)))


def test_a_mode_of_too_many_values_in_too_many_groups_is_refused() -> None:
    wide = column("wide", Kind.INTEGER, domain=tuple(range(5000)))
    number = Key(name="g", expression=column("g", Kind.INTEGER))
    keys = (number,), DeclaredGroups(rows=tuple((i,) for i in range(1000)), why=ListedByCatalog())
    with pytest.raises(QuestionSizeError, match="Group by fewer columns"):
        plan_of(make_release(of(Statistic.MODE, wide, Kind.INTEGER), keys=keys))


@pytest.mark.parametrize("epsilon", [Fraction(1, 10**12), 10**6])
def test_an_epsilon_whose_noise_cannot_be_drawn_is_refused(epsilon: Fraction) -> None:
    with pytest.raises(TargetError, match="epsilon"):
        plan_of(make_release(total(COST), average(MINUTES), UNITS), epsilon=epsilon)


# --------------------------------------------------------------------------- accuracy first


@settings(deadline=None, max_examples=20)
@given(st.integers(min_value=5, max_value=5000))
def test_the_epsilon_for_an_error_is_the_least_of_four_digits(within: int) -> None:
    question = make_question(make_release(ROWS, keys=by_region()), names=["n"])
    plan = make_plan(question, MarginTarget(within), make_policy())
    (spread,) = plan.releases[0].expected_margins(LEVEL)
    assert isinstance(spread, float)
    assert spread <= within
    less = plan_of(make_release(ROWS, keys=by_region()), epsilon=plan.epsilon * Fraction(998, 1000))
    (wider,) = less.releases[0].expected_margins(LEVEL)
    assert isinstance(wider, float)
    assert wider > within


def test_an_accuracy_can_be_asked_of_some_columns() -> None:
    question = make_question(make_release(ROWS, average(COST)), names=["n", "mean"])
    plan = make_plan(question, MarginTarget({"n": 40}), make_policy())
    assert plan.releases[0].expected_margins(LEVEL)[0] == 40.0


def within_a_ceiling(within: int, most: Fraction | None) -> Plan:
    question = make_question(make_release(ROWS, keys=by_region()), names=["n"])
    return make_plan(question, MarginTarget(within, most=most), make_policy())


def test_a_ceiling_that_is_high_enough_changes_nothing_of_the_plan() -> None:
    free = within_a_ceiling(40, None)
    assert within_a_ceiling(40, free.epsilon).identities == free.identities
    assert within_a_ceiling(40, Fraction(10**6)).identities == free.identities
    asked = make_question(make_release(ROWS, keys=by_region()), names=["n"])
    paid = make_plan(asked, EpsilonTarget(free.epsilon), make_policy())
    assert paid.identities == free.identities


def test_a_ceiling_between_the_least_and_its_rounding_is_enough() -> None:
    least = within_a_ceiling(40, None).epsilon
    below = least - least / 10**7
    plan = within_a_ceiling(40, below)
    (spread,) = plan.releases[0].expected_margins(LEVEL)
    assert (plan.epsilon, spread) == (below, 40.0)


@pytest.mark.parametrize("most", ["1/100", "1/100000"])
def test_a_margin_above_the_ceiling_is_refused_with_both_numbers(most: str) -> None:
    needed = within_a_ceiling(40, None).epsilon
    question = make_release(ROWS, keys=by_region())
    (spread,) = plan_of(question, epsilon=Fraction(most)).releases[0].expected_margins(LEVEL)
    with pytest.raises(TargetError) as refused:
        within_a_ceiling(40, Fraction(most))
    for said in (
        "±40 for n",
        f"needs ε = {readable(needed)}",
        f"at most ε = {readable(Fraction(most))} may be spent",
        f"would give ±{spread:.4g} for n",
    ):
        assert said in str(refused.value)


def test_no_margin_is_said_for_a_ceiling_without_noise() -> None:
    with pytest.raises(TargetError, match=r"may be spent\. Allow a larger epsilon"):
        within_a_ceiling(40, Fraction(1, 10**40))


@pytest.mark.parametrize("aggregate", [average(COST), quantile(COST, "1/2")])
def test_an_accuracy_that_depends_on_private_sizes_is_refused(aggregate: Aggregate) -> None:
    question = make_question(make_release(aggregate), names=["mean"])
    with pytest.raises(TargetError, match="counts and sums"):
        make_plan(question, MarginTarget(3), make_policy())


def test_an_accuracy_of_an_unknown_column_is_refused() -> None:
    question = make_question(make_release(ROWS), names=["n"])
    with pytest.raises(
        TargetError, match=r"within names m, which is not .* it can name: n\. Or use epsilon"
    ):
        make_plan(question, MarginTarget({"m": 3}), make_policy())


def test_an_error_of_ratios_is_told_by_the_group_size() -> None:
    asked = (average(COST), of(Statistic.STDDEV_POP, MINUTES), quantile(COST, "1/2"))
    (planned,) = plan_of(make_release(*asked)).releases
    mean, deviation, median = planned.expected_margins(LEVEL)
    assert isinstance(mean, MarginPerCount)
    assert isinstance(deviation, MarginPerCount)
    assert mean.at(100) == 10 * mean.at(1000)
    assert deviation.at(100) == pytest.approx(10**0.5 * deviation.at(1000))
    assert isinstance(median, RankMargin)


# --------------------------------------------------------------------------- identity


def test_releases_of_the_same_meaning_have_the_same_identity() -> None:
    release = make_release(ROWS, average(COST), keys=by_region())
    same = replace(release, limit_reason=OneRowPerUnit(), left_out=(NullValues(column="x"),))
    assert plan_of(release).identities == plan_of(same).identities
    for other in (
        plan_of(release, epsilon=2),
        plan_of(make_release(ROWS, average(COST), keys=by_region(), limit=9)),
        plan_of(make_release(ROWS, average(MINUTES), keys=by_region())),
        plan_of(release, policy=make_policy(neighbours=REPLACE)),
        plan_of(release, release),
    ):
        assert other.identities != plan_of(release).identities


def test_a_plan_says_what_is_moved_into_bounds() -> None:
    (planned,) = plan_of(make_release(average(COST))).releases
    assert planned.left_out == (
        Clamped(text="cost", low=Fraction(0), high=Fraction(500), kind=Kind.REAL),
    )
