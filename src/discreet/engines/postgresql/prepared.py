"""Prepared tables on a server: makes them, finds them, and checks that they match the current data.

A form is made in schemas of ours. Everything that belongs to it bears its mark,
so that a statement that was written for one form can never read another.

The rows of each unit that are used are chosen once. Of every unit the rows are ordered by a hash of
the unit and their contents, then by the contents: the first `rows_per_unit` are kept in one table,
the others in another. Which these are follows from the unit's own rows alone
(docs/proofs/measures.md, Lemma 5, needs no more).

A table is prepared in parts, by a hash of the unit, each by one statement: what was done when the
process or the server ended need not be done again, and no part is ever there twice or by half.
"""

# ruff: noqa: S608 - names are quoted and values are numbers

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol, cast

from discreet.catalog.schema import Column, Kind
from discreet.engines.base import PreparedTables, Progress, Scans, columns_from, columns_text, log
from discreet.engines.dialect import Dialect
from discreet.engines.postgresql.dialect import POSTGRESQL
from discreet.engines.postgresql.fingerprints import Fingerprint, Snapshot
from discreet.engines.postgresql.sessions import Sessions
from discreet.engines.postgresql.tables import located, state_of
from discreet.engines.writer import ABOUT, EVERY, KEPT, UNIT, column_name, write_rows
from discreet.engines.writer.units import unit_kind
from discreet.errors import SourceError
from discreet.query.tree import Scan

if TYPE_CHECKING:
    from psycopg import Connection


REST = "rest"
"""The schema of rows that do not count."""


SCHEMAS = (KEPT, REST, EVERY, ABOUT)


READ = (KEPT, EVERY, ABOUT)
"""Those that queries read."""


PARTS = "parts"
"""The table of a form that says how many units each part has."""


FORMS = POSTGRESQL.prepared("forms", ABOUT)
"""The one table of all forms: what they are of, and whether they are whole."""


MARK = 16
"""How many digits of its key a form's tables bear: with 64 bits no two forms share them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """A form that is there, whole or not."""

    key: str
    columns: Mapping[str, tuple[Column, ...]]
    is_whole: bool

    @property
    def dialect(self) -> Dialect:
        return marked(self.key)


def marked(key: str) -> Dialect:
    """Return PostgreSQL's SQL with the names that a form's tables have."""
    return replace(POSTGRESQL, mark=f"_{key[:MARK]}")


COLUMNS = """
SELECT a.attrelid, a.attnum, a.attname, a.atttypid, a.atttypmod, a.attcollation
FROM pg_catalog.pg_attribute a
WHERE a.attrelid = ANY(%s) AND a.attnum > 0 AND NOT a.attisdropped ORDER BY 1, 2
"""


def _numbers(connection: "Connection[Any]", form: PreparedTables) -> list[int]:
    return [located(connection, each)[0] for _, each in sorted(form.tables.items())]


def key_now(connection: "Connection[Any]", form: PreparedTables) -> str:
    """Return the key of a form of the tables as they are now; reads no rows and needs no rights."""
    found = _numbers(connection, form)
    columns = connection.execute(COLUMNS, (found,)).fetchall()
    return form.key(f"{state_of(connection, found)}|{columns}")


def base_of(connection: "Connection[Any]", form: PreparedTables) -> str:
    """Return what must be the same for a form to grow: everything but the rows."""
    columns = connection.execute(COLUMNS, (_numbers(connection, form),)).fetchall()
    return form.key(f"whatever the rows|{columns}")


def noted(connection: "Connection[Any]", made: Made) -> Mapping[str, Any] | None:
    """Return what a form notes of the rows that it has."""
    told = f"SELECT notes FROM {FORMS} WHERE key = %s"
    (found,) = connection.execute(told, (made.key,)).fetchone() or (None,)
    return None if found is None else cast("Mapping[str, Any]", json.loads(found))


def made_forms(connection: "Connection[Any]", form: PreparedTables) -> list[Made]:
    """Return the forms of these tables, of whatever data and limits, that the role may see."""
    if not _may_read(connection):
        return []
    told = f"SELECT key, told, is_whole FROM {FORMS} WHERE family = %s ORDER BY key"
    return [
        Made(key=key, columns=_columns(text), is_whole=is_whole)
        for key, text, is_whole in connection.execute(told, (form.family,)).fetchall()
    ]


def usable_form(
    connection: "Connection[Any]", form: PreparedTables, key: str, made: Iterable[Made]
) -> Made | None:
    """Return the whole form that has this key, if there is one that may be read and trusted."""
    for each in made:
        if each.key == key and each.is_whole:
            if _is_readable(connection, each) and _is_trusted(connection, each, form):
                return each
            log.warning(
                "a prepared form is not used: this role may not read it, or whoever owns it may "
                "not read the tables that it is of"
            )
    return None


def _columns(told: str) -> dict[str, tuple[Column, ...]]:
    return {name: columns_from(each) for name, each in json.loads(told).items()}


MAY_READ = """
SELECT count(*) FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname = %s AND c.relname = 'forms'
  AND pg_catalog.has_schema_privilege(n.oid, 'USAGE')
  AND pg_catalog.has_table_privilege(c.oid, 'SELECT')
