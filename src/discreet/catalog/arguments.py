"""The arguments of `discreet.open` as a declaration: each is a setting of the catalog.

The settings of the catalog are the list of arguments. A setting that the catalog gains is an
argument as well, and a test compares the signature of `open` with this list.
"""

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from discreet.catalog.columns import COLUMN
from discreet.catalog.declaration import BUDGET, TABLE, Declaration, declaration_from
from discreet.catalog.entries import Location, written_key
from discreet.catalog.entries import Path as Keys
from discreet.catalog.schema import Auto
from discreet.catalog.sources import SOURCE
from discreet.errors import CatalogError
from discreet.parameters import did_you_mean

Ends = Sequence[object] | Auto | str
"""Bounds as people write them: (0, 120), two dates, or AUTO."""

FROM_SOURCE = {"engine", "ledger", "from", "columns"}
"""Settings that are not arguments: they follow from the source and its tables, or open takes them
for itself."""

ARGUMENTS: dict[str, tuple[str, str]] = {
    **{each: ("budget", each) for each in BUDGET},
    **{each: ("source", each) for each in SOURCE if each not in FROM_SOURCE},
    **{each: ("tables", each) for each in TABLE if each not in FROM_SOURCE},
    **{"types" if each == "type" else each: ("columns", each) for each in COLUMN},
    "disjoint": ("disjoint", "tables"),
    "series": ("series", "question"),
    "analysts": ("analysts", "epsilon"),
}
"""Each argument, with the section and the setting of the catalog that it stands for."""


def declare(
    tables: Mapping[str, str | None],
    *,
    engine: str | None = None,
    folder: Path | None = None,
    **arguments: object,
) -> Declaration:
    """Return the declaration that the arguments make, checked like a file. Errors name arguments.

    `tables` has the name of each table and where it is read from, None for data in memory. An
    argument about columns is a dictionary by "column", or "table.column" if several tables are
    private. An argument about tables is one value for all private tables, or a dictionary by table.
    """
    for name in arguments:
        if name not in ARGUMENTS:
            raise TypeError(f"declare() got an unexpected keyword argument {name!r}")
    entries = _Entries(tables, arguments.pop("public", None))
    entries.set_one("source", "engine", engine)
    for name, value in arguments.items():
        entries.add(name, value)
    location = Location(arguments=entries.arguments)
    return declaration_from(entries.as_sections(), folder=folder, location=location)


