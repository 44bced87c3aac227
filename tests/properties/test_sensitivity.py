"""No unit moves what is released by more than is charged for it, whatever it holds."""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st

from discreet.accounting.approximate import basic_cost
from discreet.mechanisms.sensitivity import ADD_REMOVE, REPLACE, Neighbours
from discreet.query.plan import Plan
from tests.properties import twins
from tests.properties.checked import UNSHRUNK, check_all
from tests.properties.databases import (
    Neighbouring,
    neighbouring,
)
from tests.properties.in_groups import OF_ANY_SHAPE
from tests.properties.plans import plan_of
from tests.properties.questions import (
    Drawn,
    Relation,
    Written,
    grouped_by_sets,
    paths,
    public_left_joins,
    questions,
    several_public,
    single_tables,
    tied,
    windows,
)

QUICK, LONG = 7, 400
TOGETHER = 6
"""Questions that are asked of the same two databases."""

epsilons = st.sampled_from([Fraction(1), Fraction(1, 7), Fraction(5, 2), Fraction(30)])


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """Questions that are put to two neighbours, and how they are paid for."""

    pair: Neighbouring
    questions: tuple[Drawn | Written, ...]
    epsilon: Fraction
    accounting: str
    is_prepared: bool
    groups: int | None = None
    """Which limit on groups is asked for; 0 for those of the catalog, None for none."""

    @property
    def plans(self) -> list[Plan]:
        return [
            plan_of(
                each,
                self.pair.neighbours,
                self.epsilon,
                self.accounting,
                is_prepared=self.is_prepared,
                groups=self.groups,
            )
            for each in self.questions
        ]


def asked(
    neighbours: Neighbours,
    source: st.SearchStrategy[Relation] | None = None,
    *,
    is_prepared: bool = False,
) -> st.SearchStrategy[Asked]:
    """Return several questions to the same two databases."""
    return st.builds(
        Asked,
        pair=neighbouring(neighbours),
        questions=st.lists(questions(source), min_size=TOGETHER, max_size=TOGETHER).map(tuple),
        epsilon=epsilons,
        accounting=st.sampled_from(("basic", "concentrated")),
        is_prepared=st.just(is_prepared),
    )


def in_groups(neighbours: Neighbours, *, is_prepared: bool = False) -> st.SearchStrategy[Asked]:
    """Return questions by group, with limits on the groups of a unit."""
    written = st.sampled_from(OF_ANY_SHAPE).map(Written)
    return st.builds(
        Asked,
        pair=neighbouring(neighbours),
        questions=st.lists(written, min_size=TOGETHER, max_size=TOGETHER).map(tuple),
        epsilon=epsilons,
        accounting=st.sampled_from(("basic", "concentrated")),
        is_prepared=st.just(is_prepared),
        groups=st.sampled_from((0, 0, 1, 2)),
    )


def by_sets(neighbours: Neighbours, *, is_prepared: bool = False) -> st.SearchStrategy[Asked]:
    """Return questions by several sets of keys."""
    return st.builds(
        Asked,
        pair=neighbouring(neighbours),
        questions=st.lists(grouped_by_sets(), min_size=2, max_size=2).map(tuple),
        epsilon=epsilons,
        accounting=st.sampled_from(("basic", "concentrated")),
        is_prepared=st.just(is_prepared),
    )


def holds_for(
    cases: st.SearchStrategy[Asked], examples: int, *, start: int | None = None, **how: Any
) -> None:
    """Assert the claim of this file for so many pairs of databases; others for another start."""

    @settings(max_examples=examples, suppress_health_check=list(HealthCheck), **how)
    @given(cases)
    def holds(case: Asked) -> None:
        check_all(case.pair, case.plans)

    (holds if start is None else seed(start)(holds))()


MOST_TRIES = 40
"""Starts from which a broken twin is looked for: some need rows that are seldom drawn."""


def holds_from_every_start(cases: st.SearchStrategy[Asked]) -> None:
    for start in range(MOST_TRIES):
        holds_for(cases, QUICK, start=start, phases=UNSHRUNK, report_multiple_bugs=False)


BOUNDING = pytest.mark.parametrize("is_prepared", [True, False], ids=["prepared", "per-query"])


@BOUNDING
@pytest.mark.parametrize("neighbours", [ADD_REMOVE, REPLACE])
def test_no_unit_moves_an_answer_by_more_than_it_is_charged(
    neighbours: Neighbours, is_prepared: bool
) -> None:
    holds_for(asked(neighbours, is_prepared=is_prepared), QUICK, phases=UNSHRUNK)


