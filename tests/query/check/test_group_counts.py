"""COUNT(*) over groups of private rows counts all of them, not only those that would be shown."""

import pytest

from discreet.curator import Curator
from discreet.errors import QuestionError, UnsupportedError
from discreet.query.questions import OverShownGroups, Statistic
from tests.attacks.clinic import opened
from tests.attacks.plans import plan_of
from tests.curated import curator_of

ROWS = 1200
TEXTS = ("a", "ab", "b", "", None, "1:a", "N")


def market() -> Curator:
    """Return purchases of 300 people: most pairs of a day and an item are of one person."""
    return curator_of(
        {
            "patient_id": [n % 300 for n in range(ROWS)],
            "day": [n * 7 % 40 for n in range(ROWS)],
            "item": [None if n % 50 == 0 else n * 11 % 29 for n in range(ROWS)],
            "left": [TEXTS[n % 7] for n in range(ROWS)],
            "right": [TEXTS[n * n % 7] for n in range(ROWS)],
            "price": [(0.0, -0.0, 0.1, None, 1e300)[n % 5] for n in range(ROWS)],
        },
        epsilon=10**6,
        delta=0.001,
        rows_per_unit=4,
        nulls={"day": False},
        bounds={"item": (0, 28)},
    )


def number(curator: Curator, sql: str) -> int:
    (row,) = curator.ask(sql, epsilon=1000).rows
    (value,) = row.values()
    assert isinstance(value, int)
    return value


def exact(*columns: str) -> int:
    made = market()._engine.table("visits").select(columns).to_pylist()  # type: ignore[attr-defined]
    return len({tuple(0.0 if each == 0 else each for each in row.values()) for row in made})


COUNTED = {
    "SELECT COUNT(*) FROM (SELECT DISTINCT day, item FROM visits)": ("day", "item"),
    "SELECT COUNT(*) FROM (SELECT day, item FROM visits GROUP BY day, item) t": ("day", "item"),
    "SELECT COUNT(1) FROM (SELECT 1 FROM visits GROUP BY day, item)": ("day", "item"),
    "WITH d AS (SELECT DISTINCT item FROM visits) SELECT COUNT(*) FROM d": ("item",),
    "WITH v AS (SELECT item AS i FROM visits), d AS (SELECT i FROM v GROUP BY 1) "
    "SELECT COUNT(*) FROM d": ("item",),
    'SELECT COUNT(*) FROM (SELECT DISTINCT "left", "right" FROM visits)': ("left", "right"),
    "SELECT COUNT(*) FROM (SELECT DISTINCT price FROM visits)": ("price",),
    "SELECT COUNT(*) FROM (SELECT DISTINCT price, day FROM visits)": ("price", "day"),
    "SELECT COUNT(*) FROM (SELECT DISTINCT day AS d FROM visits WHERE d >= 0)": ("day",),
    "WITH n AS (SELECT COUNT(*) AS c FROM visits), d AS (SELECT DISTINCT item FROM visits) "
    "SELECT COUNT(*) FROM d": ("item",),
    "SELECT COUNT(*) FROM (SELECT DISTINCT item FROM (SELECT patient_id, item, COUNT(*) AS c "
    "FROM visits GROUP BY patient_id, item))": ("item",),
}


@pytest.mark.parametrize("sql", COUNTED)
def test_all_groups_are_counted(sql: str) -> None:
    with market() as curator:
        assert number(curator, sql) == exact(*COUNTED[sql])


def test_a_column_that_is_never_null_is_counted_as_it_is() -> None:
    with market() as curator:
        counted = plan_of(curator, "SELECT COUNT(*) FROM (SELECT DISTINCT day FROM visits)")
        distinct = plan_of(curator, "SELECT COUNT(DISTINCT day) FROM visits")
        assert counted.identities == distinct.identities


def test_the_explanation_names_what_is_counted() -> None:
    with market() as curator:
        sql = "SELECT COUNT(*) AS n FROM (SELECT DISTINCT day, item FROM visits)"
        (column,) = curator.explain(sql, epsilon=1).columns
        assert (column.name, column.statistic) == ("n", "COUNT(DISTINCT day, item)")


GROUPS_OF_UNITS = [
    "SELECT COUNT(*) FROM (SELECT DISTINCT patient_id FROM visits)",
    "SELECT COUNT(*) FROM (SELECT DISTINCT patient_id, day FROM visits)",
]


@pytest.mark.parametrize("sql", GROUPS_OF_UNITS)
def test_groups_by_unit_stay_rows_of_units(sql: str) -> None:
    with market() as curator:
        (release,) = plan_of(curator, sql).releases
        assert [each.statistic for each in release.aggregation.aggregates] == [Statistic.COUNT_ROWS]


