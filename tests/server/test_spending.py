"""What owners see of spending: who was charged how much for which query, and never a value."""

import json
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import pytest

from discreet.accounting import Charge
from discreet.amounts import Balance
from discreet.server.analyst_routes import enough_for
from discreet.server.spending_routes import amounts_of
from tests.server.running import BASE, Served, serving, write_catalog

COUNT = "SELECT COUNT(*) AS n FROM visits"
AVERAGE = "SELECT region, AVG(age) AS a, COUNT(*) AS n FROM visits GROUP BY region"


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with serving(write_catalog(tmp_path_factory.mktemp("clinic"))) as found:
        found.ask(COUNT, epsilon="1/3")
        found.ask(COUNT, epsilon="1/3")
        found.ask(AVERAGE, who="bob", epsilon=0.5)
        found.ask("SELECT * FROM visits", epsilon=1)
        found.ask(f"{COUNT} WHERE age > 50", who="boss", epsilon=1)
        found.call("POST", f"{BASE}/coverage", json={"table": "visits", "epsilon": 0.25})
        yield found


def spending(served: Served, query: str = "") -> Any:
    return served.call("GET", f"{BASE}/spending{query}", "boss").json()


def test_owners_see_what_was_charged_by_account_and_by_query(served: Served) -> None:
    found = spending(served)
    accounts = {each["account"]: each for each in found["accounts"]}
    exact = {name: each["charged"]["epsilon_exact"] for name, each in accounts.items()}
    assert exact == {"owner": "1", "ann": "7/12", "bob": "1/2"}
    assert found["charged"]["epsilon_exact"] == "25/12"
    assert accounts["ann"]["remaining"]["epsilon_exact"] == "593/12"
    assert accounts["owner"]["remaining"] is None
    assert (found["total"]["total_epsilon"], found["total"]["epsilon_exact"]) == (100, "1175/12")


def test_queries_add_up_to_their_account_and_the_newest_is_first(served: Served) -> None:
    queries = spending(served)["queries"]
    assert [each["question"] for each in queries[-3:]] == [
        f"{COUNT} WHERE age > 50",
        AVERAGE,
        COUNT,
    ]
    assert all(each["question"].startswith("coverage(") for each in queries[:-3])
    for name, total in (("owner", 1), ("ann", Fraction(7, 12)), ("bob", Fraction(1, 2))):
        own = [Fraction(each["epsilon_exact"]) for each in queries if each["account"] == name]
        assert sum(own) == total
    assert [each["question"] for each in spending(served, "?limit=1")["queries"]] == [
        queries[0]["question"]
    ]


def test_no_number_of_an_answer_is_in_it(served: Served) -> None:
    found = spending(served)
    assert set(found["queries"][0]) == {
        *("account", "question", "written", "releases"),
        *("epsilon", "epsilon_exact", "delta", "delta_exact", "rho", "rho_exact"),
    }
    assert "rows" not in json.dumps(found["accounts"])


@pytest.mark.parametrize(("who", "status"), [("ann", 403), ("guest", 403), (None, 401)])
def test_others_do_not_see_it(served: Served, who: str | None, status: int) -> None:
    assert served.call("GET", f"{BASE}/spending", who).status_code == status


def test_ones_own_history_has_cost_and_answer_of_every_query(served: Served) -> None:
    entries = served.call("GET", f"{BASE}/history").json()["entries"]
    asked = [each for each in entries if each["action"] == "ask"][::-1]
    assert [each["outcome"] for each in asked] == ["charged", "free", "row_level"]
    assert [each.get("epsilon") for each in asked] == ["1/3", "0", None]
    assert [len(each.get("answer", "")) for each in asked] == [24, 24, 0]
    (measured,) = (each for each in entries if each["action"] == "coverage")
    assert (measured["table"], measured["epsilon"]) == ("visits", "1/4")


def test_a_bound_without_a_theorem_is_null() -> None:
    found = amounts_of(Charge(epsilon=Fraction(1, 3), rho=float("inf")))
    assert (found["epsilon_exact"], found["rho"], found["rho_exact"]) == ("1/3", None, None)


@pytest.mark.parametrize(
    ("epsilon", "rho", "each", "count"),
    [("0.3", 0, "0.1", 3), ("0.29", 0, "0.1", 2), (0, "0.1", "0.1", 20), (1, "0.005", 2, 0)],
)
def test_a_budget_is_enough_for_as_many_queries_as_one_bound_allows(
    epsilon: Any, rho: Any, each: Any, count: int
) -> None:
    left = Balance(epsilon=Fraction(epsilon), rho=Fraction(rho), total_epsilon=Fraction(5))
    assert enough_for(left, Fraction(each)) == count


def test_everybody_sees_what_remains_in_total(served: Served) -> None:
    found = served.call("GET", f"{BASE}/budget", "bob").json()
    assert (found["remaining"]["epsilon_exact"], found["remaining"]["total_epsilon"]) == ("3/2", 2)
    assert found["total"]["epsilon_exact"] == "1175/12"
    assert [each["queries"] for each in found["enough_for"]] == [15, 5, 1]
