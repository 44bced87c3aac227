"""A question keeps its meaning: without noise, its answer is what plain SQL gives.

The data keep what the catalog declares, so that nothing is clamped and no row is one too many.
"""

from collections.abc import Iterator
from decimal import Decimal
from itertools import cycle
from pathlib import Path
from typing import Any

import duckdb
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from discreet.curator import Curator
from discreet.query.check import check
from discreet.query.parse import parse
from discreet.query.plan import make_plan
from discreet.query.plan.plan import EpsilonTarget
from tests.properties.clinic import clinic
from tests.properties.comparison import differences, plain, plain_database, reference
from tests.properties.curators import curator_of
from tests.properties.databases import Database, public_store, tame_databases
from tests.properties.plans import with_bounds_where_needed
from tests.properties.questions import Drawn, questions
from tests.properties.silence import silence

QUICK, LONG = 8, 500
TOGETHER = 8
"""Questions that are asked of the same database."""

SHAPES = [
    line
    for line in (Path(__file__).parent / "shapes.sql").read_text(encoding="utf-8").splitlines()
    if not line.startswith("--")
]


def check_meaning(question: Drawn, curator: Curator, plainly: duckdb.DuckDBPyConnection) -> None:
    """Assert that the answer is what plain SQL gives, or says what it leaves out."""
    here = curator.catalog
    plan = with_bounds_where_needed(
        question.sql,
        here,
        lambda known: make_plan(
            check(parse(question.sql), known, public_store()), EpsilonTarget(1), here.budget
        ),
    )
    with silence():
        answer = curator.ask(question.sql, epsilon=1)
    assert differences(question, answer, plan, reference(question, plainly)) == [], question.sql


UNSHRUNK = (Phase.explicit, Phase.reuse, Phase.generate)
"""The quick form shows what it finds as it is; the long one looks for the smallest like it."""


def holds_for(examples: int, **how: Any) -> None:
    """Assert the claim of this file for so many databases."""

    @settings(max_examples=examples, suppress_health_check=list(HealthCheck), **how)
    @given(tame_databases(), st.lists(questions(), min_size=TOGETHER, max_size=TOGETHER))
    def holds(database: Database, asked: list[Drawn]) -> None:
        curators = [curator_of(database, is_prepared=each) for each in (True, False)]
        with plain_database(database) as plainly:
            for question, curator in zip(asked, cycle(curators), strict=False):
                check_meaning(question, curator, plainly)

    holds()


def test_a_question_means_what_it_means_in_sql() -> None:
    holds_for(QUICK, phases=UNSHRUNK)


@pytest.mark.slow
def test_each_of_many_questions_means_what_it_means_in_sql() -> None:
    holds_for(LONG)


# --------------------------------------------------------------------------- shapes


@pytest.fixture(scope="module", params=[True, False], ids=["prepared", "per-query"])
def both(request: pytest.FixtureRequest) -> Iterator[tuple[Curator, duckdb.DuckDBPyConnection]]:
    database = clinic(80)
    with plain_database(database) as plainly:
        yield curator_of(database, is_prepared=request.param), plainly


@pytest.mark.parametrize("sql", SHAPES, ids=lambda sql: sql[:80])
def test_a_shape_of_sql_keeps_its_meaning(
    both: tuple[Curator, duckdb.DuckDBPyConnection], sql: str
) -> None:
    curator, plainly = both
    with silence():
        table = curator.ask(sql, epsilon=1).to_arrow()
    left = list(zip(*([each.as_py() for each in column] for column in table.columns), strict=True))
    for row in plainly.execute(sql).fetchall():
        same = [each for each in left if are_same(each, row)]
        assert same, f"{row} is not among {left[:5]}"
        left.remove(same[0])
    assert left == []


def are_same(ours: tuple[Any, ...], theirs: tuple[Any, ...]) -> bool:
    """Return whether two rows are equal but for the grid on which numbers are summed."""
    return len(ours) == len(theirs) and all(map(_is_same, ours, theirs))


def _is_same(a: Any, b: Any) -> bool:
    if isinstance(b, float | Decimal) and a is not None:
        return abs(float(a) - float(b)) <= 1e-6 * (1 + abs(float(b)))
    return bool(plain(a) == plain(b)) or (b is None and a == 0)  # a sum of nothing is 0
