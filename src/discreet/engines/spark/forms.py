"""What forms of tables look like in Spark: layers of Parquet files, kept rows apart from others."""

# ruff: noqa: S608 - names are quoted and values are numbers

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet.engines.spark.dialect import SPARK
from discreet.engines.writer import UNIT, column_name, write_rows
from discreet.query.tree import Scan

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

VOID = ".void"
"""Ends the name of the list of units and layers whose kept rows do not count any more."""


def rows_of(scan: Scan) -> str:
    """Return all rows as u, c0, c1, ...; names of columns may be what no file has."""
    columns = [SPARK.quoted(column_name(each.name)) for each in scan.table.columns]
    listed = [f"{UNIT} AS u", *(f"{each} AS c{number}" for number, each in enumerate(columns))]
    return f'SELECT {", ".join(listed)} FROM ({write_rows(scan, SPARK)}) AS "__rows"'


def ranked(columns: Sequence[str]) -> str:
    """Return the place of a row in the order of its unit.

    The unit is part of the hash: units with like rows would else all lose the same ones.
    """
    order = SPARK.ordered([SPARK.hash_of(["'discreet'", "u", *columns]), *columns])
    return f"row_number() OVER (PARTITION BY u ORDER BY {order})"


def read_form(session: "SparkSession", folder: Path, told: Mapping[str, Any]) -> "DataFrame":
    """Return all rows that were written; those that are kept lie apart, to be read alone."""
    fields = json.loads(told["schema"])
    schema = type(session.range(0).schema).fromJson(fields).add("layer", "integer")
    return session.read.schema(schema).parquet(address(folder))


def kept_rows(session: "SparkSession", folder: Path, told: Mapping[str, Any]) -> "DataFrame":
    """Return the rows that are kept now: of some units only those of later layers."""
    kept, void = read_form(session, folder, told).where("kept"), folder.with_suffix(VOID)
    if not void.is_dir():
        return kept
    gone = session.read.parquet(address(void)).hint("broadcast")
    return kept.join(gone, on=["u", "layer"], how="left_anti")


def layers_in(folder: Path) -> int:
    """Return how many layers were written."""
    return sum(1 for _ in folder.glob("layer=*"))


def number_in(frame: "DataFrame") -> int:
    """Return the one number of a frame."""
    ((number,),) = frame.collect()
    return int(number)


def address(folder: Path) -> str:
    """Return a folder as Spark names it."""
    return f"file://{folder.absolute()}"
