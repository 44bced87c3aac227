"""A catalog from the arguments of one call: `discreet.open("visits.csv", unit=..., ...)`."""

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from discreet.catalog.declared import Declared, declared_from
from discreet.catalog.fields import meant
from discreet.catalog.places import Path as Keys
from discreet.catalog.places import Place
from discreet.catalog.policy import Accounting, RowChoice, Suspends, nearest
from discreet.catalog.schema import Auto, Value
from discreet.errors import CatalogError
from discreet.mechanisms.sensitivity import Neighbours
from discreet.parameters import Real

Ends = Sequence[object] | Auto | str
"""Bounds as people write them: (0, 120), two dates, or AUTO."""


def declare(  # noqa: PLR0913 - each is a key of the catalog
    tables: Mapping[str, str | None],
    *,
    epsilon: Real,
    delta: Real = 0,
    unit: str | Mapping[str, str] | None = None,
    bounds: Mapping[str, Ends] | None = None,
    values: Mapping[str, Sequence[Value]] | None = None,
    step: Mapping[str, Real] | None = None,
    nulls: Mapping[str, bool] | None = None,
    types: Mapping[str, str] | None = None,
    rows_per_unit: int | Mapping[str, int] | None = None,
    key: str | Mapping[str, str] | None = None,
    public: bool | Collection[str] = (),
    neighbours: Neighbours | str = Neighbours.ADD_REMOVE,
    accounting: Accounting | str = Accounting.BASIC,
    question_delta: Real | None = None,
    least_epsilon: Real | None = None,
    incident_suspends: Suspends | str | None = None,
    engine: str | None = None,
    version: str | None = None,
    bounding: RowChoice | str | None = None,
    disjoint: Sequence[Sequence[str]] = (),
    folder: Path | None = None,
) -> Declared:
    """Return what the arguments declare, checked as a file is; errors name the argument.

    `tables` gives each table's name and where it is read from, None for one that is held already.
    What is said of columns goes by "column", or "table.column" where several tables are private;
    what is said of tables is one value for all that are not public, or goes by table.
    """
    entries = _Entries(tables, public)
    entries.budget("epsilon", epsilon)
    entries.budget("delta", delta)
    entries.budget("neighbours", neighbours)
    entries.budget("accounting", accounting)
    entries.budget("question_delta", question_delta)
    entries.budget("least_epsilon", least_epsilon)
    entries.budget("incident_suspends", incident_suspends)
    entries.source("engine", engine)
    entries.source("version", version)
    entries.disjoint(disjoint)
    entries.source("bounding", bounding)
    for name, given in (("unit", unit), ("rows_per_unit", rows_per_unit), ("key", key)):
        entries.of_tables(name, given)
    for name, said in (("bounds", bounds), ("values", values), ("step", step), ("nulls", nulls)):
        entries.of_columns(name, name, said)
    entries.of_columns("types", "type", types)
    return declared_from(entries.made, folder=folder, place=Place(arguments=entries.arguments))


class _Entries:
    """The entries of a catalog, and what each of them was called as an argument."""

    def __init__(self, tables: Mapping[str, str | None], public: bool | Collection[str]) -> None:
        self._budget: dict[str, object] = {}
        self._source: dict[str, object] = {}
        self._disjoint: object = ()
        self._tables: dict[str, dict[str, object]] = {name: {} for name in tables}
        self._columns: dict[str, dict[str, dict[str, object]]] = {name: {} for name in tables}
        self.arguments: dict[Keys, str] = {("tables",): "the source"}
        for name, source in tables.items():
            self.arguments["tables", name] = f"table {name!r}"
            self.arguments["tables", name, "unit"] = "unit"
            self._tables[name] |= {} if source is None else {"from": source}
        self._mark_public(public)

    @property
    def made(self) -> dict[str, object]:
        tables = {
            name: {**entries, "columns": self._columns[name]}
            for name, entries in self._tables.items()
        }
        return {
            "budget": self._budget,
            "source": self._source,
            "tables": tables,
            "disjoint": self._disjoint,
        }

    def budget(self, name: str, value: object) -> None:
        if value is not None:
            self._budget[name] = value
        self.arguments["budget", name] = name

    def source(self, name: str, value: object) -> None:
        if value is not None:
            self._source[name] = value
        self.arguments["source", name] = name

    def disjoint(self, groups: object) -> None:
        """Set which tables have no unit in common: lists of names."""
        self.arguments["disjoint",] = "disjoint"
        self._disjoint = groups
        if isinstance(groups, Sequence) and not isinstance(groups, str):
            self._disjoint = [{"tables": each} for each in groups]
            for number in range(len(groups)):
                self.arguments["disjoint", number, "tables"] = f"disjoint[{number}]"

    def of_tables(self, name: str, given: object) -> None:
        """Set what is said of tables: by name, or the same for all that are not public."""
        if given is None:
            return
        is_mapping = isinstance(given, Mapping)
        named = self._private() or list(self._tables)
        each = dict(given) if isinstance(given, Mapping) else dict.fromkeys(named, given)
        for table, value in each.items():
            argument = f"{name}[{table!r}]" if is_mapping else name
            self._entries_of(argument, table)[name] = value
            self.arguments["tables", table, name] = argument

    def of_columns(self, argument: str, fact: str, given: Mapping[str, object] | None) -> None:
        if given is not None and not isinstance(given, Mapping):
            fix = f"write {argument}={{'COLUMN': ...}}"
            raise CatalogError(f"{argument} does not say which columns it is about", fix)
        for name, value in (given or {}).items():
            self._of_column(f"{argument}[{name!r}]", name, fact, value)

    def _of_column(self, argument: str, name: object, fact: str, value: object) -> None:
        if not isinstance(name, str):
            raise CatalogError(f"{argument} names no column", "name it in text: 'COLUMN'")
        table, _, column = name.partition(".")
        if not column or table not in self._tables:
            table, column = self._only(argument), name
        facts = self._columns[table].setdefault(column, {})
        if fact in facts:
            raise CatalogError(f"{argument} was given before", "give it once")
        facts[fact] = value
        path = ("tables", table, "columns", column)
        self.arguments.setdefault(path, argument)
        self.arguments[*path, fact] = argument

    def _mark_public(self, public: bool | Collection[str]) -> None:
        names = (public,) if isinstance(public, str) else public
        if not isinstance(names, bool | Collection | None):
            fix = "write public=True, or public=['TABLE']"
            raise CatalogError("public is neither True nor a list of tables", fix)
        for name in self._tables if names is True else names or ():
            self._entries_of("public", name)["public"] = True
            self.arguments["tables", name, "public"] = "public"

    def _private(self) -> list[str]:
        return [name for name, entries in self._tables.items() if "public" not in entries]

    def _entries_of(self, argument: str, name: object) -> dict[str, object]:
        if not isinstance(name, str):
            raise CatalogError(f"{argument} names no table", "name it in text: 'TABLE'")
        if name not in self._tables:
            near = nearest(name, list(self._tables))
            fix = meant(near) if near else f"there are {', '.join(self._tables)}"
            raise CatalogError(f"{argument} names {name!r}, which is no table of the source", fix)
        return self._tables[name]

    def _only(self, argument: str) -> str:
        """Return the only table that something can be about."""
        names = self._private() or list(self._tables)
        if len(names) != 1:
            what = f"{argument} does not say which of the tables {', '.join(names)} it is about"
            raise CatalogError(what, f"write it as {names[0]}.COLUMN, for example")
        return names[0]
