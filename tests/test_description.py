"""The columns of an answer are known before the query is run, and are those of the answer."""

import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from warnings import catch_warnings, simplefilter

import pyarrow as pa
import pytest

from discreet import errors
from discreet.answer import Answer, Role
from discreet.catalog import AUTO
from discreet.curator import Curator
from discreet.errors import AccountError, DiscreetError, UnknownNameError
from discreet.explanation.thresholds import GroupThresholdWarning
from tests.attacks.watched import Watched, watch
from tests.curated import curator_of, transactions
from tests.forms.corpus import ANSWERED, REFUSED, Answered, Refused
from tests.forms.held import held

GOLDEN = Path(__file__).parent / "golden"
CORPUS = tomllib.loads((GOLDEN / "corpus.toml").read_text(encoding="utf-8"))

OTHERS = (
    "SELECT region, COUNT(*) AS n, COUNT(*) AS n FROM patients GROUP BY region",
    "SELECT MEDIAN(cost) + 1 AS m, MEDIAN(cost) AS n, COUNT(*) * MEDIAN(cost) AS p FROM visits",
    "SELECT region, m / n AS share, 2 * n AS twice FROM (SELECT region, MEDIAN(income) AS m, "
    "COUNT(*) AS n FROM patients GROUP BY region)",
    "SELECT joined, MAX(income) AS most FROM patients WHERE joined IN ('2020-01-01') GROUP BY 1",
    "SELECT SUM(n) AS s, MAX(n) AS m, string_agg(region, ',') AS t FROM "
    "(SELECT region, COUNT(*) AS n FROM patients GROUP BY region)",
    "SELECT region, RANK() OVER (ORDER BY COUNT(*)) AS place FROM patients GROUP BY region",
    "SELECT CAST(AVG(cost) AS DECIMAL(10, 2)) AS a, CAST(COUNT(*) AS SMALLINT) AS b, "
    "AVG(cost) > 3 AS c, CAST(COUNT(*) AS VARCHAR) AS d, list_value(COUNT(*)) AS e FROM visits",
    "SELECT sqrt(n - 500) AS root, n + m AS both FROM (SELECT region, COUNT(*) AS n, "
    "MEDIAN(income) AS m FROM patients GROUP BY region)",
    "SELECT name, beds FROM clinics",
    "SELECT 1 AS one, NULL AS nothing, DATE '2024-01-01' AS day",
    "SELECT region, COUNT(*) AS n FROM patients GROUP BY region HAVING COUNT(*) < 0",
    "SELECT region, 1.0 * COUNT(*) / (COUNT(*) + 1) AS n FROM patients GROUP BY region LIMIT 0",
)


@pytest.fixture(scope="module")
def watched() -> Iterator[tuple[Curator, Watched]]:
    with held("prepared") as curator:
        yield curator, watch(curator)


@pytest.fixture
def curator(watched: tuple[Curator, Watched]) -> Curator:
    return watched[0]


def answer_to(curator: Curator, sql: str, **how: Any) -> Answer:
    with catch_warnings():
        simplefilter("ignore", GroupThresholdWarning)
        return curator.ask(sql, **{"epsilon": 1, **how})


def check_described(curator: Curator, sql: str, **how: Any) -> None:
    """Check that the columns of a query are those of its answer."""
    told = {name: how[name] for name in ("parameters", "dialect") if name in how}
    described = curator.columns(sql, **told)
    answer = answer_to(curator, sql, **how)
    assert [(each.name, each.type) for each in described] == [
        (field.name, field.type) for field in answer.table.schema
    ]
    expected = [each.role for each in described]
    if None in curator.explain(sql, **{"epsilon": 1, **how}).groups:  # groups near the threshold
        expected = [
            found if (role, found) == (Role.ESTIMATE, Role.VALUE) else role
            for role, found in zip(expected, answer.roles, strict=True)
        ]
    assert expected == list(answer.roles)
    assert all(each.has_margins is (each.role is Role.ESTIMATE) for each in described)
    intervals = {each.name for each in described if each.has_interval}
    assert answer.intervals.keys() <= intervals


@pytest.mark.parametrize("question", ANSWERED[::3], ids=str)
def test_columns_of_each_form_are_those_of_its_answer(curator: Curator, question: Answered) -> None:
    check_described(curator, question.sql, **question.how)


@pytest.mark.parametrize("sql", [*(each["sql"] for each in CORPUS["answer"]), *OTHERS])
def test_columns_of_other_queries_are_those_of_their_answers(curator: Curator, sql: str) -> None:
    check_described(curator, sql)


@pytest.mark.parametrize("question", REFUSED[::2], ids=str)
def test_what_explain_rejects_has_no_columns(curator: Curator, question: Refused) -> None:
    told = {name: question.how[name] for name in ("parameters", "dialect") if name in question.how}
    if question.how.keys() - told.keys() or "OPTIONS (epsilon" in question.sql:
        pytest.skip("it is rejected for the terms of the call")
    with pytest.raises(getattr(errors, question.error)) as found:
        curator.columns(question.sql, **told)
    with pytest.raises(DiscreetError) as explained:
        curator.explain(question.sql, epsilon=1, **told)
    assert str(found.value) == str(explained.value)


def test_describing_reads_no_row_and_charges_nothing(watched: tuple[Curator, Watched]) -> None:
    curator, engine = watched
    runs, before = engine.runs, curator.remaining
    with transactions(curator) as seen:
        (key, number, middle) = curator.columns(
            "SELECT region, COUNT(*) AS n, MEDIAN(income) AS m FROM patients GROUP BY region"
        )
    assert (engine.runs, seen) == (runs, [])
    assert curator.remaining == before
    assert (key.role, key.type, key.has_margins) == (Role.KEY, pa.string(), False)
    assert (number.role, number.type, number.has_margins) == (Role.ESTIMATE, pa.int64(), True)
    assert (middle.role, middle.type, middle.has_interval) == (Role.VALUE, pa.float64(), True)


VISITS: dict[str, list[Any]] = {
    "patient_id": list(range(300)),
    "cost": [7.5] * 300,
    "day": ["a", "b", "c"] * 100,
}


def test_a_query_whose_bounds_are_found_first_has_the_same_columns_before_and_after() -> None:
    sql = "SELECT SUM(cost) AS s, COUNT(*) AS n FROM visits"
    with curator_of(VISITS, bounds={"cost": AUTO}) as curator:
        before = curator.columns(sql)
        check_described(curator, sql, epsilon=50)
        assert curator.columns(sql) == before


def test_terms_that_a_query_states_itself_are_held_to() -> None:
    sql = "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 1e-30) COUNT(*) AS n FROM visits"
    with curator_of(VISITS) as curator, pytest.raises(errors.TargetError, match="cannot compute"):
        curator.columns(sql, dialect="bigquery")


def test_an_analyst_may_describe_a_query_until_the_account_ends() -> None:
    with curator_of(VISITS) as curator:
        curator.ledger.declare_analyst("eve", epsilon=1)
        eve = curator.on_account("eve")
        assert eve.columns("SELECT COUNT(*) AS n FROM visits WHERE cost > ?", parameters=[3]) == (
            curator.columns("SELECT COUNT(*) AS n FROM visits WHERE cost > 3")
        )
        with pytest.raises(UnknownNameError, match="visits has no column costs"):
            eve.columns("SELECT SUM(costs) FROM visits")
        curator.ledger.declare_analyst("eve", epsilon=1, enabled=False)
        with pytest.raises(AccountError, match="disabled"):
            eve.columns("SELECT COUNT(*) FROM visits")
