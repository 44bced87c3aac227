"""What the checker knows of margins: which follow exactly, what is noisy, what noise chose."""

# ruff: noqa: S608 - the SQL is the tests' own

import pytest

from discreet.curator import Curator
from discreet.query.check import check
from discreet.query.parse import parse
from discreet.query.questions import Question
from tests.curated import curator_of

BY_REGION = "SELECT region, COUNT(*) AS n, AVG(age) AS m FROM visits GROUP BY region"


@pytest.fixture(scope="module")
def curator() -> Curator:
    return curator_of({"region": ["a", "b"], "age": [1, 2]}, bounds={"age": (0, 100)}, delta=1e-3)


def checked(curator: Curator, sql: str) -> Question:
    return check(parse(sql), curator.catalog, curator._public)


@pytest.mark.parametrize(
    ("expression", "is_exact"),
    [
        ("n", True),
        ("-(2 * n) / 3 + 1", True),
        ("n * 100.0", True),
        ("n + m", False),
        ("n * n", False),
        ("1 / n", False),
        ("ROUND(n)", False),
        ("n + LENGTH(region)", False),
        ("n * (n / n)", False),
    ],
)
def test_margins_are_exact_where_one_number_is_moved_linearly(
    curator: Curator, expression: str, *, is_exact: bool
) -> None:
    question = checked(curator, f"SELECT {expression} AS x FROM ({BY_REGION})")
    assert (question.spreads[0] is not None and question.is_exact[0]) == is_exact
    again = checked(
        curator, f"SELECT 2 * x AS y FROM (SELECT {expression} AS x FROM ({BY_REGION}))"
    )
    assert (again.spreads[0] is not None and again.is_exact[0]) == is_exact


@pytest.mark.parametrize(
    ("expression", "is_noisy"),
    [
        ("region", False),
        ("UPPER(region)", False),
        ("1 + 1", False),
        ("ROW_NUMBER() OVER (ORDER BY region)", False),
        ("RANK() OVER (ORDER BY n)", True),
        ("n - LAG(n) OVER (ORDER BY region)", True),
        ("CASE WHEN n > 3 THEN 1 ELSE 0 END", True),
        ("(SELECT COUNT(*) FROM visits)", True),
        ("(SELECT 3)", False),
    ],
)
def test_what_reads_noisy_numbers_is_noisy(
    curator: Curator, expression: str, *, is_noisy: bool
) -> None:
    question = checked(curator, f"SELECT region AS k, {expression} AS x FROM ({BY_REGION})")
    assert question.is_noisy == (False, is_noisy)


@pytest.mark.parametrize(
    ("sql", "is_chosen"),
    [
        (f"SELECT * FROM ({BY_REGION})", False),
        (f"SELECT * FROM ({BY_REGION}) ORDER BY n", False),
        (f"SELECT * FROM ({BY_REGION}) ORDER BY region LIMIT 1", False),
        (f"SELECT * FROM ({BY_REGION}) WHERE region = 'a'", False),
        (f"SELECT SUM(n) AS x FROM ({BY_REGION})", False),
        (f"SELECT * FROM ({BY_REGION}) ORDER BY n LIMIT 1", True),
        (f"SELECT region, n AS x FROM ({BY_REGION}) ORDER BY 2 DESC LIMIT 1", True),
        (f"SELECT region, n + 1 AS x FROM ({BY_REGION}) ORDER BY x DESC LIMIT 1", True),
        (f"SELECT * FROM ({BY_REGION}) WHERE n > 3", True),
        (f"{BY_REGION} HAVING COUNT(*) > 3", True),
        (f"{BY_REGION} ORDER BY n DESC LIMIT 1", True),
        (f"SELECT MAX(n) AS x FROM ({BY_REGION})", True),
        (f"SELECT COUNT(*) AS x FROM ({BY_REGION} HAVING COUNT(*) > 3)", True),
        (f"SELECT (SELECT MAX(n) FROM ({BY_REGION})) AS x", True),
        (f"({BY_REGION}) ORDER BY n LIMIT 1", True),
        (f"{BY_REGION} UNION {BY_REGION}", True),
    ],
)
def test_what_noise_chose_is_known(curator: Curator, sql: str, *, is_chosen: bool) -> None:
    assert checked(curator, sql).is_chosen == is_chosen


def test_rows_counted_after_noise_chose_them_are_noisy(curator: Curator) -> None:
    question = checked(curator, f"SELECT COUNT(*) AS x FROM ({BY_REGION} HAVING COUNT(*) > 3)")
    assert question.is_noisy == (True,)


def test_all_rows_are_those_before_the_last_limit(curator: Curator) -> None:
    question = checked(curator, f"{BY_REGION} ORDER BY n DESC LIMIT 3 OFFSET 1")
    assert question.all_rows_sql is not None
    assert "LIMIT 3" in question.post_sql
    assert "LIMIT" not in question.all_rows_sql
    assert "OFFSET" not in question.all_rows_sql
    assert checked(curator, BY_REGION).all_rows_sql is None


def test_margins_of_inner_unions_do_not_change_what_a_later_release_is(curator: Curator) -> None:
    """The text of a scalar is part of a stored identity, so no margins go along in it."""
    both = "SELECT COUNT(*) AS n FROM visits UNION ALL SELECT COUNT(*) FROM visits WHERE age > 1"
    sql = f"SELECT COUNT(*) FROM visits WHERE age > (SELECT MAX(n) FROM ({both}))"
    (scalar,) = checked(curator, sql).scalars
    outer = scalar.sql.partition("UNION ALL")
    assert '"__spread" FROM (SELECT' not in outer[0]
    assert "CAST(NULL" not in scalar.sql
