"""Exact answers about synthetic people, and answers that are altered before they are returned."""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cache

from discreet.attacks.people import People
from discreet.engines.public import PublicStore, rows_of
from discreet.errors import QuestionError, RefusedError


@cache
def _store() -> PublicStore:
    """Return a store for tables of synthetic people, which need no protection."""
    return PublicStore()


class ExactTarget:
    """Answers any SQL exactly."""

    def __init__(self, people: People) -> None:
        self._tables = people.tables
        self._known: dict[str, float] = {}

    def ask(self, sql: str) -> float:
        """Return the first number of the first row."""
        if sql not in self._known:
            try:
                rows = rows_of(_store().run_plainly(sql, self._tables))
            except QuestionError as error:
                raise RefusedError(str(error)) from None
            self._known[sql] = number_of(rows[0][0] if rows else None)
        return self._known[sql]


def number_of(cell: object) -> float:
    """Return a cell as a number, or 0 if it is not one."""
    return float(cell) if isinstance(cell, int | float | Fraction) else 0.0


@dataclass(frozen=True, slots=True)
class AlteredTarget:
    """Alters each exact answer before it is returned."""

    exact: ExactTarget
    alter: Callable[[str, float], float]

    def ask(self, sql: str) -> float:
        """Return the altered answer."""
        return self.alter(sql, self.exact.ask(sql))
