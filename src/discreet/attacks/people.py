"""Made-up people, each with a secret bit that an attacker is after."""

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
    """What an attacker knows before asking: names of tables and people, and what the secret is.

    `declared` is what an owner declares of the tables. A column `unit` tells people apart.
    """

    declared: Declaration
    table: str
    unit: str
    unit_kind: Kind
    secret: Secret
    counted: str = "*"
    """What is counted: rows, or people where several rows of a person may count."""

    def count(self, *conditions: str) -> str:
        """Return the question for how many people all of these conditions hold."""
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
        """Return what a question calls a person, as SQL."""
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
"""What is declared of people who belong to no catalog."""


@dataclass(frozen=True, slots=True)
class People:
    """A table of people, one row each, numbered from 0, with one secret truth value.

    `others` are further tables of the same people, where a catalog has several.
    """

    table: pa.Table
    scheme: Scheme = PLAIN
    others: Mapping[str, pa.Table] = field(default_factory=dict)

    @property
    def secrets(self) -> NDArray[np.bool_]:
        """What the attacker is after, by number of person."""
        return self.scheme.secret.holds(self.table)

    @property
    def tables(self) -> dict[str, pa.Table]:
        """All tables by their names in questions."""
        return {self.scheme.table: self.table, **self.others}

    def __len__(self) -> int:
        return int(self.table.num_rows)


Make: TypeAlias = Callable[[int], People]
"""Makes up so many people."""


def made_up(people: int) -> People:
    """Return so many people; their secrets are fair coins, independent of each other and all else.

    So nobody can know a secret better than by chance before asking.
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
