"""A catalog as the text of a `discreet.toml`: written from a catalog, or drafted from schemas.

A written catalog reads back as the same catalog. A drafted one is made without looking at the data:
it holds names and types of columns (types of a CSV file are guessed from its first rows), guesses
that are marked, and bounds and values that were found privately, if any.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date
from fractions import Fraction

from discreet.account_limits import LIMITS
from discreet.catalog.catalog import Catalog, RowChoice, Suspends
from discreet.catalog.columns import ROW, written_unit
from discreet.catalog.entries import BLANK, written_key, written_text
from discreet.catalog.schema import (
    MICROSECOND,
    Auto,
    Bounds,
    Column,
    ColumnUnit,
    GroupsPerUnit,
    Kind,
    PathUnit,
    PrivateTable,
    PublicTable,
    RowUnit,
    Table,
    Unit,
    Value,
    time_from_number,
)
from discreet.catalog.series import SeriesMechanism
from discreet.catalog.time_steps import time_step_text
from discreet.catalog.unit_names import is_identifier, unit_guess
from discreet.errors import CatalogError, ParameterError
from discreet.parameters import did_you_mean

MOST_PLACES = 18
"""A decimal with more places is written with an exponent."""


def toml_from(catalog: Catalog) -> str:
    """Return the text of a `discreet.toml` that `load` reads back as an equal catalog."""
    sections: list[Iterable[str]] = [_budget(catalog), _source(catalog)]
    sections += [part for table in catalog.tables for part in _table(catalog, table)]
    sections += [_disjoint(catalog), _series(catalog), _analysts(catalog)]
    return "\n\n".join("\n".join(lines) for each in sections if (lines := list(each))) + "\n"


def _budget(catalog: Catalog) -> Iterator[str]:
    budget = catalog.budget
    yield "[budget]"
    yield f"epsilon = {written_number(budget.epsilon)}"
    yield f"delta = {written_number(budget.delta)}"
    yield f"neighbours = {written_text(budget.neighbours.value)}"
    yield f"accounting = {written_text(budget.accounting.value)}"
    if budget.question_delta is not None:
        yield f"question_delta = {written_number(budget.question_delta)}"
    if budget.least_epsilon is not None:
        yield f"least_epsilon = {written_number(budget.least_epsilon)}"
    if budget.incident_suspends is not Suspends.ACCOUNT:
        yield f"incident_suspends = {written_text(budget.incident_suspends.value)}"
    if budget.per is not None:
        yield f"per = {written_text(budget.per.value)}"
    if budget.months_per_unit is not None:
        yield f"months_per_unit = {budget.months_per_unit}"


def _source(catalog: Catalog) -> Iterator[str]:
    source = catalog.source
    yield "[source]"
    yield f"engine = {written_text(source.engine)}"
    if source.memory_limit is not None:
        yield f"memory_limit = {written_text(source.memory_limit)}"
    if source.threads is not None:
        yield f"threads = {source.threads}"
    if source.timeout is not None:
        yield f"timeout = {written_number(source.timeout)}"
    if source.version is not None:
        yield f"version = {written_text(source.version)}"
    if source.row_choice is not RowChoice.ONCE:
        yield f"row_choice = {written_text(source.row_choice.value)}"
    if catalog.ledger is not None:
        yield f"ledger = {written_text(catalog.ledger)}"


def _disjoint(catalog: Catalog) -> Iterator[str]:
    for i, each in enumerate(catalog.disjoint):
        yield from [""] * (i > 0)
        yield "[[disjoint]]"
        yield f"tables = [{', '.join(map(written_text, each))}]"


def _series(catalog: Catalog) -> Iterator[str]:
    for i, each in enumerate(catalog.series):
        yield from [""] * (i > 0)
        yield "[[series]]"
        yield f"name = {written_text(each.name)}"
        yield f"question = {written_text(each.question)}"
        yield f"clock = {written_text(each.clock.value)}"
        yield f"first = {each.first.isoformat()}"
        yield f"ticks = {each.ticks}"
        yield f"epsilon = {written_number(each.epsilon)}"
        if each.delta is not None:
            yield f"delta = {written_number(each.delta)}"
        if each.rows_per_unit is not None:
            yield f"rows_per_unit = {each.rows_per_unit}"
        if each.rows_per_tick is not None:
            yield f"rows_per_tick = {each.rows_per_tick}"
        if each.wait:
            yield f'wait = "{each.wait // MICROSECOND // 10**6} seconds"'
        if each.mechanism is not SeriesMechanism.AUTO:
            yield f"mechanism = {written_text(each.mechanism.value)}"


def _analysts(catalog: Catalog) -> Iterator[str]:
    for i, each in enumerate(catalog.analysts):
        yield from [""] * (i > 0)
        yield f"[analysts.{written_key(each.name)}]"
        yield f"epsilon = {written_number(each.epsilon)}"
        if each.delta is not None:
            yield f"delta = {written_number(each.delta)}"
        for name in LIMITS:
            if (limit := getattr(each, name)) is not None:
                yield f"{name} = {written_number(limit)}"


# --------------------------------------------------------------------------- tables


def _table(catalog: Catalog, table: Table) -> tuple[Iterable[str], ...]:
    columns = [f"[tables.{written_key(table.name)}.columns]"]
    columns += [f"{written_key(each.name)} = {written_column(each)}" for each in table.columns]
    return _head(catalog, table), columns


def _head(catalog: Catalog, table: Table) -> Iterator[str]:
    yield f"[tables.{written_key(table.name)}]"
    if table.name in catalog.sources:
        yield f"from = {written_text(catalog.sources[table.name])}"
    if isinstance(table, PublicTable):
        yield "public = true"
    else:
        yield f"unit = {written_text(_unit(catalog, table.unit))}"
        if not table.is_default_limit and not isinstance(table.unit, RowUnit):
            yield f"rows_per_unit = {table.rows_per_unit}"
        if table.groups_per_unit is not None:
            yield f"groups_per_unit = {_groups_per_unit(table.groups_per_unit)}"
        if table.arrival is not None:
            yield f"arrival = {written_text(table.arrival)}"
    if table.key is not None:
        yield f"key = {written_text(table.key)}"


def _groups_per_unit(limits: GroupsPerUnit) -> str:
    if isinstance(limits, int):
        return str(limits)
    return f"{{ {', '.join(f'{written_key(name)} = {most}' for name, most in limits)} }}"


def _unit(catalog: Catalog, unit: Unit) -> str:
    if isinstance(unit, RowUnit):
        return ROW
    if isinstance(unit, ColumnUnit):
        return written_unit(unit.column)
    return written_unit(_root(catalog, unit), table=unit.table, via=unit.column)


def _root(catalog: Catalog, path: PathUnit) -> str:
    """Return the unit's column in the table where the path ends."""
    unit: Unit = path
    while isinstance(unit, PathUnit):
        table = catalog.table(unit.table)
        if not isinstance(table, PrivateTable):
            raise ParameterError(
                "catalog", unit.table, "must contain the private table of each path"
            )
        unit = table.unit
    return unit.column if isinstance(unit, ColumnUnit) else ROW


