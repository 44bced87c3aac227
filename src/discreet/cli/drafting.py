"""`discreet init`: a first catalog from the tables' schemas, with its guesses marked."""

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path

import typer

from discreet.answer import Price
from discreet.catalog import Column
from discreet.catalog.columns import ROW, written_unit
from discreet.catalog.entries import BLANK
from discreet.catalog.policy import nearest
from discreet.catalog.toml import TableDraft, draft, unit_guess
from discreet.cli.screen import is_interactive, progress, remark, waiting
from discreet.errors import CatalogError, ParameterError
from discreet.opening import LEDGER_SUFFIX, read_columns, rows_guessed_from
from discreet.opening.private_draft import TOTAL_DELTA, TOTAL_EPSILON, find_all
from discreet.writing import check_place, write_file


@dataclass(frozen=True, slots=True, kw_only=True)
class Stated:
    """What the owner has said: the unit's column, the budget and what to spend, or nothing."""

    unit: str | None = None
    epsilon: Fraction | None = None
    delta: Fraction | None = None
    spend: Fraction | None = None
    """The part of the budget for bounds and lists of values."""


def init(data: Sequence[str], output: Path, stated: Stated, *, may_replace: bool) -> None:
    """Draft a catalog of data files and say what to do next; shows no value of the data."""
    if output.exists() and not may_replace:
        raise CatalogError(
            "there is a catalog already", "name another with --output, or add --force",
            file=str(output),
        )  # fmt: skip
    check_place("output", output)
    tables = _tables(data, output)
    _check_unit(stated.unit, tables)
    drafted = [_with_unit(each, stated.unit) for each in tables]
    if stated.spend is not None:
        drafted = _with_facts(drafted, stated, output)
    text = draft(*drafted, epsilon=stated.epsilon, delta=stated.delta)
    write_file("output", output, text.encode())
    _say_what_is_next(output, text, drafted)


def _tables(data: Sequence[str], output: Path) -> list[TableDraft]:
    """Return the tables of the files with their columns; where they are is told from the output."""
    tables: dict[str, TableDraft] = {}
    for source in data:
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


def _seen_from(output: Path, source: str) -> str:
    """Return the path of a source as the catalog's folder sees it; far ones stay whole."""
    path, folder = os.path.abspath(source), os.path.abspath(output.parent)
    relative = os.path.relpath(path, folder)
    return Path(path if relative.startswith("..") else relative).as_posix()


def _check_unit(unit: str | None, tables: Sequence[TableDraft]) -> None:
    """Refuse a unit that is a column of no table."""
    names = list(dict.fromkeys(each.name for table in tables for each in table.columns))
    if unit is None or unit == ROW or unit.casefold() in {name.casefold() for name in names}:
        return
    near = nearest(unit, names)
    rule = "must be a column of the data" + (f", perhaps {near!r}" if near else "")
    raise ParameterError("unit", unit, rule)


def _with_unit(table: TableDraft, unit: str | None) -> TableDraft:
    """Return the table with its unit: as stated, as asked for, or to be guessed."""
    names = {each.name.casefold() for each in table.columns}
    if unit is None and is_interactive():
        unit = _asked_unit(table)
    elif unit is not None and unit != ROW and unit.casefold() not in names:
        unit = None
    return replace(table, unit=unit)


def _with_facts(tables: Sequence[TableDraft], stated: Stated, output: Path) -> list[TableDraft]:
    """Return the tables with facts that are found privately, each for an equal part of the price.

    All of it is charged to the ledger of the catalog that is drafted.
    """
    asked = [each for each in tables if each.unit is not None]
    if not asked:
        rule = "must be named to spend: what is found has to protect someone"
        raise ParameterError("unit", stated.unit, rule)
    part = (stated.spend or Fraction(0)) / len(asked)
    return [_with_facts_of(each, part, stated, output) for each in tables]


def _with_facts_of(table: TableDraft, part: Fraction, stated: Stated, output: Path) -> TableDraft:
    if table.unit is None:
        return table
    with progress(f"asking about the columns of {table.name}") as told:
        found = find_all(
            output.parent / table.source,
            table.name,
            table.unit if table.unit == ROW else written_unit(table.unit),
            types=_guessed_types(table),
            epsilon=part,
            ledger=output.with_suffix(LEDGER_SUFFIX),
            total_epsilon=TOTAL_EPSILON if stated.epsilon is None else stated.epsilon,
            total_delta=TOTAL_DELTA if stated.delta is None else stated.delta,
            progress=told,
        )
    return replace(table, found=found)


def _guessed_types(table: TableDraft) -> dict[str, str] | None:
    """Return the types that the draft declares, for a source that does not say them."""
    if table.guessed_from is None:
        return None
    return {each.name: each.kind.value for each in table.columns}


def _asked_unit(table: TableDraft) -> str:
    """Ask whose rows the table holds, until it is one of its columns or `row`."""
    columns = {each.name.casefold(): each.name for each in table.columns}
    remark(f"{table.name} has the columns {', '.join(columns.values())}.")
    while True:
        guess = unit_guess(table.name, table.columns)
        question = f"Which one says whose row it is? ('{ROW}' if each is a unit of its own)"
        given = str(typer.prompt(question, default=guess, err=True)).strip()
        if given == ROW or given.casefold() in columns:
            return columns.get(given.casefold(), ROW)
        remark(f"There is no such column: {given}.")


def _say_what_is_next(output: Path, text: str, tables: Sequence[TableDraft]) -> None:
    spent = sum(each.found.epsilon for each in tables if each.found is not None)
    told = f"and what was found privately, for {Price(epsilon=spent)}" if spent else "and no values"
    remark(f"{output} is drafted. It holds names and types of columns, {told}. Next:")
    steps = list(_steps(text, tables))
    called = "" if output.name == "discreet.toml" else f" --catalog {output}"
    sql = f"SELECT COUNT(*) FROM {tables[0].name}"  # noqa: S608 - shown to the owner, not run
    ask = f"discreet ask '{sql}' --epsilon 0.1{called}"
    for number, step in enumerate([*steps, f"ask: {ask}"], start=1):
        remark(f"  {number}. {step}")


def _steps(text: str, tables: Sequence[TableDraft]) -> list[str]:
    """Return what the owner has yet to do in the drafted catalog."""
    steps = []
    if f'unit = "{BLANK}"' in text:
        steps.append(f"fill in the unit where it says {BLANK}: who is protected")
    if "# GUESS" in text:
        steps.append("check each line that is marked GUESS")
    unbounded = [each.name for table in tables for each in _unbounded(table)]
    if unbounded:
        named = ", ".join(unbounded[:5]) + (", …" if len(unbounded) > 5 else "")
        steps.append(f"give bounds or values to the columns you will ask about: {named}")
    return steps


def _unbounded(table: TableDraft) -> list[Column]:
    """Return the columns that bounds or values could be given to, and have not."""
    found = () if table.found is None else tuple(each.name for each in table.found.columns)
    return [each for each in table.columns if _can_be_bounded(each) and each.name not in found]


def _can_be_bounded(column: Column) -> bool:
    is_name = column.name.casefold().endswith("id")
    return (column.kind.is_number or column.kind.is_time or column.kind.value == "text") and (
        not is_name
    )
