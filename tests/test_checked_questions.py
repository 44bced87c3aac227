"""A text is checked once, and what is kept of it says nothing of who asked or at what price."""

from fractions import Fraction

import pyarrow as pa
import pytest

import discreet
from discreet import checked_questions
from discreet.checked_questions import LONGEST, MOST, CheckedQuestions
from discreet.curator import Curator
from discreet.errors import DiscreetError, ParameterError
from discreet.query.plan.plan import EpsilonTarget
from discreet.written import SqlDialect, WrittenQuery

SQL = "SELECT region, COUNT(*) AS n FROM visits GROUP BY region"


@pytest.fixture
def curator() -> Curator:
    regions = ["north", "south"] * 3000
    table = pa.table({"who": range(6000), "region": regions, "age": [30] * 6000})
    return discreet.open(
        table,
        name="visits",
        unit="who",
        epsilon=1000,
        delta=1e-6,
        bounds={"age": (0, 120)},
        values={"region": ["north", "south"]},
    )


def never(*_: object) -> None:
    pytest.fail("checked again")


def test_another_price_is_planned_as_it_would_be_afresh(
    curator: Curator, monkeypatch: pytest.MonkeyPatch
) -> None:
    planner, catalog = curator._planner, curator.catalog
    planner.plan(SQL, EpsilonTarget(Fraction(1)), catalog)
    fresh = {
        epsilon: planner._drafted(SQL, EpsilonTarget(epsilon), catalog)
        for epsilon in (Fraction(1, 10), Fraction(1), Fraction(3))
    }
    monkeypatch.setattr("discreet.planner.check", never)
    for epsilon, expected in fresh.items():
        plan = planner.draft(SQL, EpsilonTarget(epsilon), catalog)
        assert plan.events == expected.events
        assert plan.identities == expected.identities
        assert plan.releases[0].queries == expected.releases[0].queries
        assert plan.epsilon == epsilon


def test_each_analyst_is_charged_and_gets_noise_of_its_own(curator: Curator) -> None:
    before = curator.remaining.epsilon
    counts = {
        tuple(row["n"] for row in curator.ask(SQL, epsilon=Fraction(1 + number, 10**3)).rows)
        for number in range(5)
    }
    assert len(counts) == 5  # at these prices two are equal with probability below 10^-4
    assert before - curator.remaining.epsilon == Fraction(15, 10**3)


def test_other_catalogs_placeholders_and_dialects_are_checked_by_themselves(
    curator: Curator,
) -> None:
    planner, kept = curator._planner, CheckedQuestions()
    question = planner.draft(SQL, EpsilonTarget(1), curator.catalog).question
    kept.keep(SQL, curator.catalog, question)
    assert kept.known(SQL, curator.catalog) is not None
    other = discreet.open(
        pa.table({"who": [1], "region": ["north"]}), name="visits", unit="who", epsilon=1
    )
    assert kept.known(SQL, other.catalog) is None
    assert kept.known(SQL + " ", curator.catalog) is None
    for written in (
        WrittenQuery(text=SQL, dialect=SqlDialect.POSTGRES),
        WrittenQuery(text=SQL, parameters=[]),
    ):
        kept.keep(written, curator.catalog, question)
        assert kept.known(written, curator.catalog) is None


def test_a_rejected_text_is_rejected_each_time_and_kept_never(curator: Curator) -> None:
    for _ in range(2):
        with pytest.raises(DiscreetError, match="nowhere"):
            curator.ask("SELECT COUNT(*) FROM nowhere", epsilon=1)
    curator.ask(SQL, epsilon=1)
    with pytest.raises(ParameterError, match="epsilon"):
        curator.ask(SQL)


def test_what_is_kept_is_bounded_in_number_and_in_size(
    curator: Curator, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept, catalog = CheckedQuestions(), curator.catalog
    question = curator._planner.draft(SQL, EpsilonTarget(1), catalog).question
    texts = [f"{SQL} -- {number}" for number in range(MOST + 5)]
    for each in texts:
        kept.keep(each, catalog, question)
    assert [kept.known(each, catalog) is not None for each in texts] == [
        *[False] * 5,
        *[True] * MOST,
    ]
    long = SQL + " " * LONGEST
    kept.keep(long, catalog, question)
    assert kept.known(long, catalog) is None
    monkeypatch.setattr(checked_questions, "MOST_ROWS", 1)
    kept.keep("two groups", catalog, question)
    assert kept.known("two groups", catalog) is None
