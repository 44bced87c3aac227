"""What files and data frames are: their names, their state, and how they are read."""

import json
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from hashlib import sha256
from pathlib import Path

from discreet.catalog import ColumnUnit, Kind, RowUnit
from discreet.catalog.complete import DEFAULT_ROWS_PER_UNIT
from discreet.catalog.declared import Declared, path_unit
from discreet.catalog.policy import SourcePolicy
from discreet.catalog.units import DeclaredUnit, UnitPath
from discreet.engines.connection import Limits
from discreet.engines.contents import content_of, files_in, in_memory
from discreet.engines.duckdb import DuckDbEngine
from discreet.engines.loading import DUCKDB, Identifying, Source, files_of, tables_in
from discreet.errors import SourceError


@dataclass(frozen=True, slots=True, kw_only=True)
class Version:
    """What tells data from others; answers apply to data of the same version."""

    text: str = field(repr=False)
    """As the owner declares it; else what is the same only for the same data, to be keyed."""
    is_declared: bool = False
    earlier: str | None = None
    """What the data were called before contents decided: charges of older ledgers are so named."""
    contents: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Digests of the tables that were read here, by name."""


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


def loaded(declared: Declared, sources: Mapping[str, Source]) -> tuple[Version, DuckDbEngine]:
    """Return the data's version and the engine that holds them; they belong together."""
    tables = {name: in_memory(name, source) for name, source in sources.items()}
    before = state_of(tables)
    version = version_from(contents_of(tables), earlier_version(tables))
    engine = DuckDbEngine.load(tables, kinds=kinds_of(declared), limits=limits_of(declared.source))
    if state_of(tables) != before:
        engine.close()
        raise SourceError("a file changed while it was read; open it again.")
    return declared_version(declared, version), engine


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


DECIDES_NOTHING = {"place", "source", "columns"}
"""What of a declared table does not decide whose a row is and whether it counts.

Where it was written in the catalog; where the table is, which its contents stand for; and bounds
and values of columns, since the kinds of columns are told besides.
"""


def limits_told(declared: Declared) -> str:
    """Return what of a catalog decides which rows count: all but what is known not to.

    That is units, paths to them, keys that paths lead to, limits, and kinds of columns, by which
    units are compared. Prepared copies and forms are kept under this text: its words are written
    here for ever, whatever the code calls things.
    """
    tables = [
        {
            "name": repr(table.name),
            "unit": _unit_told(table.unit),
            "rows_per_unit": repr(table.rows_per_unit or DEFAULT_ROWS_PER_UNIT),
            "key": repr(table.key),
        }
        for table in declared.tables
    ]
    kinds = kinds_of(declared)
    told = (f"({name!r}, [{_columns_told(kinds[name])}])" for name in sorted(kinds))
    return json.dumps([tables, f"[{', '.join(told)}]"])


def _unit_told(unit: DeclaredUnit | None) -> str:
    match unit:
        case None:
            return "None"
        case RowUnit():
            return "RowUnit()"
        case ColumnUnit():
            return f"ColumnUnit(column={unit.column!r})"
        case UnitPath():
            ends = f"table={unit.table!r}, column={unit.column!r}, via={unit.via!r}"
            return f"UnitPath({ends})"


def _columns_told(kinds: Mapping[str, Kind | Identifying]) -> str:
    return ", ".join(sorted(f"({name!r}, {_kind_told(kind)})" for name, kind in kinds.items()))


def _kind_told(kind: Kind | Identifying | None) -> str:
    match kind:
        case None:
            return "None"
        case Identifying():
            return f"Identifying(kind={_kind_told(kind.kind)})"
        case Kind():
            return KINDS_TOLD[kind]


KINDS_TOLD: Mapping[Kind, str] = {
    Kind.BOOLEAN: "<Kind.BOOLEAN: 'boolean'>",
    Kind.INTEGER: "<Kind.INTEGER: 'integer'>",
    Kind.REAL: "<Kind.REAL: 'real'>",
    Kind.TEXT: "<Kind.TEXT: 'text'>",
    Kind.DATE: "<Kind.DATE: 'date'>",
    Kind.TIMESTAMP: "<Kind.TIMESTAMP: 'timestamp'>",
    Kind.TIMESTAMP_TZ: "<Kind.TIMESTAMP_TZ: 'timestamp with time zone'>",
    Kind.INTERVAL: "<Kind.INTERVAL: 'interval'>",
    Kind.OTHER: "<Kind.OTHER: 'other'>",
}
"""How kinds of columns are written."""


def declared_version(declared: Declared, found: Version) -> Version:
    """Return the version that the owner declares, else the one that was found."""
    told = declared.source.version
    if told is None:
        return found
    return replace(found, text=f"declared {told}", is_declared=True, earlier=None)


def contents_of(sources: Mapping[str, Source]) -> dict[str, str]:
    """Return what the tables hold, each as a digest; reads all of their bytes."""
    paths = {each for each in sources.values() if isinstance(each, str | Path)}
    read = {each: content_of(each) for each in paths}  # several tables may be in one file
    return {
        name: read[source] if isinstance(source, str | Path) else content_of(source)
        for name, source in sources.items()
    }


def version_from(contents: Mapping[str, str], earlier: str | None) -> Version:
    """Return the version of tables that hold this."""
    told = "\n".join(f"{name}:{each}" for name, each in sorted(contents.items()))
    text = sha256(f"contents\n{told}".encode()).hexdigest()
    return Version(text=text, contents=contents, earlier=earlier)


def state_of(sources: Mapping[str, Source]) -> str:
    """Return what changes when one of the files does: their places, sizes and times."""
    told = [
        f"{name}:{_state(each)}"
        for name, source in sorted(sources.items())
        for each in files_in(source)
    ]
    return sha256("\n".join(told).encode()).hexdigest()


def earlier_version(sources: Mapping[str, Source]) -> str | None:
    """Return what files in this state were called before contents decided; None for frames."""
    told = []
    for name, source in sorted(sources.items()):
        if not isinstance(source, str | Path):
            return None
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


SETTLED = 2.0
"""Seconds after which a change of a file is sure to change its times: disks' clocks are coarse."""


def is_settled(sources: Mapping[str, Source]) -> bool:
    """Return whether no file was changed so lately that another change might leave its times."""
    latest = time.time_ns() - int(SETTLED * 1e9)
    return all(
        each.stat().st_ctime_ns < latest
        for source in sources.values()
        for each in files_in(source)
        if each.exists()
    )
