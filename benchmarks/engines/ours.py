"""The workloads on a server, by discreet and as plain SQL: `python -m benchmarks.engines.ours`.

The first argument is the engine and the way, the others are those of every child.
"""

import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import psycopg

import discreet
from benchmarks.engines import postgresql, spark
from benchmarks.engines.systems import POSTGRESQL, SPARK
from benchmarks.workloads.child import Asking, Meter, Opening, serve
from benchmarks.workloads.data import Site
from benchmarks.workloads.ours import PER_QUERY, PREPARED, RAW, asked
from benchmarks.workloads.questions import BY_NAME, Workload
from discreet.catalog import RowChoice
from discreet.curator import Curator
from discreet.engines.spark.addresses import take

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Connection: TypeAlias = "psycopg.Connection[Any]"


def open_postgresql(folder: Path, rows: int) -> Connection:
    """Return a connection to the tables, with the server's own settings, for plain SQL."""
    schema = postgresql.schema_of(Site(folder=folder, rows=rows))
    connection = psycopg.connect(os.environ[postgresql.ADDRESS], autocommit=True)
    connection.execute(f"SET search_path TO {schema}")
    return connection


def open_spark(folder: Path, rows: int) -> "SparkSession":
    """Return a session with the files as views, for plain SQL."""
    site, session = Site(folder=folder, rows=rows), take(os.environ[spark.ADDRESS])
    for file in (site.visits, site.patients):
        session.read.parquet(str(file)).createOrReplaceTempView(file.stem)
    return session


def asked_postgresql(workload: Workload) -> Asking[Connection]:
    sql = postgresql.plain_sql(workload.sql)

    def ask(connection: Connection, number: int) -> list[tuple[object, ...]]:
        del number
        with connection.cursor(binary=True) as cursor:
            return cursor.execute(sql).fetchall()

    return ask


def asked_spark(workload: Workload) -> "Asking[SparkSession]":
    def ask(session: "SparkSession", number: int) -> list[tuple[object, ...]]:
        del number
        return [tuple(row) for row in session.sql(workload.sql).collect()]

    return ask


def opening(catalogs: Callable[[Site], tuple[Path, Path]], way: str) -> Opening[Curator]:
    """Return what opens the catalog of a way; its books end with the curator."""

    def open_catalog(folder: Path, rows: int) -> Curator:
        once, each_query = catalogs(Site(folder=folder, rows=rows))
        wanted = once if way == PREPARED else each_query
        curator = discreet.open(wanted, ledger=":memory:")
        if (curator.catalog.source.row_choice is RowChoice.ONCE) != (way == PREPARED):
            curator.close()
            raise RuntimeError(f"the tables of {wanted.name} are not prepared")
        return curator

    return open_catalog


CATALOGS: Mapping[str, Callable[[Site], tuple[Path, Path]]] = {
    POSTGRESQL: postgresql.catalogs,
    SPARK: spark.catalogs,
}


def main() -> None:
    engine, _, way = sys.argv.pop(1).partition(":")
    meter = _server_meter() if engine == POSTGRESQL else None
    if way in (PER_QUERY, PREPARED):
        ours = {name: asked(each) for name, each in BY_NAME.items()}
        serve(opening(CATALOGS[engine], way), ours, meter=meter)
    elif way == RAW and engine == POSTGRESQL:
        raw = {name: asked_postgresql(each) for name, each in BY_NAME.items()}
        serve(open_postgresql, raw, meter=meter)
    elif way == RAW:
        serve(open_spark, {name: asked_spark(each) for name, each in BY_NAME.items()})


def _server_meter() -> Meter:
    return postgresql.ServerMeter(int(os.environ[postgresql.POSTMASTER])).meter


if __name__ == "__main__":
    main()
