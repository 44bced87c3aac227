"""`discreet init`: a draft of a catalog. `discreet prepare`: the prepared copy of its tables."""
# ruff: noqa: PLR0913 - each argument is an option

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from shlex import quote

import typer

from discreet.answer import Price
from discreet.catalog import Column
from discreet.catalog.columns import ROW, written_unit
from discreet.catalog.declaration import Declaration
from discreet.catalog.entries import BLANK
from discreet.catalog.resolve import read
from discreet.catalog.sources import ENVIRONMENT, without_password
from discreet.catalog.sources import is_on_server as is_address
from discreet.catalog.toml import TableDraft, draft
from discreet.catalog.unit_names import is_identifier, unit_guess
from discreet.cli.console import is_interactive, number, progress, remark, show, waiting
from discreet.cli.options import DEFAULT_CATALOG
from discreet.errors import HIDDEN, CatalogError, ParameterError
from discreet.opening import (
    LEDGER_SUFFIX,
    Anew,
    MadeAnew,
    Step,
    copy_of,
    forget_catalog,
    is_copy_outdated,
    is_on_server,
    prepare_catalog,
    read_columns,
    read_server_columns,
    rows_guessed_from,
)
from discreet.opening.private_draft import TOTAL_DELTA, TOTAL_EPSILON, find_all
from discreet.parameters import nearest_name
from discreet.writing import check_place, write_file

ON_SERVER = "the prepared copy on the server"


def init(
    *,
    data: list[str],
    unit: str | None,
    public: list[str] | None,
    epsilon: Fraction | None,
    delta: Fraction | None,
    find_bounds: Fraction | None,
    columns: str | None,
    output: Path,
    force: bool,
) -> None:
    """Draft a catalog of data files and say what to do next."""
    names = None if columns is None else tuple(each.strip() for each in columns.split(","))
    stated = Stated(unit=unit, epsilon=epsilon, delta=delta, find_bounds=find_bounds, columns=names)
    if output.exists() and not force:
        raise CatalogError(
            f"{output} already exists",
            "Write to another file with --output, or replace it with --force",
        )
    check_place("output", output)
    engine = _address(data)
    tables = _tables(data, output) if engine is None else _tables_on_server(data)
    tables = _with_public(tables, public or ())
    _check_unit(unit, tables)
    drafted = [each if each.is_public else _with_unit(each, unit) for each in tables]
    if find_bounds is not None:
        _check_files(engine, find_bounds)
        drafted = _with_facts(drafted, stated, output)
    text = draft(*drafted, epsilon=epsilon, delta=delta, engine=engine)
    write_file("output", output, text.encode())
    _say_what_is_next(output, text, drafted)


def prepare(*, catalog: Path, remove: bool) -> None:
    """Make the prepared copy, let it grow, or remove it; an interrupted run continues next time."""
    if remove:
        _remove_copy(catalog)
        return
    with progress("preparing") as advance:
        is_new = prepare_catalog(catalog, advance, lambda step: remark(_sentence_of(step)))
    declared = read(catalog)
    if not is_new:
        show(f"{_copy_name(catalog, declared)} is up to date")
    elif is_on_server(catalog, declared=declared):
        show(f"{ON_SERVER} is ready: private rows, in schemas that begin with discreet_")
    else:
        copy = copy_of(catalog)
        show(f"{copy} is ready: {_size(copy)} of private rows that only you may read")


# --------------------------------------------------------------------------- the prepared copy


BECAUSE: Mapping[Anew, str] = {
    Anew.RELEASE: "the prepared copy is from another release of Discreet, or cannot be read",
    Anew.CATALOG: "the catalog or the columns of a table changed",
    Anew.DATABASE: "the prepared copy is from another version of DuckDB",
    Anew.CHANGED: "earlier rows changed or are gone",
    Anew.TYPES: "the columns, their types or their bounds are not as before",
    Anew.GUESSED: "types of a CSV file are guessed from all rows. Declare them in the catalog",
    Anew.MONTHS: "months_per_unit or a budget per month needs all rows",
    Anew.PATH: "new rows give a privacy unit to earlier rows",
    Anew.PLACE: "new rows cannot be told from earlier ones",
    Anew.MANY: "it grew many times, or for too many units at once",
}
"""Why all rows of a table are prepared again."""


def _sentence_of(step: Step) -> str:
    """Return what preparing does now, without anything that the data decide."""
    if isinstance(step, MadeAnew):
        return f"Preparing all rows of {step.table or 'all tables'}: {BECAUSE[step.reason]}."
    what = "new rows" if step.files is None else number(step.files, "new or longer file")
    return f"Adding {what} to {step.table}."


def _remove_copy(catalog: Path) -> None:
    """Remove the copy; charges and answers stay in the ledger."""
    was_there, declared = forget_catalog(catalog), read(catalog)
    name = _copy_name(catalog, declared)
    show(f"{name} is removed" if was_there else f"{name} does not exist")


def remark_outdated(catalog: Path, declared: Declaration) -> None:
    """Say that a copy is not used any more, because the data or the catalog changed."""
    if is_copy_outdated(catalog, declared=declared):
        remark(
            f"{_copy_name(catalog, declared)} is out of date and will not be used. "
            "Run discreet prepare to rebuild it."
        )


