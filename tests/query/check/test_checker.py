"""What questions mean: what is released of which rows, and what is computed afterwards.

Numbers are asked at a price at which noise is a fraction of one, and held against the same SQL over
the data themselves, run by DuckDB.
"""

from collections.abc import Iterator
from pathlib import Path

import duckdb
import numpy as np
import pytest

from discreet.answer import Role
from discreet.curator import Curator
from discreet.errors import QuestionError
from discreet.query.questions import DeclaredGroups, UndeclaredGroups
from tests.attacks.clinic import opened, tables
from tests.attacks.plans import plan_of

ENOUGH = 100
"""An epsilon at which a count with ten rows of a unit is off by less than one, nearly always."""


@pytest.fixture(scope="module")
def clinic() -> Iterator[Curator]:
    with opened(epsilon=10**9) as curator:
        yield curator


@pytest.fixture(scope="module")
def exact() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as connection:
        for name, table in tables().items():
            connection.register(name, table)
        yield connection


SAME_AS_SQL = [
    "SELECT COUNT(*) FROM visits",
    "SELECT COUNT(DISTINCT patient_id) FROM visits",
    "SELECT sex, region, COUNT(*) FROM patients GROUP BY ALL",
    "SELECT sex, COUNT(*) FROM patients WHERE insured AND income BETWEEN 1000 AND 50000 GROUP BY 1",
    "SELECT p.sex, COUNT(*) FROM patients p JOIN visits v USING (patient_id) GROUP BY p.sex",
    "SELECT c.region, COUNT(*) FROM clinics c JOIN visits v USING (clinic_id) GROUP BY c.region",
    "SELECT COUNT(*) FROM patients p LEFT JOIN visits v ON p.patient_id = v.patient_id"
    " AND v.cost > 450 WHERE v.visit_id IS NULL",
    "SELECT COUNT(v.visit_id) FROM patients p LEFT JOIN visits v ON p.patient_id = v.patient_id"
    " AND v.cost > 450",
    "SELECT COUNT(*) FROM patients WHERE patient_id IN"
    " (SELECT patient_id FROM visits WHERE cost > 400)",
    "SELECT COUNT(*) FROM patients WHERE patient_id NOT IN"
    " (SELECT patient_id FROM visits WHERE cost > 100 AND minutes > 30)",
    "SELECT COUNT(*) FROM patients WHERE patient_id IN (SELECT patient_id FROM visits WHERE"
    " patient_id IN (SELECT patient_id FROM visits WHERE cost > 400) AND minutes > 200)",
    "SELECT COUNT(*) FROM patients p WHERE EXISTS"
    " (SELECT 1 FROM visits v WHERE v.patient_id = p.patient_id AND v.cost > p.income / 100)",
    "SELECT COUNT(*) FROM patients p WHERE NOT EXISTS (SELECT * FROM visits v WHERE v.patient_id"
    " = p.patient_id AND EXISTS (SELECT 1 FROM prescriptions r WHERE r.visit_id = v.visit_id"
    " AND r.dose > 700))",
    "SELECT COUNT(*) FROM visits v WHERE EXISTS"
    " (SELECT 1 FROM prescriptions r WHERE r.visit_id = v.visit_id AND r.dose > 500)",
    "SELECT COUNT(*) FROM (SELECT patient_id FROM visits GROUP BY patient_id"
    " HAVING SUM(cost) > 500)",
    "SELECT n, COUNT(*) FROM (SELECT LEAST(COUNT(*), 3) AS n FROM visits GROUP BY patient_id)"
    " GROUP BY n",
    "WITH a(x, y) AS (SELECT patient_id, minutes FROM visits), b AS (SELECT * FROM a WHERE y > 100)"
    " SELECT COUNT(y), COUNT(DISTINCT x) FROM b",
    "SELECT COUNT(*) FROM (SELECT DISTINCT patient_id, diagnosis FROM visits)",
    "SELECT COUNT(*) FROM (SELECT * FROM visits QUALIFY"
    " ROW_NUMBER() OVER (PARTITION BY patient_id ORDER BY day, visit_id) = 1)",
    "SELECT COUNT(*) FROM (SELECT patient_id, minutes FROM visits UNION ALL"
    " SELECT patient_id, 0 FROM patients) WHERE minutes > 30",
    "SELECT COUNT(*) FROM visits a JOIN visits b ON a.patient_id = b.patient_id"
    " AND a.visit_id < b.visit_id",
    "SELECT drug, COUNT(*) FROM prescriptions JOIN visits USING (visit_id) JOIN patients"
    " USING (patient_id) WHERE sex = 'f' AND drug IN ('a', 'b') GROUP BY drug",
    "SELECT month(day) AS m, COUNT(*) FROM visits WHERE m BETWEEN 2 AND 4 GROUP BY m",
    "SELECT COUNT(*) FILTER (WHERE note IS NULL), COUNT(note), COUNT(*) FROM visits",
    "SELECT COUNT(*) FROM visits WHERE note LIKE 'al%' OR NOT (minutes > 60 AND cost < 20)",
]


