"""The device half in a process of its own: what it loads, and that NumPy is all it needs."""

import os
import subprocess
import sys
from pathlib import Path
from shutil import copy, copytree, ignore_patterns

import pytest

ROOT = Path(__file__).parent.parent.parent

DEVICE = """
import sys
from discreet.local import (
    BitFlips, Client, CountMeanSketch, Discovery, Duchi, HadamardResponse, HadamardSketch,
    HeavyHitters, Hybrid, KaryResponse, LocalHashing, Memoized, Piecewise, Rappor, Reports,
    SquareWave, SubsetSelection, UnaryEncoding, fingerprint,
)
oracles = HadamardResponse, KaryResponse, LocalHashing, SubsetSelection, UnaryEncoding
held = {make(epsilon=1, categories=10): 3 for make in oracles}
held |= {make(epsilon=1): 0.5 for make in (Duchi, Piecewise, Hybrid, SquareWave)}
held |= {make(epsilon=1): "word" for make in (CountMeanSketch, HadamardSketch, HeavyHitters)}
held |= {Rappor(): "text", Discovery(Rappor()): "text", BitFlips(epsilon=1, buckets=4): 2}
held |= {Memoized(KaryResponse(epsilon=1, categories=10)): 3}
for mechanism, value in held.items():
    client = Client(mechanism)
    report = client.report(value)
    made_by = mechanism.mechanism if isinstance(mechanism, Memoized) else mechanism
    assert len(Reports.from_bytes(made_by, report)) == 1
    assert report[:8] == fingerprint(made_by)
    assert Client.from_json(mechanism, client.to_json()).price == client.price > 0
tops = {name.split(".")[0] for name in sys.modules}
others = tops - sys.stdlib_module_names - {"__mp_main__", "discreet", "numpy"} - BEFORE
ours = {
    name.split(".")[1]
    for name, module in sys.modules.items()
    if name.startswith("discreet.") and module.__spec__ is not None  # a moved module has none
}
server = {"server", "prices", "registry", "collector", "rappor_decoding", "old_names"}
loaded = {each for each in server if f"discreet.local.{each}" in sys.modules}
print(sorted(others), sorted(ours), sorted(loaded), "sqlite3" in sys.modules)
"""
"""It prints third parties but NumPy, our packages, modules of the server's half, and SQLite."""

ONLY_NUMPY = (
    "[] ['deprecated', 'error_text', 'errors', 'local', 'noise', 'notebook', 'on_use', "
    "'parameters'] [] False"
)
BEFORE = "import sys\nBEFORE = {name.split('.')[0] for name in sys.modules}\n"


def run(python: Path | str, code: str) -> str:
    """Run code in a fresh process with the given interpreter and return its output."""
    outside = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    path = {"PYTHONPATH": str(ROOT / "src")} if str(python) == sys.executable else {}
    done = subprocess.run(  # noqa: S603 - a program of ours
        [str(python), "-c", code],
        capture_output=True,
        text=True,
        check=False,
        env=outside | path,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_a_device_loads_numpy_and_our_ground_only() -> None:
    """SciPy, DuckDB, PyArrow, sqlglot and the accountants are the server's."""
    assert run(sys.executable, BEFORE + DEVICE) == ONLY_NUMPY


@pytest.mark.parametrize("name", ["KaryResponse", "Duchi", "CountMeanSketch"])
def test_a_name_loads_only_what_it_needs(name: str) -> None:
    code = f"import sys; from discreet.local import {name}"
    assert run(sys.executable, f"{code}; print('discreet.local.rappor' in sys.modules)") == "False"


@pytest.mark.slow
def test_a_device_needs_no_package_but_numpy(tmp_path: Path) -> None:
    """In a new environment with NumPy and this package, installed without its dependencies."""
    subprocess.run(  # noqa: S603 - our own interpreter
        [sys.executable, "-m", "venv", "--without-pip", str(tmp_path / "device")], check=True
    )
    python = tmp_path / "device" / "bin" / "python"
    pip = [sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet"]
    package = tmp_path / "package"
    copytree(ROOT / "src", package / "src", ignore=ignore_patterns("*.egg-info", "__pycache__"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        copy(ROOT / name, package / name)
    for packages in (["numpy"], ["--no-deps", str(package)]):
        subprocess.run([*pip, *packages], check=True)  # noqa: S603 - our own interpreter
    assert run(python, BEFORE + DEVICE) == ONLY_NUMPY
    missing = "import importlib.util as u; print(u.find_spec('scipy'), u.find_spec('duckdb'))"
    assert run(python, missing) == "None None"