def _copy_name(catalog: Path, declared: Declaration) -> str:
    return ON_SERVER if is_on_server(catalog, declared=declared) else str(copy_of(catalog))


def _size(copy: Path) -> str:
    files = [copy, *copy.rglob("*")]
    return f"{sum(each.stat().st_size for each in files if each.is_file()) / 1e6:.1f} MB"


# --------------------------------------------------------------------------- the draft


@dataclass(frozen=True, slots=True, kw_only=True)
class Stated:
    """What the owner has stated: the unit's column and the budget, or nothing."""

    unit: str | None = None
    epsilon: Fraction | None = None
    delta: Fraction | None = None
    find_bounds: Fraction | None = None
    """The part of the budget for the contribution limit, bounds and lists of values."""
    columns: tuple[str, ...] | None = None
    """The columns that it is spent on; None for all that may be of use."""


def _tables(data: Sequence[str], output: Path) -> list[TableDraft]:
    """Return the tables of the files, with their columns and paths as the catalog writes them."""
    tables: dict[str, TableDraft] = {}
    for source in data:
        if is_address(source):
            raise ParameterError("DATA", HIDDEN, "must begin with the address, then name tables")
        with waiting(f"reading the columns of {source}"):
            found = read_columns(source)
        place = _seen_from(output, source)
        for name, columns in found.items():
            if name.casefold() in tables:
                raise ParameterError("DATA", source, f"holds a second table called {name!r}")
            tables[name.casefold()] = TableDraft(
                name=name, source=place, columns=columns, guessed_from=rows_guessed_from(source)
            )
    return list(tables.values())


def _address(data: Sequence[str]) -> str | None:
    """Return the address that stands before names of tables; None for files."""
    first = data[0]
    if not (is_address(first) or first.startswith(ENVIRONMENT)):
        return None
    if without_password(first) != first:
        fix = "Put the address in an environment variable and give env:NAME"
        raise ParameterError(
            "DATA", HIDDEN, "must not contain a password: a catalog is public", fix
        )
    if len(data) == 1:
        rule = "must name tables after the address"
        raise ParameterError("DATA", HIDDEN, rule, f"For example: {quote(first)} visits")
    return first


def _tables_on_server(data: Sequence[str]) -> list[TableDraft]:
    """Return the tables of a server that are named after its address."""
    address, *places = data
    with waiting("reading the columns of the server's tables"):
        found = read_server_columns(address, places)
    return [
        TableDraft(name=name, source=place, columns=columns)
        for (name, columns), place in zip(found.items(), places, strict=True)
    ]


def _check_files(engine: str | None, epsilon: Fraction) -> None:
    if engine is not None:
        fix = 'Draft the catalog without it, and find bounds with queries (bounds = "AUTO")'
        raise ParameterError("spend", epsilon, "works for files only", fix)


def _with_public(tables: Sequence[TableDraft], public: Sequence[str]) -> list[TableDraft]:
    """Return the tables, those that the owner called public marked as such."""
    names = {each.name.casefold(): each.name for each in tables}
    for each in public:
        if each.casefold() not in names:
            near = nearest_name(each, list(names.values()))
            rule = "must be a table of the data" + (f", perhaps {near!r}" if near else "")
            raise ParameterError("public", each, rule)
    folded = {each.casefold() for each in public}
    return [replace(each, is_public=each.name.casefold() in folded) for each in tables]


def _seen_from(output: Path, source: str) -> str:
    """Return the path of a source as the catalog's folder sees it; far ones stay whole."""
    path, folder = os.path.abspath(source), os.path.abspath(output.parent)
    relative = os.path.relpath(path, folder)
    return Path(path if relative.startswith("..") else relative).as_posix()


def _check_unit(unit: str | None, tables: Sequence[TableDraft]) -> None:
    """Reject a unit that is not a column of any table."""
    names = list(dict.fromkeys(each.name for table in tables for each in table.columns))
    if unit is None or unit == ROW or unit.casefold() in {name.casefold() for name in names}:
        return
    near = nearest_name(unit, names)
    rule = "must be a column of the data" + (f", perhaps {near!r}" if near else "")
    raise ParameterError("unit", unit, rule)


def _with_unit(table: TableDraft, unit: str | None) -> TableDraft:
    """Return the table with its unit: as stated, as typed, or to be guessed."""
    names = {each.name.casefold() for each in table.columns}
    if unit is None and is_interactive():
        unit = _asked_unit(table)
    elif unit is not None and unit != ROW and unit.casefold() not in names:
        unit = None
    return replace(table, unit=unit)


