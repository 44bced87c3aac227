"""Synthetic people for the tables of a catalog. The owner's data are not read.

Every private table has one row for each person, with values that the catalog allows. If it declares
no type for a column, the kind is guessed from the column's bounds and values.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa

from discreet.attacks.people import (
    IDENTIFYING,
    MOST_PEOPLE,
    Make,
    People,
    Relation,
    Scheme,
    Secret,
    identity,
    quoted,
)
from discreet.catalog import (
    Bounds,
    Column,
    ColumnUnit,
    Kind,
    PrivateTable,
    RowUnit,
    SourcePolicy,
    Value,
)
from discreet.catalog.catalog import column_of
from discreet.catalog.columns import ColumnDeclaration, UnitPath
from discreet.catalog.declaration import Declaration, TableDeclaration, path_unit
from discreet.catalog.entries import time_from
from discreet.catalog.resolve import resolve
from discreet.catalog.schema import time_from_number
from discreet.errors import CatalogError, ParameterError
from discreet.noise import bernoulli, uniform_integers
from discreet.noise.uniform import IntArray
from discreet.parameters import integer, nearest_name
from discreet.tables import ARROW_TYPES

Array: TypeAlias = "pa.Array[Any]"


MOST_VALUES = 1 << 20
"""The largest number of different values that are drawn from a range."""


FREE = Bounds(low=Fraction(0), high=Fraction(999))
"""The range of numbers and days without declared bounds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Domain:
    """The possible values of a synthetic column, by index; `is_ordered` if they increase."""

    size: int
    value: Callable[[int], Value]
    is_ordered: bool = False


def domain_of(column: Column) -> Domain:
    """Return the values that a column may have: the declared ones, or some of its kind."""
    if column.values is not None:
        return _listed(column.values)
    if column.kind is Kind.BOOLEAN:
        return _listed((False, True))
    if column.kind is Kind.TEXT:
        return Domain(size=1000, value=lambda i: f"text {i}")
    if column.kind is Kind.OTHER:
        return _listed((None,))
    return _range(column, column.bounds if isinstance(column.bounds, Bounds) else FREE)


def _listed(values: Sequence[Value]) -> Domain:
    return Domain(size=len(values), value=values.__getitem__)


