"""A made-up clinic that keeps every promise of the catalog, of any size and always the same."""

from datetime import date, datetime, timedelta

from tests.properties.databases import Database, Row

REGIONS = ("north", "south", "east", "west")
DIAGNOSES = ("flu", "asthma", "fracture", "3", None)
NOTES = ("allergic", "ALLERGY", "", "none", None)


def clinic(people: int) -> Database:
    """Return so many patients with up to 3 visits and 4 prescriptions each, and some sales."""
    visits = _visits(people)
    return Database(
        patients=tuple(map(_patient, range(1, people + 1))),
        visits=visits,
        prescriptions=_prescriptions(visits),
        sales=tuple(map(_sale, range(people))),
    )


def _patient(i: int) -> Row:
    joined = date(2015, 1, 1) + timedelta(days=i * 97 % 4000)
    income = None if i % 9 == 0 else float(i * 2503 % 200_001)
    smoker = (True, False, None)[i % 3]
    year, region = 1920 + i * 7 % 101, REGIONS[i // 2 % 4]
    return (i, year, "fm"[i % 2], region, i % 3 == 0, smoker, joined, income)


def _visits(people: int) -> tuple[Row, ...]:
    owners = [person for person in range(1, people + 1) for _ in range(person % 4)]
    return tuple(_visit(number, owner) for number, owner in enumerate(owners))


def _visit(i: int, patient: int) -> Row:
    day = date(2024, 1, 1) + timedelta(days=i * 37 % 366)
    cost = None if i % 11 == 0 else i * 7919 % 50_001 / 100
    minutes = None if i % 13 == 0 else i * 53 % 241
    return (i, patient, 1 + i % 3, day, cost, minutes, DIAGNOSES[i % 5], NOTES[i // 2 % 5])


def _prescriptions(visits: tuple[Row, ...]) -> tuple[Row, ...]:
    first = {patient: visit for visit, patient, *_ in reversed(visits)}
    return tuple(
        (visit, ("aspirin", "zinc", None)[k % 3], float(-10 + (visit * 101 + k * 333) % 1011))
        for patient, visit in sorted(first.items())
        for k in range(patient % 5)
    )


def _sale(i: int) -> Row:
    at = datetime(2024, 1, 1) + timedelta(hours=i * 337 % 8700)
    return (round(-50 + i * 3719 % 15_001 / 100, 2), 2 + i % 8, ("old", "new")[i % 2], at)
