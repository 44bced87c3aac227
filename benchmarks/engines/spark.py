"""Spark on this machine: two cores, 6 GB, its own settings; it reads the Parquet files."""

import os
import shutil
from pathlib import Path

from benchmarks.workloads.data import Site
from discreet.engines.spark.sessions import SILENCE

ADDRESS = "DISCREET_BENCH_SPARK"
"""The environment variable with the address of Spark, as the catalogs name it."""

AT = "local[2]"

DEFAULTS = """
spark.driver.bindAddress 127.0.0.1
spark.driver.host 127.0.0.1
spark.driver.memory 6g
spark.local.dir {folder}/local
spark.sql.catalogImplementation in-memory
spark.sql.warehouse.dir {folder}/warehouse
"""


def configure(folder: Path) -> None:
    """Let Spark that children start be ours: reachable from here alone, silent, of one size."""
    shutil.rmtree(folder / "local", ignore_errors=True)
    (folder / "local").mkdir(parents=True)
    (folder / "spark-defaults.conf").write_text(DEFAULTS.format(folder=folder), encoding="utf-8")
    (folder / "log4j2.properties").write_text(SILENCE, encoding="ascii")
    os.environ |= {
        ADDRESS: AT,
        "SPARK_CONF_DIR": str(folder),
        "SPARK_LOCAL_IP": "127.0.0.1",
    }


def catalogs(site: Site) -> tuple[Path, Path]:
    """Write two catalogs of the files: prepared, and each query by itself."""
    source = f'\n[source]\nengine = "env:{ADDRESS}"\ntimeout = 3600\n'
    text = site.catalog.read_text(encoding="utf-8") + source
    for file in (site.visits, site.patients):
        text = text.replace(f'"{file.name}"', f'"{file.absolute()}"')
    once, each_query = (site.folder / f"spark{each}.toml" for each in ("", "-per-query"))
    once.write_text(text, encoding="utf-8")
    each_query.write_text(f'{text}row_choice = "per-query"\n', encoding="utf-8")
    return once, each_query
