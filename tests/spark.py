"""A real Spark for tests: one in a process, small, on this machine alone, silent."""

import os
import tempfile
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from discreet.engines.spark.sessions import SILENCE, take

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

DEFAULTS = """
spark.default.parallelism 2
spark.driver.bindAddress 127.0.0.1
spark.driver.host 127.0.0.1
spark.driver.memory 1g
spark.sql.adaptive.enabled false
spark.sql.shuffle.partitions 2
spark.sql.catalogImplementation in-memory
spark.sql.warehouse.dir {folder}/warehouse
"""

AT = "local[2]"


def configure() -> None:
    """Let every Spark that is started from here be small, and reachable from here alone."""
    folder = Path(tempfile.mkdtemp(prefix="discreet-spark-"))
    (folder / "spark-defaults.conf").write_text(DEFAULTS.format(folder=folder), encoding="ascii")
    (folder / "log4j2.properties").write_text(SILENCE, encoding="ascii")
    os.environ.update(SPARK_CONF_DIR=str(folder), SPARK_LOCAL_IP="127.0.0.1")


@cache
def shared_session() -> "SparkSession":
    """Return a session that all tests of this process share; it ends with the process."""
    configure()
    return take(AT)
