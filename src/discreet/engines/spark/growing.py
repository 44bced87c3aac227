"""Forms that grow in Spark: what new files bring is a layer of its own beside the files before.

Files are not changed: a form that grew links those of the one before. Where a unit exceeds its
limit, the kept rows of all units of its slot are written again, into the new layer, and a list says
from which layer on those of a slot count. Beside a form is how many kept rows each unit has, so
that only rows of such slots are looked at. Some number of layers, or of rows that were written
again, and the table is prepared anew.
"""

# ruff: noqa: S608 - names are ours and values are numbers

import json
import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import numpy as np
from pyarrow import parquet

from discreet.catalog.schema import PrivateTable
from discreet.engines.base import Progress
from discreet.engines.duckdb.loading import PARQUET
from discreet.engines.growth import Anew, CannotGrowError, Grows, Told, refuse_months
from discreet.engines.spark.bits import words_text
from discreet.engines.spark.conditions import with_our_names
from discreet.engines.spark.forms import (
    COUNTS,
    SINCE,
    SLOTS,
    Layers,
    Words,
    address,
    first_layer,
    is_among,
    kept_rows,
    layers_in,
    layers_that_count,
    ranked,
    read_as,
    read_counts,
    read_form,
    remove,
    rows_of,
    write_since,
)
from discreet.engines.spark.sessions import failures, pyspark_module
from discreet.engines.spark.tables import Registered, register
from discreet.engines.writer import column_name
from discreet.query.tree import Scan

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

MOST_LAYERS = 60
"""Each is a few more files that every query opens."""


MOST_MOVED = 1.0
"""Part of the units whose kept rows were written again: queries read past what they replace."""


MOST_UNCOUNTED = 8
"""Layers whose rows are counted again at each growth."""


PARTS, USUAL = "spark.sql.shuffle.partitions", 200

FEW = {"spark.sql.adaptive.enabled": "false", "spark.sql.maxConcurrentOutputFileWriters": "2"}
"""Where there are few parts: nothing is planned again, and no rows are sorted to be written."""

PART = 16 * 2**20
"""Bytes of files for each part into which rows are divided."""


VIEWS = ("new", "kept", "held")


