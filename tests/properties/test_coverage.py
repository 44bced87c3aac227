"""No unit moves a measurement of coverage by more than is charged for it, whatever it holds."""

from fractions import Fraction

import pytest
from hypothesis import HealthCheck, given, settings

from discreet.catalog.schema import Bounds, PrivateTable
from discreet.coverage.measurements import measurements_of
from discreet.coverage.questions import rows_question, values_question
from discreet.mechanisms.sensitivity import ADD_REMOVE, REPLACE, Neighbours
from discreet.query.plan import Plan, make_plan
from discreet.query.plan.bounded_rows import reading_bounded_rows
from discreet.query.plan.plan import EpsilonTarget
from tests.properties import twins
from tests.properties.checked import UNSHRUNK, check_all
from tests.properties.databases import Neighbouring, catalog, neighbouring, public_store

QUICK, LONG = 3, 300


def plans_of(neighbours: Neighbours, *, is_prepared: bool, only: str | None = None) -> list[Plan]:
    here = catalog(neighbours, is_prepared=is_prepared)
    plans = []
    for table in here.tables:
        if not isinstance(table, PrivateTable) or only not in (None, table.name):
            continue
        for each in measurements_of(table):
            bounds = None if each.ref is None else each.ref.column.bounds
            if each.ref is None:
                question = rows_question(table, here, public_store())
            else:
                assert isinstance(bounds, Bounds)
                question = values_question(each.ref, bounds, here, public_store())
            chosen = reading_bounded_rows(question) if is_prepared else question
            plans.append(make_plan(chosen, EpsilonTarget(Fraction(1, 3), delta=0), here.budget))
    return plans


def holds_for(
    neighbours: Neighbours, examples: int, *, is_prepared: bool, only: str | None = None
) -> None:
    plans = plans_of(neighbours, is_prepared=is_prepared, only=only)

    @settings(
        max_examples=examples,
        suppress_health_check=list(HealthCheck),
        phases=UNSHRUNK,
        report_multiple_bugs=False,
    )
    @given(neighbouring(neighbours))
    def holds(pair: Neighbouring) -> None:
        check_all(pair, plans)

    holds()


@pytest.mark.parametrize("is_prepared", [True, False], ids=["prepared", "per-query"])
@pytest.mark.parametrize("neighbours", [ADD_REMOVE, REPLACE])
def test_no_unit_moves_coverage_by_more_than_it_is_charged(
    neighbours: Neighbours, is_prepared: bool
) -> None:
    holds_for(neighbours, QUICK, is_prepared=is_prepared)


@pytest.mark.slow
@pytest.mark.parametrize("is_prepared", [True, False], ids=["prepared", "per-query"])
@pytest.mark.parametrize("neighbours", [ADD_REMOVE, REPLACE])
def test_no_unit_of_many_moves_coverage_by_more_than_it_is_charged(
    neighbours: Neighbours, is_prepared: bool
) -> None:
    holds_for(neighbours, LONG, is_prepared=is_prepared)


def test_values_of_all_rows_are_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    twins.without_limit(monkeypatch)
    with pytest.raises(AssertionError):
        holds_for(ADD_REMOVE, 30, is_prepared=False, only="visits")