@pytest.mark.slow
@BOUNDING
@pytest.mark.parametrize("neighbours", [ADD_REMOVE, REPLACE])
def test_no_unit_of_many_moves_an_answer_by_more_than_it_is_charged(
    neighbours: Neighbours, is_prepared: bool
) -> None:
    holds_for(asked(neighbours, is_prepared=is_prepared), LONG)


@BOUNDING
@pytest.mark.parametrize("neighbours", [ADD_REMOVE, REPLACE])
def test_no_unit_is_counted_in_more_groups_than_it_is_charged_for(
    neighbours: Neighbours, is_prepared: bool
) -> None:
    """With groups_per_unit, of the catalog and of a query, beside rows_per_unit."""
    holds_for(in_groups(neighbours, is_prepared=is_prepared), QUICK, phases=UNSHRUNK)


@BOUNDING
@pytest.mark.parametrize("neighbours", [ADD_REMOVE, REPLACE])
def test_no_unit_moves_what_subqueries_say_of_others(
    neighbours: Neighbours, is_prepared: bool
) -> None:
    """With LATERAL, subqueries of outer rows, and groups by keys of paths."""
    holds_for(asked(neighbours, tied(), is_prepared=is_prepared), QUICK, phases=UNSHRUNK)


@BOUNDING
@pytest.mark.parametrize("neighbours", [ADD_REMOVE, REPLACE])
def test_no_unit_moves_several_sets_of_groups_by_more_than_it_is_charged(
    neighbours: Neighbours, is_prepared: bool
) -> None:
    holds_for(by_sets(neighbours, is_prepared=is_prepared), QUICK, phases=UNSHRUNK)


@BOUNDING
@pytest.mark.parametrize("neighbours", [ADD_REMOVE, REPLACE])
def test_rows_of_a_public_table_without_a_partner_move_nothing(
    neighbours: Neighbours, is_prepared: bool
) -> None:
    cases = st.builds(
        Asked,
        pair=neighbouring(neighbours),
        questions=st.lists(public_left_joins(), min_size=TOGETHER, max_size=TOGETHER).map(tuple),
        epsilon=epsilons,
        accounting=st.sampled_from(("basic", "concentrated")),
        is_prepared=st.just(is_prepared),
    )
    holds_for(cases, QUICK, phases=UNSHRUNK)


@settings(max_examples=60)
@given(questions(), epsilons)
def test_what_is_charged_adds_up_to_exactly_what_is_asked(
    question: Drawn, epsilon: Fraction
) -> None:
    plan = plan_of(question, ADD_REMOVE, epsilon)
    costs = [basic_cost(each) for each in plan.events]
    assert sum(each for each, _ in costs) == plan.epsilon == epsilon
    assert sum(each for _, each in costs) == plan.delta <= Fraction(1, 10**4)


TWINS = [
    (twins.without_a_limit_on_groups, in_groups(ADD_REMOVE)),
    (twins.with_groups_of_all_units_together, in_groups(ADD_REMOVE)),
    (twins.without_a_limit_on_stored_groups, in_groups(ADD_REMOVE, is_prepared=True)),
    (twins.without_limit, asked(ADD_REMOVE, single_tables())),
    (twins.with_limit_doubled, asked(ADD_REMOVE, single_tables())),
    (twins.with_a_limit_for_all_units_together, asked(ADD_REMOVE)),
    (twins.with_the_first_rows_that_come, asked(ADD_REMOVE, single_tables())),
    (twins.with_all_rows_kept, asked(ADD_REMOVE, single_tables(), is_prepared=True)),
    (
        twins.prepared_with_units_in_each_others_places,
        asked(ADD_REMOVE, single_tables(), is_prepared=True),
    ),
    (twins.trusting_that_keys_are_keys, asked(ADD_REMOVE, paths(), is_prepared=True)),
    (
        twins.counting_public_rows_by_each_other,
        asked(ADD_REMOVE, several_public(), is_prepared=True),
    ),
    (twins.without_clamps, asked(ADD_REMOVE, single_tables())),
    (twins.with_windows_across_units, asked(ADD_REMOVE, windows())),
    (twins.taking_ranks_for_numbers, asked(ADD_REMOVE, windows())),
    (twins.with_joins_across_units, asked(ADD_REMOVE, paths())),
    (twins.with_joins_across_units, asked(ADD_REMOVE, tied())),
    (twins.priced_as_if_units_only_came_and_went, asked(REPLACE, single_tables())),
]


@pytest.mark.parametrize(("broken", "cases"), TWINS, ids=[each.__name__ for each, _ in TWINS])
def test_a_broken_twin_is_caught(
    broken: Callable[[pytest.MonkeyPatch], None],
    cases: st.SearchStrategy[Asked],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    broken(monkeypatch)
    with pytest.raises(AssertionError):
        holds_from_every_start(cases)
