"""The half on a person's device: what it takes, what it refuses, what it loads."""

import subprocess
import sys
from typing import Any

import numpy as np
import pytest

from discreet.errors import ParameterError
from discreet.local import Client, KaryResponse, Reports
from discreet.local.longitudinal import BitFlipClient, BitFlips
from discreet.local.longitudinal.bit_flips import first_reports
from discreet.local.numeric import Duchi, NumericClient, SquareWave, SquareWaveClient
from tests.local.mechanisms import MAKERS

DEVICE = """
import sys
from discreet.local import Client, HadamardResponse, KaryResponse, LocalHashing
from discreet.local import SubsetSelection, UnaryEncoding
for make in HadamardResponse, KaryResponse, LocalHashing, SubsetSelection, UnaryEncoding:
    Client(make(epsilon=1, categories=10)).report(3)
ours = {name.split(".")[1] for name in sys.modules if name.startswith("discreet.")}
heavy = {"scipy", "pyarrow", "duckdb", "sqlglot", "typer", "rich"} & set(sys.modules)
print(sorted(ours), sorted(heavy))
"""


def test_a_device_needs_numpy_and_noise_only() -> None:
    done = subprocess.run(  # noqa: S603 - a program of ours
        [sys.executable, "-c", DEVICE], capture_output=True, text=True, check=True
    )
    assert done.stdout.split("\n")[0] == "['errors', 'local', 'noise', 'parameters'] []"


@pytest.mark.parametrize("name", MAKERS)
def test_one_report_is_eight_bytes_and_a_row(name: str) -> None:
    mechanism = MAKERS[name](epsilon=1, categories=100)
    report = Client(mechanism).report(99)
    assert len(report) == 8 + mechanism.row.size
    assert len(Reports.from_bytes(mechanism, report)) == 1


def test_true_and_false_are_values_of_two() -> None:
    client = Client(KaryResponse.binary(epsilon=20))
    assert client.report_many([True, False, True]).rows.tolist() == [1, 0, 1]
    assert client.report_many(np.array([], bool)).rows.tolist() == []


@pytest.mark.parametrize("kind", [np.uint8, np.int16, np.int64, np.uint64])
@pytest.mark.parametrize("name", MAKERS)
def test_whole_numbers_of_any_width_are_taken(name: str, kind: type) -> None:
    mechanism = MAKERS[name](epsilon=1, categories=100)
    assert len(Client(mechanism).report_many(np.array([0, 99, 5], kind))) == 3


@pytest.mark.parametrize(
    "values",
    [[3], [-1], [0.5], ["one"], [None], [[0, 1]], [[0], [0, 1]], [2**70], 1, [float("nan")]],
)
def test_values_outside_the_domain_are_refused_unseen(values: object) -> None:
    with pytest.raises(ParameterError) as refusal:
        Client(KaryResponse(epsilon=1, categories=3)).report_many(values)  # type: ignore[arg-type]
    assert str(refusal.value) == "values must be whole numbers from 0 to 2."


@pytest.mark.parametrize("mask", [False, [False, True]])
def test_masked_values_are_not_uncovered(mask: Any) -> None:
    hidden = np.ma.array([0, 1], mask=mask)
    mechanism = BitFlips(epsilon=1, buckets=3)
    for report_many in (
        *(each.report_many for each in CLIENTS[:3]),
        lambda values: first_reports(mechanism, values),
    ):
        with pytest.raises(ParameterError, match="must be"):
            report_many(hidden)


CLIENTS: list[Any] = [
    Client(KaryResponse(epsilon=1, categories=3)),
    NumericClient(Duchi(epsilon=1)),
    SquareWaveClient(SquareWave(epsilon=1)),
    BitFlipClient(BitFlips(epsilon=1, buckets=3)),
]


@pytest.mark.parametrize("client", CLIENTS, ids=lambda each: type(each).__name__)
@pytest.mark.parametrize("value", [[1], [], [[1], [1, 2]], np.array([1]), None, "1"], ids=repr)
def test_one_report_takes_one_value(client: Any, value: object) -> None:
    with pytest.raises(ParameterError, match=r"must be (whole )?numbers from -?\d to \d"):
        client.report(value)