@pytest.mark.parametrize("sql", SAME_AS_SQL, ids=lambda sql: sql[:70])
def test_a_question_means_what_sql_means(
    clinic: Curator, exact: duckdb.DuckDBPyConnection, sql: str
) -> None:
    """The limits of the catalog cut no rows here; groups that have none are answered besides."""
    answer = clinic.ask(sql, epsilon=ENOUGH)
    keys = sum(role is Role.KEY for role in answer.roles)
    wanted = {row[:keys]: row[keys:] for row in exact.sql(sql).fetchall()}
    found = {row[:keys]: row[keys:] for row in (tuple(row.values()) for row in answer.rows)}
    assert wanted.keys() <= found.keys()
    for key, numbers in found.items():
        nothing = (0,) * len(numbers)
        assert numbers == pytest.approx(wanted.get(key, nothing), abs=15)


@pytest.mark.parametrize(
    ("sql", "columns"),
    [
        ("SELECT COUNT(*), COUNT(*) AS n, n + 1 FROM visits", ["COUNT(*)", "n", "n + 1"]),
        ("SELECT COUNT(*), COUNT(*) FROM visits", ["COUNT(*)", "COUNT(*)_2"]),
        ('SELECT COUNT(*) AS "A", AVG(cost) AS a FROM visits', ["A", "a_2"]),
        (
            "SELECT v.* FROM (SELECT sex, COUNT(*) AS n FROM patients GROUP BY sex) AS v",
            ["sex", "n"],
        ),
        ("SELECT * FROM (SELECT COUNT(*) FROM visits), clinics", None),
        ("SELECT (SELECT COUNT(*) FROM visits) AS x", ["x"]),
    ],
)
def test_columns_are_called_as_they_are_written(
    clinic: Curator, sql: str, columns: list[str] | None
) -> None:
    found = clinic.ask(sql, epsilon=1).to_arrow().column_names
    assert columns is None or found == columns
    assert len(set(map(str.casefold, found))) == len(found)


