"""Tables of a server: their columns, and how each is read as one of our kinds."""

# ruff: noqa: S608 - names are quoted

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, cast

from discreet.catalog.schema import Column, Kind
from discreet.engines.base import log
from discreet.engines.dialect import CALENDAR
from discreet.engines.postgresql.conditions import canonical_real, finite, narrow, real_text
from discreet.engines.postgresql.dialect import POSTGRESQL, ROW_ID
from discreet.engines.writer.expressions import FRESH
from discreet.errors import SourceError

if TYPE_CHECKING:
    from psycopg import Connection

KINDS: Mapping[str, Kind] = {
    "boolean": Kind.BOOLEAN,
    **dict.fromkeys(("smallint", "integer", "bigint"), Kind.INTEGER),
    **dict.fromkeys(("real", "double precision", "numeric"), Kind.REAL),
    **dict.fromkeys(("text", "character varying", "character", "name", "uuid"), Kind.TEXT),
    **dict.fromkeys(("json", "jsonb", "citext"), Kind.TEXT),
    "date": Kind.DATE,
    "timestamp without time zone": Kind.TIMESTAMP,
    "timestamp with time zone": Kind.TIMESTAMP_TZ,
}
"""Types by kind; enumerations are texts, domains are what they are made of, the rest is OTHER."""

DIGITS = 15
"""Numerics of so many digits are different reals if they differ."""

SMALLEST = 290
"""Numerics with more digits behind the point can be so small that reals have fewer digits there."""

_TINY = "2.4703282292062328e-324"

READS: Mapping[Kind, str] = {
    Kind.BOOLEAN: "{0}",
    Kind.INTEGER: "CAST({0} AS BIGINT)",
    Kind.REAL: canonical_real(finite("CAST({0} AS DOUBLE PRECISION)")),
    Kind.TEXT: 'CAST({0} AS TEXT) COLLATE "C"',
    Kind.OTHER: 'CAST({0} AS TEXT) COLLATE "C"',
    **{kind: f"CASE WHEN {each} THEN {{0}} END" for kind, each in CALENDAR.items()},
}
"""How a column is read, by its kind: finite reals without -0.0, texts compared by bytes, years 1 to
9999, and values of no known kind as their texts."""

NUMERIC = (
    f"CASE WHEN abs({{0}}) <= {_TINY} THEN {real_text(0.0)} "
    "WHEN abs({0}) < '1.797693134862315e308' THEN CAST({0} AS DOUBLE PRECISION) END"
)
"""A numeric as a real; NaN is larger than all numbers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stored:
    """A table or view of the server."""

    name: str
    """What queries call it."""
    place: str
    """Schema and table, quoted."""
    oid: int
    columns: tuple[Column, ...]
    reads: tuple[str, ...]
    """An expression for each column."""
    row_id: str | None
    """What tells its rows apart; None for a view, or if the role may read some columns only."""
    is_plain: bool = False
    """Whether it is a table without parts whose rows, and who wrote them, this role may see."""
    named: frozenset[str] = frozenset()
    """Columns, in lower case, whose texts may change in the server's catalog while rows stay."""

    def selected(
        self,
        *,
        with_row_id: bool = False,
        fresh: str | None = None,
        only: str | None = None,
    ) -> str:
        """Return a SELECT of all columns, each as its kind, of rows that meet a condition.

        One column more tells fresh rows, by another condition.
        """
        columns = [
            f"{read} AS {POSTGRESQL.quoted(each.name)}"
            for each, read in zip(self.columns, self.reads, strict=True)
        ]
        columns += [f"{self.row_id} AS {ROW_ID}"] if with_row_id and self.row_id else []
        columns += [f"({fresh}) AS {FRESH}"] if fresh and self.is_plain else []
        where = "" if only is None else f" WHERE {only}"
        return f"SELECT {', '.join(columns)} FROM {self.place}{where}"

    @property
    def is_late(self) -> str:
        """Return the condition that a row is fresh; $2 is where fresh rows begin."""
        return f"xidsend(xmin) >= CAST($2 AS bytea) OR tableoid <> CAST({self.oid} AS oid)"


