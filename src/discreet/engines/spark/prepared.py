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
from discreet.engines.duckdb.copied import is_private
from discreet.engines.duckdb.copies import alone, make_private
from discreet.engines.growth import Anew, CannotGrowError, MadeAnew, Told, tell_nobody
from discreet.engines.spark.conditions import with_our_names
from discreet.engines.spark.dialect import SPARK
from discreet.engines.spark.forms import (
    COUNTS,
    SINCE,
    address,
    kept_rows,
    number_in,
    ranked,
    read_counts,
    read_form,
    remove,
    rows_of,
)
from discreet.engines.spark.growing import Layer, OldForm
from discreet.engines.spark.sessions import failures, silent
from discreet.engines.spark.tables import Registered
from discreet.engines.writer import ABOUT, EVERY, KEPT, UNIT, column_name, write_rows
from discreet.errors import SourceError
from discreet.query.tree import Scan

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


WHOLE = "whole.json"
"""The file that a form has when it is whole: of each table its units, columns and types."""


NOTES = "notes.json"
"""The file that says of which files a form is, for when more of them come."""


LAYOUT = "layers by slots"
"""Part of the key, as is the version of Spark: how rows are told apart is not to differ."""


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
    folder = _folder(session, form.place, form, tables)
    if folder is None or not (folder / WHOLE).is_file():
        return FoundForm(is_outdated=any(form.place.glob(f"*/{WHOLE}")))
    with _told():
        _show(session, folder, json.loads((folder / WHOLE).read_text(encoding="utf-8")))
    return FoundForm(is_usable=True)


def make_form(  # noqa: PLR0913, PLR0917 - what is made, of what, and who hears of it
    session: "SparkSession",
    form: PreparedTables,
    scans: Scans,
    tables: Mapping[str, Registered],
    progress: Progress | None,
    told: Told = tell_nobody,
) -> bool:
    """Write a form, let one grow, or go on; return False if it was there, or raise SourceError."""
    if form.place is None:
        raise SourceError(
            "Tables without a catalog file cannot be prepared", "Write a catalog file"
        )
    folder = _folder(session, form.place, form, tables)
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
        layer = _layer(session, form, form.place, folder, tables, told)
        made = {
            scan.table.name: _table(session, folder / str(number), scan, layer, progress, told)
            for number, scan in enumerate(scans)
        }
        _write(folder / NOTES, _notes(session, form, tables))
        _write(folder / WHOLE, made)
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


def _folder(
    session: "SparkSession", place: Path, form: PreparedTables, tables: Mapping[str, Registered]
) -> Path | None:
    """Return where the form of the data as they are now is, if their state is known."""
    found = {name.casefold(): each.state for name, each in tables.items()}
    states = [found[name.casefold()] for name in sorted(form.tables)]
    key = form.key(repr([LAYOUT, session.version, states]))
    return None if None in states else place / key[:MARK]


def _table(  # noqa: PLR0913, PLR0917 - what is made, of what, and who hears of it
    session: "SparkSession",
    target: Path,
    scan: Scan,
    layer: Layer | None,
    progress: Progress | None,
    told: Told,
) -> dict[str, Any]:
    """Write the form of a table, unless it is there; return what is told of it."""
    done = target.with_suffix(".json")
    if done.is_file():
        found: dict[str, Any] = json.loads(done.read_text(encoding="utf-8"))
        return found
    made = None
    if layer is not None:
        try:
            made = layer.add(target, scan, progress)
        except CannotGrowError as cause:
            told(MadeAnew(reason=cause.reason, table=scan.table.name))
            _clear(target)
    made = made or _made(session, target, scan, progress)
    _write(done, made)
    return made


def _clear(target: Path) -> None:
    """Remove what was written of a table, with layers that a growth left when it was killed."""
    remove(target, *(target.with_suffix(each) for each in (SINCE, COUNTS, ".work")))


