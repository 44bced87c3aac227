"""Prepared tables in Spark: Parquet files in a folder, with the rows that are used apart.

Every unit's rows are ordered by a hash of the unit and their contents, then by the contents, so
that which of them count follows from the unit's own rows alone. A form lies in a folder of its own,
named by its key: who opened one never reads another. It is whole when the file that says so is
there, which is written last.
"""

# ruff: noqa: S608 - names are quoted and values are numbers

import json
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from discreet.engines.base import PreparedTables, Progress, Scans, log
from discreet.engines.duckdb.copies import alone, is_private, make_private
from discreet.engines.spark.conditions import with_our_names
from discreet.engines.spark.dialect import SPARK
from discreet.engines.spark.sessions import failures, silent
from discreet.engines.spark.tables import Registered
from discreet.engines.writer import ABOUT, EVERY, KEPT, UNIT, column_name, write_rows
from discreet.errors import SourceError
from discreet.query.tree import Scan

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


WHOLE = "whole.json"
"""The file that a form has when it is whole: of each table its units, columns and types."""


MARK = 16
"""How many digits of its key name a form's folder."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundForm:
    """What there is of a form when tables are opened."""

    is_usable: bool = False
    is_outdated: bool = False


NOTHING = FoundForm()


def found_form(
    session: "SparkSession", form: PreparedTables | None, tables: Mapping[str, Registered]
) -> FoundForm:
    """Let queries read the form of the data as they are now, if there is one."""
    if form is None or form.place is None or not form.place.is_dir():
        return NOTHING
    if not is_private(form.place):
        log.warning("a prepared form is not used: others than its user may write or read it")
        return NOTHING
    folder = _folder(form.place, form, tables)
    if folder is None or not (folder / WHOLE).is_file():
        return FoundForm(is_outdated=any(form.place.glob(f"*/{WHOLE}")))
    with _told():
        _show(session, folder, json.loads((folder / WHOLE).read_text(encoding="utf-8")))
    return FoundForm(is_usable=True)


def make_form(
    session: "SparkSession",
    form: PreparedTables,
    scans: Scans,
    tables: Mapping[str, Registered],
    progress: Progress | None,
) -> bool:
    """Write a form, or go on writing it; return False if it was there, or raise SourceError."""
    if form.place is None:
        raise SourceError(
            "Tables without a catalog file cannot be prepared", "Write a catalog file"
        )
    folder = _folder(form.place, form, tables)
    if folder is None:
        raise SourceError(
            "A table without files cannot be prepared, because its changes would not be seen",
            "Write it to Parquet files",
        )
    if (folder / WHOLE).is_file():
        return False
    with alone(form.place), _told():
        make_private(form.place)
        folder.mkdir(mode=0o700, exist_ok=True)
        told = {
            scan.table.name: _table(session, folder / str(number), scan, progress)
            for number, scan in enumerate(scans)
        }
        _write(folder / WHOLE, told)
        for other in set(form.place.iterdir()) - {folder}:
            shutil.rmtree(other)
    return True


def forget_files(form: PreparedTables) -> bool:
    """Remove all forms of a folder; return whether there were any."""
    if form.place is None or not form.place.is_dir():
        return False
    with alone(form.place):
        shutil.rmtree(form.place)
    form.place.with_name(f"{form.place.name}.lock").unlink(missing_ok=True)
    return True


def _folder(place: Path, form: PreparedTables, tables: Mapping[str, Registered]) -> Path | None:
    """Return where the form of the data as they are now is, if their state is known."""
    found = {name.casefold(): each.state for name, each in tables.items()}
    states = [found[name.casefold()] for name in sorted(form.tables)]
    return None if None in states else place / form.key(repr(states))[:MARK]


def _table(
    session: "SparkSession", target: Path, scan: Scan, progress: Progress | None
) -> dict[str, Any]:
    """Write the form of a table, unless it is there; return what is told of it."""
    done, name = target.with_suffix(".json"), scan.table.name
    if done.is_file():
        found: dict[str, Any] = json.loads(done.read_text(encoding="utf-8"))
        return found
    if progress is not None:
        progress(name, 0, 1)
    frame = session.sql(with_our_names(_ranked(scan)))
    frame.write.mode("overwrite").partitionBy("kept").parquet(_address(target))
    told: dict[str, Any] = {
        "folder": target.name,
        "columns": [column_name(each.name) for each in scan.table.columns],
        "schema": frame.schema.json(),
    }
    written = _read(session, target, told)
    rows = f'SELECT count(*) FROM ({write_rows(scan, SPARK)}) AS "__all"'
    if written.count() != _number(session.sql(with_our_names(rows))):
        raise SourceError(
            "The files that Spark wrote next to the catalog cannot be read",
            "Put the catalog where all machines of the cluster can reach it",
        )
    told["units"] = _number(written.where("kept").selectExpr("count(DISTINCT u)"))
    _write(done, told)
    if progress is not None:
        progress(name, 1, 1)
    return told


def _ranked(scan: Scan) -> str:
    """Return all rows as u, c0, c1, ..., and whether they are kept; names may be what no file has.

    The unit is part of the hash: units with like rows would else all lose the same ones.
    """
    columns = [SPARK.quoted(column_name(each.name)) for each in scan.table.columns]
    listed = [f"{UNIT} AS u", *(f"{each} AS c{number}" for number, each in enumerate(columns))]
    names = [f"c{number}" for number in range(len(columns))]
    order = SPARK.ordered([SPARK.hash_of(["'discreet'", "u", *names]), *names])
    rank = f"row_number() OVER (PARTITION BY u ORDER BY {order})"
    rows = f'SELECT {", ".join(listed)} FROM ({write_rows(scan, SPARK)}) AS "__rows"'
    kept = f"{rank} <= {scan.table.rows_per_unit} AS kept"
    return f'SELECT {", ".join(["u", *names])}, {kept} FROM ({rows}) AS "__all"'


def _show(session: "SparkSession", folder: Path, told: Mapping[str, Any]) -> None:
    """Make views of what a form has, under the names by which statements call it."""
    for name, each in told.items():
        frame = _read(session, folder / each["folder"], each)
        named = ["u AS " + UNIT.replace('"', "`")]
        named += [f"c{n} AS {SPARK.quoted(column)}" for n, column in enumerate(each["columns"])]
        frame.selectExpr(*named).createOrReplaceTempView(SPARK.prepared(name, EVERY))
        kept = frame.where("kept").selectExpr(*named)
        kept.createOrReplaceTempView(SPARK.prepared(name, KEPT))
    units = {"name": list(told), "units": [each["units"] for each in told.values()]}
    counted = session.createDataFrame(pa.table(units))
    counted.createOrReplaceTempView(SPARK.prepared("parts", ABOUT))


def _read(session: "SparkSession", folder: Path, told: Mapping[str, Any]) -> "DataFrame":
    """Return all rows of a table; those that are kept lie apart, so that they are read alone."""
    fields = json.loads(told["schema"])
    schema = type(session.range(0).schema).fromJson(fields)
    return session.read.schema(schema).parquet(_address(folder))


def _number(frame: "DataFrame") -> int:
    ((number,),) = frame.collect()
    return int(number)


def _address(folder: Path) -> str:
    return f"file://{folder.absolute()}"


def _write(file: Path, told: object) -> None:
    """Write a file that is there as a whole or not at all, for its owner alone."""
    part = file.with_name(f"{file.name}.part")
    part.touch(mode=0o600)
    part.write_text(json.dumps(told), encoding="utf-8")
    part.replace(file)


@contextmanager
def _told() -> Iterator[None]:
    """Have Spark's own words in the owner's log, and fixed ones told."""
    try:
        with silent():
            yield
    except failures() as cause:
        log.warning("a prepared form could not be written or read", exc_info=cause)
        raise SourceError(
            "The prepared table could not be written or read",
            "The log discreet.engine has the cause",
        ) from None