@pytest.mark.parametrize(
    ("sql", "keys"),
    [
        ("SELECT sex, COUNT(*) FROM patients GROUP BY sex", 2),
        ("SELECT insured, COUNT(*) FROM patients GROUP BY 1", 2),
        ("SELECT sex, region, COUNT(*) FROM patients GROUP BY ALL", 8),
        ("SELECT sex, sex, COUNT(*) FROM patients GROUP BY sex, 2", 2),
        ("SELECT CASE WHEN income > 3 THEN 'rich' END, COUNT(*) FROM patients GROUP BY 1", 2),
        ("SELECT birth_year, COUNT(*) FROM patients GROUP BY 1", 101),
        ("SELECT birth_year // 10, COUNT(*) FROM patients GROUP BY 1", 11),
        ("SELECT day, COUNT(*) FROM visits GROUP BY 1", 366),
        ("SELECT dayofweek(day), COUNT(*) FROM visits GROUP BY 1", 7),
        ("SELECT diagnosis, COUNT(*) FROM visits WHERE diagnosis IN ('a', 'b') GROUP BY 1", 2),
        ("SELECT diagnosis, COUNT(*) FROM visits WHERE diagnosis = 'a' GROUP BY 1", 1),
        ("SELECT length(note), COUNT(*) FROM visits WHERE length(note) IN (1, 2, 2) GROUP BY 1", 2),
        ("SELECT c.name, COUNT(*) FROM visits JOIN clinics c USING (clinic_id) GROUP BY 1", 8),
        ("SELECT clinic_id, COUNT(*) FROM visits JOIN clinics USING (clinic_id) GROUP BY 1", 8),
        ("SELECT c.name, COUNT(*) FROM visits LEFT JOIN clinics c USING (clinic_id) GROUP BY 1", 9),
        (
            "SELECT region, name, COUNT(*) FROM visits JOIN clinics USING (clinic_id) GROUP BY ALL",
            8,
        ),
        ("SELECT cost > 30, COUNT(*) FROM visits GROUP BY 1", 2),
        ("SELECT sex, UPPER(sex), region, COUNT(*) FROM patients GROUP BY ALL", 8),
        ("SELECT day, dayofweek(day), month(day), COUNT(*) FROM visits GROUP BY ALL", 366),
        ("SELECT diagnosis, COUNT(*) FROM visits GROUP BY 1", None),
        ("SELECT minutes, day, diagnosis, COUNT(*) FROM visits GROUP BY ALL", None),
        ("SELECT cost, COUNT(*) FROM visits GROUP BY 1", None),
        ("SELECT visit_id % 2, COUNT(*) FROM visits GROUP BY 1", None),
    ],
)
def test_keys_are_known_where_catalog_or_question_tell(
    clinic: Curator, sql: str, keys: int | None
) -> None:
    (release,) = plan_of(clinic, sql).question.aggregations
    if keys is None:
        assert isinstance(release.groups, UndeclaredGroups)
    else:
        assert isinstance(release.groups, DeclaredGroups)
        assert len(release.groups.rows) == keys


@pytest.mark.parametrize(
    ("sql", "releases", "aggregates"),
    [
        ("SELECT COUNT(*), 3 * COUNT(*), COUNT(1), COUNT('x') FROM visits", 1, 1),
        ("SELECT COUNT(*) FROM visits UNION ALL SELECT COUNT(*) FROM visits", 1, 1),
        ("SELECT COUNT(*), (SELECT AVG(cost) FROM visits) FROM visits", 1, 2),
        ("SELECT COUNT(*), (SELECT COUNT(*) FROM patients) FROM visits", 2, 2),
        (
            "SELECT sex, COUNT(*) FROM patients GROUP BY sex HAVING COUNT(*) > 3 ORDER BY COUNT(*)",
            1,
            1,
        ),
        ("SELECT COUNT(*) FROM visits WHERE cost > (SELECT AVG(cost) FROM visits)", 2, 2),
        ("SELECT name FROM clinics", 0, 0),
    ],
)
def test_equal_numbers_are_released_once(
    clinic: Curator, sql: str, releases: int, aggregates: int
) -> None:
    found = plan_of(clinic, sql).question.aggregations
    assert len(found) == releases
    assert sum(len(each.aggregates) for each in found) == aggregates


