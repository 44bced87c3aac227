"""Finds the engine for an address."""

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING

from discreet.catalog.sources import is_spark
from discreet.engines.base import Holder
from discreet.engines.connection import LIMITS, Limits
from discreet.engines.forms import Form
from discreet.engines.loading import Kinds, Source
from discreet.engines.postgresql import PostgreSqlEngine
from discreet.engines.postgresql.preparing import forget_forms
from discreet.engines.postgresql.sessions import Sessions
from discreet.engines.spark import SparkEngine
from discreet.engines.spark.forms import forget_files

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def open_engine(  # noqa: PLR0913 - each is a thing that differs from opening to opening
    address: "str | SparkSession",
    tables: Mapping[str, Source],
    *,
    public: Collection[str] = (),
    kinds: Mapping[str, Kinds] | None = None,
    form: Form | None = None,
    limits: Limits = LIMITS,
) -> Holder:
    """Return the engine at an address, with tables as it calls them by their names in queries.

    It reads the prepared form of the tables, if there is one that is of the data as they are now.
    """
    if isinstance(address, str) and not is_spark(address):
        named = {name: str(each) for name, each in tables.items()}
        return PostgreSqlEngine.open(address, named, form=form, limits=limits)
    return SparkEngine.open(address, tables, kinds=kinds, public=public, form=form, limits=limits)


def forget_forms_at(address: str, form: Form, limits: Limits = LIMITS) -> bool:
    """Remove the prepared forms of tables at an address; return whether there were any."""
    if is_spark(address):
        return forget_files(form)
    sessions = Sessions(address, limits)
    try:
        return forget_forms(sessions, form)
    finally:
        sessions.close()
