"""The golden questions: shapes that must be answered, and shapes that must be refused by name."""

import re
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import pytest

from discreet import errors
from discreet.curator import Curator
from tests.attacks.clinic import golden, opened, with_new_books
from tests.attacks.watched import Watched, watch

CORPUS, SHAPES = golden("corpus"), golden("shapes")

REFUSALS = {
    "row-level output": ("RowLevelError", "individual rows of patients"),
    "the unit as a group key": ("RowLevelError", "one row per privacy unit"),
    "a self-join off the unit": ("JoinError", "v1.patient_id = v2.patient_id"),
    "LIMIT below an aggregate": ("UnsupportedError", "LIMIT cannot be used on private rows"),
    "no bounds for visit_id, and the line that declares them": (
        "UnboundedError",
        r"visit_id = \{ bounds = \[low, high\] \}",
    ),
    "bounds unknown at 0 unless clamped; say how": ("UnboundedError", r"CLAMP\("),
    "nested aggregate": ("NestedAggregateError", "SUM cannot be nested inside SUM"),
    "income is neither grouped nor aggregated": (
        "NotGroupedError",
        "income must appear in GROUP BY or inside an aggregate",
    ),
    "non-deterministic function": ("NondeterministicError", "can change with every run"),
    "an aggregate with no private form": ("UnsupportedError", "STRING_AGG would list"),
    "only SELECT": ("StatementError", "only runs SELECT"),
    "table functions": ("UnsupportedError", "table function"),
    "unknown table, did you mean patients": ("UnknownNameError", r"Did you mean patients\?"),
    "row-level output; a window across units": (
        "UnsupportedError",
        "This window combines rows of different",
    ),
    "one statement": ("StatementError", "a single statement"),
    "syntax, with the place": ("SqlSyntaxError", r"line 1, column \d+"),
}
"""What each refusal of the corpus is, and what its sentence must contain."""


@pytest.fixture(scope="module")
def clinic() -> Iterator[tuple[Curator, Watched]]:
    with opened() as curator:
        yield curator, watch(curator)


ANSWERED = [each["sql"] for each in CORPUS["answer"] + SHAPES["answer"]]


@pytest.mark.filterwarnings("ignore:Every group of visit_id belongs to one privacy unit")
@pytest.mark.parametrize("sql", ANSWERED, ids=lambda sql: sql[:80])
def test_a_question_is_answered_at_the_price_asked(
    clinic: tuple[Curator, Watched], sql: str
) -> None:
    curator, engine = with_new_books(clinic[0]), clinic[1]
    before, runs = curator.remaining.epsilon, engine.runs
    epsilon = Fraction(11, 10)
    is_public = curator.explain(sql, epsilon=epsilon).protects.startswith("nobody")
    assert engine.runs == runs
    answer = curator.ask(sql, epsilon=epsilon)
    assert (engine.runs == runs) is is_public
    assert before - curator.remaining.epsilon == answer.charged.epsilon
    assert answer.charged.epsilon == (0 if is_public else epsilon)
    assert engine.failures == []
    again = curator.ask(sql, epsilon=epsilon)
    assert again.is_free
    assert str(again.rows) == str(answer.rows)  # NaN is not equal to itself


@pytest.mark.parametrize("case", CORPUS["refuse"], ids=lambda case: case["names"])
def test_a_refusal_of_the_corpus_names_what_is_wrong(
    clinic: tuple[Curator, Watched], case: dict[str, str]
) -> None:
    kind, says = REFUSALS[case["names"]]
    refuse(clinic, case["sql"], kind, says)


@pytest.mark.parametrize("case", SHAPES["refuse"], ids=lambda case: case["sql"][:80])
def test_a_question_is_refused_by_name(
    clinic: tuple[Curator, Watched], case: dict[str, str]
) -> None:
    refuse(clinic, case["sql"], case["error"], re.escape(case["says"]))


def refuse(clinic: tuple[Curator, Watched], sql: str, kind: str, says: str) -> None:
    """Ask, and check the refusal: its class, its words, no data read, nothing charged."""
    curator, engine = clinic
    before, runs = curator.remaining, engine.runs
    with pytest.raises(getattr(errors, kind)) as found:
        curator.ask(sql, epsilon=1)
    assert type(found.value).__name__ == kind
    assert re.search(says, str(found.value)), str(found.value)
    assert engine.runs == runs
    assert curator.remaining == before
    with pytest.raises(type(found.value)) as explained:
        curator.explain(sql, epsilon=1)
    assert str(explained.value) == str(found.value)


def test_shapes_are_many_and_each_is_there_once() -> None:
    listed: list[dict[str, Any]] = [*CORPUS["answer"], *SHAPES["answer"], *SHAPES["refuse"]]
    asked = [each["sql"] for each in listed]
    assert len(asked) == len(set(asked))
    assert len(SHAPES["answer"]) + len(SHAPES["refuse"]) >= 60
