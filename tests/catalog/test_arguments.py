"""Catalogs from the arguments of a call: the same checks, and errors that name the argument."""

from datetime import date
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from discreet.catalog import (
    AUTO,
    Bounds,
    Column,
    ColumnUnit,
    Kind,
    PrivateTable,
    PublicTable,
    catalog_from,
)
from discreet.catalog.arguments import declare
from discreet.catalog.resolve import resolve
from discreet.errors import CatalogError

COLUMNS = {
    "visits": (("patient_id", Kind.INTEGER), ("age", Kind.INTEGER), ("region", Kind.TEXT)),
    "patients": (("patient_id", Kind.INTEGER), ("age", Kind.INTEGER), ("region", Kind.TEXT)),
    "regions": (("region", Kind.TEXT),),
}


def columns_of(table: str) -> tuple[Column, ...]:
    return tuple(Column(name=name, kind=kind) for name, kind in COLUMNS[table])


def test_arguments_say_the_same_as_a_file() -> None:
    declared = declare(
        {"visits": "visits.csv"},
        unit="patient_id",
        epsilon=3,
        delta=1e-6,
        bounds={"age": (0, 120)},
        values={"visits.region": ["north", "south"]},
        nulls={"region": True},
        rows_per_unit=5,
        neighbours="replace",
    )
    columns = {
        "age": {"bounds": [0, 120]},
        "region": {"values": ["north", "south"], "nulls": True},
    }
    table = {"from": "visits.csv", "unit": "patient_id", "rows_per_unit": 5, "columns": columns}
    entries = {
        "budget": {"epsilon": 3, "delta": 1e-6, "neighbours": "replace"},
        "tables": {"visits": table},
    }
    assert resolve(declared, columns_of) == catalog_from(entries, columns_of)


def test_several_tables_are_told_apart_by_name() -> None:
    catalog = resolve(
        declare(
            {"visits": None, "patients": None, "regions": None},
            unit="patient_id",
            epsilon=1,
            bounds={"visits.age": (np.int64(0), 120), "patients.age": AUTO},
            rows_per_unit={"patients": 1},
            public=["regions"],
        ),
        columns_of,
    )
    visits, patients, regions = catalog.tables
    assert isinstance(visits, PrivateTable)
    assert isinstance(patients, PrivateTable)
    assert isinstance(regions, PublicTable)
    assert visits.unit == patients.unit == ColumnUnit(column="patient_id")
    assert visits.columns[1].bounds == Bounds(low=Fraction(0), high=Fraction(120))
    assert patients.columns[1].bounds is AUTO
    assert (visits.rows_per_unit, patients.rows_per_unit) == (10, 1)
    assert catalog.sources == {}


GIVEN: dict[str, Any] = {"unit": "patient_id", "epsilon": 1}
REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"unit": None}, "Table visits has no unit. "),
    ({"epsilon": 0}, "epsilon must be a number from 1e-12 to 1e12, not 0. "),
    ({"epsilon": float("nan")}, "epsilon must be a finite number, not nan. "),
    ({"epsilon": "1"}, "epsilon must be a finite number, not '1'. "),
    ({"epsilon": Fraction(10**400)}, "epsilon must be 0 or between 1e-300 and 1e300 in size"),
    ({"epsilon": Fraction(1, 10**400)}, "epsilon must be 0 or between 1e-300 and 1e300 in size"),
    ({"epsilon": 10**5000}, "epsilon must be 0 or between 1e-300 and 1e300 in size"),
    ({"delta": 1}, "delta must be at least 0 and less than 1, not 1. "),
    ({"neighbours": "both"}, "neighbours must be "),
    ({"accounting": "zcdp"}, "accounting must be "),
    ({"question_delta": 0.5}, "question_delta must be "),
    ({"rows_per_unit": 0}, "rows_per_unit must be a whole number"),
    ({"rows_per_unit": {"visits": 0}}, "rows_per_unit['visits'] must be a whole number"),
    ({"rows_per_unit": {"vists": 1}}, "rows_per_unit['vists'] names 'vists', which is not a table"),
    ({"groups_per_unit": 0}, "groups_per_unit must be a whole number"),
    ({"groups_per_unit": {"visits": {"age": 0}}}, "groups_per_unit['visits'].age must be a whole"),
    ({"bounds": {"age": (120, 0)}}, "bounds['age'] are in the wrong order"),
    ({"bounds": {"age": (0, float("inf"))}}, "bounds['age'][1] must be a finite number, not inf"),
    ({"bounds": {"age": 3}}, "bounds['age'] must be a list, not 3"),
    ({"bounds": (0, 120)}, "bounds must be a dictionary by column"),
    ({"bounds": {"age": (0, 1), "visits.age": (0, 1)}}, "bounds['visits.age'] is given twice"),
    ({"bounds": {"age": (date(2024, 1, 1), 3)}}, "bounds['age'][0] must be a finite number"),
    ({"values": {"region": ["a", "a"]}}, "values['region'][1] repeats the value 'a'"),
    ({"values": {"region": [None]}}, "values['region'][0] is NULL"),
    ({"values": {"region": ["\ud800"]}}, "values['region'][0] is not valid UTF-8 text"),
    ({"step": {"age": 0}}, "step['age'] must be more than 0"),
    ({"types": {"age": "int"}}, "types['age'] must be one of"),
    ({"public": True}, "unit cannot be given for a public table"),
    ({"public": ["visit"]}, "public names 'visit', which is not a table of the source"),
]


@pytest.mark.parametrize(("arguments", "says"), REFUSED, ids=[says for _, says in REFUSED])
def test_errors_name_the_argument(arguments: dict[str, Any], says: str) -> None:
    with pytest.raises(CatalogError) as refusal:
        declare({"visits": "visits.csv"}, **(GIVEN | arguments))
    assert str(refusal.value).startswith(says)


def test_a_column_that_the_table_lacks_is_named_as_it_was_given() -> None:
    declared = declare({"visits": None}, unit="patient_id", epsilon=1, bounds={"agee": (0, 1)})
    with pytest.raises(
        CatalogError, match=r"^bounds\['agee'\] is not a column of visits\. Did you mean age\?"
    ):
        resolve(declared, columns_of)
    declared = declare({"visits": None}, unit="patientid", epsilon=1)
    with pytest.raises(
        CatalogError,
        match=r'^unit="patientid" is not a column of visits\. Did you mean patient_id\?',
    ):
        resolve(declared, columns_of)


def test_a_column_of_several_tables_needs_its_table() -> None:
    with pytest.raises(CatalogError, match=r"bounds\['age'\] must name its table, one of a, b"):
        declare({"a": None, "b": None}, unit="id", epsilon=1, bounds={"age": (0, 1)})
