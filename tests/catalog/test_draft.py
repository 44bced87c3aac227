"""Drafted catalogs: loadable once completed, honest about guesses, and free of data."""

from fractions import Fraction
from pathlib import Path

import pytest

from discreet.catalog import Bounds, Column, ColumnUnit, Kind, PrivateTable, load
from discreet.catalog.toml import PrivateFacts, TableDraft, draft
from discreet.catalog.unit_names import unit_guess
from discreet.errors import CatalogError

VISITS = tuple(
    Column(name=name, kind=kind)
    for name, kind in (
        ("visit_id", Kind.INTEGER),
        ("patient_id", Kind.INTEGER),
        ("day", Kind.DATE),
        ("cost", Kind.REAL),
        ("diagnosis", Kind.TEXT),
        ("urgent", Kind.BOOLEAN),
    )
)
TABLE = TableDraft(name="visits", source="visits.csv", columns=VISITS)


def completed(folder: Path, text: str) -> PrivateTable:
    path = folder / "discreet.toml"
    path.write_text(text, encoding="utf-8")
    table = load(path).tables[0]
    assert isinstance(table, PrivateTable)
    return table


def test_a_draft_with_a_guessed_unit_loads_and_marks_its_guesses(tmp_path: Path) -> None:
    text = draft(TABLE)
    table = completed(tmp_path, text)
    assert table.columns == VISITS
    assert table.unit == ColumnUnit(column="patient_id")
    guesses = [line.split(" =")[0] for line in text.splitlines() if "# GUESS: " in line]
    assert guesses == ["epsilon", "delta", "unit", "rows_per_unit"]


def test_a_column_without_bounds_has_a_line_to_complete() -> None:
    text = draft(TABLE)
    assert '\n# cost = { type = "real", bounds = [LOW, HIGH] }   # to sum or average it\n' in text
    assert '\n# day = { type = "date", bounds = [FIRST, LAST] }' in text
    assert '\n# diagnosis = { type = "text", values = ["FILL IN"] }' in text
    assert "# visit_id" not in text


def test_a_unit_that_cannot_be_guessed_is_to_be_filled_in(tmp_path: Path) -> None:
    text = draft(TableDraft(name="sales", source="sales.csv", columns=VISITS[3:]))
    line = text.splitlines().index(next(x for x in text.splitlines() if x.startswith("unit"))) + 1
    with pytest.raises(CatalogError, match=rf"unit must be filled in \(.*line {line}\)"):
        completed(tmp_path, text)
    completed(tmp_path, text.replace('unit = "FILL IN"', 'unit = "diagnosis"'))


def test_a_commented_line_that_is_not_completed_is_named(tmp_path: Path) -> None:
    text = draft(TABLE)
    plain, commented = 'cost = { type = "real" }\n', '# cost = { type = "real", bounds'
    uncommented = text.replace(plain, "").replace(commented, commented[2:])
    with pytest.raises(CatalogError, match=r"The bounds must be filled in \(.*line \d+\)"):
        completed(tmp_path, uncommented)
    table = completed(tmp_path, uncommented.replace("[LOW, HIGH]", "[0, 500]"))
    assert table.columns[3].bounds == Bounds(low=Fraction(0), high=Fraction(500))


def test_the_owner_s_unit_is_no_guess_and_must_be_a_column() -> None:
    stated = TableDraft(name="visits", source="visits.csv", columns=VISITS, unit="Visit_ID")
    assert '\nunit = "visit_id"\n' in draft(stated)
    wrong = TableDraft(name="visits", source="visits.csv", columns=VISITS, unit="patient")
    with pytest.raises(
        CatalogError, match=r'unit="patient" is not a column of visits\. Did you mean patient_id'
    ):
        draft(wrong)


