"""Every release is charged before it runs, kept before it is seen, and drawn once."""

from fractions import Fraction
from typing import Any

import pyarrow as pa
import pytest

import discreet.books
from discreet.errors import BudgetError, DiscreetError, EngineError, UnsupportedError
from discreet.query.exact import ExactQuery
from discreet.tables import ExactTable
from tests.curated import curator_of

VISITS: dict[str, list[float]] = {
    "patient_id": list(range(200)),
    "cost": [float(i % 90) for i in range(200)],
}
BOUNDS: dict[str, Any] = {"bounds": {"cost": (0, 100)}}
NESTED = "SELECT COUNT(*) AS n FROM visits WHERE cost > (SELECT AVG(cost) FROM visits)"


class Failing:
    """An engine that fails from some query on."""

    def __init__(self, engine: object, *, after: int) -> None:
        self._engine, self._left = engine, after
        self.ran = 0

    def __getattr__(self, name: str) -> object:
        return getattr(self._engine, name)

    def run(self, query: ExactQuery, released: tuple[object, ...]) -> ExactTable:
        self.ran += 1
        if self._left <= 0:
            raise EngineError
        self._left -= 1
        return self._engine.run(query, released)  # type: ignore[attr-defined, no-any-return]


def test_a_question_that_failed_is_run_again_without_a_charge() -> None:
    engines: list[Failing] = []

    def failing(engine: object) -> Failing:
        engines.append(Failing(engine, after=0))
        return engines[0]

    curator = curator_of(VISITS, seed=None, engine=failing, **BOUNDS)
    with pytest.raises(EngineError):
        curator.ask("SELECT COUNT(*) FROM visits", epsilon=1)
    assert curator.remaining.epsilon == 99
    engines[0]._left = 10
    curator.ask("SELECT COUNT(*) FROM visits", epsilon=1)
    assert curator.remaining.epsilon == 99


def test_an_inner_number_is_kept_when_the_outer_question_fails() -> None:
    """Else asking again would draw it again, and each failure would show a new draw for free."""
    engines: list[Failing] = []

    def failing(engine: object) -> Failing:
        engines.append(Failing(engine, after=1))
        return engines[0]

    curator = curator_of(VISITS, seed=None, engine=failing, **BOUNDS)
    with pytest.raises(EngineError):
        curator.ask(NESTED, epsilon=1)
    ran = engines[0].ran
    engines[0]._left = 10
    curator.ask(NESTED, epsilon=1)
    assert engines[0].ran == ran + 1
    assert curator.remaining.epsilon == 99


def test_a_release_that_cannot_be_kept_is_not_drawn_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(discreet.books, "MOST_ANSWER", 10)
    curator = curator_of(VISITS, seed=None, **BOUNDS)
    for _ in range(2):
        with pytest.raises(EngineError):
            curator.ask("SELECT COUNT(*) FROM visits", epsilon=1)
    monkeypatch.setattr(discreet.books, "MOST_ANSWER", 2**28)
    with pytest.raises(EngineError):
        curator.ask("SELECT COUNT(*) FROM visits", epsilon=1)
    assert curator.remaining.epsilon == 99


def test_what_does_not_fit_together_is_refused_whole() -> None:
    curator = curator_of(VISITS, epsilon=1, **BOUNDS)
    curator.ask("SELECT COUNT(*) FROM visits", epsilon=Fraction(6, 10))
    with pytest.raises(BudgetError):
        curator.ask(NESTED, epsilon=Fraction(6, 10))
    assert curator.remaining.epsilon == Fraction(4, 10)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT COUNT(*) FROM nowhere",
        "SELECT * FROM visits",
        f"SELECT COUNT(*) FROM visits WHERE {' + '.join(['cost'] * 150)} > 3",  # noqa: S608
        "SELECT nothing(COUNT(*)) FROM visits",
    ],
)
def test_a_refusal_costs_nothing_and_reads_nothing(sql: str) -> None:
    engines: list[Failing] = []

    def watched(engine: object) -> Failing:
        engines.append(Failing(engine, after=0))
        return engines[0]

    curator = curator_of(VISITS, engine=watched, **BOUNDS)
    with pytest.raises(DiscreetError):
        curator.ask(sql, epsilon=1)
    assert curator.remaining.epsilon == 100
    assert engines[0].ran == 0


def test_a_mistake_in_what_comes_afterwards_is_mended_for_free() -> None:
    curator = curator_of(VISITS, **BOUNDS)
    with pytest.raises(UnsupportedError):
        curator.ask("SELECT COUNT(*) + 'x' FROM visits", epsilon=1)
    assert curator.ask("SELECT COUNT(*) + 1 FROM visits", epsilon=1).was_kept
    assert curator.remaining.epsilon == 99


def test_a_row_unit_keeps_its_rows_whoever_else_is_there() -> None:
    """Which rows of a joined row count follows from them alone, not from where they stand."""
    public = pa.table({"k": [1] * 8, "w": list(range(8))})
    exact = []
    for rows in ([5, 1, 1, 1], [1, 1, 1]):
        table = pa.table({"k": rows, "x": list(range(len(rows)))[::-1]})
        with discreet.open(
            {"t": table, "p": public},
            unit="row",
            public=["p"],
            values={"p.w": [0, 1, 2]},
            epsilon=1000,
        ) as curator:
            sql = "SELECT COUNT(DISTINCT w) AS n FROM t JOIN p ON t.k = p.k"
            exact.append(curator.ask(sql, epsilon=90).rows[0]["n"])
    assert exact[0] == exact[1]