FIND = """
SELECT c.oid, n.nspname, c.relname, c.relkind, c.relhassubclass,
  pg_catalog.has_table_privilege(c.oid, 'SELECT'),
  (SELECT a.amname FROM pg_catalog.pg_am a WHERE a.oid = c.relam)
FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND c.relname = ANY(%s)
  AND n.nspname = coalesce(%s, n.nspname) AND n.nspname <> 'information_schema'
  AND n.nspname !~ '^pg_'
"""

COLUMNS = """
SELECT a.attname, a.attnotnull AND c.relkind <> 'f' AND (c.relkind = 'p' OR NOT c.relhassubclass)
    AND NOT EXISTS (SELECT FROM pg_catalog.pg_constraint k
      WHERE k.conrelid = a.attrelid AND k.contype = 'n' AND a.attnum = ANY(k.conkey)
        AND NOT k.convalidated),
  pg_catalog.format_type(coalesce(nullif(b.oid, 0), t.oid), NULL), coalesce(b.typtype, t.typtype),
  CASE WHEN t.typtype = 'd' THEN t.typtypmod ELSE a.atttypmod END,
  coalesce(NOT l.collisdeterministic, FALSE), a.attgenerated = 'v'
FROM pg_catalog.pg_attribute a JOIN pg_catalog.pg_type t ON t.oid = a.atttypid
JOIN pg_catalog.pg_class c ON c.oid = a.attrelid
LEFT JOIN pg_catalog.pg_collation l ON l.oid = a.attcollation
LEFT JOIN pg_catalog.pg_type b ON t.typtype = 'd' AND b.oid = t.typbasetype
WHERE a.attrelid = %s AND a.attnum > 0 AND NOT a.attisdropped
  AND pg_catalog.has_column_privilege(a.attrelid, a.attnum, 'SELECT')
ORDER BY a.attnum
"""
"""That a column has no NULL is believed if the server has looked at every row: not of a constraint
that is NOT VALID, of a foreign table, or of a table whose children may have NULLs."""

RAISING = """
WITH RECURSIVE inside(oid) AS (
  SELECT CAST(%s AS oid)
  UNION
  SELECT d.refobjid FROM inside JOIN pg_catalog.pg_class v ON v.oid = inside.oid AND v.relkind = 'v'
  JOIN pg_catalog.pg_rewrite r ON r.ev_class = v.oid
  JOIN pg_catalog.pg_depend d ON d.objid = r.oid AND d.classid = CAST('pg_rewrite' AS regclass)
    AND d.refclassid = CAST('pg_class' AS regclass)
)
SELECT
  coalesce(bool_or(EXISTS (SELECT FROM pg_catalog.pg_rewrite r WHERE r.ev_class = c.oid
    AND c.relkind = 'v' AND CAST(r.ev_action AS text) ~ %s)), FALSE),
  coalesce(bool_or(c.relkind = 'f'), FALSE),
  coalesce(bool_or(c.relrowsecurity), FALSE),
  coalesce(bool_or(c.oid <> %s AND EXISTS (SELECT FROM pg_catalog.pg_attribute a
    WHERE a.attrelid = c.oid AND a.attgenerated = 'v')), FALSE)
FROM inside JOIN pg_catalog.pg_class c USING (oid)
"""
"""What of a table or view is computed by its owner's expressions when it is read, if anything."""

COMPUTING = (
    r"\{(FUNCEXPR|OPEXPR|DISTINCTEXPR|NULLIFEXPR|SCALARARRAYOPEXPR|ROWCOMPARE|MINMAX|COERCE"
    r"|ARRAYCOERCE|SUBLINK|SUBSCRIPTINGREF|AGGREF|WINDOWFUNC|JSON|XML|TABLEFUNC|SQLVALUE)"
)
"""Parts of a stored view that call functions, which may raise."""

REASONS = (
    "it is a view that computes",
    "it reads a foreign table",
    "row-level security decides which of its rows are seen",
    "it is a view of a table with virtual generated columns",
)


Found = tuple[int, str, str, str, bool, bool, str | None]
"""A relation of the server: its number, schema, name and kind, if it has parts, may be read, and
how its rows are stored."""


