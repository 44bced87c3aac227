"""What is not used is not loaded: a fresh process, before and after a first answer."""

import subprocess
import sys
from pathlib import Path

import pytest

NEVER = (
    *("scipy", "pandas", "polars", "matplotlib", "pyspark", "psycopg", "IPython"),
    *("fastapi", "starlette", "uvicorn", "pydantic", "httpx", "mcp", "typer", "prompt_toolkit"),
    *("pyarrow.compute", "pyarrow.parquet", "pyarrow.fs", "pyarrow.dataset"),
    *("sqlglot.dialects.postgres", "sqlglot.dialects.bigquery", "sqlglot.dialects.spark"),
    *("discreet.engines.postgresql", "discreet.engines.spark", "discreet.engines.generated"),
    *("discreet.attacks", "discreet.audit", "discreet.local", "discreet.streams", "discreet.cli"),
    *("discreet.server", "discreet.client", "discreet.magics", "discreet.dbapi", "discreet.agents"),
    *("discreet.series.series", "discreet.utility.channels", "discreet.utility.guessing"),
    *("discreet.plots.figure", "discreet.plots.answers", "discreet.ledger.postgres"),
    *("discreet.accounting.pld", "discreet.accounting.rdp"),
    *("discreet.mechanisms.sparse_vector", "discreet.mechanisms.noisy_max"),
)
"""Libraries, dialects and theory that neither opening a CSV file nor counting its rows needs."""

OPEN = "import sys, discreet; discreet.open"

ASK = """
visits = discreet.open({file!r}, unit="patient_id", bounds={{"age": (0, 120)}},
    values={{"region": ["north", "south"]}}, epsilon=3, delta=1e-6)
answer = visits.ask(
    "SELECT region, COUNT(*) AS visits, AVG(age) AS age FROM visits GROUP BY region", epsilon=0.5)
assert len(answer.rows) == 2
str(answer)
"""

TELL = f"\nprint(*[each for each in {NEVER!r} if each in sys.modules])"


def alone(code: str) -> str:
    """Return what a fresh interpreter prints."""
    run = subprocess.run(  # noqa: S603 - our own code
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    return run.stdout.strip()


@pytest.fixture
def file(tmp_path: Path) -> str:
    rows = "".join(f"{each},{each % 90},{('north', 'south')[each % 2]}\n" for each in range(1000))
    path = tmp_path / "visits.csv"
    path.write_text(f"patient_id,age,region\n{rows}")
    return str(path)


def test_what_must_not_be_loaded_exists() -> None:
    """A name that is misspelt or gone would never be loaded: each of ours can be."""
    code = "; ".join(f"import {each}" for each in NEVER if each.startswith("discreet."))
    assert alone(f"{code}; print('all')") == "all"


def test_open_loads_what_opening_a_file_needs(file: str) -> None:
    assert alone(OPEN + TELL) == ""
    assert alone(OPEN + ASK.format(file=file) + TELL) == ""


@pytest.mark.parametrize(
    ("use", "loaded"),
    [
        ("from discreet.accounting import pld_epsilon", "scipy"),
        ("from discreet.plots import plot_bars", "discreet.plots.distributions"),
        ("from discreet.mechanisms import Sparse", "discreet.mechanisms.sparse_vector"),
        ("import discreet.utility as u; u.Channel", "discreet.utility.channels"),
        ("from discreet.ledger import PostgresLedger", "discreet.ledger.postgres"),
        ("from discreet import engines; engines.spark", "discreet.engines.spark"),
        ("from discreet import on_use; on_use.special.ndtr(0)", "scipy.special"),
    ],
)
def test_what_is_used_is_loaded(use: str, loaded: str) -> None:
    assert alone(f"import sys; {use}; print({loaded!r} in sys.modules)") == "True"


@pytest.mark.parametrize(
    "package", ["accounting", "mechanisms", "plots", "utility", "streams", "explanation", "series"]
)
def test_a_name_that_a_package_does_not_have_is_an_error(package: str) -> None:
    code = f"import discreet.{package} as p; print(hasattr(p, 'nothing'), all(hasattr(p, n) "
    assert alone(f"{code} for n in p.__all__))") == "False True"
