"""What is asked of every system, on what terms; needs the standard library only."""

from collections.abc import Mapping
from dataclasses import dataclass

EPSILON = 1
DELTA = 1e-6
"""Of each question, for every system."""

ROWS = 10**5
ROWS_PER_UNIT = 20
REGIONS_PER_UNIT = 3
DIAGNOSES_PER_UNIT = 5
"""No unit of the data exceeds these limits, so limits move no answer."""

COST = (0, 500)
COST_STEP = 0.01
MINUTES = (0, 240)
REGIONS = tuple(f"region {number:02d}" for number in range(20))
DIAGNOSES = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One question in SQL, also for the exact answer."""

    name: str
    sql: str
    keys: int = 0
    """How many columns of the result say which group a row is about."""
    is_about_keys: bool = False
    """The more keys are shown, the better; else the smaller the error, the better."""
    is_about_units: bool = False
    """It has no meaning where every row is a unit."""


def _by_region(aggregate: str) -> str:
    return f"SELECT region, {aggregate} AS number FROM visits GROUP BY region"


QUESTIONS = (
    Question(name="COUNT", sql="SELECT COUNT(*) AS number FROM visits"),
    Question(name="SUM", sql="SELECT SUM(cost) AS number FROM visits"),
    Question(name="AVG", sql="SELECT AVG(cost) AS number FROM visits"),
    Question(name="MEDIAN", sql="SELECT MEDIAN(cost) AS number FROM visits"),
    Question(name="q90", sql="SELECT QUANTILE_CONT(cost, 0.9) AS number FROM visits"),
    Question(name="VARIANCE", sql="SELECT VAR_POP(cost) AS number FROM visits"),
    Question(name="COUNT by 20 keys", sql=_by_region("COUNT(*)"), keys=1),
    Question(name="SUM by 20 keys", sql=_by_region("SUM(cost)"), keys=1),
    Question(name="AVG by 20 keys", sql=_by_region("AVG(cost)"), keys=1),
    Question(
        name="units by 20 keys",
        sql=_by_region("COUNT(DISTINCT patient_id)"),
        keys=1,
        is_about_units=True,
    ),
    Question(
        name="unknown keys shown",
        sql="SELECT diagnosis, COUNT(DISTINCT patient_id) AS number FROM visits GROUP BY diagnosis",
        keys=1,
        is_about_keys=True,
        is_about_units=True,
    ),
    Question(name="CORR", sql="SELECT CORR(cost, minutes) AS number FROM visits"),
)

BY_NAME: Mapping[str, Question] = {each.name: each for each in QUESTIONS}
