"""SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS: what it states is charged, and agrees with the call."""

from fractions import Fraction

import pytest

from discreet.errors import QuestionError, UnsupportedError
from discreet.query.parse import options_in, parse
from discreet.written import written
from tests.forms.held import held

CLAUSE = "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS"
COUNT = f"{CLAUSE} (epsilon = 0.25) COUNT(*) AS n FROM visits"


def test_epsilon_of_the_clause_is_charged_and_the_query_is_the_one_without_it() -> None:
    with held("prepared") as curator:
        assert curator.explain(COUNT).price.epsilon == Fraction(1, 4)
        assert curator.ask(COUNT).charged.epsilon == Fraction(1, 4)
        assert curator.ask(COUNT, epsilon=0.25).is_free
        assert curator.ask("SELECT COUNT(*) AS n FROM visits", epsilon=0.25).is_free
        for other in ({"epsilon": 0.5}, {"epsilon": 1}):
            with pytest.raises(UnsupportedError, match="different values of epsilon"):
                curator.ask(COUNT, **other)


def test_delta_and_groups_of_the_clause_are_those_of_the_call() -> None:
    sql = f"{CLAUSE} (epsilon = 1, delta = 1e-9, max_groups_contributed = 1) {{}} FROM visits {{}}"
    by_note = sql.format("note, COUNT(DISTINCT patient_id) AS n", "GROUP BY note")
    with held("prepared") as curator:
        told = curator.explain(by_note)
        plain = curator.explain(
            "SELECT note, COUNT(DISTINCT patient_id) AS n FROM visits GROUP BY note",
            epsilon=1,
            delta=1e-9,
            groups_per_unit=1,
        )
        assert told.price == plain.price
        assert told.to_text() == plain.to_text().replace(plain.question, told.question)
        for other in ({"delta": 1e-8}, {"groups_per_unit": 2}):
            with pytest.raises(UnsupportedError, match="different values"):
                curator.explain(by_note, **other)


@pytest.mark.parametrize(
    "sql",
    [
        f"SELECT COUNT(*) FROM visits WHERE note = '{COUNT}'",  # noqa: S608
        f"SELECT COUNT(*) FROM visits -- {COUNT}",  # noqa: S608
        f"SELECT COUNT(*) /* {COUNT} */ FROM visits",  # noqa: S608
        f'SELECT COUNT("{COUNT}") FROM visits',  # noqa: S608
        "SELECT COUNT(differential_privacy) FROM visits",
    ],
)
def test_texts_and_comments_state_nothing(sql: str) -> None:
    assert options_in(written(sql)) is None
    parse(sql)


@pytest.mark.parametrize(
    "options",
    [
        "",
        "(",
        "()",
        "(epsilon)",
        "(epsilon =)",
        "(epsilon = -1)",
        "(epsilon = 1e999999999)",
        "(epsilon = 1 + 1)",
        "(epsilon = (SELECT 1))",
        "(epsilon = NULL)",
        "(epsilon = 1,)",
        "(epsilon = 1, max_groups_contributed = NULL)",
        "(epsilon = 1, max_groups_contributed = 99999999999)",
        "(epsilon = ?)",
        "(epsilon = 1;)",
        f"(epsilon = {'9' * 5000})",
    ],
)
def test_options_that_cannot_be_read_are_rejected(options: str) -> None:
    with pytest.raises(QuestionError):
        parse(f"{CLAUSE} {options} COUNT(*) FROM visits")
