"""Saved queries, boards and the list of saved answers: per account, within public limits."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from discreet.server.records import Records, SavedReply, records_beside
from discreet.server.shelf import Shelf, ShelfKind
from tests.ledger.stores import PostgresStore
from tests.server.running import BASE, Served, serving, write_catalog

SQL = "SELECT COUNT(*) AS n FROM visits"
NAMES = ["north", "a/b", "Ärzte · 2026", "..a", "100%", 'it\'s "quoted"', "x" * 100]


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("clinic")
    config = folder / "server.toml"
    config.write_text("[limits]\nburst = 1000000\nrequests_per_minute = 1000000\n")
    with serving(write_catalog(folder), "--config", str(config)) as found:
        yield found


def put(served: Served, path: str, body: Any, who: str = "ann") -> Any:
    return served.call("PUT", f"{BASE}/{path}", who, json=body)


def answer_of(served: Served, who: str, age: int) -> str:
    reply = served.ask(f"{SQL} WHERE age > {age}", who=who, epsilon=0.1)
    return str(reply.headers["Discreet-Answer"])


def card(answer: str) -> dict[str, str]:
    return {"answer": answer, "title": "All visits", "view": "both"}


@pytest.mark.parametrize("name", NAMES)
def test_a_query_is_saved_replaced_and_removed_under_any_name(served: Served, name: str) -> None:
    path = f"saved/{quote(name, safe='')}"
    terms = {"epsilon": "1/3", "within": {"n": 20}}
    assert put(served, path, {"sql": "SELECT 1"}).status_code == 200
    assert put(served, path, {"sql": SQL, "terms": terms}).json()["name"] == name
    (found,) = served.call("GET", f"{BASE}/saved").json()["saved"]
    assert found.pop("written") > "2020"
    assert found == {"name": name, "sql": SQL, "terms": terms}
    assert served.call("GET", f"{BASE}/saved", "bob").json() == {"saved": []}
    assert served.call("DELETE", f"{BASE}/{path}", "bob").status_code == 404
    assert served.call("DELETE", f"{BASE}/{path}").status_code == 204
    assert served.call("DELETE", f"{BASE}/{path}").status_code == 404


@pytest.mark.parametrize("name", ["a%0Ab", "%00", "%C2%85", "x" * 101, "%7F"])
def test_a_name_with_a_control_character_or_too_long_is_rejected(served: Served, name: str) -> None:
    assert put(served, f"saved/{name}", {"sql": SQL}).status_code in (404, 422)
    assert put(served, f"boards/{name}", {"cards": []}).status_code in (404, 422)


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"sql": "x" * 20_001},
        {"sql": SQL, "terms": {"rows": 1}},
        {"sql": SQL, "owner": "bob"},
        {"sql": SQL, "terms": {"epsilon": "nan"}},
    ],
)
def test_a_query_with_other_parts_is_not_saved(served: Served, body: Any) -> None:
    assert put(served, "saved/a", body).status_code == 422


def test_a_board_has_answers_that_its_account_may_read(served: Served) -> None:
    own, other = answer_of(served, "ann", 1), answer_of(served, "bob", 2)
    cards = {"cards": [card(own), card(own)]}
    assert put(served, "boards/mine", cards).json()["cards"] == cards["cards"]
    for unreadable in (other, "x" * 24):
        reply = put(served, "boards/mine", {"cards": [card(own), card(unreadable)]})
        assert (reply.status_code, reply.json()["error"]["code"]) == (404, "not_found")
    for who in ("guest", "boss"):
        both = {"cards": [card(own), card(other)]}
        assert put(served, "boards/all", both, who).status_code == 200
        (found,) = served.call("GET", f"{BASE}/boards", who).json()["boards"]
        assert (found["name"], found["cards"]) == ("all", both["cards"])
        assert served.call("DELETE", f"{BASE}/boards/all", who).status_code == 204
    (found,) = served.call("GET", f"{BASE}/boards").json()["boards"]
    assert (found["name"], found["cards"]) == ("mine", cards["cards"])


@pytest.mark.parametrize(
    "cards",
    [
        [{"answer": "x" * 24, "title": "a", "view": "neither"}],
        [{"answer": "x", "title": "a"}],
        [{"answer": "x" * 24, "title": ""}],
        [{"answer": "x" * 24, "title": "a", "note": "b"}],
        [{"answer": "x" * 24, "title": "a"}] * 61,
    ],
)
def test_a_board_with_other_parts_is_not_saved(served: Served, cards: Any) -> None:
    assert put(served, "boards/a", {"cards": cards}).status_code == 422


def test_readers_save_no_queries(served: Served) -> None:
    assert served.call("GET", f"{BASE}/saved", "guest").status_code == 403
    assert put(served, "saved/a", {"sql": SQL}, "guest").status_code == 403
    for path in ("saved", "boards", "answers"):
        assert served.call("GET", f"{BASE}/{path}", None).status_code == 401


def test_the_list_of_answers_has_ones_own_or_all_for_readers_and_owners(served: Served) -> None:
    ann, bob = answer_of(served, "ann", 3), answer_of(served, "bob", 4)
    own = served.call("GET", f"{BASE}/answers").json()["answers"]
    assert own[0]["id"] == ann
    assert bob not in {each["id"] for each in own}
    assert set(own[0]) == {"id", "written", "question", "terms"}
    assert own[0]["terms"] == {"epsilon": 0.1, "confidence": 0.95}
    for who in ("guest", "boss"):
        found = served.call("GET", f"{BASE}/answers?limit=2", who).json()["answers"]
        assert [(each["id"], each["account"]) for each in found] == [(bob, "bob"), (ann, "ann")]
        older = served.call("GET", f"{BASE}/answers?before={bob}&limit=1", who).json()["answers"]
        assert [each["id"] for each in older] == [ann]
    assert served.call("GET", f"{BASE}/answers?before={bob}").status_code == 404


def test_an_answer_says_whether_repeating_it_is_free(served: Served) -> None:
    ann, bob = answer_of(served, "ann", 5), answer_of(served, "bob", 6)
    before = served.call("GET", f"{BASE}/budget").json()
    for who in ("ann", "guest", "boss"):
        found = served.call("GET", f"{BASE}/answers/{ann}/about", who).json()
        assert (found["is_current"], found["due"]["epsilon"], found["change"]) == (True, 0, "")
        assert found["question"] == f"{SQL} WHERE age > 5"
    assert served.call("GET", f"{BASE}/answers/{bob}/about").status_code == 404
    assert served.call("GET", f"{BASE}/budget").json() == before


def test_an_answer_of_older_data_says_what_repeating_it_costs(tmp_path: Path) -> None:
    catalog = write_catalog(tmp_path)
    with serving(catalog) as served:
        old = answer_of(served, "ann", 5)
    write_catalog(tmp_path, without=3)
    with serving(catalog) as served:
        found = served.call("GET", f"{BASE}/answers/{old}/about", "guest").json()
        assert (found["is_current"], found["due"]["epsilon"]) == (False, 0.1)
        assert "The data changed" in found["change"]


@pytest.fixture(params=["file", "postgres"])
def records(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Records]:
    at = PostgresStore(tmp_path).address if request.param == "postgres" else tmp_path / "a.ledger"
    found = records_beside(at)
    yield found
    found.close()


def test_a_full_shelf_takes_no_more_but_replaces(records: Records) -> None:
    shelf = Shelf(records)
    for number in range(ShelfKind.BOARD.most):
        assert shelf.put("ann", ShelfKind.BOARD, f"board {number}", {"cards": []})
    assert shelf.put("ann", ShelfKind.BOARD, "one more", {"cards": []}) is None
    assert shelf.put("ann", ShelfKind.BOARD, "board 0", {"cards": [1]}) is not None
    assert shelf.put("ann", ShelfKind.QUERY, "one more", {}) is not None
    assert shelf.put("bob", ShelfKind.BOARD, "one more", {}) is not None
    assert len(shelf.items("ann", ShelfKind.BOARD)) == ShelfKind.BOARD.most
    assert shelf.remove("ann", ShelfKind.BOARD, "board 1")
    assert shelf.put("ann", ShelfKind.BOARD, "one more", {"sql": "\x00\ud800"}) is not None
    assert shelf.items("ann", ShelfKind.BOARD)[0].content == {"sql": "\x00\ud800"}


def test_answers_are_listed_in_pages_even_if_written_at_one_time(records: Records) -> None:
    shelf = Shelf(records)
    for each in "abcde":
        reply = SavedReply(
            id=each * 24, account="ann", written="now", question="", terms="{}", body=b"x"
        )
        records.save(reply)
    found: list[str] = []
    while page := shelf.replies("ann", before=records.reply(found[-1]) if found else None, most=2):
        found += [each.id for each in page]
    assert found == [each * 24 for each in "edcba"]
    assert shelf.replies("bob", before=None, most=9) == []
    assert shelf.are_there(frozenset(found), None)
    assert not shelf.are_there(frozenset(found), "bob")
