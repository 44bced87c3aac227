"""Rows on a PostgreSQL server: the table, its triggers against edits, and the statements over it.

Queries and accounts are stored as bytes, because PostgreSQL's text holds no zero character; all
other texts are ASCII, so that the encoding and the collation of a database cannot matter.
"""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from discreet.errors import LedgerError
from discreet.ledger.base import EntryKind
from discreet.ledger.state import ALTERED, StoredEntry
from discreet.ledger.storage import NEWER

if TYPE_CHECKING:
    from psycopg import Connection


VERSION = 1
"""Counts the forms of the table; a newer one than this is rejected."""


MARK = "discreet ledger "
"""The table's comment, before its version."""


NOT_A_LEDGER = ("the table on the server is not a ledger", "name another schema")


BATCH = 10_000
"""So many rows are fetched at a time."""


EDIT = "BEGIN RAISE EXCEPTION 'a ledger is not edited'; END"


GAP = (
    "BEGIN IF new.number <> (SELECT coalesce(max(number), 0) + 1 FROM ONLY {schema}.entries)"
    " THEN RAISE EXCEPTION 'a ledger is not edited'; END IF; RETURN new; END"
)


MAKE: Sequence[str] = (
    """CREATE TABLE {schema}.entries (
        number bigint PRIMARY KEY,
        kind text COLLATE "C" NOT NULL,
        written text COLLATE "C" NOT NULL,
        question bytea NOT NULL,
        account bytea NOT NULL,
        events text COLLATE "C" NOT NULL,
        about text COLLATE "C" NOT NULL,
        digest bytea NOT NULL,
        answer bytea
    )""",
    "CREATE UNIQUE INDEX paid_once ON {schema}.entries (sha256(question)) WHERE kind = 'charge'",
    "CREATE UNIQUE INDEX kept_once ON {schema}.entries (sha256(question)) WHERE kind = 'answer'",
    "CREATE FUNCTION {schema}.refuse_edit() RETURNS trigger LANGUAGE plpgsql"
    " SET search_path = pg_catalog AS $$" + EDIT + "$$",
    "CREATE FUNCTION {schema}.refuse_gap() RETURNS trigger LANGUAGE plpgsql"
    " SET search_path = pg_catalog AS $$" + GAP + "$$",
    "CREATE TRIGGER no_edit BEFORE UPDATE OR DELETE ON {schema}.entries"
    " FOR EACH ROW EXECUTE FUNCTION {schema}.refuse_edit()",
    "CREATE TRIGGER no_gap BEFORE INSERT ON {schema}.entries"
    " FOR EACH ROW EXECUTE FUNCTION {schema}.refuse_gap()",
    "CREATE TRIGGER no_truncate BEFORE TRUNCATE ON {schema}.entries"
    " FOR EACH STATEMENT EXECUTE FUNCTION {schema}.refuse_edit()",
    "ALTER TABLE {schema}.entries ENABLE ALWAYS TRIGGER no_edit",
    "ALTER TABLE {schema}.entries ENABLE ALWAYS TRIGGER no_gap",
    "ALTER TABLE {schema}.entries ENABLE ALWAYS TRIGGER no_truncate",
    f"COMMENT ON TABLE {{schema}}.entries IS '{MARK}{VERSION}'",
)
"""Triggers that are always enabled fire for replicas and restores too."""


TABLE = """SELECT relkind::text, relpersistence::text, relrowsecurity, relhasrules,
    obj_description(oid, 'pg_class'), EXISTS (SELECT FROM pg_inherits WHERE inhparent = c.oid)
    FROM pg_class c WHERE oid = '{schema}.entries'::regclass"""


COLUMNS = """SELECT attname, atttypid::regtype::text, attnotnull FROM pg_attribute
    WHERE attrelid = '{schema}.entries'::regclass AND attnum > 0 AND NOT attisdropped
    ORDER BY attnum"""


INDICES = """SELECT relname, indisunique, indisvalid, pg_get_expr(indexprs, indrelid),
    pg_get_expr(indpred, indrelid)
    FROM pg_index JOIN pg_class c ON c.oid = indexrelid
    WHERE indrelid = '{schema}.entries'::regclass ORDER BY relname"""


TRIGGERS = """SELECT tgname, tgenabled::text, tgtype::integer, prosrc FROM pg_trigger
    JOIN pg_proc p ON p.oid = tgfoid
    WHERE tgrelid = '{schema}.entries'::regclass AND NOT tgisinternal ORDER BY tgname"""


COLUMNS_FOUND = [
    *[("number", "bigint", True), ("kind", "text", True), ("written", "text", True)],
    *[("question", "bytea", True), ("account", "bytea", True), ("events", "text", True)],
    *[("about", "text", True), ("digest", "bytea", True), ("answer", "bytea", False)],
]


INDICES_FOUND = [
    ("entries_pkey", True, True, None, None),
    ("kept_once", True, True, "sha256(question)", "(kind = 'answer'::text)"),
    ("paid_once", True, True, "sha256(question)", "(kind = 'charge'::text)"),
]


# Bits of tgtype: 1 each row, 2 before, 4 insert, 8 delete, 16 update, 32 truncate.
TRIGGERS_FOUND = [
    ("no_edit", "A", 1 + 2 + 8 + 16, EDIT),
    ("no_gap", "A", 1 + 2 + 4, GAP),
    ("no_truncate", "A", 2 + 32, EDIT),
]


