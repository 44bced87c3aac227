"""A value that the catalog does not declare for a column is named, before and after the charge."""

from collections.abc import Iterator

import pyarrow as pa
import pytest

import discreet
from discreet.curator import Curator
from tests.attacks.clinic import opened

NORTH = "'nort' is not a declared value of region. Did you mean north?"
SEX = "'x' is not a declared value of sex. Declared values: f, m."

UNDECLARED = {
    "SELECT COUNT(*) FROM patients WHERE region = 'nort'": [NORTH],
    "SELECT COUNT(*) FROM patients WHERE 'nort' <> region": [NORTH],
    "SELECT COUNT(*) FROM patients WHERE region IN ('nort', 'east') AND sex = 'x'": [NORTH, SEX],
    "SELECT COUNT(*) FROM patients WHERE NOT (region = 'nort' OR income > 3)": [NORTH],
    "SELECT SUM(CASE WHEN region = 'nort' THEN 1 ELSE 0 END) FROM patients": [NORTH],
    "SELECT COUNT(*) FILTER (WHERE region = 'nort') FROM patients": [NORTH],
    "SELECT COUNT(*) FROM (SELECT region AS r FROM patients) WHERE r = 'nort'": [NORTH],
    "SELECT COUNT(*) FROM visits v JOIN patients p ON v.patient_id = p.patient_id"
    " AND p.region = 'nort'": [NORTH],
    "SELECT COUNT(*) FROM visits WHERE patient_id IN"
    " (SELECT patient_id FROM patients WHERE region = 'nort')": [NORTH],
    "SELECT COUNT(*) FROM visits v WHERE EXISTS"
    " (SELECT 1 FROM patients p WHERE p.patient_id = v.patient_id AND p.region = 'nort')": [NORTH],
    "SELECT AVG(LEAST(n, 9)) FROM (SELECT patient_id, region, COUNT(*) AS n FROM patients"
    " GROUP BY patient_id, region) WHERE region = 'nort'": [NORTH],
    "SELECT COUNT(*) FROM (SELECT region FROM patients UNION ALL"
    " SELECT region FROM patients WHERE region = 'nort')": [NORTH],
}

DECLARED = [
    "SELECT COUNT(*) FROM patients WHERE region = 'north'",
    "SELECT COUNT(*) FROM patients WHERE region IN ('north', 'west') AND sex <> 'f'",
    "SELECT COUNT(*) FROM patients WHERE region LIKE 'nort%'",
    "SELECT COUNT(*) FROM patients WHERE region > 'nort'",
    "SELECT COUNT(*) FROM visits WHERE diagnosis = 'nort'",
    "SELECT COUNT(*) FROM visits WHERE minutes = 1000",
    "SELECT COUNT(*) FROM visits v JOIN clinics c USING (clinic_id) WHERE c.region = 'nort'",
    "SELECT COUNT(*) FROM (SELECT region FROM patients WHERE region = 'north')"
    " WHERE region = 'south'",
]


@pytest.fixture(scope="module")
def clinic() -> Iterator[Curator]:
    with opened() as curator:
        yield curator


@pytest.mark.parametrize("sql", UNDECLARED)
def test_an_undeclared_value_is_named_in_explanation_and_answer(clinic: Curator, sql: str) -> None:
    explained = clinic.explain(sql, epsilon=1)
    assert list(explained.warnings) == UNDECLARED[sql]
    assert "Warnings\n  'nort' is not a declared value of region." in explained.to_text()
    answer = clinic.ask(sql, epsilon=1)
    assert [each for each in answer.notes if "declared value of" in each] == UNDECLARED[sql]
    assert NORTH in str(answer)


@pytest.mark.parametrize("sql", DECLARED)
def test_other_comparisons_are_not_remarked_on(clinic: Curator, sql: str) -> None:
    assert clinic.explain(sql, epsilon=1).warnings == ()
    assert not any("is not a declared value" in each for each in clinic.ask(sql, epsilon=1).notes)


def test_the_note_follows_from_the_catalog_and_not_from_the_data() -> None:
    """The data have a value that is not declared: comparing with it is remarked on as well."""
    table = pa.table({"region": ["nowhere"] * 20, "patient_id": list(range(20))})
    with discreet.open(
        {"people": table},
        unit="patient_id",
        values={"region": ["here", "there"]},
        epsilon=10,
    ) as people:
        for value in ("nowhere", "anywhere"):
            sql = f"SELECT COUNT(*) FROM people WHERE region = '{value}'"  # noqa: S608
            assert people.explain(sql, epsilon=1).warnings[0].startswith(f"'{value}' is not a")
