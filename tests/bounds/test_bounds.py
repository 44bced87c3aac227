"""Bounds that are found first: what it costs, how good they are, and that nothing else is used."""

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from numpy.typing import NDArray
from scipy import stats

from discreet.bounds import PART
from discreet.catalog import Bounds
from discreet.curator import Curator
from discreet.engines.base import Scalars, Statement
from discreet.engines.duckdb import DuckDbEngine
from discreet.errors import (
    BudgetError,
    DiscreetError,
    EngineError,
    NothingFoundError,
    ParameterError,
    TargetError,
    UnboundedError,
)
from discreet.tables import ExactTable
from tests.curated import curator_of

SIZE = 2000

PLACES: NDArray[np.float64] = (np.arange(SIZE) + 0.5) / SIZE

COSTS = stats.gamma(2, scale=50).ppf(PLACES)

VISITS = {
    "age": [18 + each % 70 for each in range(SIZE)],
    "cost": list(COSTS),
    "paid": list(COSTS / 2),
    "region": ["north", "south"] * (SIZE // 2),
}

AUTO = {"cost": "AUTO", "paid": "AUTO"}

SUM = "SELECT SUM(cost) AS total FROM visits"


def spent(curator: Curator) -> Fraction:
    left = curator.remaining
    return left.total_epsilon - left.epsilon


@pytest.fixture
def visits() -> Curator:
    return curator_of(VISITS, bounds=AUTO, values={"region": ["north", "south"]})


# --------------------------------------------------------------------------- find_bounds

LAWS: dict[str, NDArray[Any]] = {
    "normal": stats.norm(-40, 5).ppf(PLACES),
    "heavy tail": stats.lognorm(2).ppf(PLACES),
    "tiny": stats.uniform(0, 1e-6).ppf(PLACES),
    "whole numbers": np.arange(SIZE) - 50,
    "zeros": np.zeros(SIZE, np.int64),
    "days": np.datetime64("2023-03-01") + np.arange(SIZE) % 700,
}


@pytest.mark.parametrize("law", LAWS)
def test_bounds_cover_nearly_all_values_whatever_their_law(law: str) -> None:
    values = LAWS[law]
    curator = curator_of({"x": pa.array(values)})
    found = curator.find_bounds("x", epsilon=1)
    numbers = values.astype("datetime64[D]").astype(int) if law == "days" else values
    inside = (numbers >= float(found.low)) & (numbers <= float(found.high))
    assert inside.mean() > 0.96
    assert found.low < found.high


def test_bounds_are_no_wider_than_the_magnitudes_that_there_are() -> None:
    found = curator_of(VISITS).find_bounds("visits.age", epsilon=1)
    assert found == Bounds(low=Fraction(16), high=Fraction(128))


def test_finding_costs_exactly_what_is_said_and_again_nothing(visits: Curator) -> None:
    found = visits.find_bounds("cost", epsilon=Fraction(1, 3))
    assert spent(visits) == Fraction(1, 3)
    assert visits.find_bounds("visits.cost", epsilon=Fraction(1, 3)) == found
    assert spent(visits) == Fraction(1, 3)
    visits.find_bounds("cost", epsilon=0.25)
    assert spent(visits) == Fraction(1, 3) + Fraction(1, 4)


def test_where_nothing_stands_out_the_error_says_so_and_the_charge_stays(visits: Curator) -> None:
    for _ in range(2):
        with pytest.raises(NothingFoundError, match="Try a larger epsilon, or declare bounds"):
            visits.find_bounds("cost", epsilon=0.001)
        assert spent(visits) == Fraction(1, 1000)


# --------------------------------------------------------------------------- ask


@pytest.mark.parametrize(
    ("sql", "columns"),
    [
        (SUM, 1),
        ("SELECT region, AVG(cost), SUM(paid) FROM visits GROUP BY region", 2),
        ("SELECT MEDIAN(cost), COUNT(*) FROM visits WHERE age > 30", 1),
        ("SELECT AVG(cost + paid) FROM visits", 2),
        ("SELECT SUM(cost) FROM visits WHERE cost BETWEEN 0 AND 300", 0),
        ("SELECT COUNT(*) FROM visits WHERE cost > 3", 0),
    ],
)
def test_all_parts_together_cost_exactly_the_epsilon_of_the_question(
    visits: Curator, sql: str, columns: int
) -> None:
    epsilon = Fraction(7, 3)
    answer = visits.ask(sql, epsilon=epsilon)
    assert spent(visits) == answer.price.epsilon == epsilon
    assert not answer.from_ledger
    charges = [each for each in visits._ledger.entries() if each.kind == "charge"]
    assert len(charges) == columns + 1
    again = visits.ask(sql, epsilon=epsilon)
    assert again.rows == answer.rows
    assert again.from_ledger
    assert spent(visits) == epsilon


def test_the_answer_is_right_and_says_what_was_found(visits: Curator) -> None:
    answer = visits.ask(SUM, epsilon=5)
    total = answer.rows[0]["total"]
    assert isinstance(total, float)
    assert abs(total - COSTS.sum()) < 0.03 * COSTS.sum()
    assert answer.notes[0].startswith("The bounds of visits.cost, ")
    assert answer.notes[0].endswith("were found first, for ε = 1 of the cost.")


def test_concentrated_budgets_find_bounds_too() -> None:
    curator = curator_of(VISITS, bounds=AUTO, epsilon=1, delta=1e-6, accounting="concentrated")
    assert curator.ask(SUM, epsilon=0.5).price.epsilon == Fraction(1, 2)
    assert curator.ask(SUM, epsilon=0.5).from_ledger
    with pytest.raises(BudgetError):
        curator.ask(SUM, epsilon=5)


def test_bounds_that_were_found_before_for_the_same_epsilon_are_not_paid_again(
    visits: Curator,
) -> None:
    visits.find_bounds("cost", epsilon=PART)
    assert visits.ask(SUM, epsilon=1).charged.epsilon == 1 - PART
    assert spent(visits) == 1
    assert visits.ask(SUM, epsilon=1).price.epsilon == 1


def test_a_column_can_be_named_whatever_is_declared_of_it() -> None:
    curator = curator_of(VISITS, bounds={"cost": (0, 10**6)}, step={"cost": 1})
    wide = curator.ask(SUM, epsilon=1).margins["total"][0]
    found = curator.ask(SUM, epsilon=1, find_bounds_of=["visits.cost"])
    narrow = found.margins["total"][0]
    assert wide is not None
    assert narrow is not None
    assert narrow < wide / 100
    assert spent(curator) == 2


def test_after_reopening_all_parts_are_free(tmp_path: Path) -> None:
    place = tmp_path / "visits.ledger"
    with curator_of(VISITS, bounds=AUTO, ledger=place) as curator:
        first = curator.ask(SUM, epsilon=1)
    with curator_of(VISITS, bounds=AUTO, ledger=place, seed=99) as curator:
        again = curator.ask(SUM, epsilon=1)
        assert again.rows == first.rows
        assert again.from_ledger
        assert spent(curator) == 1


class FailingEngine:
    """An engine that fails once, at the query of a given number."""

    def __init__(self, engine: DuckDbEngine, fails_at: int) -> None:
        self._engine, self._left = engine, fails_at
        self.dialect, self.columns = engine.dialect, engine.columns
        self.bind, self.close = engine.bind, engine.close

    def run(self, statement: Statement, scalars: Scalars) -> ExactTable:
        self._left -= 1
        if self._left == -1:
            raise EngineError
        return self._engine.run(statement, scalars)


@pytest.mark.parametrize("fails_at", [0, 1])
def test_a_failure_between_the_parts_costs_nothing_more(fails_at: int) -> None:
    curator = curator_of(VISITS, bounds=AUTO, engine=lambda engine: FailingEngine(engine, fails_at))
    with pytest.raises(EngineError):
        curator.ask(SUM, epsilon=1)
    assert spent(curator) == (PART if fails_at == 0 else 1)
    curator.resume("owner")
    curator.ask(SUM, epsilon=1)
    assert spent(curator) == 1


# --------------------------------------------------------------------------- refusals

REFUSALS: dict[str, tuple[Callable[[Curator], object], type[DiscreetError], str]] = {
    "an accuracy": (
        lambda c: c.ask(SUM, within=10),
        TargetError,
        "depends on the bounds of visits.cost, which must be found first.*find_bounds",
    ),
    "no target": (lambda c: c.ask(SUM), ParameterError, "epsilon must be given"),
    "more than is left": (
        lambda c: c.ask(SUM, epsilon=101),
        BudgetError,
        "would cost ε = 101",
    ),
    "not needed": (
        lambda c: c.ask("SELECT COUNT(*) FROM visits", epsilon=1, find_bounds_of=["cost"]),
        ParameterError,
        "find_bounds_of must only name columns",
    ),
    "no bounds follow": (
        lambda c: c.ask("SELECT SUM(ln(cost)) FROM visits", epsilon=1),
        UnboundedError,
        r"CLAMP\(",
    ),
    "others are missing": (
        lambda c: c.ask("SELECT SUM(cost + age) FROM visits", epsilon=1),
        UnboundedError,
        "needs bounds for age",
    ),
    "no epsilon": (lambda c: c.find_bounds("cost", epsilon=0), ParameterError, "epsilon"),
}


@pytest.mark.parametrize("case", REFUSALS)
def test_refusals_charge_nothing(visits: Curator, case: str) -> None:
    asked, error, words = REFUSALS[case]
    with pytest.raises(error, match=words):
        asked(visits)
    assert spent(visits) == 0


def test_an_accuracy_is_solved_for_where_no_bounds_are_needed(visits: Curator) -> None:
    answer = visits.ask("SELECT COUNT(*) AS n FROM visits", within=10)
    assert answer.margins["n"] == [pytest.approx(10, abs=1)]


# --------------------------------------------------------------------------- explain


def refusing(engine: DuckDbEngine) -> FailingEngine:
    return FailingEngine(engine, 0)


def test_an_explanation_reads_no_data_and_leaves_open_what_bounds_decide() -> None:
    curator = curator_of(VISITS, bounds=AUTO, engine=refusing)
    told = curator.explain("SELECT COUNT(*) AS n, SUM(cost) AS total FROM visits", epsilon=1)
    assert told.price.epsilon == 1
    spreads = {each.name: each.margin_text for each in told.columns}
    assert list(spreads) == ["(bounds)", "n", "total"]
    assert spreads["total"] == "depends on bounds not yet found"
    assert spreads["n"].startswith("±")
    text = str(told)
    assert "The bounds of visits.cost are found first, for ε = 0.2" in text
    assert "e+12" not in text
    with pytest.raises(EngineError):
        curator.ask(SUM, epsilon=1)


def test_once_found_the_explanation_tells_all(visits: Curator) -> None:
    assert visits.explain(SUM, epsilon=1).price.epsilon == 1
    visits.find_bounds("cost", epsilon=PART)
    after = visits.explain(SUM, epsilon=1)
    assert after.price.epsilon == 1 - PART
    assert after.columns[-1].margin_text.startswith("±")
    assert "cost nothing now" in after.first[0]
    assert spent(visits) == PART


# --------------------------------------------------------------------------- twins


def outcome(curator: Curator) -> list[object]:
    """Return all that an analyst sees but the noisy numbers of the rest."""
    told: list[object] = [str(curator.explain(SUM, epsilon=1))]
    answer = curator.ask(SUM, epsilon=1)
    told += [answer.notes, answer.columns, len(answer), answer.price, str(curator.remaining)]
    return [*told, str(curator.explain(SUM, epsilon=1)), curator.find_bounds("cost", epsilon=PART)]


def test_bounds_depend_on_nothing_but_the_noisy_numbers_by_magnitude() -> None:
    """Other values in the same bins, and the same noise: all is the same."""
    moved = VISITS | {"cost": [2 ** np.ceil(np.log2(each)) for each in VISITS["cost"]]}
    one, two = (curator_of(each, bounds=AUTO, seed=4) for each in (VISITS, moved))
    assert outcome(one) == outcome(two)


def test_a_neighbour_is_not_seen_but_in_noisy_numbers() -> None:
    """One row far beyond all others changes neither words nor charges nor, here, the bounds."""
    outlier = {name: [*values, values[0]] for name, values in VISITS.items()}
    outlier["cost"][-1] = 1e15
    one, two = (curator_of(each, bounds=AUTO, seed=4) for each in (VISITS, outlier))
    assert outcome(one) == outcome(two)
