"""What is asked of every system, on what terms; needs the standard library only."""

from collections.abc import Mapping
from dataclasses import dataclass

EPSILON = 1
DELTA = 1e-6
"""Of each question, for every system: a unit's rows appear or vanish."""

ROWS_PER_UNIT = 20
COST = (0, 500)
COST_STEP = 0.01
MINUTES = (0, 240)
TOTAL = (0, 5000)
"""The range of what one patient costs in all, stated in the question."""

REGIONS = tuple(f"region {number:02d}" for number in range(20))
SEXES = ("f", "m")
DAYS = 365
KEYS = DAYS * len(REGIONS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Workload:
    """One question, and what it comes to on average over what the limits may keep."""

    name: str
    title: str
    sql: str
    weighted: str | None = None
    """The same over rows with weights, the chance of each to be among those that count; None
    where a limit of rows moves nothing."""
    keys: int = 0
    """How many columns of the result say which group a row is about."""


WORKLOADS = (
    Workload(
        name="W1",
        title="COUNT",
        sql="SELECT COUNT(*) AS n FROM visits",
        weighted="SELECT SUM(weight) FROM weighted",
    ),
    Workload(
        name="W2",
        title="COUNT, SUM, AVG by 20 declared regions",
        sql="SELECT region, COUNT(*) AS n, SUM(cost) AS cost, AVG(minutes) AS minutes "
        "FROM visits GROUP BY region",
        weighted="SELECT region, SUM(weight), SUM(weight * cost), "
        "SUM(weight * minutes) / SUM(weight) FROM weighted GROUP BY region",
        keys=1,
    ),
    Workload(
        name="W3",
        title="COUNT by day × region, undeclared groups",
        sql="SELECT day, region, COUNT(*) AS n FROM visits GROUP BY day, region",
        weighted="SELECT day, region, SUM(weight) FROM weighted GROUP BY day, region",
        keys=2,
    ),
    Workload(
        name="W4",
        title="MEDIAN",
        sql="SELECT MEDIAN(cost) AS cost FROM visits",
    ),
    Workload(
        name="W5",
        title="COUNT(DISTINCT unit)",
        sql="SELECT COUNT(DISTINCT patient_id) AS n FROM visits",
    ),
    Workload(
        name="W6",
        title="COUNT, AVG, two private tables joined",
        sql="SELECT patients.sex, COUNT(*) AS n, AVG(visits.cost) AS cost FROM visits "
        "JOIN patients ON visits.patient_id = patients.patient_id GROUP BY patients.sex",
        weighted="SELECT patients.sex, SUM(weight), SUM(weight * cost) / SUM(weight) FROM weighted "
        "JOIN patients ON weighted.patient_id = patients.patient_id GROUP BY patients.sex",
        keys=1,
    ),
    Workload(
        name="W7",
        title="AVG of each patient's SUM",
        sql=f"SELECT AVG(LEAST(total, {TOTAL[1]})) AS total FROM "
        "(SELECT patient_id, SUM(cost) AS total FROM visits GROUP BY patient_id)",
    ),
)

BY_NAME: Mapping[str, Workload] = {each.name: each for each in WORKLOADS}
