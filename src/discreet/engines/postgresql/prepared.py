"""Makes prepared tables on a server.

The rows of each unit that are used are chosen once. Of every unit the rows are ordered by a hash of
the unit and their contents, then by the contents: the first `rows_per_unit` are kept in one table,
the others in another. Which these are follows from the unit's own rows alone
(docs/proofs/measures.md, Lemma 5, needs no more).

A table is prepared in parts, by a hash of the unit, each by one statement: what was done when the
process or the server ended need not be done again, and no part is ever there twice or by half.
"""

# ruff: noqa: S608 - names are quoted and values are numbers

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from discreet.catalog.schema import Kind
from discreet.engines.base import PreparedTables, Progress, Scans, columns_text, log
from discreet.engines.dialect import Dialect
from discreet.engines.postgresql.dialect import POSTGRESQL
from discreet.engines.postgresql.fingerprints import (
    Fingerprint,
    Reads,
    Snapshot,
    TableRows,
    can_be_counted,
    new_salt,
    server_of,
)
from discreet.engines.postgresql.forms import (
    FORMS,
    PARTS,
    REST,
    Made,
    base_of,
    drop_forms,
    hold,
    key_now,
    made_forms,
    make_schemas,
    marked,
    noted,
    units_table,
)
from discreet.engines.postgresql.sessions import Sessions
from discreet.engines.postgresql.tables import Stored
from discreet.engines.writer import ABOUT, EVERY, KEPT, UNIT, column_name, write_rows
from discreet.engines.writer.units import unit_kind
from discreet.errors import SourceError
from discreet.query.tree import Scan

if TYPE_CHECKING:
    from psycopg import Connection