def test_what_was_found_privately_is_said_to_be_so(tmp_path: Path) -> None:
    bounds = Bounds(low=Fraction(0), high=Fraction(512))
    found = PrivateFacts(
        columns=(Column(name="cost", kind=Kind.REAL, bounds=bounds),), epsilon=Fraction(1, 10)
    )
    text = draft(TableDraft(name="visits", source="visits.csv", columns=VISITS, found=found))
    assert "bounds = [0, 512] }   # found privately: widen them if you know more\n" in text
    assert completed(tmp_path, text).columns[3].bounds == bounds


def test_nothing_but_names_and_kinds_of_the_columns_is_written() -> None:
    """Facts that came with a schema, from wherever, are not passed on."""
    secret = Bounds(low=Fraction(31337), high=Fraction(77777))
    columns = (
        Column(name="patient_id", kind=Kind.INTEGER, bounds=secret),
        Column(name="diagnosis", kind=Kind.TEXT, values=("rare disease",), nulls=True),
    )
    plain = tuple(Column(name=each.name, kind=each.kind) for each in columns)
    with_facts = draft(TableDraft(name="visits", source="visits.csv", columns=columns))
    assert with_facts == draft(TableDraft(name="visits", source="visits.csv", columns=plain))


def test_names_cannot_break_out_of_a_comment_or_a_key() -> None:
    odd = Column(name='x" }\n[budget]\nepsilon = 99 #', kind=Kind.REAL)
    text = draft(TableDraft(name="t\n[a]", source='a"\n.csv', columns=(odd,)))
    assert [line for line in text.splitlines() if "budget" in line and line[0] == "["] == [
        "[budget]"
    ]
    assert "\nepsilon = 99" not in text


@pytest.mark.parametrize(
    ("table", "names", "guess"),
    [
        ("visits", ["visit_id", "patient_id"], "patient_id"),
        ("visits", ["clinicId", "PatientID"], "PatientID"),
        ("logins", ["device_id", "user_id"], "user_id"),
        ("orders", ["order_id", "shop_id"], "shop_id"),
        ("orders", ["order_id", "total"], "order_id"),
        ("orders", ["userid", "total"], "userid"),
        ("people", ["id", "name"], "id"),
        ("people", ["paid", "name"], None),
        ("visits", ["id_visit", "id_patient"], "id_patient"),
        ("orders", ["order_id", "customer_unique_id"], "customer_unique_id"),
        ("trips", ["vendor_id", "PassengerNo"], "PassengerNo"),
        ("trips", ["vendor_id", "passenger_count"], "vendor_id"),
        ("trial", ["site_id", "USUBJID"], "USUBJID"),
        ("stays", ["stay_id", "MRN"], "MRN"),
        ("visits", ["Unnamed: 0", "row_id", "row_name", "index"], None),
        ("visits", ["row_id", "clinic_id"], "clinic_id"),
    ],
)
def test_a_unit_is_guessed_from_names_alone(
    table: str, names: list[str], guess: str | None
) -> None:
    columns = tuple(Column(name=name, kind=Kind.TEXT) for name in names)
    assert unit_guess(table, columns) == guess


def test_public_tables_have_no_unit_and_a_server_is_the_source() -> None:
    columns = (Column(name="patient_id", kind=Kind.INTEGER),)
    text = draft(
        TableDraft(name="visits", source="clinic.visits", columns=columns),
        TableDraft(name="regions", source="regions", columns=columns, is_public=True),
        engine="postgresql://reader@host/clinic",
    )
    assert '[source]\nengine = "postgresql://reader@host/clinic"\n' in text
    assert '[tables.regions]\nfrom = "regions"\npublic = true\n\n[tables.regions.columns]' in text
    assert text.count("\nunit = ") == 1


def test_columns_that_number_rows_are_not_to_be_summed() -> None:
    columns = tuple(
        Column(name=name, kind=Kind.INTEGER) for name in ("Unnamed: 0", "row_name", "age")
    )
    text = draft(TableDraft(name="people", source="people.csv", columns=columns))
    assert [line for line in text.splitlines() if "LOW, HIGH" in line] == [
        '# age = { type = "integer", bounds = [LOW, HIGH] }   # to sum or average it'
    ]