# --------------------------------------------------------------------------- columns and values


def written_column(column: Column) -> str:
    """Return the declaration of a column as an inline table: `{ type = "text" }`."""
    entries = [f"type = {written_text(column.kind.value)}"]
    if column.bounds is not None:
        entries.append(f"bounds = {_bounds(column.bounds, column.kind)}")
    if column.step is not None:
        entries.append(f"step = {written_number(column.step)}")
    if column.time_step is not None:
        entries.append(f"step = {written_text(time_step_text(column.time_step))}")
    if column.values is not None:
        entries.append(f"values = [{', '.join(map(written_value, column.values))}]")
    if column.nulls is not None:
        entries.append(f"nulls = {written_value(column.nulls)}")
    return f"{{ {', '.join(entries)} }}"


def _bounds(bounds: Bounds | Auto, kind: Kind) -> str:
    if isinstance(bounds, Auto):
        return '"AUTO"'
    return f"[{_end(bounds.low, kind)}, {_end(bounds.high, kind)}]"


def _end(number: Fraction, kind: Kind) -> str:
    moment = time_from_number(number, kind) if kind.is_time else None
    return written_number(number) if moment is None else written_value(moment)


def written_value(value: Value) -> str:
    """Return a value as TOML writes it."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return written_text(value)
    if isinstance(value, date):
        return value.isoformat()
    if value is None:
        raise ParameterError("values", value, "must not contain NULL: set nulls instead")
    return repr(value) if isinstance(value, float) else written_number(Fraction(value))


def written_number(number: Fraction) -> str:
    """Return a number exactly: as an integer or decimal if possible, else as "p/q" in quotes."""
    twos, fives, rest = _factors(number.denominator)
    if rest != 1:
        return f'"{number}"'
    places = max(twos, fives)
    digits = int(number * 10**places)
    if places == 0:
        return str(digits) if abs(digits) < 2**63 else f"{digits}e0"
    if places > MOST_PLACES:
        return f"{digits}e-{places}"
    return f"{'-' * (digits < 0)}{abs(digits) // 10**places}.{abs(digits) % 10**places:0{places}}"


def _factors(denominator: int) -> tuple[int, int, int]:
    """Return how often 2 and 5 divide it, and the remaining factor."""
    counts = []
    for prime in (2, 5):
        count = 0
        while denominator % prime == 0:
            denominator //= prime
            count += 1
        counts.append(count)
    return counts[0], counts[1], denominator


# --------------------------------------------------------------------------- drafts

HEAD = """\
# Draft catalog. Everything in this file is public: anyone who can run queries can read it.
# Check each line marked GUESS. Complete the lines marked FILL IN, and the commented-out lines that
# you need."""