PART = 4_000_000
"""Rows that are ranked at a time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Maker:
    """Makes one form."""

    sessions: Sessions
    form: PreparedTables
    key: str
    scans: Scans
    reads: Reads
    tables: Mapping[str, Stored]
    """By their names in lower case."""

    @property
    def dialect(self) -> Dialect:
        return marked(self.key)

    def make(self, progress: Progress | None) -> None:
        """Make the form, or go on making it; whole, it takes the place of older ones."""
        with self.alone() as connection:
            make_schemas(connection)
            self._begin(connection)
        for each in self.scans:
            self._make_table(each, progress)
        with self._held() as connection:
            is_whole = self._finish(connection)
        if not is_whole:
            raise SourceError("A table changed while it was read", "Prepare it again")

    @contextmanager
    def alone(self) -> Iterator["Connection[Any]"]:
        """Yield a connection that writes. Raises an error if another process is writing."""
        with self.sessions.writing() as connection:
            _lock(connection, self.form)
            yield connection

    @contextmanager
    def _held(self) -> Iterator["Connection[Any]"]:
        """Yield a connection that writes tables of this form."""
        with self.alone() as connection:
            self._hold(connection)
            yield connection

    def _hold(self, connection: "Connection[Any]") -> None:
        columns = {each.table.name: each.table.columns for each in self.scans}
        own = Made(key=self.key, columns=columns, is_whole=False)
        hold(connection, self.form, own.written)

    def _begin(self, connection: "Connection[Any]") -> None:
        hold(connection, self.form, [FORMS])
        begun = [each for each in made_forms(connection, self.form) if each.key == self.key]
        # Earlier versions did not write down how many rows each unit of a part keeps.
        drop_forms(connection, [each for each in begun if noted(connection, each.key) is None])
        connection.execute(
            f"CREATE TABLE IF NOT EXISTS {self.dialect.prepared(PARTS, ABOUT)} "
            "(name text, part int, parts int, units bigint, PRIMARY KEY (name, part))"
        )
        for each in self.scans:
            self._make_empty(connection, each)
        self._hold(connection)
        told = {each.table.name: columns_text(each.table.columns) for each in self.scans}
        notes = {"begun": str(Snapshot.now(connection))}
        connection.execute(
            f"INSERT INTO {FORMS} (key, family, told, is_whole, notes) "
            "VALUES (%s, %s, %s, false, %s) ON CONFLICT (key) DO NOTHING",
            (self.key, self.form.family, json.dumps(told), json.dumps(notes)),
        )

    def _make_empty(self, connection: "Connection[Any]", scan: Scan) -> None:
        name = scan.table.name
        kept, rest, every = (self.dialect.prepared(name, each) for each in (KEPT, REST, EVERY))
        rows = write_rows(scan, POSTGRESQL)
        made = f"WITH {self.reads(rows)} {rows} WITH NO DATA"
        for each in (kept, rest):
            connection.execute(f"CREATE TABLE IF NOT EXISTS {each} AS {made}")
        units = units_table(self.dialect, name)
        connection.execute(
            f'CREATE TABLE IF NOT EXISTS {units} AS SELECT {UNIT}, 0::bigint AS "__n" FROM {kept} '
            "WITH NO DATA"
        )
        both = f"SELECT * FROM {kept} UNION ALL SELECT * FROM {rest}"
        connection.execute(f"CREATE OR REPLACE VIEW {every} AS {both}")

    def _make_table(self, scan: Scan, progress: Progress | None) -> None:
        name = scan.table.name
        with self._held() as connection:
            done, parts = self._done(connection, scan)
        for number in sorted(set(range(parts)) - done):
            if progress is not None:
                progress(name, number, parts)
            with self._held() as connection:
                connection.execute(self._part(scan, number, parts))
        if progress is not None:
            progress(name, parts, parts)

    def _done(self, connection: "Connection[Any]", scan: Scan) -> tuple[set[int], int]:
        """Return the parts that are there and how many there will be.

        Once one is there their number is fixed: else a unit could be in two of them.
        """
        told = f"SELECT part, parts FROM {self.dialect.prepared(PARTS, ABOUT)} WHERE name = %s"
        found = connection.execute(told, (scan.table.name,)).fetchall()
        if found:
            return {part for part, _ in found}, int(found[0][1])
        rows = f"SELECT count(*) FROM {POSTGRESQL.quoted(scan.table.name)}"
        (count,) = connection.execute(f"WITH {self.reads(rows)} {rows}").fetchone() or (0,)
        return set(), max(1, -(-int(count) // PART))

    def _part(self, scan: Scan, number: int, parts: int) -> str:
        """Return the statement that ranks the rows of a part of the units and divides them."""
        name, limit = scan.table.name, scan.table.rows_per_unit
        columns = [POSTGRESQL.quoted(column_name(each.name)) for each in scan.table.columns]
        order = self.order(columns, limit)
        listed = ", ".join([UNIT, *columns])
        chosen = f'SELECT {listed} FROM ({write_rows(scan, POSTGRESQL)}) AS "__rows"'
        if parts > 1:
            chosen += f" WHERE {_part_of(scan)} % {parts} = {number}"
        counted = f'SELECT *, count(*) OVER (PARTITION BY {UNIT}) AS "__n" FROM ({chosen}) AS "__p"'
        rank = f'row_number() OVER (PARTITION BY {UNIT} ORDER BY {order}) AS "__rank"'
        kept, rest = (self.dialect.prepared(name, each) for each in (KEPT, REST))
        units = units_table(self.dialect, name)
        told = f"{POSTGRESQL.text(name)}, {number}, {parts}, count(*)"
        return (
            f"WITH {self.reads(chosen)}, "
            f'"__ranked" AS MATERIALIZED (SELECT {listed}, "__n", {rank} '
            f'FROM ({counted}) AS "__c"), '
            f'"__kept" AS (INSERT INTO {kept} SELECT {listed} FROM "__ranked" '
            f'WHERE "__rank" <= {limit}), '
            f'"__rest" AS (INSERT INTO {rest} SELECT {listed} FROM "__ranked" '
            f'WHERE "__rank" > {limit}), '
            f'"__units" AS (INSERT INTO {units} SELECT {UNIT}, least("__n", {limit}) '
            f'FROM "__ranked" WHERE "__rank" = 1) '
            f"INSERT INTO {self.dialect.prepared(PARTS, ABOUT)} (name, part, parts, units) "
            f'SELECT {told} FROM "__ranked" WHERE "__rank" = 1'
        )

    def order(self, columns: list[str], limit: int) -> str:
        """Return what orders a unit's rows: a hash, if it has too many, then their contents.

        The unit is part of the hash: units with like rows would else all lose the same ones.
        """
        hashed = POSTGRESQL.hash_of(["'discreet'", UNIT, *columns])
        return ", ".join([f'CASE WHEN "__n" > {limit} THEN {hashed} END', *columns])

    def _finish(self, connection: "Connection[Any]") -> bool:
        """Declare the form whole and drop all others; or drop it too, if the data changed."""
        made = made_forms(connection, self.form)
        own = next((each for each in made if each.key == self.key), None)
        if own is not None and own.is_whole:
            return True  # another process has just made the last part
        is_changed = own is None or self._is_changed(connection)
        drop_forms(connection, [each for each in made if is_changed or each.key != self.key])
        if is_changed:
            return False
        rows = {each.table.name: self._fingerprint(connection, each) for each in self.scans}
        if any(each is None for each in rows.values()):
            drop_forms(connection, [each for each in made if each.key == self.key])
            return False
        self.note(connection, {name: each for name, each in rows.items() if each is not None})
        for each in self.scans:
            kept = self.dialect.prepared(each.table.name, KEPT)
            connection.execute(f"CREATE INDEX ON {kept} ({sought(UNIT, each)})")
            for schema in (KEPT, REST):
                connection.execute(f"ANALYZE {self.dialect.prepared(each.table.name, schema)}")
        connection.execute(f"UPDATE {FORMS} SET is_whole = true WHERE key = %s", (self.key,))
        return True

    def _is_changed(self, connection: "Connection[Any]") -> bool:
        """Return whether the server has counted changes of the tables."""
        return key_now(connection, self.form) != self.key

    def _fingerprint(self, connection: "Connection[Any]", scan: Scan) -> Fingerprint | None:
        """Return that of the rows of a form; None if they are not those of the tables now.

        Parts were read one after the other. Rows that had settled when the first one was read, and
        are there now, were there in between. So if there are no others now, the form has these; and
        if it has as many, it has no others.
        """
        name = scan.table.name
        salt, rows = new_salt(connection), TableRows.of(connection, scan, self.reads)
        since = Snapshot.from_text((noted(connection, self.key) or {})["begun"])
        is_settled = self.can_count(connection, scan) and rows.are_columns_settled(
            [each.oid for each in self.stored(scan)], since
        )
        if not is_settled or rows.number_in(rows.unsettled(since)):
            every = f"SELECT * FROM {self.dialect.prepared(name, EVERY)}"
            found = Fingerprint.of_all(connection, scan, every, salt)
        else:
            number = rows.number_in(rows.all())
            found = Fingerprint.counted(rows, Snapshot.now(connection), number, salt)
        # Of parts that an earlier version made it is not written down how many rows units keep.
        return found if self.keeps(connection, self.dialect, scan, found.rows) else None

    def keeps(
        self, connection: "Connection[Any]", dialect: Dialect, scan: Scan, number: int
    ) -> bool:
        """Return whether a form has so many rows, by what units keep and what is left out."""
        units = units_table(dialect, scan.table.name)
        kept = f'SELECT coalesce(sum("__n"), 0) FROM {units}'
        rest = f"SELECT count(*) FROM {dialect.prepared(scan.table.name, REST)}"
        found = connection.execute(f"SELECT ({kept}) + ({rest}) = {number}").fetchone()
        return bool(found == (True,))

    def can_count(self, connection: "Connection[Any]", scan: Scan) -> bool:
        """Return whether rows of a table and of its path need only be counted to be the same."""
        is_known = server_of(connection) is not None
        return is_known and can_be_counted(connection, self.stored(scan))

    def stored(self, scan: Scan) -> list[Stored]:
        """Return a table and those of its path, as the server has them."""
        return [self.tables[each.name.casefold()] for each in (scan.table, *scan.parents)]

    def note(self, connection: "Connection[Any]", rows: Mapping[str, Fingerprint]) -> None:
        """Note which rows a form has, for when it is to grow."""
        notes = {
            "base": base_of(connection, self.form),
            "snapshot": str(Snapshot.now(connection)),
            "server": server_of(connection),
            "rows": {name: each.to_json() for name, each in rows.items()},
        }
        connection.execute(
            f"UPDATE {FORMS} SET notes = %s WHERE key = %s", (json.dumps(notes), self.key)
        )


LONGEST = 200
"""Letters of a text by which rows of a unit are looked for; an index has no room for long ones."""


def sought(unit: str, scan: Scan) -> str:
    """Return by what the rows of a unit are found in an index, before units are compared."""
    is_long = unit_kind(scan) in (Kind.TEXT, Kind.OTHER)
    return f"left({unit}, {LONGEST})" if is_long else unit


def _part_of(scan: Scan) -> str:
    """Return an integer that follows from the unit, the same for units that are equal."""
    kind = unit_kind(scan) or Kind.INTEGER
    unit = POSTGRESQL.keys.get(kind, "{0}").format(UNIT)
    digits = f"substr({POSTGRESQL.hash_of([unit])}, 1, 8)"
    return f"CAST(CAST('x' || {digits} AS bit(32)) AS bigint)"


def _lock(connection: "Connection[Any]", form: PreparedTables) -> None:
    taken = "SELECT pg_catalog.pg_try_advisory_xact_lock(%s)"
    if connection.execute(taken, (int(form.family[:15], 16),)).fetchone() != (True,):
        raise SourceError(
            "Another process is preparing tables there", "Try again when it has finished"
        )


def forget_forms(sessions: Sessions, form: PreparedTables) -> bool:
    """Drop all forms of these tables, of whatever data and limits; return if there were any."""
    with told_apart(sessions), sessions.writing() as connection:
        _lock(connection, form)
        found = made_forms(connection, form)
        drop_forms(connection, found)
    return bool(found)


@contextmanager
def told_apart(sessions: Sessions) -> Iterator[None]:
    """Have the server's own words in the owner's log, and fixed ones told."""
    words = "Tables could not be prepared on the server", "The log discreet.engine has the cause"
    try:
        yield
    except sessions.psycopg.errors.InsufficientPrivilege as cause:
        log.warning("the role may not prepare tables", exc_info=cause)
        words = (
            "The role may not prepare tables on the server",
            "Give it the rights that docs/how-to/connect-postgresql.md lists",
        )
    except sessions.psycopg.Error as cause:
        log.warning("tables could not be prepared", exc_info=cause)
    else:
        return
    raise SourceError(*words)