def _made(
    session: "SparkSession", target: Path, scan: Scan, progress: Progress | None
) -> dict[str, Any]:
    """Write the form of all rows of a table; return what is told of it."""
    name = scan.table.name
    if progress is not None:
        progress(name, 0, 1)
    frame = session.sql(with_our_names(_ranked(scan)))
    _clear(target)
    first = address(target / "layer=0")
    frame.write.mode("overwrite").partitionBy("kept").parquet(first)
    told: dict[str, Any] = {
        "folder": target.name,
        "columns": [column_name(each.name) for each in scan.table.columns],
        "schema": frame.schema.json(),
        "counted": 1,
        "moved": 0,
    }
    written = read_form(session, target, told)
    rows = f'SELECT count(*) FROM ({write_rows(scan, SPARK)}) AS "__all"'
    if written.count() != number_in(session.sql(with_our_names(rows))):
        raise SourceError(
            "The files that Spark wrote next to the catalog cannot be read",
            "Put the catalog where all machines of the cluster can reach it",
        )
    counted = written.where("kept").groupBy("u").count().withColumnRenamed("count", "n")
    counted.write.mode("overwrite").parquet(address(target.with_suffix(COUNTS)))
    told["units"] = read_counts(session, target, told).count()
    if progress is not None:
        progress(name, 1, 1)
    return told


def _ranked(scan: Scan) -> str:
    """Return all rows as u, c0, c1, ..., and whether they are kept."""
    names = [f"c{number}" for number in range(len(scan.table.columns))]
    kept = f"{ranked(names)} <= {scan.table.rows_per_unit} AS kept"
    return f'SELECT {", ".join(["u", *names])}, {kept} FROM ({rows_of(scan)}) AS "__all"'


def _show(session: "SparkSession", folder: Path, told: Mapping[str, Any]) -> None:
    """Make views of what a form has, under the names by which statements call it."""
    for name, each in told.items():
        place = folder / each["folder"]
        named = ["u AS " + UNIT.replace('"', "`")]
        named += [f"c{n} AS {SPARK.quoted(column)}" for n, column in enumerate(each["columns"])]
        kept = kept_rows(session, place, each).selectExpr(*named)
        rest = read_form(session, place, each).where("NOT kept").selectExpr(*named)
        kept.createOrReplaceTempView(SPARK.prepared(name, KEPT))
        kept.unionAll(rest).createOrReplaceTempView(SPARK.prepared(name, EVERY))
    units = {"name": list(told), "units": [each["units"] for each in told.values()]}
    counted = session.createDataFrame(pa.table(units))
    counted.createOrReplaceTempView(SPARK.prepared("parts", ABOUT))


# --------------------------------------------------------------------------- growing


def _layer(  # noqa: PLR0913, PLR0917 - what may grow, into what, and who hears of it
    session: "SparkSession",
    form: PreparedTables,
    place: Path,
    folder: Path,
    tables: Mapping[str, Registered],
    told: Told,
) -> Layer | None:
    """Return what adds a layer to a whole form of the same catalog, if there is one."""
    whole = [each for each in place.iterdir() if each != folder and (each / WHOLE).is_file()]
    for each in whole:
        notes = each / NOTES
        about = json.loads(notes.read_text(encoding="utf-8")) if notes.is_file() else {}
        if about.get("base") == _base(session, form):
            old = OldForm(
                folder=each,
                told=json.loads((each / WHOLE).read_text(encoding="utf-8")),
                states=about["states"],
            )
            return Layer(session=session, old=old, tables=tables, sources=form.tables, told=told)
    if whole:
        told(MadeAnew(reason=Anew.CATALOG))
    return None


def _base(session: "SparkSession", form: PreparedTables) -> str:
    """Return what must be the same for a form to grow: everything but the files."""
    return form.key(f"whatever the files, {LAYOUT}, Spark {session.version}")


def _notes(
    session: "SparkSession", form: PreparedTables, tables: Mapping[str, Registered]
) -> dict[str, Any]:
    return {
        "base": _base(session, form),
        "states": {name: tables[name.casefold()].state for name in form.tables},
    }


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
