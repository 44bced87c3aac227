"""What a form notes of its rows, so that it is seen later whether they are still the tables' rows.

A fingerprint is the number of rows and a sum of their hashes, whatever their order. Which rows are
new is found by what the server knows of transactions, and proved by contents: without the rows that
came since, the tables have the fingerprint of the form.
"""

# ruff: noqa: S608 - names are quoted and values are numbers

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

from discreet.engines.postgresql.dialect import POSTGRESQL
from discreet.engines.writer import UNIT, column_name
from discreet.query.tree import Scan

if TYPE_CHECKING:
    from psycopg import Connection


SALT = """
SELECT CAST(CAST('x' || substr(replace(CAST(gen_random_uuid() AS text), '-', ''), 1, 12)
  AS bit(48)) AS bigint)
"""
"""48 bits that nobody knows before; the other digits of such a number tell its kind."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fingerprint:
    """Of rows, in any order. Hashes have a salt, so that nobody can plan for two to be alike."""

    salt: int
    rows: int
    total: int

    @classmethod
    def of(
        cls, connection: "Connection[Any]", scan: Scan, rows: str, salt: int | None = None
    ) -> Self:
        """Return that of rows, which a statement gives with their units."""
        if salt is None:
            ((salt,),) = connection.execute(SALT).fetchall()
        columns = ", ".join([UNIT, *columns_of(scan)])
        hashed = f"pg_catalog.hash_record_extended(ROW({columns}), {salt})"
        (found,) = connection.execute(
            f'SELECT count(*), coalesce(sum({hashed}), 0) FROM ({rows}) AS "__rows"'
        ).fetchall()
        return cls(salt=int(salt), rows=int(found[0]), total=int(found[1]))

    def with_more(self, other: "Fingerprint") -> "Fingerprint":
        """Return that of the rows of both, which have the same salt."""
        return Fingerprint(
            salt=self.salt, rows=self.rows + other.rows, total=self.total + other.total
        )

    def to_json(self) -> list[str]:
        """Return what `from_json` reads again."""
        return [str(self.salt), str(self.rows), str(self.total)]

    @classmethod
    def from_json(cls, told: list[str]) -> Self:
        salt, rows, total = map(int, told)
        return cls(salt=salt, rows=rows, total=total)


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """Which transactions had ended when a form was made."""

    ends: int
    """The first that had not begun."""
    running: tuple[int, ...]
    """Earlier ones that had not ended."""

    @classmethod
    def now(cls, connection: "Connection[Any]") -> Self:
        """Return that of the transaction at hand."""
        (told,) = connection.execute(
            "SELECT CAST(pg_catalog.pg_current_snapshot() AS text)"
        ).fetchone() or ("",)
        return cls.from_text(told)

    @classmethod
    def from_text(cls, told: str) -> Self:
        _, ends, running = told.split(":")
        return cls(ends=int(ends), running=tuple(map(int, filter(None, running.split(",")))))

    def __str__(self) -> str:
        return f"0:{self.ends}:{','.join(map(str, self.running))}"

    def is_new(self, connection: "Connection[Any]") -> str:
        """Return the condition for rows that came since; it may hold for others too.

        Rows know their transaction by 32 bits. Of one so long ago that these have come round, the
        row looks newer than it is, and never older.
        """
        (number,) = connection.execute(
            "SELECT CAST(CAST(pg_catalog.pg_current_xact_id() AS text) AS bigint)"
        ).fetchone() or (0,)
        age = "pg_catalog.age(xmin)"
        ages = [str(number - each) for each in self.running]
        among = f" OR {age} IN ({', '.join(ages)})" if ages else ""
        return f"({age} <= {number - self.ends}{among})"


def columns_of(scan: Scan) -> list[str]:
    """Return the columns of rows of a form, beside their units."""
    return [POSTGRESQL.quoted(column_name(each.name)) for each in scan.table.columns]
