"""Limits of accounts as analysts meet them: in answers, previews and what remains."""

from fractions import Fraction
from typing import Any

import pytest

from discreet import PerDayLimitError, PerQueryLimitError
from discreet.account_limits import AccountLimits
from discreet.curator import Curator
from discreet.error_codes import content_of, error_from
from tests.curated import curator_of

COUNT = "SELECT COUNT(*) AS n FROM visits"
AGES = "SELECT AVG(age) AS a, MEDIAN(age) AS m FROM visits"
PEOPLE = {"patient_id": range(500), "age": [n % 90 for n in range(500)]}


def limited(**declared: Any) -> Curator:
    limits = {name: declared.pop(name) for name in ("per_query", "per_day") if name in declared}
    curator = curator_of(PEOPLE, rows_per_unit=1, bounds={"age": (0, 90)}, **declared)
    curator.ledger.declare_analyst("eve", epsilon=50, **limits)
    return curator


def test_an_explanation_says_beforehand_what_a_limit_would_reject() -> None:
    with limited(per_query=1, per_day=Fraction(3, 2)) as curator:
        eve = curator.on_account("eve")
        (said,) = eve.explain(COUNT, epsilon=2).warnings
        assert said == (
            "This query would cost ε = 2, and analyst 'eve' may spend at most ε = 1 per query, so "
            "running it would be rejected."
        )
        with pytest.raises(PerQueryLimitError):
            eve.ask(COUNT, epsilon=2)
        assert eve.explain(COUNT, epsilon=1).warnings == ()
        assert eve.ask(COUNT, epsilon=1).charged.epsilon == 1
        (said,) = eve.explain(AGES, epsilon=1).warnings
        assert "ε = 0.5 of the ε = 1.5 per day remains today for analyst 'eve', so" in said
        with pytest.raises(PerDayLimitError):
            eve.ask(AGES, epsilon=1)
        assert curator.explain(AGES, epsilon=20).warnings == ()
        assert eve.ask(AGES, epsilon=0.5).charged.epsilon == Fraction(1, 2)
        assert eve.limits.remaining_today == 0
        # What is saved is free on an exhausted day, and an explanation says so.
        assert eve.explain(COUNT, epsilon=1).warnings == ()
        assert eve.ask(COUNT, epsilon=1).from_ledger
        assert eve.limits.per_query == 1
        assert curator.limits_of("owner") == AccountLimits()


def test_bounds_that_are_found_first_count_with_their_query() -> None:
    with limited(per_query=1) as curator:
        eve = curator.on_account("eve")
        terms: dict[str, Any] = {"find_bounds_of": ["age"]}
        sql = "SELECT SUM(age) AS s FROM visits"
        said = eve.explain(sql, epsilon=Fraction(11, 10), **terms).warnings
        assert said[0].startswith("This query would cost ε = 1.1, and analyst 'eve' may spend")
        with pytest.raises(PerQueryLimitError):
            eve.ask(sql, epsilon=Fraction(11, 10), **terms)
        assert curator.ledger.charged().epsilon == 0
        assert eve.ask(sql, epsilon=1, **terms).charged.epsilon == 1


@pytest.mark.parametrize("accounting", ["basic", "concentrated"])
def test_what_an_answer_shows_as_its_cost_is_what_counts(accounting: str) -> None:
    declared = {"delta": 1e-3, "accounting": accounting, "per_day": 20}
    by_age = "SELECT age, COUNT(*) AS n FROM visits WHERE age BETWEEN 0 AND 80 GROUP BY age"
    with limited(**declared) as curator:
        eve = curator.on_account("eve")
        spent = Fraction(0)
        for number, sql in enumerate((COUNT, AGES, by_age)):
            spent += eve.ask(sql, epsilon=Fraction(number + 1, 3)).charged.epsilon
            assert eve.limits.remaining_today == 20 - spent
        noises = {each.tag for entry in curator.ledger.entries() for each in entry.events}
        assert ("discrete-gaussian/1" in noises) == (accounting == "concentrated")


def test_an_error_of_a_limit_comes_back_from_its_parts() -> None:
    with limited(per_query=1, per_day=2) as curator:
        limits = curator.limits_of("eve")
    for epsilon, kind, code in (
        (Fraction(3, 2), PerQueryLimitError, "per_query_limit"),
        (Fraction(5, 2), PerDayLimitError, "per_day_limit"),
    ):
        by = (
            limits
            if code == "per_query_limit"
            else AccountLimits(
                per_day=limits.per_day,
                remaining_today=limits.remaining_today,
                renewed=limits.renewed,
            )
        )
        error = by.rejection("eve", epsilon)
        assert type(error) is kind
        content = content_of(error)
        assert content["code"] == code
        found = error_from(content)
        assert type(found) is kind
        assert (str(found), found.requested, found.remaining) == (
            str(error),
            error.requested,
            error.remaining,
        )


def test_limits_for_programs_have_exact_amounts_and_null_for_none() -> None:
    found = AccountLimits(per_query=Fraction(1, 3)).to_json()
    assert (found["per_query"], found["per_query_exact"]) == (1 / 3, "1/3")
    assert (found["per_day"], found["per_day_exact"], found["renewed"]) == (None, None, None)
