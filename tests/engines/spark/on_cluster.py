"""Ask a cluster of Spark some of the contract's questions; run by a test, in a process of its own.

Called with the cluster's address. Exits with an error if an exact table differs from DuckDB's.
"""

import sys
import tempfile
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

import discreet
from discreet.engines.spark import SparkEngine
from tests.attacks.clinic import tables
from tests.engines.corpus import QUESTIONS, exact, expected, plan_of

SOME = 20
"""Of so many questions one is asked."""


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
        catalog = Path(folder) / "discreet.toml"
        catalog.write_text(
            f'[budget]\nepsilon = 9\n[source]\nengine = "{address}"\n'
            '[tables.visits]\nfrom = "visits.parquet"\nunit = "patient_id"\n'
        )
        with discreet.open(catalog) as curator:
            curator.ask("SELECT COUNT(*) FROM visits", epsilon=5)
        engine.close()


if __name__ == "__main__":
    main(sys.argv[1])
