"""The tables of the golden corpus, with made-up data, opened as an owner would."""

import tomllib
from datetime import date, timedelta
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow as pa

import discreet
from discreet.catalog.catalog import budget_from
from discreet.curator import Curator
from discreet.ledger import SqliteLedger

GOLDEN = Path(__file__).parent.parent / "golden"
REGIONS = ["north", "south", "east", "west"]
PATIENTS, VISITS, PRESCRIPTIONS = 300, 1200, 800


def golden(name: str) -> dict[str, Any]:
    return tomllib.loads((GOLDEN / f"{name}.toml").read_text(encoding="utf-8"))


def spread(number: int, size: int) -> int:
    """Return a number below size that looks like chance and is the same in every run."""
    return (number * 2_654_435_761 % 4_294_967_296) * size // 4_294_967_296


@cache
def tables() -> dict[str, pa.Table]:
    """Return all four tables."""
    rows = {
        "patients": map(patient, range(PATIENTS)),
        "visits": map(visit, range(VISITS)),
        "prescriptions": map(prescription, range(PRESCRIPTIONS)),
        "clinics": map(clinic, range(8)),
    }
    return {name: pa.Table.from_pylist(list(each)) for name, each in rows.items()}


def patient(number: int) -> dict[str, Any]:
    return {
        "patient_id": number,
        "birth_year": 1920 + spread(number, 101),
        "sex": "fm"[spread(number + 1, 2)],
        "region": REGIONS[spread(number + 2, 4)],
        "insured": spread(number + 3, 10) < 7,
        "joined": date(2015, 1, 1) + timedelta(spread(number + 4, 4000)),
        "income": spread(number + 5, 1000) ** 2 / 10,
    }


def visit(number: int) -> dict[str, Any]:
    return {
        "visit_id": number,
        "patient_id": spread(number, PATIENTS),
        "clinic_id": 1 + spread(number + 1, 8),
        "day": date(2024, 1, 1) + timedelta(spread(number + 2, 366)),
        "cost": spread(number + 3, 500) ** 2 / 500,
        "minutes": spread(number + 4, 241),
        "diagnosis": ["flu", "asthma", "fracture", "gout"][spread(number + 5, 4)],
        "note": [None, "allergy", "none"][spread(number + 6, 3)],
    }


def prescription(number: int) -> dict[str, Any]:
    return {
        "visit_id": spread(number, VISITS),
        "drug": "abc"[spread(number + 1, 3)],
        "dose": float(spread(number + 2, 1001)),
    }


def clinic(number: int) -> dict[str, Any]:
    region = REGIONS[number % 4]
    return {
        "clinic_id": number + 1,
        "name": f"clinic {number}",
        "region": region,
        "beds": 10 * number,
    }


def with_new_books(curator: Curator) -> Curator:
    """Return a curator of the same data to whom nothing was paid yet."""
    return Curator(
        catalog=curator.catalog,
        engine=curator._engine,
        public=curator._public,
        ledger=SqliteLedger(":memory:", budget=budget_from(curator.catalog.budget)),
    )


def opened(*, epsilon: float = 1_000_000, delta: float = 0.01, row_choice: str = "once") -> Curator:
    """Return a curator of the corpus' tables."""
    return discreet.open(
        dict(tables()),
        epsilon=epsilon,
        delta=delta,
        unit={
            "patients": "patient_id",
            "visits": "patient_id",
            "prescriptions": "visits.patient_id via visit_id",
        },
        bounds={
            "patients.birth_year": (1920, 2020),
            "patients.income": (0, 200_000),
            "patients.joined": ("2015-01-01", "2025-12-31"),
            "visits.cost": (0, 500),
            "visits.minutes": (0, 240),
            "visits.day": ("2024-01-01", "2024-12-31"),
            "prescriptions.dose": (0, 1000),
        },
        values={"patients.sex": ["f", "m"], "patients.region": REGIONS},
        rows_per_unit={"patients": 1, "visits": 12},
        row_choice=row_choice,
        public=["clinics"],
    )