def _with_facts(tables: Sequence[TableDraft], stated: Stated, output: Path) -> list[TableDraft]:
    """Return the tables with facts that are found privately, each for an equal part of the cost.

    All of it is charged to the ledger of the drafted catalog.
    """
    asked = [each for each in tables if each.unit is not None]
    if not asked:
        rule = "must be named to find bounds privately: it says who is protected"
        raise ParameterError("unit", stated.unit, rule)
    known = {each.name.casefold() for table in asked for each in table.columns}
    for name in stated.columns or ():
        if name.casefold() not in known:
            near = nearest_name(name, sorted(known))
            hint = f", perhaps {near!r}" if near else ""
            raise ParameterError("columns", name, f"must be columns of the data{hint}")
    part = (stated.find_bounds or Fraction(0)) / len(asked)
    return [_with_facts_of(each, part, stated, output) for each in tables]


def _with_facts_of(table: TableDraft, part: Fraction, stated: Stated, output: Path) -> TableDraft:
    if table.unit is None:
        return table
    with progress(f"finding bounds of {table.name}") as advance:
        found = find_all(
            output.parent / table.source,
            table.name,
            table.unit if table.unit == ROW else written_unit(table.unit),
            types=_guessed_types(table),
            epsilon=part,
            ledger=output.with_suffix(LEDGER_SUFFIX),
            total_epsilon=TOTAL_EPSILON if stated.epsilon is None else stated.epsilon,
            total_delta=TOTAL_DELTA if stated.delta is None else stated.delta,
            columns=_named(table, stated),
            progress=advance,
        )
    return replace(table, found=found)


def _named(table: TableDraft, stated: Stated) -> tuple[str, ...] | None:
    """Return the columns of this table that the owner named; None if none was named at all."""
    if stated.columns is None:
        return None
    names = {each.name.casefold() for each in table.columns}
    return tuple(each for each in stated.columns if each.casefold() in names)


def _guessed_types(table: TableDraft) -> dict[str, str] | None:
    """Return the types that the draft declares, for a file that does not state them."""
    if table.guessed_from is None:
        return None
    return {each.name: each.kind.value for each in table.columns}


def _asked_unit(table: TableDraft) -> str:
    """Ask for the unit of a table, until it is one of its columns or `row`."""
    columns = {each.name.casefold(): each.name for each in table.columns}
    remark(f"Columns of {table.name}: {', '.join(columns.values())}.")
    while True:
        guess = unit_guess(table.name, table.columns)
        question = f"Which column identifies the person? ('{ROW}' to protect each row separately)"
        given = str(typer.prompt(question, default=guess, err=True)).strip()
        if given == ROW or given.casefold() in columns:
            return columns.get(given.casefold(), ROW)
        remark(f"{table.name} has no column {given}.")


def _say_what_is_next(output: Path, text: str, tables: Sequence[TableDraft]) -> None:
    spent = sum(each.found.epsilon for each in tables if each.found is not None)
    for table in tables:
        for each in () if table.found is None else table.found.reports:
            remark(f"  {table.name}: {each}" if len(tables) > 1 else f"  {each}")
    holds = "column names and types, but no values"
    if spent:
        holds = "column names and types, and limits, bounds and values found privately"
    cost = f" Spent {Price(epsilon=spent)}." if spent else ""
    remark(f"Wrote {output}. It contains {holds}.{cost} Next:")
    named = "" if output == DEFAULT_CATALOG else f" --catalog {quote(str(output))}"
    sql = f"SELECT COUNT(*) FROM {_in_sql(tables)}"  # noqa: S608 - shown to the owner, not run
    query = f"Run a query: discreet ask {quote(sql)} --epsilon 0.1{named}"
    for place, step in enumerate([*_steps(text, tables), query], start=1):
        remark(f"  {place}. {step}")


def _in_sql(tables: Sequence[TableDraft]) -> str:
    """Return the first private table as SQL writes its name: in quotes if it is no plain word."""
    name = next((each.name for each in tables if not each.is_public), tables[0].name)
    if re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name) and name.upper() not in RESERVED:
        return name
    return '"' + name.replace('"', '""') + '"'


RESERVED = {"ORDER", "GROUP", "TABLE", "USER", "SELECT", "FROM", "WHERE", "UNION", "CASE", "END"}
"""Words of SQL that files of data are named after."""


def _steps(text: str, tables: Sequence[TableDraft]) -> list[str]:
    """Return what the owner has yet to do in the drafted catalog."""
    steps = []
    if f'unit = "{BLANK}"' in text:
        steps.append(f"Replace {BLANK} by the column that identifies the person to protect.")
    if "# GUESS" in text:
        steps.append("Check each line marked GUESS.")
    unbounded = [each.name for table in tables for each in _unbounded(table)]
    if unbounded:
        more = f" and {len(unbounded) - 5} more" if len(unbounded) > 5 else ""
        named = ", ".join(unbounded[:5]) + more
        steps.append(f"Give bounds or values to the columns you want to query: {named}.")
    return steps


def _unbounded(table: TableDraft) -> list[Column]:
    """Return the columns that bounds or values could be given to, and have not."""
    if table.is_public:
        return []
    found = () if table.found is None else tuple(each.name for each in table.found.columns)
    return [each for each in table.columns if _can_be_bounded(each) and each.name not in found]


def _can_be_bounded(column: Column) -> bool:
    kind = column.kind
    is_told = kind.is_number or kind.is_time or kind.value == "text"
    return is_told and not is_identifier(column.name)
