"""Which engine an address means."""

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING

from discreet.catalog.addresses import is_spark
from discreet.engines.base import Holder
from discreet.engines.connection import LIMITS, Limits
from discreet.engines.loading import Kinds, Source
from discreet.engines.postgresql import PostgreSqlEngine
from discreet.engines.spark import SparkEngine

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def open_engine(
    address: "str | SparkSession",
    tables: Mapping[str, Source],
    *,
    public: Collection[str] = (),
    kinds: Mapping[str, Kinds] | None = None,
    limits: Limits = LIMITS,
) -> Holder:
    """Return the engine at an address, with tables as it calls them by their names in questions."""
    if isinstance(address, str) and not is_spark(address):
        named = {name: str(each) for name, each in tables.items()}
        return PostgreSqlEngine.open(address, named, limits=limits)
    return SparkEngine.open(address, tables, kinds=kinds, public=public, limits=limits)
