"""Tables without a unit in common: what may be declared, and what is refused in a sentence."""

from pathlib import Path
from typing import Any

import pytest

from discreet.catalog import catalog_from, load, toml_from
from discreet.catalog.declaration import MOST_CHOICES
from discreet.errors import CatalogError
from discreet.ledger import charges

COLUMNS = {"p": {"type": "integer"}, "visit": {"type": "integer"}}
PRIVATE = {"unit": "p", "columns": COLUMNS}
TABLES: dict[str, Any] = {
    "v23": PRIVATE,
    "v24": PRIVATE,
    "v25": PRIVATE,
    "tests": {"unit": "v23.p via visit", "columns": COLUMNS},
    "rows1": {"unit": "row", "columns": COLUMNS},
    "rows2": {"unit": "row", "columns": COLUMNS},
    "places": {"public": True, "columns": COLUMNS},
}


def entries(*groups: object, **budget: object) -> dict[str, object]:
    disjoint = [{"tables": each} for each in groups]
    return {"budget": {"epsilon": 1, **budget}, "tables": TABLES, "disjoint": disjoint}


def test_groups_are_named_as_the_tables_are_and_read_back(tmp_path: Path) -> None:
    catalog = catalog_from(entries(["V23", "v24"], ["rows1", "rows2"]))
    assert catalog.disjoint == (("v23", "v24"), ("rows1", "rows2"))
    file = tmp_path / "discreet.toml"
    file.write_text(toml_from(catalog), encoding="utf-8")
    assert load(file) == catalog


def test_nothing_is_disjoint_unless_it_is_declared() -> None:
    assert catalog_from(entries()).disjoint == ()


@pytest.mark.parametrize(
    ("group", "words"),
    [
        (["v23"], "disjoint[0].tables must name at least two tables"),
        (["v23", "v23"], "repeats v23"),
        (["v23", "V23"], "repeats v23"),
        (["v23", "v2"], "is v2, which is not a table of the catalog"),
        (["v23", "places"], "is places, a public table, which has no units"),
        (["v24", "tests"], "whose units are those of v23, where its path ends. Name v23"),
        (["v23", "rows1"], "contains rows1, where each row is a unit, and tables with other"),
        ("v23", "must be a list, not 'v23'"),
        (["v23", 5], "must be text, not 5"),
        (None, "must be a list"),
    ],
)
def test_a_group_that_cannot_be_right_is_refused(group: object, words: str) -> None:
    with pytest.raises(CatalogError) as refusal:
        catalog_from(entries(group))
    assert words in str(refusal.value)


def test_a_table_is_in_one_group_at_most() -> None:
    with pytest.raises(CatalogError, match="repeats v24"):
        catalog_from(entries(["v23", "v24"], ["v24", "v25"]))


def test_where_units_are_replaced_nothing_can_be_declared() -> None:
    with pytest.raises(CatalogError, match="a unit may move from one table to another"):
        catalog_from(entries(["v23", "v24"], neighbours="replace"))


def test_tables_that_are_read_from_the_same_place_have_the_same_units() -> None:
    given = entries(["v23", "v24"])
    given["tables"] = {name: {**PRIVATE, "from": "visits.csv"} for name in ("v23", "v24")}
    with pytest.raises(CatalogError, match="is read from the same file as v23"):
        catalog_from(given)


def test_groups_whose_sizes_multiply_to_too_much_are_refused() -> None:
    assert MOST_CHOICES == charges.MOST_CHOICES
    given = entries(*[[f"{letter}{i}" for i in range(10)] for letter in "abcd"])
    given["tables"] = {f"{letter}{i}": PRIVATE for letter in "abcd" for i in range(10)}
    with pytest.raises(CatalogError, match="multiply to more than 1000"):
        catalog_from(given)


def test_unknown_keys_and_other_shapes_are_refused() -> None:
    for disjoint in ({"tables": ["v23", "v24"]}, [["v23", "v24"]], [{"table": ["v23", "v24"]}]):
        with pytest.raises(CatalogError, match="disjoint"):
            catalog_from({**entries(), "disjoint": disjoint})