EPSILON = "epsilon = 1.0   # GUESS: {why}"
DELTA = "delta = 1e-6    # GUESS: {why}"
WHY_EPSILON = "total privacy budget, for the life of this data"
WHY_DELTA = "should be much smaller than 1 / number of people; 0 for none"
WHY_ROWS = "use at most this many rows per person; further rows are left out of every answer"
WHY_GROUPS = "count each person in at most this many groups of a query: less noise by group"
NEIGHBOURS = """\
neighbours = "add-remove"   # or "replace": the number of people is then public"""

COLUMNS = """\
# To average or sum a column, give it bounds. To group by it, list its values.
# Write what you know (an age is 0 to 120), not what you find in the data: this file is public.
# When you complete a commented-out line, delete the line above it."""

GUESSED = """\
# GUESS: all types below, from the first {rows} rows of the CSV file. No other rows were read.
# Check them: a single odd value in these rows can decide a type, and types are public. Values in
# other rows that do not fit their type are read as NULL."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PrivateFacts:
    """Bounds and values of columns that were found privately, and the cost."""

    columns: tuple[Column, ...]
    epsilon: Fraction
    delta: Fraction = Fraction(0)
    rows_per_unit: int | None = None
    """The contribution limit of least expected error, if one was found."""
    reports: tuple[str, ...] = ()
    """What was found of the limit and of each column, and what was missed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TableDraft:
    """A table to draft a catalog for. Of its columns, only names and types are used."""

    name: str
    source: str
    columns: tuple[Column, ...]
    unit: str | None = None
    """The unit's column, if the owner named it; or "row" for a table without a column "row"."""
    found: PrivateFacts | None = None
    guessed_from: int | None = None
    """The most rows that types were guessed from; None if the source has types."""
    is_public: bool = False
    """Whether the owner said that anyone may see it."""


def draft(
    *tables: TableDraft,
    epsilon: Fraction | None = None,
    delta: Fraction | None = None,
    engine: str | None = None,
) -> str:
    """Return the text of a catalog for these tables, for the owner to check and complete.

    `engine` is the address of the server that holds them, if they are not files.
    """
    parts = [HEAD, "\n".join(_draft_budget(epsilon, delta))]
    if engine is not None:
        parts.append(f"[source]\nengine = {written_text(engine)}")
    for table in tables:
        parts += ["\n".join(_draft_head(table)), "\n".join(_draft_columns(table))]
    return "\n\n".join(parts) + "\n"


