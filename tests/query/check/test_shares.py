"""A share of rows is released as an average, with the margin of one."""

from fractions import Fraction

import pytest

from discreet.query.plan.plan import PlannedRelease
from discreet.query.questions import Statistic
from tests.engines.corpus import plan_of

LEVEL = Fraction(95, 100)


def planned(sql: str) -> PlannedRelease:
    (release,) = plan_of(sql).releases
    return release


def statistics(sql: str) -> list[Statistic]:
    return [each.statistic for each in planned(sql).aggregation.aggregates]


AVERAGE = "SELECT AVG(CASE WHEN cost > 50 THEN 1 ELSE 0 END) FROM visits"


@pytest.mark.parametrize(
    "share",
    [
        "COUNT(*) FILTER (WHERE cost > 50) / COUNT(*)",
        "100.0 * COUNT(*) FILTER (WHERE cost > 50) / COUNT(*)",
        "COUNT(*) FILTER (WHERE cost > 50) * 1.0 / NULLIF(COUNT(*), 0)",
        "COUNT_IF(cost > 50) / COUNT(*)",
        "1 - (COUNT_IF(cost > 50) / COUNT(*))",
        "ROUND(100 * (COUNT_IF(cost > 50) / COUNT(*)), 1)",
    ],
)
def test_a_share_is_the_average_of_one_and_zero(share: str) -> None:
    sql = f"SELECT {share} FROM visits"  # noqa: S608
    found, average = planned(sql), planned(AVERAGE)
    assert found.aggregation.aggregates == average.aggregation.aggregates
    assert found.expected_margins(LEVEL) == average.expected_margins(LEVEL)
    assert plan_of(sql).identities == plan_of(AVERAGE).identities


def test_a_column_keeps_its_name_and_a_factor_its_effect() -> None:
    sql = "SELECT 100 * COUNT_IF(cost > 50) / COUNT(*), COUNT(*) AS n FROM visits"
    plan = plan_of(sql)
    assert plan.question.columns == ("100 * COUNT_IF(cost > 50) / COUNT(*)", "n")
    assert "100 *" in plan.question.post_sql
    assert sorted(each.name for each in statistics(sql)) == ["AVG", "COUNT_ROWS"]


@pytest.mark.parametrize(
    "asked",
    [
        "COUNT_IF(cost > 50) / COUNT(minutes)",
        "COUNT_IF(cost > 50) / COUNT(*), COUNT_IF(cost > 50)",
        "COUNT_IF(cost > 50) / COUNT(*), COUNT_IF(cost <= 50) / COUNT(*)",
        "COUNT(*) / COUNT_IF(cost > 50)",
        "COUNT(DISTINCT patient_id) FILTER (WHERE cost > 50) / COUNT(*)",
        "(COUNT_IF(cost > 50) + 1) / COUNT(*)",
    ],
)
def test_other_quotients_and_counts_that_are_shown_stay_counts(asked: str) -> None:
    assert Statistic.AVG not in statistics(f"SELECT {asked} FROM visits")  # noqa: S608


def test_groups_by_unit_are_left_as_they_are() -> None:
    inner = "SELECT patient_id, COUNT_IF(cost > 50) / COUNT(*) AS s FROM visits GROUP BY patient_id"
    assert statistics(f"SELECT AVG(CLAMP(s, 0, 1)) FROM ({inner}) AS p") == [Statistic.AVG]  # noqa: S608
