"""Ask a cluster of Spark some of the contract's questions; run by a test, in a process of its own.

Called with the cluster's address. Exits with an error if an exact table differs from DuckDB's. With
the word `idle` after the address, the cluster must be one without workers.
"""

import sys
import tempfile
from pathlib import Path
from unittest.mock import patch

import pyarrow as pa
import pyarrow.parquet as pq

import discreet
from discreet.engines.spark import SparkEngine
from discreet.errors import SourceError
from tests.attacks.clinic import tables
from tests.engines.corpus import QUESTIONS, exact, expected, plan_of

SOME = 20
"""Of so many questions one is asked."""


EXECUTORS = 2


def refuse_idle(address: str) -> None:
    """Open a catalog over a cluster that runs nothing; see that this is said, and not charged."""
    with tempfile.TemporaryDirectory() as folder:
        catalog = written(Path(folder), address)
        with patch("discreet.engines.spark.addresses.WORKS_WITHIN", 2.0):
            for _ in range(2):  # the Spark that was started for the first one is gone
                try:
                    discreet.open(catalog)
                except SourceError as error:
                    if f"Spark at {address} ran nothing within 2 seconds" not in str(error):
                        raise
                else:
                    raise SystemExit("a cluster without workers was opened")
        if catalog.with_suffix(".ledger").exists():
            raise SystemExit("a ledger was made for data that nobody opened")


def written(folder: Path, address: str) -> Path:
    """Return a catalog of a folder with two folders of files."""
    for year in (2023, 2024):
        place = folder / "visits" / f"year={year}"
        place.mkdir(parents=True)
        pq.write_table(tables()["visits"], place / "part-0.parquet")
    catalog = folder / "discreet.toml"
    catalog.write_text(
        f'[budget]\nepsilon = 9\n[source]\nengine = "{address}"\n'
        '[tables.visits]\nfrom = "visits/"\nunit = "patient_id"\nrows_per_unit = 50\n'
    )
    return catalog


def main(address: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        places: dict[str, str | pa.Table] = {"clinics": tables()["clinics"]}
        for name in ("visits", "patients", "prescriptions"):
            file = str(Path(folder) / f"{name}.parquet")
            pq.write_table(tables()[name], file)
            places[name] = file
        engine = SparkEngine.open(address, places, public=["clinics"])
        for sql in QUESTIONS[::SOME]:
            if exact(engine, plan_of(sql)) != expected(sql):
                raise SystemExit(f"the cluster has other numbers for {sql}")
        with discreet.open(written(Path(folder), address)) as curator:
            sql = "SELECT COUNT(*) AS n FROM visits WHERE year = 2024"
            curator.ask(sql, epsilon=5)
        executors = engine._session.sparkContext._jsc.sc().getExecutorMemoryStatus().size()
        if executors != EXECUTORS + 1:
            raise SystemExit(f"{executors - 1} executors ran, not {EXECUTORS}")
        engine.close()


if __name__ == "__main__":
    refuse_idle(sys.argv[1]) if sys.argv[2:] == ["idle"] else main(sys.argv[1])
