"""A real Spark for tests: one in a process, small, on this machine alone, silent."""

import atexit
import os
import shutil
import tempfile
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from discreet.engines.spark.addresses import take
from discreet.engines.spark.sessions import SILENCE
from tests.services import require_marker

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

DEFAULTS = """
spark.default.parallelism 1
spark.driver.bindAddress 127.0.0.1
spark.driver.host 127.0.0.1
spark.driver.memory 1g
spark.sql.adaptive.enabled false
spark.sql.catalogImplementation in-memory
spark.sql.codegen.factoryMode NO_CODEGEN
spark.sql.codegen.wholeStage false
spark.sql.shuffle.partitions 1
spark.sql.warehouse.dir {folder}/warehouse
"""
"""Small tables are computed sooner than code for them is made; a cluster's tests make the code."""

AT = "local[1]"

ENDLESS = "SELECT count(*) FROM range(1000000000000) AS a WHERE hash(id) = 7"

QUICK_JAVA = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"


def configure(defaults: str = DEFAULTS) -> dict[str, str]:
    """Return what lets a Spark that is started be small, and reachable from here alone."""
    folder = Path(tempfile.mkdtemp(prefix="discreet-spark-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    (folder / "spark-defaults.conf").write_text(defaults.format(folder=folder), encoding="ascii")
    (folder / "log4j2.properties").write_text(SILENCE, encoding="ascii")
    return {
        "SPARK_CONF_DIR": str(folder),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_SUBMIT_OPTS": QUICK_JAVA,
    }


def shared_session() -> "SparkSession":
    """Return a session that all tests of this process share; it ends with the process."""
    require_marker("spark")
    return _started()


@cache
def _started() -> "SparkSession":
    os.environ.update(configure())
    return take(AT)
