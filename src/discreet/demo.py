"""Synthetic clinics to try Discreet on: patients, a year of visits, and a catalog.

Values are pure functions of a row's number, so everybody gets the same files. They are not noise:
they hide nothing and must never be added to an answer. Noise comes from `noise.source` alone. Most
patients come a few times and a few come dozens of times; winters are busier than summers and
Sundays are quiet; a handful of diagnoses make up most visits, and some are so rare that naming them
would name someone.
"""

from collections.abc import Mapping, Sequence
from io import BytesIO
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyarrow import csv

from discreet.deprecated import deprecated_modules
from discreet.writing import write_file

PATIENTS, VISITS = 20_000, 100_000
RIDERS, RIDES = 4_000, 30_000

CATALOG = """\
# Synthetic clinics. Everything in this file is public.

[budget]
epsilon = 3.0                        # total privacy budget
delta = 1e-6

[tables.visits]
from = "visits.csv"
unit = "patient_id"                  # each patient is protected, with all of their visits
rows_per_unit = 15                   # at most 15 visits per patient are used

[tables.visits.columns]
visit_id   = { type = "integer" }
patient_id = { type = "integer" }
clinic_id  = { type = "integer" }
day        = { type = "date", bounds = [2024-01-01, 2024-12-31] }
age        = { type = "integer", bounds = [0, 110] }
region     = { type = "text", values = ["east", "north", "south", "west"] }
diagnosis  = { type = "text" }       # values are not declared: rare ones stay hidden
cost       = { type = "real", bounds = [0, 500], step = 0.01 }
minutes    = { type = "integer", bounds = [0, 120] }

[tables.patients]
from = "patients.csv"
unit = "patient_id"
rows_per_unit = 1
key = "patient_id"

[tables.patients.columns]
patient_id = { type = "integer" }
born       = { type = "integer", bounds = [1914, 2024] }
sex        = { type = "text", values = ["f", "m", "x"] }
region     = { type = "text", values = ["east", "north", "south", "west"] }
insurance  = { type = "text", values = ["none", "private", "public"] }
smokes     = { type = "boolean" }

[tables.clinics]
from = "clinics.csv"
public = true                        # anyone may see it
key = "clinic_id"

[tables.clinics.columns]
clinic_id = { type = "integer" }
clinic    = { type = "text" }
kind      = { type = "text" }
beds      = { type = "integer" }
"""
"""The catalog of the synthetic tables: the text of `discreet.toml`."""

REGIONS, REGION_WEIGHTS = ("north", "south", "east", "west"), (38, 29, 21, 12)

DIAGNOSES: Mapping[str, float] = {
    "hypertension": 170,
    "back pain": 140,
    "cold": 130,
    "diabetes": 100,
    "asthma": 80,
    "influenza": 70,
    "allergy": 60,
    "anxiety": 50,
    "migraine": 45,
    "fracture": 40,
    "eczema": 35,
    "pneumonia": 25,
    "arthritis": 20,
    "angina": 14,
    "gout": 9,
    "hepatitis": 4,
    "tuberculosis": 1.5,
    "malaria": 0.7,
    "Wilson disease": 0.08,
    "Fabry disease": 0.03,
}
"""What people come with, and how often."""

WINTER = ("cold", "influenza", "pneumonia")

CLINICS: Mapping[str, tuple[str, int]] = {
    "Ashgrove": ("hospital", 420),
    "Birchfield": ("practice", 0),
    "Cedar Hill": ("practice", 0),
    "Elmwood": ("hospital", 260),
    "Foxglove": ("walk-in", 0),
    "Hazel Lane": ("practice", 0),
    "Juniper": ("rehabilitation", 90),
    "Larkspur": ("walk-in", 0),
}
"""Each clinic with its kind and beds."""

CLINIC_WEIGHTS = (24, 13, 11, 18, 12, 9, 5, 8)


Columns: TypeAlias = Mapping[str, NDArray[Any]]
"""A table by its columns."""

Floats: TypeAlias = NDArray[np.float64]
Integers: TypeAlias = NDArray[np.int64]

ODD = np.uint64(0x9E3779B97F4A7C15)
"""The golden ratio in 64 bits, and below the multipliers of SplitMix64 (Steele and others 2014)."""

FIRST, SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)


def spread(numbers: Integers, column: int) -> Floats:
    """Return a value in [0, 1) for each number, evenly spread; another one for each column."""
    mixed = numbers.astype(np.uint64) * np.uint64(256) + np.uint64(column + 1)
    mixed = mixed * ODD
    mixed = (mixed ^ (mixed >> np.uint64(30))) * FIRST
    mixed = (mixed ^ (mixed >> np.uint64(27))) * SECOND
    mixed = mixed ^ (mixed >> np.uint64(31))
    return (mixed >> np.uint64(11)).astype(np.float64) / 2.0**53


def bell(numbers: Integers, column: int) -> Floats:
    """Return a value for each number that is roughly normal: a sum of four, mean 0, variance 1."""
    total = sum(spread(numbers, 4 * column + i) for i in range(4))
    return np.asarray((total - 2) * np.sqrt(3.0))


def chosen(at: Floats, weights: Sequence[float] | Floats) -> Integers:
    """Return which of the weighted choices each value in [0, 1) falls on."""
    ends = np.cumsum(np.asarray(weights, dtype=np.float64))
    return np.searchsorted(ends / ends[-1], at, side="right").astype(np.int64)


# --------------------------------------------------------------------------- the clinics


