"""The made-up clinics: realistic where it matters, and the same for everybody."""

from hashlib import sha256
from pathlib import Path

import numpy as np

from discreet.catalog import PrivateTable, load
from discreet.demo import bell, chosen, make_patients, make_visits, spread, write_clinic


def test_the_same_files_are_written_each_time_and_their_catalog_loads(tmp_path: Path) -> None:
    digests = []
    for name in ("one", "two"):
        catalog = write_clinic(tmp_path / name)
        digests.append([sha256(path.read_bytes()).hexdigest() for path in files(catalog.parent)])
    assert digests[0] == digests[1]
    tables = load(catalog).tables
    assert [each.name for each in tables] == ["visits", "patients", "clinics"]
    assert [isinstance(each, PrivateTable) for each in tables] == [True, True, False]


def files(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.csv"))


def test_most_patients_come_a_few_times_and_few_come_dozens_of_times() -> None:
    visits = make_visits(make_patients())
    _, often = np.unique(visits["patient_id"], return_counts=True)
    assert len(visits["visit_id"]) == 100_000
    assert len(often) == 20_000
    assert np.median(often) <= 5
    assert often.max() >= 40
    assert np.maximum(often - 15, 0).sum() < 0.03 * often.sum()


def test_winters_are_busy_and_some_diagnoses_are_rare() -> None:
    visits = make_visits(make_patients())
    month = visits["day"].astype("datetime64[M]").astype(int) % 12
    assert np.count_nonzero(month == 0) > 1.5 * np.count_nonzero(month == 6)
    counts = np.unique(visits["diagnosis"], return_counts=True)[1]
    assert counts.min() < 20
    assert counts.max() > 10_000


def test_chances_are_even_bells_are_normal_and_choices_follow_their_weights() -> None:
    numbers = np.arange(100_000)
    at = spread(numbers, 3)
    assert np.all((at >= 0) & (at < 1))
    assert abs(np.histogram(at, 10, (0, 1))[0] - 10_000).max() < 500
    normal = bell(numbers, 2)
    assert abs(normal.mean()) < 0.02
    assert abs(normal.std() - 1) < 0.02
    assert abs(np.corrcoef(at, spread(numbers, 4))[0, 1]) < 0.02
    which = np.bincount(chosen(at, (3, 1)))
    assert abs(which[0] / 100_000 - 0.75) < 0.01
