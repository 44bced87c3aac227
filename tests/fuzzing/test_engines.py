"""No question that is accepted makes an engine fail, whoever is in the data.

On a push: some of one of each thing that is accepted, and some random questions, always the same.
The long run asks one of each and draws thousands anew; what fails is printed with its seed, and
`Questions(seed).question()` is the question again.
"""

from collections import Counter
from uuid import uuid4

import pytest

from tests.engines.contract import ENGINES
from tests.fuzzing.grammar import Questions, one_of_each
from tests.fuzzing.running import ANSWERED, failures, twins
from tests.fuzzing.tables import TWINS

Plan = tuple[int, int, tuple[str, ...]]

ON_A_PUSH: dict[str, Plan] = {
    "duckdb": (8, 10, TWINS[:2]),
    "postgresql": (16, 6, TWINS[:2]),
    "spark": (64, 1, TWINS[:1]),
}
"""Of one of each, every how many are asked; how many random questions; of which twins."""

LONG = {"duckdb": 3000, "postgresql": 3000, "spark": 400}


def on(kind: str) -> list[pytest.MarkDecorator]:
    return [] if kind == "duckdb" else [pytest.mark.xdist_group(kind)]


@pytest.mark.parametrize("kind", [pytest.param(kind, marks=on(kind)) for kind in ENGINES])
def test_no_question_makes_an_engine_fail(kind: str) -> None:
    every, number, names = ON_A_PUSH[kind]
    asked = [*one_of_each("push")][::every]
    asked += [Questions(f"push {each}").question() for each in range(number)]
    tally: Counter[str] = Counter()
    with twins(kind, is_prepared=kind == "duckdb", names=names) as curators:
        assert failures(curators, asked, tally) == []
    assert tally[ANSWERED] > len(asked) * 0.6


@pytest.mark.slow
@pytest.mark.parametrize("is_prepared", [True, False], ids=["prepared", "per-query"])
@pytest.mark.parametrize("kind", [pytest.param(kind, marks=on(kind)) for kind in ENGINES])
def test_none_of_many_questions_makes_an_engine_fail(kind: str, *, is_prepared: bool) -> None:
    run = uuid4().hex[:12]
    asked = [*one_of_each(run)]
    asked += [Questions(f"{run} {each}").question() for each in range(LONG[kind])]
    tally: Counter[str] = Counter()
    with twins(kind, is_prepared=is_prepared) as curators:
        found = failures(curators, asked, tally)
    assert found == [], f"run {run}: {dict(tally)}"
    assert tally[ANSWERED] > len(asked) * 0.6


def test_a_question_is_made_again_from_its_seed() -> None:
    assert Questions("seed").question() == Questions("seed").question()
    assert Questions("seed").question() != Questions("other").question()
