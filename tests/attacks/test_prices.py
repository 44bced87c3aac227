"""What is charged: exactly what was asked for, before data are read; explaining costs nothing."""

from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import pyarrow.parquet as pq
import pytest
import typer

from discreet.accounting.approximate import basic_cost
from discreet.catalog.catalog import budget_from
from discreet.cli.options import exact
from discreet.curator import Curator
from discreet.errors import BudgetError, ParameterError, SourceError, TargetError
from discreet.opening import open_catalog, open_unplugged
from tests.attacks.clinic import golden, opened, tables
from tests.attacks.plans import plan_of
from tests.attacks.watched import Watched, watch

STATISTICS = ["COUNT(*)", "SUM(cost)", "AVG(minutes)", "VARIANCE(cost)", "MEDIAN(minutes)"]
STATISTICS += ["MAX(day)", "COUNT(DISTINCT diagnosis)", "COUNT(DISTINCT patient_id)"]

KNOWN = "SELECT clinic_id, {} FROM visits WHERE clinic_id IN (1, 2, 3) GROUP BY clinic_id"
UNKNOWN = "SELECT diagnosis, {} FROM visits GROUP BY diagnosis"
TOTAL = "SELECT {} FROM visits"

SEVERAL = [
    "SELECT (SELECT COUNT(*) FROM visits), (SELECT AVG(income) FROM patients)",
    "SELECT COUNT(*), AVG(cost) FROM visits WHERE cost > (SELECT AVG(cost) FROM visits)",
    "WITH a AS (SELECT region, COUNT(*) AS n FROM patients GROUP BY region), "
    "b AS (SELECT diagnosis, MEDIAN(cost) AS m FROM visits GROUP BY diagnosis) "
    "SELECT COUNT(*), MAX(a.n), MAX(b.m) FROM a, b",
    "SELECT sex, COUNT(*) FROM patients GROUP BY sex UNION ALL SELECT drug, COUNT(*) "
    "FROM prescriptions GROUP BY drug UNION ALL SELECT 'all', COUNT(*) FROM visits",
]

ASKED = [
    *(
        shape.format(", ".join(STATISTICS[:width]))
        for shape in (TOTAL, KNOWN, UNKNOWN)
        for width in range(1, len(STATISTICS) + 1)
    ),
    *SEVERAL,
]

EPSILONS = [Fraction(1), Fraction(1, 3), Fraction("0.1"), Fraction(22, 7)]


@pytest.fixture(scope="module")
def clinic() -> Iterator[tuple[Curator, Watched]]:
    with opened() as curator:
        yield curator, watch(curator)


@pytest.mark.parametrize("sql", ASKED, ids=lambda sql: sql[:70])
def test_what_is_charged_is_what_was_asked_for(clinic: tuple[Curator, Watched], sql: str) -> None:
    """To the last digit, by the plan, by its events one by one, and by the budget that it fits."""
    curator, _ = clinic
    for epsilon in EPSILONS:
        plan = plan_of(curator, sql, epsilon=epsilon)
        costs = [basic_cost(each) for each in plan.events]
        assert plan.epsilon == epsilon
        assert sum(cost for cost, _ in costs) == epsilon
        assert sum(delta for _, delta in costs) == plan.delta
        whole = budget = budget_from(curator.catalog.budget)
        for event in plan.events:
            budget = budget.charge(event)
        assert whole.remaining().epsilon - budget.remaining().epsilon == epsilon


@pytest.mark.parametrize("sql", [ASKED[0], ASKED[-1], UNKNOWN.format("COUNT(*), AVG(cost)")])
def test_the_ledger_is_charged_the_same(sql: str) -> None:
    with opened() as curator:
        before = curator.remaining
        plan = plan_of(curator, sql, epsilon=Fraction(1, 7))
        answer = curator.ask(sql, epsilon=Fraction(1, 7))
        after = curator.remaining
    assert before.epsilon - after.epsilon == Fraction(1, 7) == answer.charged.epsilon
    assert before.delta - after.delta == plan.delta == answer.charged.delta


@pytest.mark.parametrize("sql", [each["sql"] for each in golden("corpus")["answer"][:12]])
def test_explaining_reads_and_charges_nothing(clinic: tuple[Curator, Watched], sql: str) -> None:
    curator, engine = clinic
    before, runs = curator.remaining, engine.runs
    first, second = (str(curator.explain(sql, epsilon=1)) for _ in range(2))
    assert first == second
    assert engine.runs == runs
    assert curator.remaining == before


