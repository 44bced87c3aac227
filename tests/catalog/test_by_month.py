"""A budget per month in the catalog: what it needs, what it cannot be combined with."""

from typing import Any

import pytest

from discreet.catalog import Catalog, catalog_from
from discreet.catalog.catalog import Per
from discreet.catalog.declaration import declaration_from
from discreet.catalog.schema import ByMonth, PrivateTable
from discreet.catalog.toml import toml_from
from discreet.errors import CatalogError
from discreet.opening.bounding_key import bounding_key
from discreet.query.identity import identity_text

COLUMNS = {"who": {"type": "integer"}, "came": {"type": "date"}, "id": {"type": "integer"}}
VISITS = {"unit": "who", "arrival": "Came", "key": "id", "columns": COLUMNS}


def entries(budget: dict[str, Any] | None = None, **tables: Any) -> dict[str, Any]:
    policy = {"epsilon": 1, "per": "month", **(budget or {})}
    return {"budget": policy, "tables": {"visits": VISITS, **tables}}


def catalog(budget: dict[str, Any] | None = None, **tables: Any) -> Catalog:
    return catalog_from(entries(budget, **tables))


def dated(found: Catalog, name: str = "visits") -> ByMonth | None:
    table = found.table(name)
    assert isinstance(table, PrivateTable)
    return table.by_month


def test_tables_with_an_arrival_column_are_counted_by_month() -> None:
    people = {"unit": "who", "columns": COLUMNS}
    found = catalog(people=people)
    assert found.budget.per is Per.MONTH
    assert dated(found) == ByMonth(column="came")
    assert dated(found, "people") is None


def test_without_per_an_arrival_column_changes_nothing() -> None:
    found = catalog_from({"budget": {"epsilon": 1}, "tables": {"visits": VISITS}})
    assert dated(found) is None


def test_months_of_a_unit_are_counted_over_all_tables() -> None:
    found = catalog({"months_per_unit": 3}, stays=VISITS)
    assert dated(found) == dated(found, "stays") == ByMonth(column="came", most=3, in_all=6)


def test_a_written_catalog_is_per_month_again() -> None:
    found = catalog({"months_per_unit": 3})
    text = toml_from(found)
    assert 'per = "month"\nmonths_per_unit = 3' in text


PATH = {"unit": "visits.who via id", "columns": COLUMNS}
WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "another period": (entries({"per": "week"}), 'budget.per must be "month"'),
    "no table": (
        {**entries(), "tables": {"visits": {"unit": "who", "columns": COLUMNS}}},
        "budget.per needs a table with an arrival column",
    ),
    "replace": (entries({"neighbours": "replace"}), "budget.per needs add-remove neighbours"),
    "disjoint": (
        {**entries(other=VISITS), "disjoint": [{"tables": ["visits", "other"]}]},
        r"budget.per cannot be used together with \[\[disjoint\]\]",
    ),
    "a path to it": (entries(lines=PATH), "leads to visits, which has an arrival column"),
    "a path from it": (
        entries(
            people={"unit": "who", "key": "id", "columns": COLUMNS},
            lines={**PATH, "unit": "people.who via id", "arrival": "came"},
        ),
        "is a path, and a table with an arrival column must have its unit in a column",
    ),
    "months without per": (
        {"budget": {"epsilon": 1, "months_per_unit": 3}, "tables": {"visits": VISITS}},
        "months_per_unit cannot be given without per",
    ),
    "no months": (entries({"months_per_unit": 0}), "months_per_unit must be"),
    "a unit of another kind": (
        {**entries(), "tables": {"visits": {**VISITS, "unit": "came"}}},
        'which is date: with per = "month" it must be an integer or text',
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_cannot_be_counted_by_month_is_rejected(case: str) -> None:
    given, why = WRONG[case]
    with pytest.raises(CatalogError, match=why):
        catalog_from(given)


def test_prepared_tables_and_names_of_releases_are_others_per_month_and_the_same_without() -> None:
    plain = {"budget": {"epsilon": 1}, "tables": {"visits": VISITS}}
    undated = {"unit": "who", "key": "id", "columns": COLUMNS}
    before = {"budget": {"epsilon": 1}, "tables": {"visits": undated}}
    ways = [
        before,
        plain,
        entries(),
        entries({"months_per_unit": 2}),
        entries({"months_per_unit": 3}),
    ]
    keys = [bounding_key(declaration_from(each)) for each in ways]
    names = [identity_text(catalog_from(each).table("visits")) for each in ways]
    for found in (keys, names):
        assert found[0] == found[1]
        assert len(set(found)) == 4
