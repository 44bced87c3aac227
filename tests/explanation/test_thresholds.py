"""Paying for nothing is said before: how large a group must be, and whether any can be."""

import re
import warnings
from fractions import Fraction
from typing import Any

import pytest

import discreet
from discreet.curator import Curator
from discreet.explanation.thresholds import GroupThresholdWarning
from tests.curated import curator_of

PLANES, CARRIERS = 400, 16
SQL = "SELECT carrier, COUNT(*) AS n, AVG(delay) AS late FROM visits GROUP BY carrier"
BY_UNITS = (
    "SELECT carrier, COUNT(DISTINCT patient_id) AS n, MEDIAN(delay) AS late FROM visits"
    " GROUP BY carrier"
)
"""Releases no number of rows, so groups are selected by their number of units."""
PLANES_SQL = "SELECT COUNT(DISTINCT patient_id) AS n FROM visits"


def flights(**declared: Any) -> Curator:
    """Return flights of planes, each of one carrier; the catalog allows 300 of a plane."""
    rows = [(plane, number) for plane in range(PLANES) for number in range(1 + plane % 9)]
    return curator_of(
        {
            "patient_id": [plane for plane, _ in rows],
            "carrier": [f"carrier {plane % CARRIERS}" for plane, _ in rows],
            "delay": [plane * number % 60 for plane, number in rows],
        },
        **{
            "epsilon": 1000,
            "delta": 1e-4,
            "rows_per_unit": 300,
            "bounds": {"delay": (0, 60)},
            **declared,
        },
    )


def test_an_empty_answer_says_how_large_a_group_must_be() -> None:
    with flights() as curator:
        answer = curator.ask(SQL, epsilon=20)
        assert len(answer) == 0
        assert answer.charged.epsilon == 20
        (groups,) = curator.explain(SQL, epsilon=20).keys
        (size,) = re.findall(r"A group with ([0-9,]+) rows is shown with at least 50%", groups)
        assert int(size.replace(",", "")) > 9 * PLANES / CARRIERS
        assert f"No group had at least about {size} rows, so none is shown." in str(answer)


def test_an_answer_with_groups_says_which_are_missing() -> None:
    with flights(rows_per_unit=1) as curator:
        answer = curator.ask(SQL, epsilon=20)
        assert len(answer) == CARRIERS
        (note,) = [each for each in answer.notes if "are not shown" in each]
        assert note == "Groups with fewer than about 2 rows are not shown."


def test_declared_groups_need_no_size() -> None:
    with flights(values={"carrier": ["carrier 1"]}) as curator:
        assert "group" not in str(curator.ask(SQL, epsilon=1)).lower()


def test_without_a_known_size_there_is_no_warning() -> None:
    with flights() as curator:
        assert curator.explain(SQL, epsilon=20).warnings == ()
        curator.ask(SQL, epsilon=20)


@pytest.mark.parametrize(
    ("first", "sql"), [(PLANES_SQL, BY_UNITS), ("SELECT COUNT(*) AS n FROM visits", SQL)]
)
def test_a_released_size_is_enough_to_warn_before_the_charge(first: str, sql: str) -> None:
    with flights() as curator:
        curator.ask(first, epsilon=100)
        before = curator.remaining
        (told,) = curator.explain(sql, epsilon=1).warnings
        with pytest.raises(GroupThresholdWarning, match="Probably no group would be shown"):
            curator.ask(sql, epsilon=1)  # tests turn warnings into errors
        assert curator.remaining == before
        assert "WHERE carrier IN (...)" in told
        assert "declare the values of carrier" in told
        assert "fewer aggregates" in told
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", GroupThresholdWarning)
            assert curator.ask(sql, epsilon=1).charged.epsilon == 1
        assert curator.ask(sql, epsilon=1).is_free  # what is paid for is not warned of
        assert curator.explain(sql, epsilon=1).warnings == ()