"""


def _may_read(connection: "Connection[Any]") -> bool:
    found = connection.execute(MAY_READ, (POSTGRESQL.schemas.format(ABOUT),)).fetchone()
    return found is not None and found[0] == 1


def _is_readable(connection: "Connection[Any]", made: Made) -> bool:
    """Return whether the role may read all that queries read of a form."""
    schemas = [POSTGRESQL.schemas.format(each) for each in READ]
    usable = (
        "SELECT bool_and(pg_catalog.has_schema_privilege(each, 'USAGE')) "
        "FROM unnest(CAST(%s AS text[])) each"
    )
    if connection.execute(usable, (schemas,)).fetchone() != (True,):
        return False
    names = _relations(made)
    readable = (
        "SELECT bool_and(coalesce(pg_catalog.has_table_privilege("
        "pg_catalog.to_regclass(each), 'SELECT'), false)) FROM unnest(CAST(%s AS text[])) each"
    )
    return bool(connection.execute(readable, (names,)).fetchone() == (True,))


def _relations(made: Made) -> list[str]:
    """Return all that queries read of a form."""
    both = [made.dialect.prepared(name, each) for name in made.columns for each in (KEPT, EVERY)]
    return [made.dialect.prepared(PARTS, ABOUT), *both]


TRUSTED = """
SELECT bool_and(pg_catalog.has_any_column_privilege(c.relowner, source, 'SELECT'))
FROM unnest(CAST(%s AS text[])) each
JOIN pg_catalog.pg_class c ON c.oid = pg_catalog.to_regclass(each)
CROSS JOIN unnest(CAST(%s AS oid[])) source
"""


def _is_trusted(connection: "Connection[Any]", made: Made, form: PreparedTables) -> bool:
    """Return whether a form was made by who may read the tables themselves.

    Anyone else who can make schemas could put together a form that keeps too many rows of a unit,
    and learn from the answers. Who reads the tables has nothing to learn.
    """
    owned = [FORMS, *_relations(made)]
    found = connection.execute(TRUSTED, (owned, _numbers(connection, form))).fetchone()
    return bool(found == (True,))


PART = 4_000_000
"""Rows that are ranked at a time."""


MAKING = 0x646973637265
"""What is locked while schemas are made."""


class Reads(Protocol):
    """Says how the tables are read that a statement names, as its WITH has it."""

    def __call__(self, text: str, only: Mapping[str, str] | None = None) -> str:
        """Return it; of tables in `only`, by name, only rows that meet a condition are read."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Maker:
    """Makes one form."""

    sessions: Sessions
    form: PreparedTables
    key: str
    scans: Scans
    reads: Reads

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
        with self.alone() as connection:
            is_whole = self._finish(connection)
        if not is_whole:
            raise SourceError("A table changed while it was read", "Prepare it again")

    @contextmanager
    def alone(self) -> Iterator["Connection[Any]"]:
        """Yield a connection that writes. Raises an error if another process is writing."""
        with self.sessions.writing() as connection:
            _lock(connection, self.form)
            yield connection

    def _begin(self, connection: "Connection[Any]") -> None:
        told = {each.table.name: columns_text(each.table.columns) for each in self.scans}
        connection.execute(
            f"INSERT INTO {FORMS} (key, family, told, is_whole) VALUES (%s, %s, %s, false) "
            "ON CONFLICT (key) DO NOTHING",
            (self.key, self.form.family, json.dumps(told)),
        )
        connection.execute(
            f"CREATE TABLE IF NOT EXISTS {self.dialect.prepared(PARTS, ABOUT)} "
            "(name text, part int, parts int, units bigint, PRIMARY KEY (name, part))"
        )
        for each in self.scans:
            self._make_empty(connection, each)

    def _make_empty(self, connection: "Connection[Any]", scan: Scan) -> None:
        name = scan.table.name
        kept, rest, every = (self.dialect.prepared(name, each) for each in (KEPT, REST, EVERY))
        rows = write_rows(scan, POSTGRESQL)
        made = f"WITH {self.reads(rows)} {rows} WITH NO DATA"
        for each in (kept, rest):
            connection.execute(f"CREATE TABLE IF NOT EXISTS {each} AS {made}")
        both = f"SELECT * FROM {kept} UNION ALL SELECT * FROM {rest}"
        connection.execute(f"CREATE OR REPLACE VIEW {every} AS {both}")

    def _make_table(self, scan: Scan, progress: Progress | None) -> None:
        name = scan.table.name
        with self.alone() as connection:
            done, parts = self._done(connection, scan)
        for number in sorted(set(range(parts)) - done):
            if progress is not None:
                progress(name, number, parts)
            with self.alone() as connection:
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
        told = f"{POSTGRESQL.text(name)}, {number}, {parts}, count(*)"
        return (
            f"WITH {self.reads(chosen)}, "
            f'"__ranked" AS MATERIALIZED (SELECT {listed}, {rank} FROM ({counted}) AS "__c"), '
            f'"__kept" AS (INSERT INTO {kept} SELECT {listed} FROM "__ranked" '
            f'WHERE "__rank" <= {limit}), '
            f'"__rest" AS (INSERT INTO {rest} SELECT {listed} FROM "__ranked" '
            f'WHERE "__rank" > {limit}) '
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
        is_changed = key_now(connection, self.form) != self.key
        drop_forms(connection, [each for each in made if is_changed or each.key != self.key])
        if is_changed:
            return False
        self.note(
            connection,
            {
                each.table.name: Fingerprint.of(
                    connection,
                    each,
                    f"SELECT * FROM {self.dialect.prepared(each.table.name, EVERY)}",
                )
                for each in self.scans
            },
        )
        for each in self.scans:
            for schema in (KEPT, REST):
                connection.execute(f"ANALYZE {self.dialect.prepared(each.table.name, schema)}")
        connection.execute(f"UPDATE {FORMS} SET is_whole = true WHERE key = %s", (self.key,))
        return True

    def note(self, connection: "Connection[Any]", rows: Mapping[str, Fingerprint]) -> None:
        """Note which rows a form has, for when it is to grow."""
        notes = {
            "base": base_of(connection, self.form),
            "snapshot": str(Snapshot.now(connection)),
            "rows": {name: each.to_json() for name, each in rows.items()},
        }
        connection.execute(
            f"UPDATE {FORMS} SET notes = %s WHERE key = %s", (json.dumps(notes), self.key)
        )


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


def make_schemas(connection: "Connection[Any]") -> None:
    """Make the schemas that are not there; who may not make any needs them made by the owner."""
    connection.execute("SELECT pg_catalog.pg_advisory_xact_lock(%s)", (MAKING,))
    for each in SCHEMAS:
        schema = POSTGRESQL.quoted(POSTGRESQL.schemas.format(each))
        missing = "SELECT pg_catalog.to_regnamespace(%s) IS NULL"
        if connection.execute(missing, (schema,)).fetchone() == (True,):
            connection.execute(f"CREATE SCHEMA {schema}")
    connection.execute(
        f"CREATE TABLE IF NOT EXISTS {FORMS} "
        "(key text PRIMARY KEY, family text, told text, is_whole boolean, notes text)"
    )
    connection.execute(f"ALTER TABLE {FORMS} ADD COLUMN IF NOT EXISTS notes text")


def drop_forms(connection: "Connection[Any]", forms: Iterable[Made]) -> None:
    """Drop all that belongs to forms."""
    for made in forms:
        for name in made.columns:
            connection.execute(f"DROP VIEW IF EXISTS {made.dialect.prepared(name, EVERY)}")
            for schema in (KEPT, REST):
                connection.execute(f"DROP TABLE IF EXISTS {made.dialect.prepared(name, schema)}")
        connection.execute(f"DROP TABLE IF EXISTS {made.dialect.prepared(PARTS, ABOUT)}")
        connection.execute(f"DELETE FROM {FORMS} WHERE key = %s", (made.key,))


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
