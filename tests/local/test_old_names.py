"""Names of version 0.1 still work, and each warns what to write instead."""

import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from discreet.errors import ParameterError, ReportError
from discreet.local import (
    BitFlips,
    Client,
    Discovery,
    Duchi,
    HadamardSketch,
    HeavyHitters,
    KaryResponse,
    Memoized,
    Rappor,
    Server,
    SquareWave,
    Tally,
    UnaryEncoding,
)

SOURCE = Path(__file__).parent.parent.parent / "src"

MOVED = {
    "discreet.local": "Candidate Channel Choice Form",
    "discreet.local.heavy": "Found HeavyClient HeavyHitters find_words heavy_influence",
    "discreet.local.histories": "Histories hold_alike price_of_kept",
    "discreet.local.longitudinal": "BitFlipClient BitFlipEstimates BitFlips KeptAnswers "
    "estimate_buckets",
    "discreet.local.longitudinal.accounts": "RoundsPrice fresh_price kept_price prices_over_time "
    "rappor_price",
    "discreet.local.numeric": "Histogram MeanEstimate NumericClient SquareWave SquareWaveClient "
    "choose_numeric estimate_mean reconstruct",
    "discreet.local.rappor": "DiscoveryClient RapporClient",
    "discreet.local.rappor.decoding": "Correction RapporEstimates decode",
    "discreet.local.rappor.finding": "discover",
    "discreet.local.shuffle": "shuffled_epsilon shuffled_epsilon_2021 shuffled_epsilon_closed "
    "shuffled_epsilon_closed_2021 shuffled_event",
    "discreet.local.sketches": "SketchClient SketchEstimates estimate_words sketch_influence",
    "discreet.local.tallies": "Tally check_counts",
}
STAYED = {
    "discreet.local.collector": "Collector",
    "discreet.local.numeric": "Duchi Hybrid Piecewise",
    "discreet.local.rappor": "Discovery Rappor",
    "discreet.local.sketches": "CountMeanSketch HadamardSketch",
}


def old(path: str) -> Any:
    """Return what an old path names, and require its warning."""
    module, _, name = path.rpartition(".")
    with pytest.warns(DeprecationWarning, match=f"{path} is deprecated, use discreet.local"):
        return getattr(import_module(module), name)


@pytest.mark.parametrize(
    "path", [f"{module}.{name}" for module, names in MOVED.items() for name in names.split()]
)
def test_an_old_name_works_and_warns(path: str) -> None:
    assert old(path) is not None


@pytest.mark.parametrize(
    "path", [f"{module}.{name}" for module, names in STAYED.items() for name in names.split()]
)
def test_names_that_stay_do_not_warn(path: str) -> None:
    module, _, name = path.rpartition(".")
    assert getattr(import_module(module), name) is not None


def test_old_modules_give_all_their_names_to_a_star() -> None:
    for module, names in MOVED.items():
        if module != "discreet.local":
            found: dict[str, Any] = {}
            with pytest.warns(DeprecationWarning, match="is deprecated, use discreet.local"):
                exec(f"from {module} import *", found)  # noqa: S102 - what old programs wrote
            assert found.keys() >= set(names.split())


@pytest.mark.parametrize("statement", ["import {0}", "import {0} as m", "from {0} import {1}"])
def test_old_modules_are_imported_in_a_fresh_process(statement: str) -> None:
    use = {"import {0}": "{0}.{1}", "import {0} as m": "m.{1}", "from {0} import {1}": "{1}"}
    names = {module: MOVED[module].split()[0] for module in MOVED}
    lines = [f"{statement}\n{use[statement]}".format(*each) for each in names.items()]
    done = subprocess.run(  # noqa: S603 - a program of ours
        [sys.executable, "-W", "always", "-c", "\n".join(lines)],
        capture_output=True,
        text=True,
        check=False,
        env={"PYTHONPATH": str(SOURCE)},
    )
    assert done.returncode == 0, done.stderr
    for module, name in names.items():
        assert f"{module}.{name} is deprecated" in done.stderr


def test_names_that_never_were_are_no_names() -> None:
    for module in ("discreet.local", "discreet.local.numeric", "discreet.local.shuffle"):
        with pytest.raises(AttributeError, match="nothing"):
            import_module(module).nothing  # noqa: B018 - it is looked up