def located(connection: "Connection[Any]", source: str) -> Found:
    """Return what "schema.table" or "table" means, whether or not the role may read it."""
    schema, table = _parted(source)
    found = connection.execute(FIND, ([table], schema)).fetchall()
    if not found:
        raise SourceError(
            f"The server has no table {source!r} that this role may see",
            "Check the name and the role",
        )
    if len(found) > 1:
        schemas = ", ".join(sorted(each[1] for each in found))
        raise SourceError(
            f"{source!r} is in several schemas: {schemas}", "Write schema.table, with one of them"
        )
    (one,) = found
    return cast("Found", one)


def stored_table(connection: "Connection[Any]", name: str, source: str) -> Stored:
    """Return a table by "schema.table" or "table"; reads the catalog of the server, no rows."""
    oid, schema, table, kind, has_parts, is_readable, access = located(connection, source)
    described = connection.execute(COLUMNS, (oid,)).fetchall()
    if not described:
        raise SourceError(f"This role may read no column of {source!r}", "Grant it SELECT")
    _warn(connection, source, oid, [each[0] for each in described if each[-1]])
    pairs = [_column(*each[:-1]) for each in described if not each[-1]]
    if not pairs:
        raise SourceError(
            f"All columns of {source!r} are virtual", "Make at least one of them STORED"
        )
    return Stored(
        name=name,
        place=f"{_quoted(schema)}.{_quoted(table)}",
        oid=oid,
        columns=tuple(column for column, _ in pairs),
        reads=tuple(read for _, read in pairs),
        row_id=_row_id(kind, has_parts=has_parts) if is_readable else None,
        is_plain=is_readable
        and (kind, has_parts, access) == ("r", False, "heap")
        and all(_quoted(column.name) != FRESH for column, _ in pairs),
        named=frozenset(
            each[0].casefold()
            for each, (column, _) in zip(
                [each for each in described if not each[-1]], pairs, strict=True
            )
            if each[3] == "e" or column.kind is Kind.OTHER
        ),
    )


def _warn(connection: "Connection[Any]", source: str, oid: int, virtual: list[str]) -> None:
    """Tell the owner what can raise an error for some row, and so tell that there is such a row."""
    for each in virtual:
        log.warning(
            "the column %s of %s is left out: it is computed when it is read, and might raise an "
            "error for some row; make it STORED",
            each,
            source,
        )
    (found,) = connection.execute(RAISING, (oid, COMPUTING, oid)).fetchall()
    for reason, is_so in zip(REASONS, found, strict=True):
        if is_so:
            log.warning(
                "%s is read by expressions of its owner's: %s; if one of them can raise an error "
                "for some row, questions fail where there is such a row",
                source,
                reason,
            )


def _row_id(kind: str, *, has_parts: bool) -> str | None:
    if kind not in ("r", "p", "m"):
        return None
    return "ROW(tableoid, ctid)" if kind == "p" or has_parts else "ctid"


def _parted(source: str) -> tuple[str | None, str]:
    """Return the schema, if it is named, and the table; names with dots stand in quotes."""
    part = r'(?:"((?:[^"]|"")+)"|([^".]+))'
    found = re.fullmatch(rf"(?:{part}\.)?{part}", source.strip())
    if found is None:
        raise SourceError(f"{source!r} is not a table name", "Write schema.table")
    names = [(quoted or "").replace('""', '"') or bare for quoted, bare in _pairs(found.groups())]
    return names[0], names[1] or ""


def _pairs(parts: tuple[str | None, ...]) -> Iterable[tuple[str | None, str | None]]:
    return zip(parts[::2], parts[1::2], strict=True)