class _Entries:
    """The entries of a catalog, and the argument that each of them came from."""

    def __init__(self, tables: Mapping[str, str | None], public: object) -> None:
        self._sections: dict[str, dict[str, object]] = {"budget": {}, "source": {}, "analysts": {}}
        self._disjoint: object = ()
        self._series: object = ()
        self._tables: dict[str, dict[str, object]] = {name: {} for name in tables}
        self._columns: dict[str, dict[str, dict[str, object]]] = {name: {} for name in tables}
        self.arguments: dict[Keys, str] = {("tables",): "the source"}
        for name, source in tables.items():
            self.arguments["tables", name] = f"Table {written_key(name)}"
            self.arguments["tables", name, "unit"] = "unit"
            self._tables[name] |= {} if source is None else {"from": source}
        self._mark_public(public)

    def as_sections(self) -> dict[str, object]:
        """Return the entries as a catalog has them."""
        tables = {
            name: {**entries, "columns": self._columns[name]}
            for name, entries in self._tables.items()
        }
        return {
            **self._sections,
            "tables": tables,
            "disjoint": self._disjoint,
            "series": self._series,
        }

    def add(self, argument: str, value: object) -> None:
        section, setting = ARGUMENTS[argument]
        if section == "columns":
            self._add_to_columns(argument, setting, value)
        elif section == "tables":
            self._add_to_tables(argument, value)
        elif section == "disjoint":
            self._add_disjoint(value)
        elif section == "series":
            self.arguments["series",], self._series = "series", value
        elif section == "analysts":
            self._add_analysts(value)
        else:
            self.set_one(section, setting, value)

    def set_one(self, section: str, setting: str, value: object) -> None:
        """Set a setting that has one value for the whole catalog."""
        if value is not None:
            self._sections[section][setting] = value
        self.arguments[section, setting] = setting

    def _add_disjoint(self, groups: object) -> None:
        self.arguments["disjoint",] = "disjoint"
        self._disjoint = groups
        if isinstance(groups, Sequence) and not isinstance(groups, str):
            self._disjoint = [{"tables": each} for each in groups]
            for number in range(len(groups)):
                self.arguments["disjoint", number, "tables"] = f"disjoint[{number}]"

    def _add_analysts(self, caps: object) -> None:
        """Set the cap of each analyst: an epsilon, or a dictionary with its settings."""
        if caps is None:
            return
        if not isinstance(caps, Mapping):
            raise CatalogError("analysts must be a dictionary", 'Write analysts={"NAME": 0.5}')
        for name, cap in caps.items():
            is_whole = isinstance(cap, Mapping)
            self._sections["analysts"][name] = cap if is_whole else {"epsilon": cap}
            path = ("analysts", name) if is_whole else ("analysts", name, "epsilon")
            self.arguments[path] = f"analysts[{name!r}]"
            self.arguments.setdefault(("analysts", name), f"analysts[{name!r}]")

    def _add_to_tables(self, setting: str, given: object) -> None:
        """Set a setting of tables: by table, or one value for all that are not public."""
        if given is None:
            return
        is_mapping = isinstance(given, Mapping)
        named = self._private() or list(self._tables)
        each = dict(given) if isinstance(given, Mapping) else dict.fromkeys(named, given)
        for table, value in each.items():
            argument = f"{setting}[{table!r}]" if is_mapping else setting
            self._entries_of(argument, table)[setting] = value
            self.arguments["tables", table, setting] = argument

    def _add_to_columns(self, argument: str, setting: str, given: object) -> None:
        if given is not None and not isinstance(given, Mapping):
            fix = f'Write {argument}={{"COLUMN": ...}}'
            raise CatalogError(f"{argument} must be a dictionary by column", fix)
        for name, value in (given or {}).items():
            self._add_to_column(f"{argument}[{name!r}]", name, setting, value)

    def _add_to_column(self, argument: str, name: object, setting: str, value: object) -> None:
        if not isinstance(name, str):
            fix = 'Write the name as text: "COLUMN"'
            raise CatalogError(f"{argument} is not about a column", fix)
        table, _, column = name.partition(".")
        if not column or table not in self._tables:
            table, column = self._only(argument), name
        settings = self._columns[table].setdefault(column, {})
        if setting in settings:
            raise CatalogError(f"{argument} is given twice", "Give it once")
        settings[setting] = value
        path = ("tables", table, "columns", column)
        self.arguments.setdefault(path, argument)
        self.arguments[*path, setting] = argument

    def _mark_public(self, public: object) -> None:
        names = (public,) if isinstance(public, str) else public
        if not isinstance(names, bool | Collection | None):
            fix = 'Write public=True, or public=["TABLE"]'
            raise CatalogError("public must be True or a list of tables", fix)
        for name in self._tables if names is True else names or ():
            self._entries_of("public", name)["public"] = True
            self.arguments["tables", name, "public"] = "public"

    def _private(self) -> list[str]:
        return [name for name, entries in self._tables.items() if "public" not in entries]

    def _entries_of(self, argument: str, name: object) -> dict[str, object]:
        if not isinstance(name, str):
            fix = 'Write the name as text: "TABLE"'
            raise CatalogError(f"{argument} is not about a table", fix)
        if name not in self._tables:
            fix = did_you_mean(
                name, [*self._tables], otherwise=f"Tables: {', '.join(self._tables)}"
            )
            raise CatalogError(
                f"{argument} names {name!r}, which is not a table of the source", fix
            )
        return self._tables[name]

    def _only(self, argument: str) -> str:
        """Return the only table that an argument about columns can mean."""
        names = self._private() or list(self._tables)
        if len(names) != 1:
            what = f"{argument} must name its table, one of {', '.join(names)}"
            raise CatalogError(what, f'Write "{names[0]}.COLUMN", for example')
        return names[0]
