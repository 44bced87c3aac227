"""What a form notes of its rows, so that it is seen later whether they are still the tables' rows.

Which rows came since is found by what the server knows of transactions: rows bear the number of the
one that wrote them, and a row never changes, because an update writes another one. So of rows of
transactions that had all ended by the time of a snapshot none can come, and if there are as many
later, none has gone: they need only be counted. Where a transaction was still open, it and those
that began after it may have written rows that the snapshot did not show, by a number that does not
tell (of a savepoint). Of their rows, which are few, a sum of hashes is compared too.

That holds for plain tables all of whose rows this role sees, and whose values do not change in the
server's catalog. Of other tables, hashes of all rows are compared.
"""

# ruff: noqa: S608 - names are quoted and values are numbers

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol, Self

from discreet.catalog.schema import Column, Kind
from discreet.engines.postgresql.dialect import POSTGRESQL, ROW_ID
from discreet.engines.postgresql.tables import Stored, are_still_plain, sees_all_rows
from discreet.engines.writer import FRESH, UNIT, column_name, write_rows
from discreet.query.tree import Scan

if TYPE_CHECKING:
    from psycopg import Connection


SALT = """
SELECT CAST(CAST('x' || substr(replace(CAST(gen_random_uuid() AS text), '-', ''), 1, 12)
  AS bit(48)) AS bigint)
"""
"""48 bits that nobody knows before; the other digits of such a number tell its kind."""


MAY_ASK = "SELECT pg_catalog.has_function_privilege('pg_catalog.pg_control_system()', 'EXECUTE')"
SERVER = "SELECT CAST(system_identifier AS text) FROM pg_catalog.pg_control_system()"


class Reads(Protocol):
    """Says how the tables are read that a statement names, as its WITH has it."""

    def __call__(
        self,
        text: str,
        only: Mapping[str, str] | None = None,
        fresh: Mapping[str, str] | None = None,
    ) -> str:
        """Return it; of tables in `only`, by name, only rows that meet a condition are read.

        Those in `fresh` have a column more, which tells rows that meet a condition.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """Which transactions had ended when a form was made."""

    first: int
    """The oldest that had not ended; 0 if that was not noted."""
    ends: int
    """The first that had not begun."""
    running: tuple[int, ...]
    """Earlier ones that had not ended, without their savepoints."""

    @classmethod
    def now(cls, connection: "Connection[Any]") -> Self:
        """Return that of the transaction at hand."""
        (told,) = connection.execute(
            "SELECT CAST(pg_catalog.pg_current_snapshot() AS text)"
        ).fetchone() or ("",)
        return cls.from_text(told)

    @classmethod
    def from_text(cls, told: str) -> Self:
        first, ends, running = told.split(":")
        return cls(
            first=int(first),
            ends=int(ends),
            running=tuple(map(int, filter(None, running.split(",")))),
        )

    def __str__(self) -> str:
        return f"{self.first}:{self.ends}:{','.join(map(str, self.running))}"


AGE = "pg_catalog.age(xmin)"
"""How many transactions ago a row was written.

