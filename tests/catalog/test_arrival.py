"""The column of arrival times: declared, spelled as the schema does, and checked for its type."""

import re

import pytest

from discreet.catalog import catalog_from
from discreet.catalog.schema import Column, Kind, PrivateTable
from discreet.catalog.toml import toml_from
from discreet.errors import CatalogError
from discreet.query.identity import identity_text

COLUMNS = (
    Column(name="patient", kind=Kind.INTEGER),
    Column(name="Entered", kind=Kind.TIMESTAMP),
    Column(name="clinic", kind=Kind.TEXT),
)


def _visits(**settings: object) -> PrivateTable:
    tables = {"visits": {"unit": "patient", **settings}}
    entries = {"budget": {"epsilon": 1}, "tables": tables}
    table = catalog_from(entries, lambda _: COLUMNS).tables[0]
    assert isinstance(table, PrivateTable)
    return table


def test_the_column_of_arrival_times_is_spelled_as_in_the_schema() -> None:
    assert _visits(arrival="entered").arrival == "Entered"
    assert _visits().arrival is None


def test_arrival_times_must_be_dates_or_timestamps() -> None:
    rule = "tables.visits.arrival is visits.clinic, which is text, not a date or timestamp"
    with pytest.raises(CatalogError, match=re.escape(rule)):
        _visits(arrival="clinic")


def test_an_unknown_arrival_column_is_rejected_with_the_nearest_name() -> None:
    with pytest.raises(CatalogError, match="Entered"):
        _visits(arrival="enterd")


def test_a_public_table_has_no_arrival_column() -> None:
    tables = {"days": {"public": True, "arrival": "Entered"}}
    with pytest.raises(CatalogError, match="cannot be given for a public table"):
        catalog_from({"budget": {"epsilon": 1}, "tables": tables}, lambda _: COLUMNS)


def test_a_written_catalog_has_the_arrival_column() -> None:
    tables = {"visits": {"unit": "patient", "arrival": "Entered"}}
    catalog = catalog_from({"budget": {"epsilon": 1}, "tables": tables}, lambda _: COLUMNS)
    assert 'arrival = "Entered"' in toml_from(catalog)


def test_declaring_arrival_times_leaves_saved_answers_valid() -> None:
    assert identity_text(_visits(arrival="entered")) == identity_text(_visits())
