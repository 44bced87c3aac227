"""What is said of a budget per month: what is left out, what is protected, and by which numbers."""

import json
from datetime import date
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import discreet
from discreet.agents.words import INSTRUCTIONS
from discreet.catalog.shown import unit_text
from discreet.curator import Curator
from discreet.explanation.thresholds import GroupThresholdWarning
from discreet.opening.open import open_catalog
from discreet.opening.unplugged import open_unplugged
from discreet.server.schema import schema_of
from tests.cli.runs import call

MARCH = "came >= DATE '2024-03-01' AND came < DATE '2024-04-01'"
NO_MONTH = "rows where came is NULL or outside of the years 1 to 9999"
ALONE = "One who with rows in many months can make a group visible."


def visits(people: int = 300, months: int = 6, key: str = "common") -> pa.Table:
    """Return a visit of everybody in each month from January 2024 on."""
    rows = [(who, month) for who in range(people) for month in range(months)]
    return pa.table(
        {
            "who": [who for who, _ in rows],
            "came": [date(2024 + month // 12, 1 + month % 12, 5) for _, month in rows],
            "k": [key for _ in rows],
            "x": [1 for _ in rows],
        }
    )


def opened(data: pa.Table | None = None, **more: object) -> Curator:
    settings: dict[str, object] = {"rows_per_unit": 2, "epsilon": 10, "delta": 1e-6} | more
    return discreet.open(
        {"v": visits() if data is None else data},
        unit="who",
        arrival="came",
        per="month",
        **settings,  # type: ignore[arg-type]
    )


# --------------------------------------------------------------------------- groups not shown


def test_a_group_of_one_person_over_many_months_is_announced() -> None:
    crowd = visits(100, 60)
    data = pa.concat_tables([crowd, visits(1, 60, "SECRET")])
    span = "came >= DATE '2024-01-01' AND came < DATE '2029-01-01'"
    sql = f"SELECT k, SUM(CLAMP(x, 0, 1)) AS n FROM v WHERE {span} GROUP BY k"  # noqa: S608
    with opened(data) as curator:
        explained = curator.explain(sql, epsilon=5)
        answer = curator.ask(sql, epsilon=5)
        assert [each["k"] for each in answer.rows] == ["SECRET", "common"]
        said = " ".join(map(str, answer.notes))
        assert "pairs of who and month are not shown." in said
        assert "who values" not in said
        assert ALONE in said
        assert "number of pairs of who and month is above the group threshold" in explained.keys[0]
        assert explained.keys[0].endswith(ALONE)


def test_few_months_of_one_person_are_counted_in_the_warning() -> None:
    sql = f"SELECT k, COUNT(*) AS n FROM v WHERE {MARCH} GROUP BY k"  # noqa: S608
    spring = sql.replace("2024-04-01", "2024-06-01")
    with opened() as curator:
        assert "One who" not in curator.explain(sql, epsilon=1, delta=1e-9).keys[0]
        text = curator.explain(spring, epsilon=1, delta=1e-9).keys[0]
        assert text.endswith("One who can count here in up to 3 months.")
        assert ALONE in curator.explain(spring.split(" AND")[0] + " GROUP BY k", epsilon=1).keys[0]
    with opened(months_per_unit=2) as curator:
        text = curator.explain(spring, epsilon=1, delta=1e-9).keys[0]
        assert text.endswith("One who can count here in up to 2 months.")
    with opened(months_per_unit=1) as curator:
        assert "One who" not in curator.explain(spring, epsilon=1).keys[0]


@pytest.mark.filterwarnings("error::discreet.GroupThresholdWarning")
def test_declared_units_are_counted_once_a_month_before_a_warning_of_small_groups() -> None:
    sql = "SELECT k, COUNT(*) AS n FROM v WHERE came >= DATE '2024-01-01'"
    year = f"{sql} AND came < DATE '2025-01-01' GROUP BY k"
    month = f"{sql} AND came < DATE '2024-02-01' GROUP BY k"
    with opened(visits(20, 12), bounds={"who": (0, 19)}) as curator:
        curator.ask(year, epsilon=1)
        with pytest.raises(GroupThresholdWarning, match="at most about 40 in all"):
            curator.ask(month, epsilon=1)


def test_the_schema_does_not_promise_that_values_of_one_person_stay_hidden() -> None:
    said = "A value of one person in many months is not rare: it can be shown."
    for most, is_said in ((None, True), (3, True), (1, False)):
        with opened(months_per_unit=most) as curator:
            (table,) = json.loads(json.dumps(schema_of(curator.catalog)))["tables"]
            (column,) = (each for each in table["columns"] if each["name"] == "k")
            assert (said in column["words"]) == is_said


# --------------------------------------------------------------------------- what is protected


def test_the_schema_says_used_rows_where_only_some_months_are_used() -> None:
    with opened(months_per_unit=2, groups_per_unit=1) as curator:
        told = json.loads(json.dumps(schema_of(curator.catalog)))
        (table,) = curator.catalog.tables
        assert "all used rows of any one of them that arrived in one month" in told["promise"]
        limits = told["tables"][0]["limits"]
        assert limits[0] == "At most 2 rows of each who and month are used."
        assert "Each who and month is counted in at most 1 groups of a query." in limits
        assert unit_text(table) == "the used data of one who in one month, at most 2 rows"
    with opened() as curator:
        (table,) = curator.catalog.tables
        assert "all rows of any one of them that" in str(schema_of(curator.catalog)["promise"])
        assert unit_text(table) == "the data of one who in one month, at most 2 rows"


def test_agents_are_not_told_that_each_person_is_always_protected() -> None:
    assert "protects each person" not in INSTRUCTIONS
    assert "the data of a person in one month" in " ".join(INSTRUCTIONS.split())


CATALOG = """
[budget]
epsilon = {epsilon}
per = "month"
{more}
"""
TABLE = """
[tables.{name}]
from = "v.parquet"
unit = "who"
rows_per_unit = 2
arrival = "came"
"""


def write(folder: Path, tables: str, *, epsilon: float = 1, more: str = "") -> Path:
    text = CATALOG.format(epsilon=epsilon, more=more)
    place = folder / "discreet.toml"
    place.write_text(text + "".join(TABLE.format(name=each) for each in tables))
    return place


@pytest.fixture(name="folder")
def _folder(tmp_path: Path) -> Path:
    pq.write_table(visits(), tmp_path / "v.parquet")
    return tmp_path


def shown(
    folder: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    *arguments: str,
) -> str:
    """Return what a command prints, on one line."""
    ended = call(capsys, monkeypatch, *arguments, "-c", str(folder / "discreet.toml"))
    return " ".join((ended.out + ended.err).split())


def test_tables_that_left_the_catalog_still_multiply_the_cost(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    sql = f"SELECT COUNT(*) AS n FROM a WHERE {MARCH}"  # noqa: S608
    limit = "months_per_unit = 2"
    with open_catalog(write(folder, "ab", more=limit)) as curator:
        curator.ask(sql, epsilon=0.25)
    place = write(folder, "a", more=limit)
    times = "all data of one who together at 4 times the cost at most"
    with open_catalog(place) as curator:
        assert times in curator.explain(sql, epsilon=0.125).protects
        assert times in str(curator.ask(sql, epsilon=0.125).notes[-1])
    assert "At most 4 months of a unit are used" in shown(folder, capsys, monkeypatch, "budget")
    assert times in shown(folder, capsys, monkeypatch, "explain", sql, "--epsilon", "0.5")
    with open_unplugged(write(folder, "ac", more=limit), ledger=None) as curator:
        assert "4 times" in curator.explain(sql, epsilon=0.125).protects
    write(folder, "ac", more=limit)
    assert "6 times" in shown(folder, capsys, monkeypatch, "explain", sql, "--epsilon", "0.5")


def test_one_month_in_all_costs_the_same() -> None:
    with opened(months_per_unit=1) as curator:
        protects = curator.explain("SELECT COUNT(*) AS n FROM v", epsilon=1).protects
    assert "all data of one who together at the same cost" in protects


def test_the_budget_command_says_the_total_under_which_queries_were_charged(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_catalog(write(folder, "a")) as curator:
        curator.ask(f"SELECT COUNT(*) AS n FROM a WHERE {MARCH}", epsilon=0.9)  # noqa: S608
    for epsilon in (0.5, 7, 0.5):  # nothing is charged under 7
        open_catalog(write(folder, "a", epsilon=epsilon)).close()
    said = "one unit in one month with ε = 1 (the total before it was lowered)."
    assert said in shown(folder, capsys, monkeypatch, "budget")
    text = shown(folder, capsys, monkeypatch, "budget", "--json")
    assert said in json.loads(text)["report"]["promise"]
    open_catalog(write(folder, "a", epsilon=2)).close()
    assert "in one month with ε = 2. A unit" in shown(folder, capsys, monkeypatch, "budget")


def test_caps_of_analysts_are_said_to_be_for_each_month(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    write(folder, "a")

    def said(*arguments: str) -> str:
        return shown(folder, capsys, monkeypatch, *arguments)

    added = said("analyst", "add", "ann", "--epsilon", "0.6")
    assert "Analyst ann may spend ε = 0.6 for each month." in added
    assert "cap ε per month" in said("analyst", "list")
    assert "cap ε per month" in said("budget")
    asked = said("analyst", "request", "ann", "--epsilon", "0.8", "--reason", "more")
    assert "asks for a cap of ε = 0.8 for each month." in asked
    assert "cap of ε = 0.8 for each month" in said("analyst", "requests")
    assert "cap of ε = 0.8 for each month" in said("ledger", "show")
    number = asked.split(":")[0].removeprefix("Request ")
    assert "is ε = 0.8 for each month now." in said("analyst", "grant", number, "--reason", "yes")


# --------------------------------------------------------------------------- rows that are left out


def test_an_answer_says_that_later_months_of_a_person_are_not_counted() -> None:
    used = "Counts only rows of v from the first month in which a who has any, so counts and sums "
    with opened(months_per_unit=1) as curator:
        answer = curator.ask(f"SELECT COUNT(*) AS n FROM v WHERE {MARCH}", epsilon=5)  # noqa: S608
        assert abs(int(str(answer.rows[0]["n"]))) < 30
        assert used + "can be too low." in map(str, answer.notes)
        assert {"kind": "months", "unit": "who", "most": 1, "table": "v"} in answer.limits
        people = curator.ask(
            f"SELECT COUNT(DISTINCT who) AS n FROM v WHERE {MARCH}",  # noqa: S608
            epsilon=1,
        )
        assert any(str(each).startswith(used) for each in people.notes)
    with opened() as curator:
        answer = curator.ask(f"SELECT COUNT(*) AS n FROM v WHERE {MARCH}", epsilon=5)  # noqa: S608
        assert not any("Counts only rows of v" in str(each) for each in answer.notes)
        assert all(each["kind"] != "months" for each in answer.limits)


def test_rows_without_an_arrival_are_said_to_be_left_out() -> None:
    data = visits()
    without = data.set_column(1, "came", pa.nulls(len(data), pa.date32()))
    with opened(pa.concat_tables([data, without])) as curator:
        answer = curator.ask("SELECT COUNT(*) AS n FROM v WHERE came IS NULL", epsilon=5)
        assert abs(int(str(answer.rows[0]["n"]))) < 30
        note = f"Also left out: rows where who is NULL; {NO_MONTH}."
        assert note in map(str, answer.notes)
        explained = curator.explain("SELECT COUNT(*) AS n FROM v", epsilon=1)
        assert NO_MONTH.replace("rows", "Rows of v") + "." in explained.left_out
        coverage = curator.coverage("v", epsilon=3)
        text = " ".join(str(coverage).split())
        assert "Coverage of v: all of its rows that have a month, before any WHERE" in text
        assert "is NULL or outside of the years 1 to 9999 are in none of these shares." in text
        told = json.loads(coverage.to_json())
        assert told["without_month"] == "came is NULL or outside of the years 1 to 9999"
        again = curator.explain("SELECT COUNT(*) AS n FROM v", epsilon=1)
        assert "of all rows of v that have a month" in " ".join(again.bounding)
