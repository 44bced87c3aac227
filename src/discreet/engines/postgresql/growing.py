"""Forms that grow: rows that came to tables since are added, in one transaction.

Whoever opened the old form reads it until that ends, and is then told that it is gone. Nothing is
to be seen of a growth that was interrupted. If the old rows are not what they were, nothing grows.
"""

# ruff: noqa: S608 - names are quoted and values are numbers

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from discreet.engines.base import Progress, columns_text
from discreet.engines.dialect import Dialect
from discreet.engines.growth import Anew, CannotGrowError, Grows, MadeAnew, Told, refuse_months
from discreet.engines.postgresql.dialect import POSTGRESQL
from discreet.engines.postgresql.fingerprints import Fingerprint, Snapshot, columns_of
from discreet.engines.postgresql.prepared import (
    FORMS,
    PARTS,
    REST,
    Made,
    Maker,
    base_of,
    drop_forms,
    key_now,
    made_forms,
    make_schemas,
    marked,
    noted,
    usable_form,
)
from discreet.engines.postgresql.tables import Stored
from discreet.engines.writer import ABOUT, EVERY, KEPT, UNIT, write_rows
from discreet.errors import SourceError
from discreet.query.tree import Scan

if TYPE_CHECKING:
    from psycopg import Connection

NEW, TOUCHED, RANKED = "new", "touched", "ranked"
"""Tables that are needed for a while; no form is called so, because none has a mark like it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Grower:
    """Lets a form grow into the one that a maker would make."""

    maker: Maker
    tables: Mapping[str, Stored]
    """By their names in lower case."""

    def grow(self, progress: Progress | None, told: Told) -> bool:
        """Add what is new to a whole form; return False if there is none that can grow."""
        with self.maker.alone() as connection:
            try:
                return self._grown(connection, progress, told)
            except CannotGrowError as cause:
                # The lock is free at once: a server needs a while to see that a connection closed.
                connection.execute("ROLLBACK")
                told(MadeAnew(reason=cause.reason, table=cause.table))
                return False

    def _grown(self, connection: "Connection[Any]", progress: Progress | None, told: Told) -> bool:
        make_schemas(connection)
        made = made_forms(connection, self.maker.form)
        if not any(each.is_whole for each in made) or self._is_begun(made):
            return False
        old, about = self._old(connection, made)
        notes = {
            scan.table.name: self._grow(connection, old, about, scan, progress, told)
            for scan in self.maker.scans
        }
        self._rename(connection, old, notes)
        drop_forms(connection, [each for each in made if each.key != old.key])
        if key_now(connection, self.maker.form) != self.maker.key:
            raise SourceError("A table changed while it was read", "Prepare it again")
        return True

    def _is_begun(self, made: list[Made]) -> bool:
        return any(each.key == self.maker.key for each in made)

    def _old(
        self, connection: "Connection[Any]", made: list[Made]
    ) -> tuple[Made, Mapping[str, Any]]:
        """Return the form that can grow, and what it notes of its rows."""
        base = base_of(connection, self.maker.form)
        for each in made:
            about = noted(connection, each)
            if about is None or about["base"] != base:
                continue
            if usable_form(connection, self.maker.form, each.key, made) is not None:
                return each, about
        raise CannotGrowError(Anew.CATALOG)

    def _grow(  # noqa: PLR0913, PLR0917 - what grows, by what, and who hears of it
        self,
        connection: "Connection[Any]",
        old: Made,
        about: Mapping[str, Any],
        scan: Scan,
        progress: Progress | None,
        told: Told,
    ) -> Fingerprint:
        """Add the new rows of a table to its form; return the fingerprint of all rows."""
        name = scan.table.name
        refuse_months(scan)
        path = [each.name for each in (scan.table, *scan.parents)]
        if any(self.tables[each.casefold()].row_id is None for each in path):
            raise CannotGrowError(Anew.PLACE, name)
        if progress is not None:
            progress(name, 0, 1)
        is_new = Snapshot.from_text(about["snapshot"]).is_new(connection)
        held = Fingerprint.from_json(about["rows"][name])
        rows = self._rows(scan, dict.fromkeys(path, f"NOT {is_new}"))
        if Fingerprint.of(connection, scan, rows, held.salt) != held:
            raise CannotGrowError(Anew.CHANGED, name)
        told(Grows(table=name))
        came = " UNION ALL ".join(
            # Rows of a join that are new: by their first table that is, whatever comes after it.
            f"({self._rows(scan, {**dict.fromkeys(path[:n], f'NOT {is_new}'), each: is_new})})"
            for n, each in enumerate(path)
        )
        new = self._make(connection, NEW, came)
        added = Fingerprint.of(connection, scan, f"SELECT * FROM {new}", held.salt)
        if added.rows:
            self._add(connection, old.dialect, scan)
        connection.execute(f"DROP TABLE {new}")
        if progress is not None:
            progress(name, 1, 1)
        return held.with_more(added)

    def _rows(self, scan: Scan, only: Mapping[str, str]) -> str:
        """Return a table's rows with their units, of some rows of the tables of its path."""
        rows = write_rows(scan, POSTGRESQL)
        return f"WITH {self.maker.reads(rows, only)} {rows}"

    def _make(self, connection: "Connection[Any]", name: str, rows: str) -> str:
        """Make a table that is needed for a while, and return what it is called."""
        table = self.maker.dialect.prepared(name, ABOUT)
        connection.execute(f"CREATE TABLE {table} AS {rows}")
        connection.execute(f"ANALYZE {table}")
        return table

    def _add(self, connection: "Connection[Any]", held: Dialect, scan: Scan) -> None:
        """Add new rows: only units with new rows that exceed their limit are ranked again."""
        name, limit = scan.table.name, scan.table.rows_per_unit
        kept, rest = (held.prepared(name, each) for each in (KEPT, REST))
        new = self.maker.dialect.prepared(NEW, ABOUT)
        columns = columns_of(scan)
        listed = ", ".join([UNIT, *columns])
        touched = self._make(
            connection,
            TOUCHED,
            f'SELECT {UNIT}, "__n" + coalesce("__held", 0) AS "__n", "__held" FROM '
            f'(SELECT {UNIT}, count(*) AS "__n" FROM {new} GROUP BY {UNIT}) AS "__new" LEFT JOIN '
            f'(SELECT {UNIT}, count(*) AS "__held" FROM {kept} WHERE {UNIT} IN '
            f'(SELECT {UNIT} FROM {new}) GROUP BY {UNIT}) AS "__kept" USING ({UNIT})',
        )
        many = f'(SELECT {UNIT}, "__n" FROM {touched} WHERE "__n" > {limit}) AS "__many"'
        both = (
            f'SELECT {listed}, CAST(NULL AS tid) AS "__row" FROM {new} '
            f'UNION ALL SELECT {listed}, ctid AS "__row" FROM {kept}'
        )
        order = self.maker.order(columns, limit)
        ranked = self._make(
            connection,
            RANKED,
            f'SELECT {listed}, "__row", row_number() OVER (PARTITION BY {UNIT} ORDER BY {order}) '
            f'AS "__rank" FROM ({both}) AS "__both" JOIN {many} USING ({UNIT})',
        )
        for each in (
            f'DELETE FROM {kept} AS "__old" USING {ranked} AS "__ranked" '
            f'WHERE "__old".ctid = "__ranked"."__row" AND "__rank" > {limit}',
            f"INSERT INTO {kept} SELECT {listed} FROM {ranked} "
            f'WHERE "__rank" <= {limit} AND "__row" IS NULL',
            f'INSERT INTO {kept} SELECT {listed} FROM {new} AS "__new" WHERE EXISTS '
            f'(SELECT FROM {touched} AS "__few" WHERE "__few".{UNIT} = "__new".{UNIT} '
            f'AND "__few"."__n" <= {limit})',
            f'INSERT INTO {rest} SELECT {listed} FROM {ranked} WHERE "__rank" > {limit}',
            f"UPDATE {held.prepared(PARTS, ABOUT)} SET units = units + "
            f'(SELECT count(*) FROM {touched} WHERE "__held" IS NULL) '
            f"WHERE name = {POSTGRESQL.text(name)} AND part = 0",
            f"DROP TABLE {ranked}, {touched}",
        ):
            connection.execute(each)

    def _rename(
        self, connection: "Connection[Any]", old: Made, notes: Mapping[str, Fingerprint]
    ) -> None:
        """Give all that belongs to a form the mark of the new one, and note what it is of now."""
        names = {(PARTS, ABOUT): "TABLE"}
        for scan in self.maker.scans:
            name = scan.table.name
            names |= {(name, KEPT): "TABLE", (name, REST): "TABLE", (name, EVERY): "VIEW"}
        for (name, schema), kind in names.items():
            target = POSTGRESQL.quoted(name + marked(self.maker.key).mark)
            place = old.dialect.prepared(name, schema)
            connection.execute(f"ALTER {kind} {place} RENAME TO {target}")
        told = {each.table.name: columns_text(each.table.columns) for each in self.maker.scans}
        connection.execute(
            f"UPDATE {FORMS} SET key = %s, told = %s WHERE key = %s",
            (self.maker.key, json.dumps(told), old.key),
        )
        self.maker.note(connection, notes)