PATTERNS = frozenset("*?[]{}\\")
"""Letters by which Spark takes a path for a pattern."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OldForm:
    """A whole form of the same catalog, of files as they were."""

    folder: Path
    told: Mapping[str, Any]
    states: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Layer:
    """Adds one layer to the form of a table."""

    session: "SparkSession"
    old: OldForm
    tables: Mapping[str, Registered]
    """By their names in lower case."""
    sources: Mapping[str, str]
    told: Told

    def add(self, target: Path, scan: Scan, progress: Progress | None) -> dict[str, Any]:
        """Write the form of a table as the old one with what is new; return what is told of it."""
        name = scan.table.name
        refuse_months(scan)
        path = (scan.table, *scan.parents)
        came = {each.name: self._came(each) for each in path}
        if progress is not None:
            progress(name, 0, 1)
        self.told(Grows(table=name, files=sum(map(len, came.values()))))
        told = {**self.old.told[name], "folder": target.name}
        if "counted" not in told:
            raise CannotGrowError(Anew.RELEASE, name)
        # Columns are written by their places, which the first of all files decides.
        if told["columns"] != [column_name(each.name) for each in scan.table.columns]:
            raise CannotGrowError(Anew.TYPES, name)
        source = self.old.folder / self.old.told[name]["folder"]
        _link_all(source, target)
        for each in (COUNTS, SINCE):
            _link_all(source.with_suffix(each), target.with_suffix(each))
        if any(came.values()):
            if layers_in(target) >= MOST_LAYERS:
                raise CannotGrowError(Anew.MANY, name)
            try:
                self._write(target, told, scan, came)
            except failures() as cause:
                raise CannotGrowError(Anew.TYPES, name) from cause
        if progress is not None:
            progress(name, 1, 1)
        return told

    def _came(self, table: PrivateTable) -> list[str]:
        """Return the files that came to a table; the others must be as they were."""
        state, name = self.tables[table.name.casefold()].state, table.name
        if state == self.old.states[name]:
            return []
        if state is None or not self.sources[name].casefold().endswith(PARQUET):
            raise CannotGrowError(Anew.PLACE, name)
        old, now = (text.split("|") if text else [] for text in (self.old.states[name], state))
        if {*old} - {*now}:
            raise CannotGrowError(Anew.CHANGED, name)
        files = [each.rsplit(":", 2)[0] for each in now if each not in {*old}]
        if any(PATTERNS & {*each} for each in files):
            raise CannotGrowError(Anew.PLACE, name)
        return files

    def _write(
        self, target: Path, told: dict[str, Any], scan: Scan, came: Mapping[str, Sequence[str]]
    ) -> None:
        """Write the layer of new rows, and what is told of it."""
        work = target.with_suffix(".work")
        shutil.rmtree(work, ignore_errors=True)
        with ExitStack() as views:
            new = self._new_rows(scan, came, views)
            kinds = dict(read_form(self.session, target, told).dtypes)
            if any(kinds.get(column) != kind for column, kind in new.dtypes):
                raise CannotGrowError(Anew.TYPES, scan.table.name)
            with self._parts(None if scan.parents else self._size_of(scan, came)):
                self._write_all(new, work / "new")
        try:
            rows = read_as(self.session, work / "new", json.loads(new.schema.json())["fields"])
            rows.createOrReplaceTempView("__new")
            exceeding = self._settle(target, told, scan.table.rows_per_unit)
            self._store(target, told, exceeding, scan)
        finally:
            for each in VIEWS:
                self.session.catalog.dropTempView(f"__{each}")
        shutil.rmtree(work)

    def _new_rows(
        self, scan: Scan, came: Mapping[str, Sequence[str]], views: ExitStack
    ) -> "DataFrame":
        """Return the rows that are new: by the first table of their path with a new file."""
        path, parts = (scan.table, *scan.parents), []
        for number, each in enumerate(path):
            if not came[each.name]:
                continue
            seen = [
                *(self._named(one, "old", came, views) for one in path[:number]),
                self._named(each, "new", came, views),
                *path[number + 1 :],
            ]
            parts.append(rows_of(replace(scan, table=seen[0], parents=tuple(seen[1:]))))
        return self.session.sql(with_our_names(" UNION ALL ".join(parts)))

    def _named(
        self, table: PrivateTable, which: str, came: Mapping[str, Sequence[str]], views: ExitStack
    ) -> PrivateTable:
        """Return a table of some files only: the new or the old ones."""
        files = came[table.name]
        if which == "old":
            if not files:
                return table
            state = self.old.states[table.name]
            files = [each.rsplit(":", 2)[0] for each in state.split("|")]
        name = views.enter_context(self._registered(table, files))
        return replace(table, name=name)

    @contextmanager
    def _registered(self, table: PrivateTable, files: Sequence[str]) -> Iterator[str]:
        """Let statements read files as a table is read, if they have its columns and types."""
        # No other table is called so: what is read of it later would be these files.
        name, known = f"{table.name} {uuid4().hex}", self.tables[table.name.casefold()]
        frame = self.session.read.parquet(*files)
        found = register(self.session, self.session, name, frame, kinds=None, is_public=False)
        try:
            types = [dict(self.session.table(f"`{each}`").dtypes) for each in (name, table.name)]
            if found.columns != known.columns or types[0] != types[1]:
                raise CannotGrowError(Anew.TYPES, table.name)
            yield name
        finally:
            self.session.catalog.dropTempView(name)
            if found.handed_over is not None:
                self.session.catalog.dropGlobalTempView(found.handed_over)

    # ----------------------------------------------------------------------- which units exceed

    def _settle(self, target: Path, told: dict[str, Any], limit: int) -> Words:
        """Return bits of the slots of units that exceed their limit now; tell how many are new."""
        since, layers = layers_that_count(target), layers_in(target)
        self._show_held(target, told, since)
        if layers - told["counted"] >= MOST_UNCOUNTED:
            self._count_again(target, told)
        touched = (
            "SELECT n.u, max(n.n) AS n, sum(h.n) AS held "
            "FROM (SELECT u, count(*) AS n FROM __new GROUP BY u) AS n "
            "LEFT JOIN __held AS h ON n.u = h.u GROUP BY n.u"
        )
        units = (
            f"SELECT xxhash64(u) AS h, n + coalesce(held, 0L) > {limit} AS is_in, "
            f"CASE WHEN held IS NULL THEN 1L ELSE 0L END AS units FROM ({touched}) AS touched"
        )
        sizes = size_in(target.with_suffix(".work"), target.with_suffix(COUNTS))
        with self._parts(sizes + size_in(*later_layers(target, told["counted"]))):
            found = self.session.sql(words_text(units, SLOTS, ("units",))).toArrow()
        told["units"] += int(found.column("units")[0].as_py())
        exceeding = np.array(found.column("words")[0].as_py(), np.int64)
        told["moved"] += int(bits(exceeding).sum()) / min(SLOTS, max(1, told["units"]))
        if told["moved"] > MOST_MOVED:
            raise CannotGrowError(Anew.MANY)
        return exceeding

    def _show_held(self, target: Path, told: Mapping[str, Any], since: Layers) -> None:
        """Let statements read how many kept rows units have, in one or more parts each."""
        counted = told["counted"]
        held = read_counts(self.session, target, told)
        if (since >= counted).any():
            held = held.where(f"{first_layer(self.session, since)} < {counted}")
        if layers_in(target) > counted:
            later = kept_rows(self.session, target, told, only=f"layer >= {counted}")
            held = held.unionAll(later.selectExpr("u", "1L AS n"))
        held.createOrReplaceTempView("__held")

    def _count_again(self, target: Path, told: dict[str, Any]) -> None:
        """Count the kept rows of all layers, so that later growths need not look at them."""
        work, counts = target.with_suffix(".work") / "counts", target.with_suffix(COUNTS)
        with self._parts(size_in(counts, *later_layers(target, told["counted"]))):
            counted = self.session.sql("SELECT u, sum(n) AS n FROM __held GROUP BY u")
            self._write_all(counted, work)
        shutil.rmtree(counts)
        work.rename(counts)
        told["counted"] = layers_in(target)
        self._show_held(target, told, layers_that_count(target))

    # ----------------------------------------------------------------------- what is written

    def _store(self, target: Path, told: Mapping[str, Any], exceeding: Words, scan: Scan) -> None:
        """Write the layer: new rows, and all kept ones of slots with a unit that exceeds."""
        layer, moved = layers_in(target), is_among(self.session, exceeding)
        kept_rows(self.session, target, told, only=moved).createOrReplaceTempView("__kept")
        columns = [f"c{number}" for number in range(len(scan.table.columns))]
        listed = ", ".join(["u", *columns])
        both = (
            f"SELECT {listed}, true AS is_new FROM __new WHERE {moved} "
            f"UNION ALL SELECT {listed}, false AS is_new FROM __kept"
        )
        order = with_our_names(ranked(columns))
        rows = self.session.sql(
            f"SELECT {listed}, true AS kept FROM __new WHERE NOT {moved} "
            f"UNION ALL SELECT {listed}, {order} <= {scan.table.rows_per_unit} AS kept "
            f"FROM ({both}) AS r"
        )
        are_moved, since = bits(exceeding), layers_that_count(target)
        part = int(are_moved.mean() * size_in(target))
        size = size_in(target.with_suffix(".work")) + part
        with self._parts(size) as parts:
            self._write_all(rows.coalesce(parts), target / f"layer={layer}", by="kept")
        write_since(target, np.where(are_moved, np.int8(layer), since))

    def _write_all(self, rows: "DataFrame", folder: Path, by: str | None = None) -> None:
        """Write rows to files; on a cluster, they may lie where this machine does not see them."""
        sql = pyspark_module().sql
        seen = sql.Observation()
        counted = rows.observe(seen, sql.functions.count(sql.functions.lit(1)).alias("n"))
        written = counted.write.mode("overwrite")
        (written if by is None else written.partitionBy(by)).parquet(address(folder))
        if seen.get["n"] != rows_in(folder):
            raise CannotGrowError(Anew.PLACE)

    def _size_of(self, scan: Scan, came: Mapping[str, Sequence[str]]) -> int:
        """Return how many bytes the new files of a table have."""
        state = self.tables[scan.table.name.casefold()].state or ""
        files = (each.rsplit(":", 2) for each in state.split("|"))
        return sum(int(size) for path, size, _ in files if path in {*came[scan.table.name]})

    @contextmanager
    def _parts(self, size: int | None) -> Iterator[int]:
        """Have Spark divide few rows into few parts; it makes many by default."""
        conf = self.session.conf
        told = str(conf.get(PARTS))
        usual = int(told) if told.isdecimal() else USUAL  # some clusters choose by themselves
        parts = usual if size is None else min(usual, 1 + size // PART)
        few = {**FEW, PARTS: str(parts)} if parts < usual else {}
        before = {name: str(conf.get(name)) for name in few}
        try:
            for name, value in few.items():
                conf.set(name, value)
            yield parts
        finally:
            for name, was in before.items():
                conf.set(name, was)


def bits(words: Words) -> "np.ndarray[tuple[int], np.dtype[np.bool_]]":
    """Return whether each bit is set, of the first word first."""
    return np.unpackbits(words.view(np.uint8), bitorder="little").astype(bool)


def later_layers(folder: Path, first: int) -> list[Path]:
    """Return the folders of layers from one on."""
    return [folder / f"layer={number}" for number in range(first, layers_in(folder))]


def size_in(*folders: Path) -> int:
    """Return how many bytes the files of folders have."""
    return sum(file.stat().st_size for each in folders for file in each.rglob("*.parquet"))


def rows_in(folder: Path) -> int:
    """Return how many rows the files of a folder have; read at their ends."""
    return sum(int(parquet.read_metadata(each).num_rows) for each in folder.rglob("*.parquet"))


def _link_all(source: Path, target: Path) -> None:
    """Make a file or folder that shares the bytes of another where it can."""
    remove(target)
    if source.is_file():
        _link(str(source), str(target))
    elif source.is_dir():
        shutil.copytree(source, target, copy_function=_link)


def _link(source: str, target: str) -> None:
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)