Rows know their transaction by 32 bits. Of one so long ago that these have come round, the row looks
newer than it is, and never older.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class TableRows:
    """The rows of a table with their units, in the snapshot of a transaction, by who wrote them."""

    connection: "Connection[Any]"
    scan: Scan
    reads: Reads
    number: int
    """Of the transaction at hand."""

    @classmethod
    def of(cls, connection: "Connection[Any]", scan: Scan, reads: Reads) -> Self:
        (number,) = connection.execute(
            "SELECT CAST(CAST(pg_catalog.pg_current_xact_id() AS text) AS bigint)"
        ).fetchone() or (0,)
        return cls(connection=connection, scan=scan, reads=reads, number=number)

    def all(self) -> str:
        """Return the statement of all rows."""
        return self._written({})

    def new(self, since: Snapshot) -> str:
        """Return the statement of rows that came after a snapshot: by one of their tables."""
        is_new = self._is_new(since)
        return self._by_first(before=f"NOT {is_new}", that=is_new)

    def old(self, since: Snapshot) -> str:
        """Return the statement of the other rows."""
        return self._written(dict.fromkeys(self._path, f"NOT {self._is_new(since)}"))

    def late(self, since: Snapshot) -> str:
        """Return the statement of old rows that were written when not all before had ended."""
        is_late, is_old = self._is_late(since), f"NOT {self._is_new(since)}"
        return self._by_first(before=f"NOT {is_late}", that=f"{is_late} AND {is_old}", after=is_old)

    def unsettled(self, since: Snapshot) -> str:
        """Return the statement of rows that are late or new."""
        is_late = self._is_late(since)
        return self._by_first(before=f"NOT {is_late}", that=is_late)

    def divided(self, since: Snapshot) -> tuple[int, str | None]:
        """Return how many old rows there are, and the statement of the new ones, if there are any.

        Of one table, new rows are read from the first one on: most come at the end.
        """
        table, own = self.scan.table, (FRESH.strip('"'), ROW_ID.strip('"'))
        if self.scan.parents or {each.name.casefold() for each in table.columns} & {*own}:
            return self.number_in(self.old(since)), self.new(since)
        dated = None if table.by_month is None else table.by_month.column
        columns = (
            *(Column(name=each, kind=Kind.OTHER) for each in own),
            *(each for each in table.columns if each.name == dated),
        )
        seen = replace(self.scan, table=replace(table, columns=columns))
        is_new, at = (POSTGRESQL.quoted(column_name(each)) for each in own)
        rows, condition = write_rows(seen, POSTGRESQL), self._is_new(since)
        ((number, first),) = self.connection.execute(
            f"WITH {self.reads(rows, None, {table.name: condition})} "
            f"SELECT count(*), CAST(min({at}) FILTER (WHERE {is_new}) AS text) "
            f'FROM ({rows}) AS "__rows"'
        ).fetchall()
        if first is None:
            return int(number), None
        from_first = f"ctid >= CAST('{first}' AS tid) AND {condition}"
        new = self._written({table.name: from_first})
        return int(number) - self.number_in(new), new

    def are_columns_settled(self, tables: Sequence[int], since: Snapshot) -> bool:
        """Return whether columns of tables, by their numbers, were not renamed after a snapshot.

        Rows that stay would have other values for a while, if it was undone.
        """
        late = (
            "SELECT count(*) FROM pg_catalog.pg_attribute "
            f"WHERE attrelid = ANY(%s) AND {self._is_late(since)}"
        )
        return self.connection.execute(late, (list(tables),)).fetchone() == (0,)

    def number_in(self, rows: str) -> int:
        """Return how many rows a statement gives."""
        ((number,),) = self.connection.execute(
            f'SELECT count(*) FROM ({rows}) AS "__rows"'
        ).fetchall()
        return int(number)

    @property
    def _path(self) -> list[str]:
        return [each.name for each in (self.scan.table, *self.scan.parents)]

    def _is_new(self, since: Snapshot) -> str:
        """Return the condition for rows that came since; it may hold for others too."""
        ages = [str(self.number - each) for each in since.running]
        among = f" OR {AGE} IN ({', '.join(ages)})" if ages else ""
        return f"({AGE} <= {self.number - since.ends}{among})"

    def _is_late(self, since: Snapshot) -> str:
        return f"({AGE} <= {self.number - since.first})"

    def _by_first(self, *, before: str, that: str, after: str | None = None) -> str:
        """Return rows of a join by the first table on their path whose row meets a condition."""
        path = self._path
        parts = [
            {**dict.fromkeys(path[:n], before), each: that}
            | ({} if after is None else dict.fromkeys(path[n + 1 :], after))
            for n, each in enumerate(path)
        ]
        return " UNION ALL ".join(f"({self._written(each)})" for each in parts)

    def _written(self, only: Mapping[str, str]) -> str:
        """Return the rows of a table with their units, of some rows of the tables of its path."""
        rows = write_rows(self.scan, POSTGRESQL)
        return f"WITH {self.reads(rows, only)} {rows}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Fingerprint:
    """Of rows, in any order. Hashes have a salt, so that nobody can plan for two to be alike."""

    salt: int
    rows: int
    total: int
    """The sum of the hashes of all rows, or of late ones."""
    is_counted: bool = False
    """Whether the rows that are not late are counted only."""

    def now(self, rows: TableRows, since: Snapshot) -> tuple[Self, str | None]:
        """Return that of the old rows as they are now, and the statement of new ones, if any."""
        if not self.is_counted:
            old = self.of_all(rows.connection, rows.scan, rows.old(since), self.salt)
            return old, rows.new(since)
        number, new = rows.divided(since)
        # Numbers that were given twice, by a server that was set back, tell nothing.
        number = number if rows.number >= since.ends else -1
        return self.counted(rows, since, number, self.salt), new

    @classmethod
    def counted(cls, rows: TableRows, since: Snapshot, number: int, salt: int) -> Self:
        """Return that of rows whose number is known."""
        late = 0
        if since.first < since.ends:
            _, late = _hashed(rows.connection, rows.scan, rows.late(since), salt)
        return cls(salt=salt, rows=number, total=late, is_counted=True)

    @classmethod
    def of_all(cls, connection: "Connection[Any]", scan: Scan, rows: str, salt: int) -> Self:
        """Return that of the rows that a statement gives, with the hashes of all."""
        number, total = _hashed(connection, scan, rows, salt)
        return cls(salt=salt, rows=number, total=total)

    def with_more(self, connection: "Connection[Any]", scan: Scan, rows: str) -> Self:
        """Return that of all rows with those that a statement gives."""
        number, total = _hashed(connection, scan, rows, self.salt)
        return replace(self, rows=self.rows + number, total=self.total + total)

    def to_json(self) -> list[str]:
        """Return what `from_json` reads again."""
        return [str(self.salt), str(self.rows), str(self.total), str(int(self.is_counted))]

    @classmethod
    def from_json(cls, told: list[str]) -> Self:
        salt, rows, total, *counted = map(int, told)
        return cls(salt=salt, rows=rows, total=total, is_counted=counted == [1])