def _draft_budget(epsilon: Fraction | None, delta: Fraction | None) -> Iterator[str]:
    """Yield the budget: as the owner stated it, or a guess that is marked."""
    yield "[budget]"
    for name, stated, guess, why in (
        ("epsilon", epsilon, EPSILON, WHY_EPSILON),
        ("delta", delta, DELTA, WHY_DELTA),
    ):
        said = "" if stated is None else f"{name} = {written_number(stated)}   # {why}"
        yield said or guess.format(why=why)
    yield NEIGHBOURS


def _draft_head(table: TableDraft) -> Iterator[str]:
    yield f"[tables.{written_key(table.name)}]"
    yield f"from = {written_text(table.source)}"
    if table.is_public:
        yield "public = true"
        return
    yield _draft_unit(table)
    if _is_by_row(table):
        yield "# If anyone may see this table, write public = true instead of unit."
        return
    yield "# If anyone may see this table, write public = true instead of unit and rows_per_unit."
    if table.found is not None and table.found.rows_per_unit is not None:
        yield f"rows_per_unit = {table.found.rows_per_unit}   # found privately: {WHY_ROWS}"
        return
    yield f"rows_per_unit = 10   # GUESS: {WHY_ROWS}"
    yield f"# groups_per_unit = 3   # {WHY_GROUPS}"


def _is_by_row(table: TableDraft) -> bool:
    """Return whether the owner chose each row as a unit, and not a column of that name."""
    return table.unit == ROW and all(each.name.casefold() != ROW for each in table.columns)


def _draft_unit(table: TableDraft) -> str:
    if _is_by_row(table):
        return f'unit = "{ROW}"'
    if table.unit is not None:
        return f"unit = {written_text(written_unit(_checked_unit(table, table.unit)))}"
    guess = unit_guess(table.name, table.columns)
    if guess is None:
        why = 'the column that identifies the person, or "row" to protect each row separately'
        return f'unit = "{BLANK}"   # {why}'
    return f"unit = {written_text(written_unit(guess))}   # GUESS: from the column's name alone"


def _checked_unit(table: TableDraft, unit: str) -> str:
    names = {each.name.casefold(): each.name for each in table.columns}
    if unit.casefold() not in names:
        fix = did_you_mean(unit, list(names.values()), otherwise="Name one of its columns")
        raise CatalogError(f"unit={written_text(unit)} is not a column of {table.name}", fix)
    return names[unit.casefold()]


def _draft_columns(table: TableDraft) -> Iterator[str]:
    yield f"[tables.{written_key(table.name)}.columns]"
    yield COLUMNS
    if table.guessed_from is not None:
        yield GUESSED.format(rows=f"{table.guessed_from:,}")
    found = {} if table.found is None else {each.name: each for each in table.found.columns}
    for column in table.columns:
        plain = Column(name=column.name, kind=column.kind)
        if column.name in found and table.found is not None:
            kind = "values" if found[column.name].values is not None else "bounds"
            yield f"{_line(found[column.name])}   # found privately: {ABOUT_FOUND[kind]}"
        else:
            yield _line(plain)
            yield from _advice(plain)


ABOUT_FOUND = {
    "values": "rare ones may be missing; add those that you know",
    "bounds": "widen them if you know more",
}


def _line(column: Column) -> str:
    return f"{written_key(column.name)} = {written_column(column)}"


ADVICE = {
    Kind.INTEGER: ("bounds = [LOW, HIGH]", "to sum or average it"),
    Kind.REAL: ("bounds = [LOW, HIGH]", "to sum or average it"),
    Kind.DATE: ("bounds = [FIRST, LAST]", "to group by month, for example"),
    Kind.TIMESTAMP: ("bounds = [FIRST, LAST]", "to group by month, for example"),
    Kind.TIMESTAMP_TZ: ("bounds = [FIRST, LAST]", "to group by month, for example"),
    Kind.TEXT: (f'values = ["{BLANK}"]', "to group by it without a delta"),
}
"""What the owner may add to a column of each type, and why."""


def _advice(column: Column) -> Iterator[str]:
    if column.kind in ADVICE and not is_identifier(column.name):
        example, why = ADVICE[column.kind]
        kind = written_text(column.kind.value)
        yield f"# {written_key(column.name)} = {{ type = {kind}, {example} }}   # {why}"
