"""Tables in a real Spark, for tests."""

from collections.abc import Mapping

import pyarrow as pa

from discreet.engines.base import LIMITS, ResourceLimits
from discreet.engines.spark import SparkEngine
from tests.spark import shared_session


def spark_engine(tables: Mapping[str, pa.Table], *, limits: ResourceLimits = LIMITS) -> SparkEngine:
    """Return an engine of tables that were handed over."""
    return SparkEngine.open(shared_session(), tables, limits=limits)