def new_salt(connection: "Connection[Any]") -> int:
    """Return a number that nobody knows before."""
    ((salt,),) = connection.execute(SALT).fetchall()
    return int(salt)


def _hashed(connection: "Connection[Any]", scan: Scan, rows: str, salt: int) -> tuple[int, int]:
    """Return the number of rows that a statement gives, and the sum of their hashes."""
    columns = ", ".join([UNIT, *columns_of(scan)])
    hashed = f"pg_catalog.hash_record_extended(ROW({columns}), {salt})"
    ((number, total),) = connection.execute(
        f'SELECT count(*), coalesce(sum({hashed}), 0) FROM ({rows}) AS "__rows"'
    ).fetchall()
    return int(number), int(total)


def can_be_counted(connection: "Connection[Any]", tables: Sequence[Stored]) -> bool:
    """Return whether a row of these tables is what it was as long as it bears the same number.

    They are locked first: until the transaction ends nobody replaces them or hides rows.
    """
    if not all(each.is_plain and not each.named for each in tables):
        return False
    places = ", ".join(sorted({each.place for each in tables}))
    connection.execute(f"LOCK TABLE {places} IN ACCESS SHARE MODE")
    return are_still_plain(connection, tables) and sees_all_rows(
        connection, [each.oid for each in tables]
    )


def server_of(connection: "Connection[Any]") -> str | None:
    """Return which server numbers the transactions, if this role may know; copies have others."""
    if connection.execute(MAY_ASK).fetchone() != (True,):
        return None
    ((found,),) = connection.execute(SERVER).fetchall()
    return str(found)


def columns_of(scan: Scan) -> list[str]:
    """Return the columns of rows of a form, beside their units."""
    return [POSTGRESQL.quoted(column_name(each.name)) for each in scan.table.columns]