FIELDS = "number, kind, written, question, account, events, about, digest"


ROWS = f"SELECT {FIELDS}, answer FROM ONLY {{schema}}.entries WHERE number >= %s"  # noqa: S608 - constants


BARE = f"SELECT {FIELDS}, NULL FROM ONLY {{schema}}.entries WHERE number >= %s"  # noqa: S608 - constants


IN_ORDER = " ORDER BY number LIMIT %s"


OF_QUESTION = (
    f"SELECT {FIELDS}, answer FROM ONLY {{schema}}.entries"  # noqa: S608 - constants
    " WHERE kind = '{kind}' AND sha256(question) = sha256(%s) AND question = %s"
)


UNDER = (
    f"SELECT {FIELDS}, NULL FROM ONLY {{schema}}.entries"  # noqa: S608 - constants
    " WHERE kind = 'charge' AND question >= %s AND question < %s ORDER BY number DESC LIMIT %s"
)


DIGEST = "SELECT digest FROM ONLY {schema}.entries WHERE number = %s"


APPEND = "INSERT INTO {schema}.entries VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s)"


WITHOUT_INDICES = (
    "SET LOCAL enable_indexscan = off",
    "SET LOCAL enable_indexonlyscan = off",
    "SET LOCAL enable_bitmapscan = off",
)


Found: TypeAlias = tuple[Any, ...]


class PostgresTransaction:
    """One transaction of a server, over the ledger in one of its schemas."""

    def __init__(self, connection: "Connection[Found]", schema: str) -> None:
        self._connection = connection
        self._schema = schema

    def rows(self, first: int, most: int | None = None) -> Iterator[StoredEntry]:
        return (row for row, _ in self._batches(BARE, first, most))

    def answered(self) -> Iterator[tuple[StoredEntry, bytes | None]]:
        return self._batches(ROWS, 1, None)

    def of_question(
        self, question: str, kind: EntryKind
    ) -> tuple[StoredEntry, bytes | None] | None:
        stored = question.encode("utf-8")
        found = self._all(OF_QUESTION.replace("{kind}", kind), stored, stored)
        return _row(found[0]) if found else None

    def charges_under(self, beginning: str, most: int) -> list[StoredEntry]:
        first = beginning.encode("ascii")
        beyond = first[:-1] + bytes([first[-1] + 1])
        return [_row(each)[0] for each in self._all(UNDER, first, beyond, most)]

    def digest(self, number: int) -> bytes | None:
        found = self._all(DIGEST, number)
        return found[0][0] if found else None

    def append(self, row: StoredEntry, answer: bytes | None) -> None:
        stored = row._replace(question="", account="")
        values: list[object] = [*stored, answer]
        values[3], values[4] = row.question.encode("utf-8"), row.account.encode("utf-8")
        self._connection.execute(self._in_schema(APPEND), values)

    def check_schema(self) -> None:
        """Reject a table whose columns, indices or triggers are not ours, or that hides rows."""
        kind, persistence, hides, rewrites, comment, inherited = self._all(TABLE)[0]
        if not (comment or "").startswith(MARK):
            raise LedgerError(*NOT_A_LEDGER)
        if comment != f"{MARK}{VERSION}":
            raise LedgerError(*NEWER)
        plain = (kind, persistence, hides, rewrites, inherited) == ("r", "p", False, False, False)
        triggers = [(*rest, self._in_schema(body).decode()) for *rest, body in TRIGGERS_FOUND]
        found = (self._all(COLUMNS), self._all(INDICES), self._all(TRIGGERS))
        if not plain or found != (COLUMNS_FOUND, INDICES_FOUND, triggers):
            raise LedgerError(*ALTERED)

    def check_pages(self) -> None:
        """Have all that follows read from the table itself; what an index lacks is then seen.

        Damaged pages are the server's to find: by its checksums, as they are read.
        """
        for statement in WITHOUT_INDICES:
            self._connection.execute(self._in_schema(statement))

    def _batches(
        self, statement: str, first: int, most: int | None
    ) -> Iterator[tuple[StoredEntry, bytes | None]]:
        left = most
        while left is None or left > 0:
            count = BATCH if left is None else min(BATCH, left)
            found = self._all(statement + IN_ORDER, first, count)
            yield from map(_row, found)
            if len(found) < count:
                return
            first, left = found[-1][0] + 1, None if left is None else left - count

    def _all(self, statement: str, *values: object) -> list[Found]:
        return self._connection.execute(self._in_schema(statement), values or None).fetchall()

    def _in_schema(self, statement: str) -> bytes:
        return in_schema(statement, self._schema)


def in_schema(statement: str, schema: str) -> bytes:
    """Return a statement about the ledger in this schema, whose name was checked."""
    return statement.replace("{schema}", f'"{schema}"').encode("ascii")


def _row(found: Found) -> tuple[StoredEntry, bytes | None]:
    number, kind, written, question, account, events, about, digest, answer = found
    try:
        names = question.decode("utf-8"), account.decode("utf-8")
    except UnicodeDecodeError as cause:
        raise LedgerError(*ALTERED) from cause
    return StoredEntry(number, kind, written, *names, events, about, digest), answer
