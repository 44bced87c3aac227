"""Synthetic people, each with a secret bit that an attacker tries to guess."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from discreet.attacks.secret import Secret
from discreet.attacks.wording import identity, literal, quoted
from discreet.catalog import Kind
from discreet.catalog.arguments import declare
from discreet.catalog.declaration import Declaration
from discreet.noise import bernoulli, uniform_integers
from discreet.parameters import whole

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


def made_up(people: int) -> People:
    """Return synthetic people whose secrets are fair coins, independent of everything else.

    So before any query, a guess is right with probability 1/2.
    """
    n = whole("people", people, least=1, most=MOST_PEOPLE)
    columns = {
        UNIT: np.arange(n),
        "age": AGES[0] + uniform_integers(AGES[1] - AGES[0] + 1, n),
        "city": np.array(CITIES)[uniform_integers(len(CITIES), n)],
        "income": INCOMES[0] + uniform_integers(INCOMES[1] - INCOMES[0] + 1, n),
        SECRET: bernoulli(0.5, n),
    }
    return People(pa.table({name: pa.array(values) for name, values in columns.items()}))
