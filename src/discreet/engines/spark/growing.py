"""Forms that grow in Spark: what new files bring is a layer of its own beside the files before.

Files are not changed: a form that grew links those of the one before. Where a new row takes the
place of a kept one, all kept rows of its unit are written again, into the new layer, and a list
says in which layers they do not count any more. Some number of layers, or a long list, and the
table is prepared anew.
"""

# ruff: noqa: S608 - names are ours and values are numbers

import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet.catalog.schema import PrivateTable
from discreet.engines.base import Progress
from discreet.engines.duckdb.loading import PARQUET
from discreet.engines.growth import Anew, CannotGrowError, Grows, Told, refuse_months
from discreet.engines.spark.conditions import with_our_names
from discreet.engines.spark.forms import (
    VOID,
    address,
    kept_rows,
    layers_in,
    number_in,
    ranked,
    read_form,
    rows_of,
)
from discreet.engines.spark.sessions import failures
from discreet.engines.spark.tables import Registered, register
from discreet.query.tree import Scan

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

MOST_LAYERS = 60
"""Each is a few more files that every query opens."""


MOST_VOID = 200_000
"""Units of a list that every query compares with kept rows."""


VIEWS = ("new", "kept", "touched", "many", "ranked", "moved", "layer", "void", "gone")


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
        source = self.old.folder / self.old.told[name]["folder"]
        for made, ending in ((source, ""), *((source.with_suffix(each), each) for each in (VOID,))):
            _link_all(made, target.with_suffix(ending) if ending else target)
        if any(came.values()):
            if layers_in(target) >= MOST_LAYERS:
                raise CannotGrowError(Anew.MANY, name)
            try:
                told["units"] += self._write(target, told, scan, came)
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
        self, target: Path, told: Mapping[str, Any], scan: Scan, came: Mapping[str, Sequence[str]]
    ) -> int:
        """Write the layer of new rows; return how many units it brings."""
        work = target.with_suffix(".work")
        shutil.rmtree(work, ignore_errors=True)
        with ExitStack() as views:
            new = self._new_rows(scan, came, views)
            kinds = dict(read_form(self.session, target, told).dtypes)
            if any(kinds.get(column) != kind for column, kind in new.dtypes):
                raise CannotGrowError(Anew.TYPES, scan.table.name)
            new.write.mode("overwrite").parquet(address(work / "new"))
        try:
            self._show("new", self.session.read.parquet(address(work / "new")))
            self._show("kept", kept_rows(self.session, target, told))
            units = self._settle(work, scan)
            self._store(target, work)
        finally:
            for each in VIEWS:
                self.session.catalog.dropTempView(f"__{each}")
        shutil.rmtree(work)
        return units

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
        name = views.enter_context(self._registered(table, which, files))
        return replace(table, name=name)

    @contextmanager
    def _registered(self, table: PrivateTable, which: str, files: Sequence[str]) -> Iterator[str]:
        """Let statements read files as a table is read, if they have its columns and types."""
        name, known = f"{table.name} {which}", self.tables[table.name.casefold()]
        frame = self.session.read.parquet(*files)
        found = register(self.session, self.session, name, frame, kinds=None, is_public=False)
        try:
            types = [dict(self.session.table(f"`{each}`").dtypes) for each in (name, table.name)]
            if found.columns != known.columns or types[0] != types[1]:
                raise CannotGrowError(Anew.TYPES, table.name)
            yield name
        finally:
            self.session.catalog.dropTempView(f"`{name}`")
            if found.handed_over is not None:
                self.session.catalog.dropGlobalTempView(found.handed_over)

    def _show(self, name: str, rows: "DataFrame") -> None:
        """Let statements read rows, by a name that no table has."""
        rows.createOrReplaceTempView(f"__{name}")

    def _settle(self, work: Path, scan: Scan) -> int:
        """Write which units have new rows, and the order of those that exceed their limit."""
        limit = scan.table.rows_per_unit
        self._keep(
            work,
            "touched",
            "SELECT n.u, n.n, h.n AS held FROM (SELECT u, count(*) AS n FROM __new GROUP BY u) n "
            "LEFT JOIN (SELECT u, count(*) AS n FROM __kept "
            "LEFT SEMI JOIN (SELECT DISTINCT u FROM __new) USING (u) GROUP BY u) h USING (u)",
        )
        self._show(
            "many",
            self.session.sql(f"SELECT u FROM __touched WHERE n + coalesce(held, 0) > {limit}"),
        )
        columns = [f"c{number}" for number in range(len(scan.table.columns))]
        listed = ", ".join(["u", *columns])
        both = (
            f"SELECT {listed}, true AS is_new, -1 AS layer FROM __new LEFT SEMI JOIN __many "
            f"USING (u) UNION ALL SELECT {listed}, false AS is_new, layer FROM __kept "
            "LEFT SEMI JOIN __many USING (u)"
        )
        order = with_our_names(ranked(columns))
        self._keep(
            work,
            "ranked",
            f"SELECT {listed}, is_new, layer, {order} <= {limit} AS kept FROM ({both}) AS r",
        )
        self._show(
            "moved", self.session.sql("SELECT DISTINCT u FROM __ranked WHERE is_new AND kept")
        )
        layer = self.session.sql(
            f"SELECT {listed}, true AS kept FROM __new LEFT ANTI JOIN __many USING (u) "
            f"UNION ALL SELECT {listed}, kept FROM __ranked LEFT SEMI JOIN __moved USING (u) "
            f"UNION ALL SELECT {listed}, kept FROM __ranked LEFT ANTI JOIN __moved USING (u) "
            "WHERE is_new"
        )
        self._show("layer", layer)
        return number_in(self.session.sql("SELECT count(*) AS n FROM __touched WHERE held IS NULL"))

    def _keep(self, work: Path, name: str, sql: str) -> None:
        """Write rows to a file, so that they are computed once, and let statements read them."""
        self.session.sql(sql).write.mode("overwrite").parquet(address(work / name))
        self._show(name, self.session.read.parquet(address(work / name)))

    def _store(self, target: Path, work: Path) -> None:
        """Write the layer, and in which earlier ones rows of which units do not count any more."""
        void = target.with_suffix(VOID)
        gone = "SELECT DISTINCT u, layer FROM __ranked LEFT SEMI JOIN __moved USING (u) "
        rows = f"{gone} WHERE NOT is_new"
        if void.is_dir():
            self._show("void", self.session.read.parquet(address(void)))
            rows += " UNION ALL SELECT u, layer FROM __void"
        self._keep(work, "gone", rows)
        many = number_in(self.session.sql("SELECT count(*) AS n FROM __gone"))
        if many > MOST_VOID:
            raise CannotGrowError(Anew.MANY)
        layer = self.session.table("__layer")
        folder = target / f"layer={layers_in(target)}"
        layer.write.mode("overwrite").partitionBy("kept").parquet(address(folder))
        if many:
            shutil.rmtree(void, ignore_errors=True)
            (work / "gone").rename(void)


def _link_all(source: Path, target: Path) -> None:
    """Make a folder of the same files as another, which share their bytes where they can."""
    shutil.rmtree(target, ignore_errors=True)
    if source.is_dir():
        shutil.copytree(source, target, copy_function=_link)


def _link(source: str, target: str) -> None:
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)