OVER_SHOWN = {
    "SELECT COUNT(*) FROM (SELECT item FROM visits GROUP BY item HAVING COUNT(*) > 3)": True,
    "SELECT COUNT(*) FROM (SELECT item, COUNT(*) AS n FROM visits GROUP BY item)": True,
    "SELECT COUNT(*) FROM (SELECT DISTINCT item FROM visits LIMIT 9)": True,
    "SELECT COUNT(*) FROM (SELECT DISTINCT item FROM visits) WHERE item > 3": True,
    "SELECT AVG(n) FROM (SELECT item, COUNT(*) AS n FROM visits GROUP BY item)": False,
    "WITH t AS (SELECT item, COUNT(*) AS n FROM visits GROUP BY item) SELECT MIN(n) FROM t": False,
    "SELECT item, COUNT(*) / SUM(COUNT(*)) OVER () FROM visits GROUP BY item": False,
    "SELECT COUNT(*) FROM visits WHERE day > (SELECT AVG(n) FROM "
    "(SELECT item, COUNT(*) AS n FROM visits GROUP BY item))": False,
}


def undeclared() -> Curator:
    return curator_of(
        {"patient_id": list(range(400)), "item": [n % 20 for n in range(400)], "day": [1] * 400},
        epsilon=10**6,
        delta=0.001,
    )


@pytest.mark.parametrize("sql", OVER_SHOWN)
def test_numbers_made_of_shown_groups_say_so(sql: str) -> None:
    with undeclared() as curator:
        plan = plan_of(curator, sql)
        assert plan.question.over_shown == (OverShownGroups(release=0, is_count=OVER_SHOWN[sql]),)
        notes = curator.ask(sql, epsilon=10).to_text()
        assert "Computed over the groups that are shown." in notes
        told = curator.explain(sql, epsilon=10).keys
        assert any(each.startswith("Computed over the groups that are shown.") for each in told)


NOT_OVER_SHOWN = [
    "SELECT item, COUNT(*) AS n FROM visits GROUP BY item ORDER BY n",
    "SELECT item, RANK() OVER (ORDER BY COUNT(*)) FROM visits GROUP BY item",
    "SELECT DISTINCT item FROM visits",
    "SELECT COUNT(*) FROM (SELECT item IN (1, 2) AS i, COUNT(*) FROM visits GROUP BY 1)",
]


@pytest.mark.parametrize("sql", NOT_OVER_SHOWN)
def test_other_numbers_do_not(sql: str) -> None:
    with undeclared() as curator:
        assert plan_of(curator, sql).question.over_shown == ()


ONE_EACH = [
    "patient_id + 10",
    "-patient_id",
    "CAST(patient_id AS TEXT)",
    "'p' || patient_id",
    "3 - patient_id * 2",
]


@pytest.mark.parametrize("key", ONE_EACH)
def test_groups_of_one_unit_each_are_rejected(key: str) -> None:
    with undeclared() as curator:
        for sql in (
            f"SELECT {key} AS k, COUNT(*) FROM visits GROUP BY k",  # noqa: S608
            f"SELECT COUNT(*) FROM (SELECT {key} AS k FROM visits GROUP BY k)",  # noqa: S608
            f"SELECT DISTINCT {key}, item FROM visits",  # noqa: S608
        ):
            with pytest.raises(UnsupportedError, match="holds one patient_id, and a group of one"):
                curator.explain(sql, epsilon=1)
        assert curator.remaining.epsilon == 10**6


@pytest.mark.parametrize("key", ["patient_id % 10", "patient_id * 0", "patient_id + item"])
def test_other_functions_of_the_unit_are_keys(key: str) -> None:
    with undeclared() as curator:
        sql = f"SELECT {key} AS k, COUNT(*) FROM visits GROUP BY k"  # noqa: S608
        assert curator.explain(sql, epsilon=1).keys


def test_listed_values_of_the_unit_are_groups() -> None:
    with undeclared() as curator:
        sql = (
            "SELECT patient_id + 1 AS k, COUNT(*) AS n FROM visits WHERE patient_id + 1 IN (3, 4) "
            "GROUP BY k"
        )
        assert [row["k"] for row in curator.ask(sql, epsilon=100).rows] == [3, 4]


def test_a_count_of_groups_that_cannot_be_made_is_rejected_as_it_is_written() -> None:
    with opened() as curator, pytest.raises(QuestionError, match="no column nothing") as caught:
        curator.ask("SELECT COUNT(*) FROM (SELECT DISTINCT nothing FROM visits)", epsilon=1)
    assert "^^^^^^^" in str(caught.value)