def _column(  # noqa: PLR0913, PLR0917 - a row of the server's catalog
    name: str, is_given: bool, type_name: str, type_kind: str, modifier: int, is_loose: bool
) -> tuple[Column, str]:
    """Return a column and how it is read; NULL may come where a value does not fit its kind."""
    kind = Kind.TEXT if type_kind == "e" else KINDS.get(type_name, Kind.OTHER)
    quoted, step, read = _quoted(name), None, READS[kind]
    if type_name == "numeric":
        scale = _scale(modifier)
        read = NUMERIC
        if scale == 0:
            kind, read = Kind.INTEGER, narrow("NULLIF({0}, 'NaN')")
        elif scale is not None and scale > 0:
            step = Fraction(1, 10**scale)
    is_same = kind in (Kind.BOOLEAN, Kind.TEXT, Kind.INTEGER) and type_name != "numeric"
    nulls = False if is_given and is_same else None
    is_long = type_name == "numeric" and kind is Kind.REAL and not _is_short(modifier)
    # By its own collation texts that differ may be one, and equal documents are written
    # differently (1.0 and 1.00): such a column tells no units apart.
    is_rounded = is_long or is_loose or type_name.endswith(("citext", "json", "jsonb"))
    column = Column(name=name, kind=kind, step=step, nulls=nulls, is_rounded=is_rounded)
    return column, read.format(quoted)


def _is_short(modifier: int) -> bool:
    """Return whether numerics of a type that differ are different reals.

    They have few digits, and none so far behind the point that reals round there.
    """
    scale = _scale(modifier)
    return scale is not None and scale <= SMALLEST and (modifier - 4) >> 16 <= DIGITS


def _scale(modifier: int) -> int | None:
    """Return how many digits stand behind the point of a numeric, if its type says so."""
    if modifier < 4:
        return None
    scale = (modifier - 4) & 0x7FF
    return scale - 2048 if scale >= 1024 else scale


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


SEES_ALL = "SELECT bool_or(row_security_active(each)) FROM unnest(CAST(%s AS oid[])) each"


def sees_all_rows(connection: "Connection[Any]", tables: Sequence[int]) -> bool:
    """Return whether no policy hides rows of tables that may be shown later."""
    return bool(connection.execute(SEES_ALL, (list(tables),)).fetchone() == (False,))


STILL_PLAIN = """
SELECT bool_and(coalesce(c.relkind = 'r' AND NOT c.relhassubclass, FALSE))
FROM unnest(CAST(%s AS oid[]), CAST(%s AS text[])) AS opened(oid, place)
LEFT JOIN pg_catalog.pg_class c ON c.oid = opened.oid AND c.oid = pg_catalog.to_regclass(place)
"""


def are_still_plain(connection: "Connection[Any]", tables: Sequence[Stored]) -> bool:
    """Return whether plain tables were not replaced since, and have no parts now."""
    opened = [each.oid for each in tables], [each.place for each in tables]
    return bool(connection.execute(STILL_PLAIN, opened).fetchone() == (True,))


STATE = """
WITH RECURSIVE inside(oid) AS (
  SELECT unnest(CAST(%s AS oid[]))
  UNION
  SELECT found.oid FROM inside CROSS JOIN LATERAL (
    SELECT i.inhrelid FROM pg_catalog.pg_inherits i WHERE i.inhparent = inside.oid
    UNION ALL
    SELECT d.refobjid FROM pg_catalog.pg_rewrite r JOIN pg_catalog.pg_depend d ON d.objid = r.oid
    WHERE r.ev_class = inside.oid AND d.classid = CAST('pg_rewrite' AS regclass)
      AND d.refclassid = CAST('pg_class' AS regclass)
  ) AS found(oid)
)
SELECT c.oid, c.relfilenode, pg_catalog.pg_stat_get_tuples_inserted(c.oid),
  pg_catalog.pg_stat_get_tuples_updated(c.oid), pg_catalog.pg_stat_get_tuples_deleted(c.oid),
  CASE WHEN c.relkind IN ('v', 'm') THEN pg_catalog.md5(pg_catalog.pg_get_viewdef(c.oid)) END
FROM inside JOIN pg_catalog.pg_class c USING (oid) ORDER BY c.oid
"""
"""What the server knows of changes without looking at rows: files, counters, views."""


def state_of(connection: "Connection[Any]", tables: Iterable[int]) -> str:
    """Return what changes when rows of tables, or of what views are made of, are changed.

    Tables are given by their numbers on the server.
    """
    (database,) = connection.execute(
        "SELECT oid::text || ':' || datname FROM pg_catalog.pg_database "
        "WHERE datname = pg_catalog.current_database()"
    ).fetchone() or ("",)
    found = connection.execute(STATE, (list(tables),)).fetchall()
    return f"{database}|{found}"
