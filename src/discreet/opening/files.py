"""What files and data frames are: their names, their state, and how they are read."""

import json
from collections.abc import Iterator, Mapping
from fractions import Fraction
from hashlib import sha256
from pathlib import Path
from uuid import uuid4

from discreet.catalog import ColumnUnit, Kind
from discreet.catalog.complete import DEFAULT_ROWS_PER_UNIT
from discreet.catalog.declared import Declared, path_unit
from discreet.catalog.policy import SourcePolicy
from discreet.catalog.units import UnitPath
from discreet.engines.connection import Limits
from discreet.engines.duckdb import DuckDbEngine
from discreet.engines.loading import DUCKDB, Identifying, Source, files_of, tables_in
from discreet.errors import SourceError


def named(source: Source | Mapping[str, Source], name: str | None) -> dict[str, Source]:
    """Return the sources by the names that questions will call them."""
    if isinstance(source, Mapping):
        return dict(source)
    if not isinstance(source, str | Path):
        return {name or "data": source}
    if str(source).casefold().endswith(DUCKDB):
        return dict.fromkeys([name] if name else tables_in(Path(source)), source)
    stem = Path(source).name.split(".")[0].split("*")[0].strip("-_ ")
    return {name or stem or "data": source}


def loaded(declared: Declared, sources: Mapping[str, Source]) -> tuple[str, DuckDbEngine]:
    """Return the data's version and the engine that holds them; they belong together."""
    version = version_of(sources)
    told = declared.source.version
    engine = DuckDbEngine.load(sources, kinds=kinds_of(declared), limits=limits_of(declared.source))
    if version_of(sources) != version:
        engine.close()
        raise SourceError("a file changed while it was read; open it again.")
    return version if told is None else f"declared {told}", engine


def limits_of(policy: SourcePolicy) -> Limits:
    """Return what a question may use."""
    timeout = policy.timeout if policy.timeout is not None else Fraction(Limits().timeout)
    return Limits(timeout=float(timeout), memory=policy.memory_limit, threads=policy.threads)


def kinds_of(declared: Declared) -> dict[str, dict[str, Kind | Identifying]]:
    """Return what columns are declared to be by table, and which tell units or rows apart."""
    kinds: dict[str, dict[str, Kind | Identifying]] = {
        table.name: {
            each.name.casefold(): each.kind for each in table.columns if each.kind is not None
        }
        for table in declared.tables
    }
    for table, column in _identifying(declared):
        kind = kinds[table].get(column.casefold())
        if not isinstance(kind, Identifying):
            kinds[table][column.casefold()] = Identifying(kind)
    return kinds


def _identifying(declared: Declared) -> Iterator[tuple[str, str]]:
    """Yield tables and columns that units and keys are told apart by."""
    for table in declared.tables:
        if table.key is not None:
            yield table.name, table.key
        if isinstance(table.unit, ColumnUnit):
            yield table.name, table.unit.column
        if isinstance(table.unit, UnitPath):
            path = path_unit(table, table.unit, declared.tables)
            yield table.name, path.column
            yield path.table, path.key


def limits_told(declared: Declared) -> str:
    """Return what of a catalog decides which rows count: units, limits and kinds of columns."""
    units = [
        (each.name, repr(each.unit), each.rows_per_unit or DEFAULT_ROWS_PER_UNIT)
        for each in declared.tables
    ]
    kinds = kinds_of(declared)
    return json.dumps(
        [units, repr(sorted((name, sorted(kinds[name].items(), key=str)) for name in kinds))]
    )


FRAMES = uuid4().hex
"""Stands for the contents of data frames, which may change with every process."""


def version_of(sources: Mapping[str, Source]) -> str:
    """Return what changes when the data do: files by their state, frames with every process."""
    told = []
    for name, source in sorted(sources.items()):
        if not isinstance(source, str | Path):
            told.append(f"{name}:{FRAMES}:{id(source)}")
            continue
        for file in files_of(source):
            told += [f"{name}:{_state(each)}" for each in (file, Path(f"{file}.wal"))]
    return sha256("\n".join(told).encode()).hexdigest()


def _state(file: Path) -> str:
    """Return place, size and times of a file; the time of its last change cannot be set back."""
    try:
        state = file.stat()
    except FileNotFoundError:
        return f"{file.resolve()}:none"
    times = f"{state.st_mtime_ns}:{state.st_ctime_ns}"
    return f"{file.resolve()}:{state.st_ino}:{state.st_size}:{times}"
