"""Forms of tables on a server: what they are called, which are there, and which may be trusted.

A form is made in schemas of ours. Everything that belongs to it bears its mark,
so that a statement that was written for one form can never read another.
"""

# ruff: noqa: S608 - names are quoted and values are numbers

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, cast

from discreet.catalog.schema import Column
from discreet.engines.base import PreparedTables, columns_from, log
from discreet.engines.dialect import Dialect
from discreet.engines.postgresql.dialect import POSTGRESQL
from discreet.engines.postgresql.tables import located, state_of
from discreet.engines.writer import ABOUT, EVERY, KEPT
from discreet.errors import SourceError

if TYPE_CHECKING:
    from psycopg import Connection


REST = "rest"
"""The schema of rows that do not count."""


SCHEMAS = (KEPT, REST, EVERY, ABOUT)


READ = (KEPT, EVERY, ABOUT)
"""Those that queries read."""


PARTS = "parts"
"""The table of a form that says how many units each part has."""


UNITS = "units {0}"
"""The table of a form that says how many rows each unit keeps: units may have several rows in it,
to be added up."""


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

    @property
    def units(self) -> list[str]:
        """Return the tables that say how many rows each unit keeps."""
        return [units_table(self.dialect, name) for name in self.columns]

    @property
    def tables(self) -> list[str]:
        """Return all tables of the form."""
        both = [self.dialect.prepared(name, each) for name in self.columns for each in (KEPT, REST)]
        return [self.dialect.prepared(PARTS, ABOUT), *self.units, *both]

    @property
    def written(self) -> list[str]:
        """Return the tables that are written when the form is made or grows."""
        return [FORMS, *self.tables]


def units_table(dialect: Dialect, name: str) -> str:
    """Return the table that says how many rows each unit of a table keeps."""
    return dialect.prepared(UNITS.format(name), ABOUT)


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


def noted(connection: "Connection[Any]", key: str) -> Mapping[str, Any] | None:
    """Return what a form notes of the rows that it has."""
    told = f"SELECT notes FROM {FORMS} WHERE key = %s"
    (found,) = connection.execute(told, (key,)).fetchone() or (None,)
    return None if found is None else cast("Mapping[str, Any]", json.loads(found))


def made_forms(connection: "Connection[Any]", form: PreparedTables) -> list[Made]:
    """Return the forms of these tables, of whatever data and limits, that the role may see."""
    if not _may_read(connection, form):
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
WHERE n.nspname = %s AND c.relname = 'forms' AND c.relkind = 'r'
  AND pg_catalog.has_schema_privilege(n.oid, 'USAGE')
  AND pg_catalog.has_table_privilege(c.oid, 'SELECT')
"""


def _may_read(connection: "Connection[Any]", form: PreparedTables) -> bool:
    found = connection.execute(MAY_READ, (POSTGRESQL.schemas.format(ABOUT),)).fetchone()
    return found is not None and found[0] == 1 and _are_trusted(connection, [FORMS], form)


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


def has_all(connection: "Connection[Any]", tables: list[str]) -> bool:
    """Return whether all of these tables are there."""
    found = "SELECT bool_and(to_regclass(each) IS NOT NULL) FROM unnest(CAST(%s AS text[])) each"
    return bool(connection.execute(found, (tables,)).fetchone() == (True,))


TRUSTED = """
SELECT bool_and(coalesce(
  pg_catalog.has_any_column_privilege(c.relowner, source, 'SELECT'), FALSE))
FROM unnest(CAST(%s AS text[])) each
LEFT JOIN pg_catalog.pg_class c ON c.oid = pg_catalog.to_regclass(each)
CROSS JOIN unnest(CAST(%s AS oid[])) source
WHERE pg_catalog.to_regclass(each) IS NOT NULL
"""
"""What is found now, and was not there when the transaction began, has no owner in its snapshot."""


def _is_trusted(connection: "Connection[Any]", made: Made, form: PreparedTables) -> bool:
    """Return whether a form was made by who may read the tables themselves.

    Anyone else who can make schemas could put together a form that keeps too many rows of a unit,
    and learn from the answers. Who reads the tables has nothing to learn.
    """
    return _are_trusted(connection, [FORMS, *_relations(made), *made.units], form)


def _are_trusted(connection: "Connection[Any]", owned: list[str], form: PreparedTables) -> bool:
    found = connection.execute(TRUSTED, (owned, _numbers(connection, form))).fetchone()
    return bool(found == (True,))


def hold(connection: "Connection[Any]", form: PreparedTables, written: list[str]) -> None:
    """Lock tables of ours that are to be written; raise an error if one may not be trusted.

    What its owner ties to a table, as a trigger, acts with the rights of whoever writes it.
    """
    connection.execute(f"LOCK TABLE {', '.join(written)} IN ROW EXCLUSIVE MODE")
    if not _are_trusted(connection, written, form):
        raise SourceError(
            "A table in the schemas for prepared tables belongs to a role that may not read the "
            "tables themselves",
            "Drop what is not yours in these schemas, and let nobody else make tables there",
        )


MAKING = 0x646973637265
"""What is locked while schemas are made."""


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
        for each in made.tables:
            connection.execute(f"DROP TABLE IF EXISTS {each}")
        connection.execute(f"DELETE FROM {FORMS} WHERE key = %s", (made.key,))