def test_a_question_beyond_the_budget_reads_nothing() -> None:
    with opened(epsilon=1) as curator:
        engine = watch(curator)
        curator.ask("SELECT COUNT(*) FROM visits", epsilon=Fraction(2, 3))
        runs = engine.runs
        with pytest.raises(BudgetError, match="remains"):
            curator.ask(
                "SELECT COUNT(*) FROM patients", epsilon=Fraction(1, 3) + Fraction(1, 10**9)
            )
        assert engine.runs == runs
        assert curator.remaining.epsilon == Fraction(1, 3)
        curator.ask("SELECT COUNT(*) FROM patients", epsilon=Fraction(1, 3))
        assert curator.remaining.epsilon == 0


# --------------------------------------------------------------------------- A22, L13: prices


BORN_BEFORE = "SELECT COUNT(*) FROM patients WHERE birth_year < {}"


def test_a22_parts_that_share_nobody_cost_the_most_and_parts_that_share_somebody_the_sum() -> None:
    """Each noise of scale b costs 1/b for every unit in its part: over all of a unit, epsilon."""
    apart = "SELECT birth_year < 1970, COUNT(*) FROM patients GROUP BY 1"
    overlapping = (
        "SELECT COUNT(*) FILTER (WHERE birth_year < 1970), "
        "COUNT(*) FILTER (WHERE birth_year < 1971) FROM patients"
    )
    with opened() as curator:
        scales = [
            [each.noise.scale for each in plan_of(curator, sql).releases[0].components]
            for sql in (apart, overlapping)
        ]
        assert scales[0] == [1]
        assert sum(1 / scale for scale in scales[1]) <= 1
        before = curator.remaining.epsilon
        for year in (1970, 1971):
            curator.ask(BORN_BEFORE.format(year), epsilon=1)
        assert before - curator.remaining.epsilon == 2


TYPED = ["", " ", "0", "-1", "nan", "inf", "-inf", "1e-400", "1e400", "1e999999999", "0x1", "0b1"]
TYPED += ["1_0", "\u0663", "\uff11", "\u00bd", "1/0", "1/1/1", "1,5", "+-1", "True", "1" * 5000]


@pytest.mark.parametrize("text", TYPED, ids=lambda text: ascii(text)[:20])
def test_l13_no_spelling_of_a_cost_is_taken_for_another_number(
    clinic: tuple[Curator, Watched], text: str
) -> None:
    curator, _ = clinic
    before = curator.remaining
    with pytest.raises((typer.BadParameter, ParameterError, TargetError)):
        curator.ask("SELECT COUNT(*) FROM visits WHERE cost > 1", epsilon=exact(text))
    assert curator.remaining == before


# --------------------------------------------------------------------------- without the data

CATALOG = """
[budget]
epsilon = 10
delta = 1e-3

[tables.visits]
from = "visits.parquet"
unit = "patient_id"
rows_per_unit = 12

[tables.visits.columns]
patient_id = { type = "integer" }
clinic_id = { type = "integer" }
cost = { type = "real", bounds = [0, 500] }
day = { type = "date", bounds = [2024-01-01, 2024-12-31] }
diagnosis = { type = "text" }

[tables.clinics]
from = "clinics.parquet"
public = true
"""

QUESTIONS = [
    "SELECT COUNT(*), AVG(cost), MEDIAN(cost) FROM visits",
    "SELECT diagnosis, COUNT(*) FROM visits GROUP BY diagnosis",
    "SELECT c.region, SUM(v.cost) FROM visits v JOIN clinics c USING (clinic_id) GROUP BY c.region",
    "SELECT COUNT(*) FROM visits WHERE cost > (SELECT AVG(cost) FROM visits)",
    "SELECT month(day), COUNT(*) FROM visits GROUP BY 1",
]


@pytest.fixture
def catalog(tmp_path: Path) -> Path:
    columns = ["patient_id", "clinic_id", "cost", "day", "diagnosis"]
    pq.write_table(tables()["visits"].select(columns), tmp_path / "visits.parquet")
    pq.write_table(tables()["clinics"], tmp_path / "clinics.parquet")
    path = tmp_path / "discreet.toml"
    path.write_text(CATALOG, encoding="utf-8")
    return path


@pytest.mark.parametrize("sql", QUESTIONS)
def test_explanations_are_the_same_with_the_data_gone(catalog: Path, sql: str) -> None:
    with open_catalog(catalog) as curator:
        engine = watch(curator)
        with_data = str(curator.explain(sql, epsilon=1))
        assert engine.runs == 0
    (catalog.parent / "visits.parquet").unlink()
    with open_unplugged(catalog) as unplugged:
        assert str(unplugged.explain(sql, epsilon=1)) == with_data
        with pytest.raises(SourceError, match="only explain"):
            unplugged.ask(sql, epsilon=1)
