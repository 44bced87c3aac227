"""Synthetic people, their secrets, and how questions name them."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from enum import Enum
from typing import TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from discreet.catalog import Kind, Value
from discreet.catalog.arguments import declare
from discreet.catalog.declaration import Declaration
from discreet.noise import bernoulli, uniform_integers
from discreet.parameters import integer

FIRST_DAY = date(2000, 1, 1)


IDENTIFYING = (Kind.INTEGER, Kind.TEXT, Kind.REAL, Kind.DATE, Kind.TIMESTAMP, Kind.TIMESTAMP_TZ)
"""Kinds with enough different values to identify every person."""


def identity(kind: Kind, person: int) -> Value:
    """Return the value that identifies a person in a column of this kind."""
    day = datetime(FIRST_DAY.year, 1, 1) + timedelta(seconds=person)
    by_kind: dict[Kind, Value] = {
        Kind.INTEGER: person,
        Kind.REAL: float(person),
        Kind.TEXT: f"p{person}",
        Kind.DATE: FIRST_DAY + timedelta(days=person),
        Kind.TIMESTAMP: day,
        Kind.TIMESTAMP_TZ: day.replace(tzinfo=UTC),
    }
    return by_kind[kind]


def literal(value: Value) -> str:
    """Return a value as SQL. Timestamps are in UTC, the time zone of all stores here."""
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, datetime):
        return f"TIMESTAMP '{value.replace(tzinfo=None).isoformat(sep=' ')}'"
    if isinstance(value, date):
        return f"DATE '{value.isoformat()}'"
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    return str(value)


def quoted(name: str) -> str:
    """Return the name of a table or column as SQL."""
    return '"' + name.replace('"', '""') + '"'


class Relation(Enum):
    """How a column is compared with a value."""

    EQUALS = "="
    AT_LEAST = ">="


@dataclass(frozen=True, slots=True, kw_only=True)
class Secret:
    """The condition that a column is true, equals a value, or is at least a value."""

    column: str
    relation: Relation = Relation.EQUALS
    value: Value = True

    @property
    def sql(self) -> str:
        """The condition as SQL."""
        if self.value is True:
            return quoted(self.column)
        return f"{quoted(self.column)} {self.relation.value} {literal(self.value)}"

    def holds(self, table: pa.Table) -> NDArray[np.bool_]:
        """Return for each row whether the condition is true."""
        column = table.column(self.column)
        value = pa.scalar(self.value, column.type)
        test = pc.equal if self.relation is Relation.EQUALS else pc.greater_equal
        return np.asarray(test(column, value).to_numpy(zero_copy_only=False), np.bool_)


TABLE, UNIT, SECRET = "people", "person", "secret"


CITIES = ("Aston", "Brook", "Carlow", "Dunham", "Elmsley")


AGES, INCOMES = (0, 99), (0, 100_000)


MOST_PEOPLE = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Scheme:
    """What an attacker knows before any query: tables, identifiers, and the secret's definition.

    `declared` is the catalog of the tables. The column `unit` identifies people.
    """

    declared: Declaration
    table: str
    unit: str
    unit_kind: Kind
    secret: Secret
    counted: str = "*"
    """The argument of COUNT: rows, or distinct people if a person may have several rows."""

    def count(self, *conditions: str) -> str:
        """Return the query that counts the people for whom all these conditions are true."""
        asked = " AND ".join(conditions)
        source = quoted(self.table)
        return f"SELECT COUNT({self.counted}) AS n FROM {source} WHERE {asked}"  # noqa: S608

    def among(self, people: Iterable[int]) -> str:
        """Return the condition that a person is one of these, by number."""
        listed = ", ".join(self.called(each) for each in people)
        return f"{quoted(self.unit)} IN ({listed})"

    def all_but(self, person: int) -> str:
        """Return the condition that a person is not this one."""
        return f"{quoted(self.unit)} <> {self.called(person)}"

    def called(self, person: int) -> str:
        """Return a person's identifier as an SQL literal."""
        return literal(identity(self.unit_kind, person))


PLAIN = Scheme(
    declared=declare(
        {TABLE: None},
        epsilon=1,
        unit=UNIT,
        rows_per_unit=1,
        key=UNIT,
        types={UNIT: "integer", SECRET: "boolean"},
        bounds={"age": AGES, "income": INCOMES},
        values={"city": CITIES},
    ),
    table=TABLE,
    unit=UNIT,
    unit_kind=Kind.INTEGER,
    secret=Secret(column=SECRET),
)
"""The scheme of people who are not made for a catalog."""


@dataclass(frozen=True, slots=True)
class People:
    """A table with one row per person, numbered from 0, each with a secret bit.

    `others` are further tables about the same people, if a catalog has several.
    """

    table: pa.Table
    scheme: Scheme = PLAIN
    others: Mapping[str, pa.Table] = field(default_factory=dict)

    @property
    def secrets(self) -> NDArray[np.bool_]:
        """The secret bits, by number of person."""
        return self.scheme.secret.holds(self.table)

    @property
    def tables(self) -> dict[str, pa.Table]:
        """All tables by their names in queries."""
        return {self.scheme.table: self.table, **self.others}

    def __len__(self) -> int:
        return int(self.table.num_rows)


Make: TypeAlias = Callable[[int], People]
"""Makes the given number of synthetic people."""


def synthetic_people(people: int) -> People:
    """Return synthetic people whose secrets are fair coins, independent of everything else.

    So before any query, a guess is right with probability 1/2.
    """
    n = integer("people", people, least=1, most=MOST_PEOPLE)
    columns = {
        UNIT: np.arange(n),
        "age": AGES[0] + uniform_integers(AGES[1] - AGES[0] + 1, n),
        "city": np.array(CITIES)[uniform_integers(len(CITIES), n)],
        "income": INCOMES[0] + uniform_integers(INCOMES[1] - INCOMES[0] + 1, n),
        SECRET: bernoulli(0.5, n),
    }
    return People(pa.table({name: pa.array(values) for name, values in columns.items()}))
