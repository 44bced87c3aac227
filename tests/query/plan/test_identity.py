"""The same numbers are paid for once, however they are asked for."""

import json
from pathlib import Path

import pytest

from discreet.query.check import check
from discreet.query.parse import parse
from discreet.query.plan import make_plan
from discreet.query.plan.identity import Identity
from discreet.query.plan.plan import EpsilonTarget
from tests.query.plan.declared import CATALOG, STORE


def identities(sql: str, epsilon: float = 1) -> tuple[Identity, ...]:
    question = check(parse(sql), CATALOG, STORE)
    return make_plan(question, EpsilonTarget(epsilon), CATALOG.budget).identities


BY_REGION = (
    "SELECT region, COUNT(*) AS n, AVG(age) FROM visits WHERE cost > 5 AND age > 3 GROUP BY region"
)
COUNT = "SELECT COUNT(*) FROM visits WHERE "
PER_UNIT = (
    "SELECT AVG(clamp(t, 0, 500)) FROM (SELECT who, SUM(cost) AS t FROM visits GROUP BY who) AS p"
)
JOINED = "SELECT COUNT(*) FROM visits v JOIN people p ON v.who = p.who WHERE p.sex = 'f'"
EXISTS = "SELECT COUNT(*) FROM people p WHERE EXISTS (SELECT 1 FROM visits v WHERE v.who = p.who)"
DEEP = (
    "SELECT COUNT(*) FROM people a WHERE EXISTS (SELECT 1 FROM visits b WHERE b.who = a.who "
    "AND EXISTS (SELECT 1 FROM visits c WHERE c.who = b.who AND {condition}))"
)
NESTED = "SELECT COUNT(*) FROM visits WHERE cost > (SELECT AVG(cost) FROM visits)"
WINDOW = (
    "SELECT COUNT(*) FROM (SELECT who, ROW_NUMBER() OVER (PARTITION BY who ORDER BY age) AS i "
    "FROM visits) AS w WHERE i = 1"
)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (BY_REGION, BY_REGION.lower().replace(" where", "\n  WHERE")),
        (BY_REGION, "SELECT region AS r, AVG(age) AS a, COUNT(*) FROM visits "
                    "WHERE age > 3 AND cost > 5 GROUP BY region ORDER BY a DESC LIMIT 1"),
        (BY_REGION, 'SELECT "V"."region", COUNT(*) + 1, 2 * AVG(v.age) FROM visits AS v '
                    "WHERE v.cost > 5 AND v.age > 3 AND v.cost > 5 GROUP BY v.region HAVING n > 3"
                    .replace(" HAVING n > 3", " HAVING COUNT(*) > 3")),
        (PER_UNIT, "WITH q AS (SELECT who AS u, SUM(v.cost) AS s FROM visits v GROUP BY u) "
                   "SELECT AVG(clamp(s, 0, 500)) AS mean FROM q"),
        (JOINED, "SELECT COUNT(*) FROM visits JOIN people USING (who) WHERE people.sex = 'f'"),
        (EXISTS, "SELECT COUNT(*) FROM people AS x "
                 "WHERE EXISTS (SELECT 2 FROM visits AS y WHERE y.who = x.who)"),
        (NESTED, "SELECT COUNT(*) AS n FROM visits AS v "
                 "WHERE v.cost > (SELECT AVG(cost) FROM visits)"),
        (WINDOW, WINDOW.replace(" AS i", " AS place").replace("WHERE i", "WHERE place")),
    ],
)  # fmt: skip
def test_what_a_question_calls_things_does_not_matter(one: str, other: str) -> None:
    assert identities(one) == identities(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (BY_REGION, BY_REGION.replace("> 5", ">= 5")),
        (BY_REGION, BY_REGION.replace("AND", "OR")),
        (BY_REGION, BY_REGION.replace("AVG(age)", "AVG(cost)")),
        (BY_REGION, BY_REGION.replace("COUNT(*)", "COUNT(DISTINCT who)")),
        (PER_UNIT, PER_UNIT.replace("SUM(cost)", "MAX(cost)")),
        (PER_UNIT, PER_UNIT.replace("SUM(cost)", "SUM(age)")),
        (JOINED, JOINED.replace("JOIN", "LEFT JOIN")),
        (EXISTS, EXISTS.replace("EXISTS", "NOT EXISTS")),
        (EXISTS, EXISTS.replace("p.who)", "p.who AND v.age > 3)")),
        (
            DEEP.format(condition="c.age > b.age"),
            DEEP.format(condition="b.age > c.age"),
        ),
        (WINDOW, WINDOW.replace("ORDER BY age", "ORDER BY age DESC")),
        (WINDOW, WINDOW.replace("ORDER BY age", "ORDER BY cost")),
        (COUNT + "note = '1'", COUNT + "note = '1 '"),
        ("SELECT MEDIAN(cost) FROM visits", "SELECT QUANTILE_CONT(cost, 0.4) FROM visits"),
        (COUNT.replace("COUNT(*)", "SUM(cost)") + "cost < 9",
         COUNT.replace("COUNT(*)", "SUM(cost)") + "cost < 8"),
    ],
)  # fmt: skip
def test_what_a_question_means_does(one: str, other: str) -> None:
    assert not set(identities(one)) & set(identities(other))


def test_another_price_is_another_release() -> None:
    assert identities(BY_REGION) != identities(BY_REGION, epsilon=2)


def test_a_number_from_another_release_makes_another_release() -> None:
    inner = NESTED.replace("AVG(cost)", "AVG(age)")
    assert identities(NESTED)[1] != identities(inner)[1]


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT (SELECT COUNT(*) FROM visits), (SELECT COUNT(*) FROM visits AS z)",
        "SELECT (SELECT AVG(v.cost) FROM visits v), (SELECT COUNT(*) FROM visits)",
        "SELECT x.n, y.a FROM (SELECT region, COUNT(*) AS n FROM visits GROUP BY region) AS x "
        "JOIN (SELECT region, AVG(age) AS a FROM visits v GROUP BY v.region) AS y USING (region)",
    ],
)
def test_numbers_about_the_same_rows_are_one_release(sql: str) -> None:
    assert len(identities(sql)) == 1


LIKE = json.loads(
    (Path(__file__).parents[2] / "golden" / "like_identities.json").read_text(encoding="utf-8")
)
"""What releases with patterns were called before patterns were written in one form."""


NARROWED = "SELECT region, COUNT(*) FROM visits WHERE region LIKE 'n%' GROUP BY region"
"""Shows fewer groups than when it was paid for: those that the pattern allows."""


@pytest.mark.parametrize("sql", sorted(LIKE.keys() - {NARROWED}))
def test_a_pattern_that_was_paid_for_before_is_still_known(sql: str) -> None:
    assert [each.whole for each in identities(sql)] == LIKE[sql]


def test_groups_that_a_pattern_excludes_are_another_release() -> None:
    assert [each.whole for each in identities(NARROWED)] != LIKE[NARROWED]