def test_old_clients_are_the_client() -> None:
    clients: dict[str, tuple[Any, object]] = {
        "numeric.NumericClient": (Duchi(epsilon=1), 0.5),
        "numeric.SquareWaveClient": (SquareWave(epsilon=1), 0.5),
        "sketches.SketchClient": (HadamardSketch(epsilon=1), "word"),
        "heavy.HeavyClient": (HeavyHitters(epsilon=1), "word"),
        "rappor.RapporClient": (Rappor(), "text"),
        "rappor.DiscoveryClient": (Discovery(Rappor()), "text"),
        "longitudinal.BitFlipClient": (BitFlips(epsilon=1, buckets=4), 1),
    }
    for path, (mechanism, value) in clients.items():
        client = old(f"discreet.local.{path}")(mechanism)
        assert isinstance(client, Client)
        Server(mechanism).add(client.report(value))
        assert len(client.report_many([value])) == 1


def test_kept_answers_are_memoized_ones() -> None:
    make = old("discreet.local.longitudinal.KeptAnswers")
    mechanism = KaryResponse(epsilon=1, categories=1000)
    person = make(Client(mechanism))
    first = person.report(7)
    assert person.report(7) == first
    assert person.price == 1
    again = make.from_json(Client(mechanism), person.to_json())
    assert again.report(7) == first
    assert Client.from_json(Memoized(mechanism), person.to_json()).report(7) == first
    with pytest.raises(ReportError, match="does not belong"):
        make.from_json(Client(KaryResponse(epsilon=2, categories=1000)), person.to_json())
    with pytest.raises(ParameterError, match="client must be"):
        make(mechanism)


def test_a_rappor_client_can_be_given_its_cohort() -> None:
    make = old("discreet.local.rappor.RapporClient")
    client = make(Rappor(), cohort=5)
    assert client.cohort == 5
    assert client.report("text")[8:10] == bytes([5, 0])
    assert make.from_json(Rappor(), client.to_json()).cohort == 5


def test_old_estimates_are_those_of_the_server() -> None:
    """The same tally gives the same numbers by the old function and by the new method."""
    values: dict[str, tuple[Any, Any, dict[str, Any], dict[str, Any]]] = {
        "numeric.estimate_mean": (Duchi(epsilon=1), 0.5, {"confidence": 0.9}, {"confidence": 0.9}),
        "numeric.reconstruct": (SquareWave(epsilon=1), 0.5, {"smooth": True}, {"smooth": True}),
        "sketches.estimate_words": (
            HadamardSketch(epsilon=4),
            "word",
            {"words": ["word", "other"]},
            {"words": ["word", "other"]},
        ),
        "heavy.find_words": (HeavyHitters(epsilon=8, length=4), "word", {"most": 5}, {"most": 5}),
        "rappor.decoding.decode": (
            Rappor(),
            "text",
            {"texts": ["text", "other"], "level": 0.01},
            {"texts": ["text", "other"], "confidence": 0.99},
        ),
        "rappor.finding.discover": (
            Discovery(Rappor(cohorts=4), alphabet="ab", length=3),
            "aba",
            {"level": 0.05},
            {},
        ),
        "longitudinal.estimate_buckets": (BitFlips(epsilon=1, buckets=4), 2, {}, {}),
    }
    for path, (mechanism, value, before, now) in values.items():
        server: Any = Server(mechanism)
        server.add(Client(mechanism).report_many([value] * 4000))
        found = old(f"discreet.local.{path}")(server.tally, **before)
        assert np.array_equal(flat(found), flat(server.estimate(**now)))


def flat(estimate: Any) -> Any:
    """Return the numbers of an estimate."""
    names = ("mean", "shares", "counts", "low", "high")
    found = [np.atleast_1d(getattr(estimate, each)) for each in names if hasattr(estimate, each)]
    return np.concatenate(found) if found else estimate


def test_old_spellings_of_methods_work_and_warn() -> None:
    with pytest.warns(DeprecationWarning, match="use UnaryEncoding.optimized"):
        mechanism = UnaryEncoding.optimised(epsilon=1, categories=4)
    assert mechanism == UnaryEncoding(epsilon=1, categories=4, form="optimized")
    server = Server(mechanism)
    server.add(Client(mechanism).report_many([1, 2]))
    with pytest.warns(DeprecationWarning, match="use Server.support_counts"):
        assert server.spoken_for().tolist() == server.support_counts().tolist()
    assert isinstance(server.tally, Tally)