def _range(column: Column, bounds: Bounds) -> Domain:
    """Return values from the lower bound in declared steps, or in at most MOST_VALUES steps."""
    kind, width = column.kind, bounds.high - bounds.low
    least = column.step or (width / 1000 if kind is Kind.REAL else Fraction(1))
    step = least * max(1, width / least // MOST_VALUES)

    def value(i: int) -> Value:
        number = bounds.low + i * step
        if kind is Kind.REAL:
            return float(number)
        return int(number) if kind is Kind.INTEGER else _time(number, kind)

    return Domain(size=int(width / step) + 1, value=value, is_ordered=True)


def _time(number: Fraction, kind: Kind) -> date | None:
    return time_from_number(number, kind)


def arrow_column(kind: Kind, values: Sequence[Value]) -> Array:
    """Return values as a column of an Arrow table."""
    return pa.array(values, ARROW_TYPES.get(kind, pa.binary()))


def identifying(kind: Kind, people: int) -> Array:
    """Return a column with a different value for each person."""
    return arrow_column(kind, [identity(kind, each) for each in range(people)])


def synthetic_column(column: Column, people: int) -> Array:
    """Return a random value for each person."""
    domain = domain_of(column)
    return _drawn(column, domain, uniform_integers(domain.size, people))


def _drawn(column: Column, domain: Domain, numbers: IntArray) -> Array:
    return arrow_column(column.kind, [domain.value(int(each)) for each in numbers])


# --------------------------------------------------------------------------- secrets


def secret_in(column: Column) -> Secret | None:
    """Return a condition on a column that can be the secret, or None if the column has none.

    A boolean column is the condition itself. Otherwise, the condition is that the value is the
    first listed one, or that it is in the upper half of the bounds.
    """
    domain = domain_of(column)
    is_declared = column.values is not None or isinstance(column.bounds, Bounds)
    if domain.size < 2 or not (is_declared or column.kind is Kind.BOOLEAN):
        return None
    if column.kind is Kind.BOOLEAN:
        return Secret(column=column.name)
    if not domain.is_ordered:
        return Secret(column=column.name, value=domain.value(0))
    middle = domain.value(domain.size // 2)
    return Secret(column=column.name, relation=Relation.AT_LEAST, value=middle)


def secret_column(column: Column, people: int) -> Array:
    """Return values for which the column's secret is a fair coin for each person."""
    domain = domain_of(column)
    if column.kind is Kind.BOOLEAN:
        return arrow_column(column.kind, bernoulli(0.5, people).tolist())
    first = domain.size // 2 if domain.is_ordered else 1
    low = uniform_integers(first, people)
    high = first + uniform_integers(domain.size - first, people)
    return _drawn(column, domain, np.where(bernoulli(0.5, people), low, high))


def synthetic_like(catalog: Declaration, people: int, *, secret: str | None = None) -> People:
    """Return synthetic people in the private tables of a catalog. Reads no data.

    The secret is a condition on the column `secret`, written "column" or "table.column". By default
    it is on the first boolean column, or else the first with listed values or with bounds. It is
    true of each person with probability 1/2, independently of everything else.
    """
    return synthesizer_like(catalog, secret)(people)


def synthesizer_like(catalog: Declaration, secret: str | None = None) -> Make:
    """Return a function that makes synthetic people for the private tables of a catalog."""
    private = _private_alone(catalog)
    completed = resolve(private, lambda name: _columns(name, private))
    tables = [each for each in completed.tables if isinstance(each, PrivateTable)]
    models = [_model(each, private) for each in tables]
    model, column = _secret_place(models, secret)
    return SyntheticDataset(models=tuple(models), main=model, secret=column, declared=private)


@dataclass(frozen=True, slots=True, kw_only=True)
class Model:
    """A private table, and its columns that identify people."""

    table: PrivateTable
    known: tuple[str, ...]

    def made_up(self, people: int, secret: Column | None = None) -> pa.Table:
        """Return a row for each person, with the secret in its column if that is in this table."""
        return pa.table(
            {
                each.name: identifying(each.kind, people)
                if each.name in self.known
                else secret_column(each, people)
                if each is secret
                else synthetic_column(each, people)
                for each in self.table.columns
            }
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class SyntheticDataset:
    """Makes synthetic people for one catalog, any number of times."""

    models: tuple[Model, ...]
    main: Model
    secret: Column
    declared: Declaration

    def __call__(self, people: int) -> People:
        """Return this many new people."""
        n = integer("people", people, least=1, most=MOST_PEOPLE)
        others = {each.table.name: each.made_up(n) for each in self.models if each is not self.main}
        return People(self.main.made_up(n, self.secret), self.scheme, others)

    @property
    def scheme(self) -> Scheme:
        """What an attacker knows about the people before any query."""
        table, unit = self.main.table, self.main.known[0]
        column, condition = column_of(table, unit), secret_in(self.secret)
        if column is None or condition is None:  # checked by maker_like
            raise TypeError(unit)
        return Scheme(
            declared=self.declared,
            table=table.name,
            unit=unit,
            unit_kind=column.kind,
            secret=condition,
            counted=_counted(table),
        )


def _counted(table: PrivateTable) -> str:
    """Return what COUNT counts, chosen so that one person changes it by 1 where possible."""
    if table.rows_per_unit == 1 or not isinstance(table.unit, ColumnUnit):
        return "*"
    return f"DISTINCT {quoted(table.unit.column)}"


# --------------------------------------------------------------------------- the catalog


def _private_alone(catalog: Declaration) -> Declaration:
    """Return the catalog without public tables and without any data source."""
    tables = [replace(each, source=None) for each in catalog.tables if each.unit is not None]
    names = {each.name for each in tables}
    return replace(
        catalog,
        source=SourcePolicy(row_choice=catalog.source.row_choice),
        tables=tuple(_freed(each, tables) for each in tables),
        analysts=(),
        ledger=None,
        disjoint=tuple(group for group in catalog.disjoint if names.issuperset(group)),
    )


def _freed(table: TableDeclaration, tables: Sequence[TableDeclaration]) -> TableDeclaration:
    """Return the table with no limits on the columns that identify people."""
    names = {each.casefold() for each in _identifiers(table, tables)}
    columns = (
        replace(each, bounds=None, values=None, step=None)
        if each.name.casefold() in names
        else each
        for each in table.columns
    )
    return replace(table, columns=tuple(columns))


def _identifiers(table: TableDeclaration, tables: Sequence[TableDeclaration]) -> Iterator[str]:
    """Yield the columns that identify the unit of a row, and those that other tables refer to."""
    if isinstance(table.unit, ColumnUnit):
        yield table.unit.column
    elif isinstance(table.unit, UnitPath):
        yield path_unit(table, table.unit, tables).column
    if table.key is not None:
        yield table.key
    for other in tables:
        if isinstance(other.unit, UnitPath):
            path = path_unit(other, other.unit, tables)
            if path.table == table.name:
                yield path.key


def _columns(name: str, catalog: Declaration) -> tuple[Column, ...]:
    """Return a table's columns with their declared or guessed kinds."""
    (table,) = (each for each in catalog.tables if each.name == name)
    kinds = {each.name: each.kind or guessed_kind(each) for each in table.columns}
    told = {each.casefold() for each in kinds}
    for needed in _identifiers(table, catalog.tables):
        if needed.casefold() not in told:
            kinds[needed] = _kind_elsewhere(needed, catalog)
            told.add(needed.casefold())
    return tuple(Column(name=each, kind=kind) for each, kind in kinds.items())


def _kind_elsewhere(name: str, catalog: Declaration) -> Kind:
    """Return the kind that a column of this name is declared with in some table."""
    kinds = (
        each.kind
        for table in catalog.tables
        for each in table.columns
        if each.kind is not None and each.name.casefold() == name.casefold()
    )
    return next(kinds, Kind.INTEGER)


def guessed_kind(column: ColumnDeclaration) -> Kind:
    """Return a kind that fits the bounds and values of a column without a declared type."""
    if isinstance(column.bounds, tuple):
        given: Sequence[object] = column.bounds
    else:
        given = column.values or (0,)
    times = [time_from(each) for each in given]
    if isinstance(given[0], bool):
        return Kind.BOOLEAN
    if None not in times:
        return Kind.TIMESTAMP_TZ if any(isinstance(each, datetime) for each in times) else Kind.DATE
    if any(isinstance(each, str) for each in given):
        return Kind.TEXT
    is_whole = all(isinstance(each, int) for each in given) and column.step is None
    return Kind.INTEGER if is_whole else Kind.REAL


# --------------------------------------------------------------------------- people and secrets


def _model(table: PrivateTable, declared: Declaration) -> Model:
    """Return the table with the columns that identify its people, or raise if there is none."""
    (own,) = (each for each in declared.tables if each.name == table.name)
    named = {each.casefold() for each in _identifiers(own, declared.tables)}
    known = [each for each in table.columns if each.name.casefold() in named]
    if not known:
        known = [each for each in table.columns if _is_free(each)][:1]
    if not known or not all(each.kind in IDENTIFYING for each in known):
        raise own.location.invalid(
            "has no column that identifies its people", 'add key = "COLUMN" to attack it'
        )
    first = [each for each in known if each.name == _unit_column(table)]
    return Model(table=table, known=tuple(each.name for each in (*first, *known)))


def _unit_column(table: PrivateTable) -> str | None:
    return None if isinstance(table.unit, RowUnit) else table.unit.column


def _is_free(column: Column) -> bool:
    return column.kind in IDENTIFYING and column.bounds is None and column.values is None


def _secret_place(models: Sequence[Model], name: str | None) -> tuple[Model, Column]:
    """Return the column of the secret: the named one, or the first of the best kind."""
    found = [
        (model, each)
        for model in models
        for each in model.table.columns
        if each.name not in model.known and secret_in(each) is not None
    ]
    if name is not None:
        return _named(found, name)
    if not found:
        raise CatalogError(
            "No column of a private table can be the secret",
            "Declare one as boolean, or with values or bounds",
        )
    return min(
        found, key=lambda place: (place[1].kind is not Kind.BOOLEAN, place[1].values is None)
    )


def _named(found: Sequence[tuple[Model, Column]], name: str) -> tuple[Model, Column]:
    by_name = {
        called: (model, column)
        for model, column in reversed(found)
        for called in (column.name.casefold(), f"{model.table.name}.{column.name}".casefold())
    }
    if name.casefold() in by_name:
        return by_name[name.casefold()]
    columns = [column.name for _, column in found]
    near = nearest_name(name, columns)
    such = f", such as {near or columns[0]!r}" if columns else ""
    rule = f"must name a column that is boolean or has values or bounds{such}"
    raise ParameterError("secret", name, rule)
