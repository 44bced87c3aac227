"""Sessions and data frames of Spark, recognized without loading anything of Spark."""

from typing import TYPE_CHECKING, TypeAlias, TypeGuard

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

SparkFrame: TypeAlias = "DataFrame"
Session: TypeAlias = "SparkSession"
"""For whoever speaks of them and does not load pyspark."""


def is_frame(source: object) -> TypeGuard["DataFrame"]:
    """Return whether it is a data frame of Spark; loads nothing."""
    kind = type(source)
    return kind.__module__.startswith("pyspark.sql.") and kind.__name__ == "DataFrame"


def is_session(source: object) -> TypeGuard["SparkSession"]:
    """Return whether it is a session of Spark; loads nothing."""
    kind = type(source)
    return kind.__module__.startswith("pyspark.sql.") and kind.__name__ == "SparkSession"