@pytest.mark.parametrize(
    ("sql", "limit"),
    [
        ("SELECT COUNT(*) FROM patients", 1),
        ("SELECT COUNT(*) FROM visits", 12),
        ("SELECT COUNT(*) FROM prescriptions", 10),
        ("SELECT COUNT(*) FROM patients JOIN visits USING (patient_id)", 12),
        ("SELECT COUNT(*) FROM visits a JOIN visits b USING (patient_id)", 144),
        ("SELECT COUNT(*) FROM visits JOIN clinics USING (clinic_id)", 12),
        ("SELECT COUNT(*) FROM visits, clinics", 96),
        ("SELECT COUNT(*) FROM visits v JOIN clinics c ON v.clinic_id = c.clinic_id OR TRUE", 96),
        ("SELECT COUNT(*) FROM patients p JOIN clinics c ON p.region = c.region", 2),
        ("SELECT COUNT(*) FROM prescriptions JOIN visits USING (visit_id)", 10),
        ("SELECT COUNT(*) FROM (SELECT * FROM visits UNION ALL SELECT * FROM visits)", 24),
        ("SELECT COUNT(*) FROM (SELECT patient_id FROM visits GROUP BY patient_id)", 1),
        ("SELECT COUNT(*) FROM (SELECT DISTINCT patient_id, day FROM visits)", 12),
    ],
)
def test_a_unit_has_no_more_rows_than_its_tables_and_joins_allow(
    clinic: Curator, sql: str, limit: int
) -> None:
    (release,) = plan_of(clinic, sql).question.aggregations
    assert release.contribution_limit == limit


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT region, COUNT(*) FROM patients WHERE birth_year < 2019 GROUP BY region",
        "SELECT COUNT(*) AS a, AVG(cost) AS b, a / b AS c FROM visits WHERE minutes < 238",
        "SELECT 2 * COUNT(*) + 1 AS twice FROM visits WHERE minutes < 239",
    ],
)
def test_numbers_computed_row_by_row_keep_their_error_bars(clinic: Curator, sql: str) -> None:
    """Of rows that no other test asks about: what was paid dearly there would serve, without ±."""
    error = clinic.ask(sql, epsilon=1).margins
    assert error
    assert all(width is not None and width > 0 for each in error.values() for width in each)


def test_an_error_bar_follows_its_number() -> None:
    with opened() as curator:
        sql = "SELECT COUNT(*) AS n, 2 * COUNT(*) AS m, -COUNT(*) AS k FROM visits"
        error = {name: np.array(each) for name, each in curator.ask(sql, epsilon=1).margins.items()}
    assert (error["m"] == 2 * error["n"]).all()
    assert (error["k"] == error["n"]).all()


def test_error_bars_stay_with_their_rows_at_any_confidence(clinic: Curator) -> None:
    """Rows without an order stand the same each time, else bars would meet other rows."""
    sql = (
        "SELECT region, sex, COUNT(*) AS n FROM patients GROUP BY region, sex"
        " QUALIFY ROW_NUMBER() OVER (PARTITION BY region ORDER BY n DESC) = 1"
    )
    first = clinic.ask(sql, epsilon=1).rows
    assert all(clinic.ask(sql, epsilon=1).rows == first for _ in range(5))


def test_the_longest_list_is_answered_and_a_longer_one_is_not(clinic: Curator) -> None:
    values = ", ".join(map(str, range(10_000)))
    sql = "SELECT COUNT(*) FROM visits WHERE visit_id IN ({})"
    (row,) = clinic.ask(sql.format(values), epsilon=ENOUGH).rows
    assert abs(row["COUNT(*)"] - 1200) < 60  # type: ignore[operator]
    with pytest.raises(QuestionError, match="10,001 values"):
        clinic.ask(sql.format(values + ", 10000"), epsilon=1)


def test_a_refusal_shows_line_column_and_caret(clinic: Curator) -> None:
    with pytest.raises(QuestionError) as found:
        clinic.ask("SELECT COUNT(*)\nFROM visits\nWHERE csot > 3", epsilon=1)
    assert str(found.value).splitlines() == [
        "visits has no column csot (line 3, column 7).",
        "  WHERE csot > 3",
        "        ^^^^",
        "Did you mean cost?",
    ]


def test_every_kind_of_refusal_has_its_heading_and_example() -> None:
    page = (Path(__file__).parents[3] / "docs" / "reference" / "errors.md").read_text(
        encoding="utf-8"
    )
    for kind in QuestionError.__subclasses__():
        assert f"\n### {kind.__name__}\n" in page
        assert f"\n{kind.__name__}: " in page
