"""A catalog as the text of a `discreet.toml`, which reads back as the same catalog."""

from collections.abc import Iterable, Iterator
from datetime import date
from fractions import Fraction

from discreet.catalog.places import written_key, written_text
from discreet.catalog.policy import Catalog, RowChoice, Suspends
from discreet.catalog.schema import (
    Auto,
    Bounds,
    Column,
    ColumnUnit,
    Kind,
    PathUnit,
    PrivateTable,
    PublicTable,
    RowUnit,
    Table,
    Unit,
    Value,
)
from discreet.catalog.times import time_from_number
from discreet.catalog.units import ROW, written_unit
from discreet.errors import ParameterError

MOST_PLACES = 18
"""A decimal of more places is written with an exponent."""


def toml_from(catalog: Catalog) -> str:
    """Return the text that `load` reads back as an equal catalog, without any data at hand."""
    sections: list[Iterable[str]] = [_budget(catalog), _source(catalog)]
    sections += [part for table in catalog.tables for part in _table(catalog, table)]
    sections += [_disjoint(catalog), _analysts(catalog)]
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
    if source.bounding is not RowChoice.PREPARED:
        yield f"bounding = {written_text(source.bounding.value)}"
    if catalog.ledger is not None:
        yield f"ledger = {written_text(catalog.ledger)}"


def _disjoint(catalog: Catalog) -> Iterator[str]:
    for i, each in enumerate(catalog.disjoint):
        yield from [""] * (i > 0)
        yield "[[disjoint]]"
        yield f"tables = [{', '.join(map(written_text, each))}]"


def _analysts(catalog: Catalog) -> Iterator[str]:
    for i, each in enumerate(catalog.analysts):
        yield from [""] * (i > 0)
        yield f"[analysts.{written_key(each.name)}]"
        yield f"epsilon = {written_number(each.epsilon)}"
        if each.delta is not None:
            yield f"delta = {written_number(each.delta)}"


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
    if table.key is not None:
        yield f"key = {written_text(table.key)}"


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
            raise ParameterError("catalog", unit.table, "must have the private table of each path")
        unit = table.unit
    return unit.column if isinstance(unit, ColumnUnit) else ROW


# --------------------------------------------------------------------------- columns and values


def written_column(column: Column) -> str:
    """Return what is declared of a column as an inline table: `{ type = "text" }`."""
    entries = [f"type = {written_text(column.kind.value)}"]
    if column.bounds is not None:
        entries.append(f"bounds = {_bounds(column.bounds, column.kind)}")
    if column.step is not None:
        entries.append(f"step = {written_number(column.step)}")
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
        raise ParameterError("values", value, "must not have NULL among them: set nulls instead")
    return repr(value) if isinstance(value, float) else written_number(Fraction(value))


def written_number(number: Fraction) -> str:
    """Return an exact number: as an integer or decimal if it is one, else as "p/q" in quotes."""
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
    """Return how often 2 and 5 divide it, and what is left."""
    counts = []
    for prime in (2, 5):
        count = 0
        while denominator % prime == 0:
            denominator //= prime
            count += 1
        counts.append(count)
    return counts[0], counts[1], denominator