def write_clinic(folder: Path) -> Path:
    """Write the tables as CSV and their catalog into a folder, and return the catalog's path."""
    folder.mkdir(parents=True, exist_ok=True)
    patients = make_patients()
    _write(patients, folder / "patients.csv")
    _write(make_visits(patients), folder / "visits.csv")
    _write(make_clinics(), folder / "clinics.csv")
    catalog = folder / "discreet.toml"
    return write_file("output", catalog, CATALOG.encode())


def write_rides(folder: Path) -> Path:
    """Write hired bicycles as CSV, without a catalog: data to be added on the page of a server."""
    numbers = np.arange(RIDES)
    often = np.exp(bell(np.arange(RIDERS), 7))
    rides: Columns = {
        "ride_id": numbers + 1,
        "rider_id": 7_000 + chosen(spread(numbers, 50), often),
        "day": np.datetime64("2024-01-01") + np.sort(chosen(spread(numbers, 51), _busyness())),
        "station": _named(STATIONS, chosen(spread(numbers, 52), (31, 26, 22, 14, 7))),
        "minutes": np.clip(18 * np.exp(0.6 * bell(numbers, 14)), 1, 240).astype(np.int64),
        "is_member": spread(numbers, 53) < 0.64,
    }
    _write(rides, folder / "rides.csv")
    return folder / "rides.csv"


STATIONS = ("Harbour", "Market", "Museum", "Park", "University")


def make_patients() -> Columns:
    """Return one row for each patient."""
    numbers = np.arange(PATIENTS)
    young, old = 34 + 21 * bell(numbers, 1), 66 + 13 * bell(numbers, 2)
    age = np.where(spread(numbers, 20) < 0.62, young, old)
    insurance = ("public", "private", "none")
    return {
        "patient_id": _patient_ids(numbers),
        "born": 2024 - np.clip(np.abs(age), 0, 103).astype(np.int64),
        "sex": _named(("f", "m", "x"), chosen(spread(numbers, 21), (53, 46, 1))),
        "region": _named(REGIONS, chosen(spread(numbers, 22), REGION_WEIGHTS)),
        "insurance": _named(insurance, chosen(spread(numbers, 23), (81, 14, 5))),
        "smokes": spread(numbers, 24) < 0.21,
    }


def make_visits(patients: Columns) -> Columns:
    """Return the year's visits, in the order of their days."""
    numbers = np.arange(VISITS)
    who = _visitors(numbers)
    day = np.sort(chosen(spread(numbers, 31), _busyness()))
    what = _diagnoses(numbers, day)
    return {
        "visit_id": numbers + 1,
        "patient_id": patients["patient_id"][who],
        "clinic_id": chosen(spread(numbers, 32), CLINIC_WEIGHTS) + 1,
        "day": np.datetime64("2024-01-01") + day,
        "age": 2024 - patients["born"][who],
        "region": patients["region"][who],
        "diagnosis": _named(tuple(DIAGNOSES), what),
        "cost": _costs(numbers, what),
        "minutes": np.clip(22 + 11 * bell(numbers, 10) + what, 3, 120).astype(np.int64),
    }


def make_clinics() -> Columns:
    """Return the public table of the clinics."""
    return {
        "clinic_id": np.arange(len(CLINICS)) + 1,
        "clinic": np.array(list(CLINICS)),
        "kind": np.array([kind for kind, _ in CLINICS.values()]),
        "beds": np.array([beds for _, beds in CLINICS.values()]),
    }


def _write(columns: Columns, path: Path) -> None:
    table = pa.table({name: pa.array(values) for name, values in columns.items()})
    buffer = BytesIO()
    csv.write_csv(table, buffer, csv.WriteOptions(quoting_style="needed"))
    write_file("output", path, buffer.getvalue())


def _patient_ids(numbers: Integers) -> Integers:
    """Return ids that do not follow from the row: a permutation of 20,000, from 100,000 on."""
    return 100_000 + numbers * 7919 % PATIENTS


def _visitors(numbers: Integers) -> Integers:
    """Return who comes: everybody once, and beyond that, few patients often."""
    patients = np.arange(PATIENTS)
    often = np.exp(0.4 * bell(patients, 6)) * np.where(spread(patients, 40) < 0.005, 8, 1)
    again = chosen(spread(numbers, 30), often)
    return np.where(numbers % 5 == 0, numbers // 5, again)


def _busyness() -> Floats:
    """Return how busy each day of 2024 is: winters more, Saturdays less, Sundays hardly."""
    days = np.arange(366)
    weekday = np.array([1.15, 1.0, 1.0, 0.95, 0.9, 0.35, 0.12])[days % 7]  # a Monday is the first
    return np.asarray((1 + 0.32 * np.cos(2 * np.pi * (days - 20) / 366)) * weekday)


def _diagnoses(numbers: Integers, day: Integers) -> Integers:
    """Return what each visit is for; summers have few of the winter's diseases."""
    names = tuple(DIAGNOSES)
    what = chosen(spread(numbers, 33), tuple(DIAGNOSES.values()))
    of_winter = np.isin(what, [names.index(each) for each in WINTER])
    in_summer = np.abs(day - 200) < 75
    moves = of_winter & in_summer & (spread(numbers, 34) < 0.7)
    return np.where(moves, names.index("allergy"), what)


def _costs(numbers: Integers, what: Integers) -> Floats:
    """Return what each visit costs, to the cent: mostly below 100, at times far above."""
    base = 28 + 4.5 * what
    spent = np.clip(base * np.exp(0.7 * bell(numbers, 12)), 5, 2_000)
    return np.asarray(np.round(spent, 2))


def _named(names: tuple[str, ...], which: Integers) -> NDArray[Any]:
    return np.array(names)[which]


deprecated_modules({"discreet.demo.clinic": {"*": "discreet.demo"}})