def test_a_declared_unit_is_enough_to_warn() -> None:
    bounds = {"delay": (0, 60), "patient_id": (0, PLANES - 1)}
    with flights(bounds=bounds) as curator, pytest.warns(GroupThresholdWarning) as caught:
        curator.ask(BY_UNITS, epsilon=1)
    (warning,) = caught
    assert "there are at most about 400 in all" in str(warning.message)
    assert warning.filename == __file__


def test_an_epsilon_that_would_do_is_named_and_does() -> None:
    bounds = {"delay": (0, 60), "patient_id": (0, PLANES - 1)}
    with flights(bounds=bounds, rows_per_unit=10) as curator:
        (told,) = curator.explain(BY_UNITS, epsilon=Fraction(1, 2)).warnings
        assert "at ε = 5, a group needs about 34 patient_id values" in told
        assert "A group with 34 patient_id values" in curator.explain(BY_UNITS, epsilon=5).keys[0]


def test_a_size_that_another_query_used_in_a_condition_is_not_needed() -> None:
    with flights() as curator:
        number = "(SELECT COUNT(*) FROM visits)"
        curator.ask(f"SELECT {number} AS n, COUNT(*) AS m FROM visits WHERE delay < {number}",  # noqa: S608
                    epsilon=100)  # fmt: skip
        assert curator.explain(SQL, epsilon=1).warnings == ()


def test_rows_are_held_against_rows() -> None:
    sql = "SELECT carrier, COUNT(*) AS n FROM visits GROUP BY carrier"
    with flights() as curator:
        curator.ask("SELECT COUNT(*) AS n FROM visits", epsilon=100)
        (told,) = curator.explain(sql, epsilon=1).warnings
        assert " rows, and there are at most about 2,0" in told
        assert "fewer aggregates" not in told
        assert curator.explain(sql, epsilon=20).warnings == ()


def test_groups_that_may_pass_are_not_warned_of() -> None:
    with flights(rows_per_unit=10) as curator:
        curator.ask(PLANES_SQL, epsilon=100)
        assert curator.explain(SQL, epsilon=20).warnings == ()


def test_a_limit_on_groups_is_named_as_a_remedy() -> None:
    with flights() as curator:
        curator.ask(PLANES_SQL, epsilon=100)
        assert "with groups_per_unit" in curator.explain(BY_UNITS, epsilon=1).warnings[0]


def test_bounds_are_not_paid_for_where_no_group_can_be_shown() -> None:
    with flights(bounds={"delay": discreet.AUTO}) as curator:
        curator.ask(PLANES_SQL, epsilon=100)
        before = curator.remaining
        with pytest.raises(GroupThresholdWarning):
            curator.ask(BY_UNITS, epsilon=1)
        assert curator.remaining == before


def test_the_warning_is_public() -> None:
    assert discreet.GroupThresholdWarning is GroupThresholdWarning


@pytest.mark.parametrize(
    ("sql", "hint"),
    [
        ("SELECT SUM(delay * delay) FROM visits", "The bounds of delay * delay are 0 to 3600."),
        (
            "SELECT AVG(delay / (delay + 0.01)) FROM visits",
            "CLAMP(delay / (delay + 0.01), low, high)",
        ),
    ],
)
def test_wide_derived_bounds_are_hinted_at(sql: str, hint: str) -> None:
    with flights() as curator:
        explanation = curator.explain(sql, epsilon=1)
        (told,) = explanation.hints
        assert hint in told
        assert "Hints" in str(explanation)
        assert told in explanation._repr_html_()


@pytest.mark.parametrize(
    "column",
    ["delay", "delay * 100", "delay + delay", "CLAMP(delay * delay, 0, 900)", "COUNT(*)"],
)
def test_bounds_that_are_not_loose_are_not(column: str) -> None:
    with flights() as curator:
        asked = column if column == "COUNT(*)" else f"SUM({column})"
        assert curator.explain(f"SELECT {asked} FROM visits", epsilon=1).hints == ()  # noqa: S608
