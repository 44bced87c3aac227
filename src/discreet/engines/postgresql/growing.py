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
from discreet.engines.postgresql.fingerprints import (
    Fingerprint,
    Snapshot,
    TableRows,
    columns_of,
    server_of,
)
from discreet.engines.postgresql.forms import (
    FORMS,
    PARTS,
    REST,
    UNITS,
    Made,
    base_of,
    drop_forms,
    has_all,
    hold,
    key_now,
    made_forms,
    make_schemas,
    marked,
    noted,
    units_table,
    usable_form,
)
from discreet.engines.postgresql.prepared import Maker, sought
from discreet.engines.writer import ABOUT, EVERY, KEPT, UNIT
from discreet.errors import SourceError
from discreet.query.tree import Scan

if TYPE_CHECKING:
    from psycopg import Connection

NEW, TOUCHED, MANY, RANKED = "new", "touched", "many", "ranked"
"""Tables that are needed for a while; no form is called so, because none has a mark like it."""


NOTES = 2
"""How many rows each unit may have on average in the table of what units keep."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Grower:
    """Lets a form grow into the one that a maker would make."""

    maker: Maker

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
        hold(connection, self.maker.form, [FORMS])
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
            about = noted(connection, each.key)
            if about is None or about.get("base") != base:
                continue
            if usable_form(connection, self.maker.form, each.key, made) is not None:
                # An earlier version may have made it whole, which leaves the table of units empty.
                if "server" not in about or not has_all(connection, each.units):
                    raise CannotGrowError(Anew.RELEASE)
                hold(connection, self.maker.form, each.written)
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
        if any(each.row_id is None for each in self.maker.stored(scan)):
            raise CannotGrowError(Anew.PLACE, name)
        if progress is not None:
            progress(name, 0, 1)
        rows = TableRows.of(connection, scan, self.maker.reads)
        since = Snapshot.from_text(about["snapshot"])
        held = Fingerprint.from_json(about["rows"][name])
        can_count = self.maker.can_count(connection, scan)
        if held.is_counted and not (can_count and about["server"] == server_of(connection)):
            raise CannotGrowError(Anew.PLACE, name)
        if not self.maker.keeps(connection, old.dialect, scan, held.rows):
            raise CannotGrowError(Anew.RELEASE, name)
        found, came = held.now(rows, since)
        if found != held:
            raise CannotGrowError(Anew.CHANGED, name)
        told(Grows(table=name))
        added = self._added(connection, old, scan, came, held) if came else held
        if can_count:
            now = Snapshot.now(connection)
            added = Fingerprint.counted(rows, now, added.rows, held.salt)
        if progress is not None:
            progress(name, 1, 1)
        return added

    def _added(
        self, connection: "Connection[Any]", old: Made, scan: Scan, came: str, held: Fingerprint
    ) -> Fingerprint:
        """Add the rows of a statement; return the fingerprint with them, if it is by hashes."""
        new = self._make(connection, NEW, came)
        found = held.with_more(connection, scan, f"SELECT * FROM {new}")
        if found.rows > held.rows:
            self._add(connection, old.dialect, scan)
        connection.execute(f"DROP TABLE {new}")
        return found

    def _make(self, connection: "Connection[Any]", name: str, rows: str) -> str:
        """Make a table that is needed for a while, and return what it is called."""
        table = self.maker.dialect.prepared(name, ABOUT)
        connection.execute(f"CREATE TABLE {table} AS {rows}")
        return table

    def _add(self, connection: "Connection[Any]", held: Dialect, scan: Scan) -> None:
        """Add new rows: only units with new rows that exceed their limit are ranked again."""
        name, limit = scan.table.name, scan.table.rows_per_unit
        kept, rest = (held.prepared(name, each) for each in (KEPT, REST))
        units, parts = units_table(held, name), held.prepared(PARTS, ABOUT)
        new = self.maker.dialect.prepared(NEW, ABOUT)
        columns = columns_of(scan)
        listed = ", ".join([UNIT, *columns])
        touched = self._make(
            connection,
            TOUCHED,
            f'SELECT {UNIT}, "__came" + coalesce("__held", 0) AS "__n", "__held" FROM '
            f'(SELECT {UNIT}, "__came", CAST(sum("__n") AS bigint) AS "__held" FROM '
            f'(SELECT {UNIT}, count(*) AS "__came" FROM {new} GROUP BY {UNIT}) AS "__new" '
            f'LEFT JOIN {units} AS "__units" USING ({UNIT}) GROUP BY {UNIT}, "__came") AS "__both"',
        )
        many = self._make(
            connection, MANY, f'SELECT {UNIT}, "__n" FROM {touched} WHERE "__n" > {limit}'
        )
        connection.execute(f"ANALYZE {many}")
        # Few units are looked up, many are hashed; each unit's rows lie together.
        connection.execute("SET LOCAL random_page_cost = 1.1")
        kept_columns = ", ".join(f'"__old".{each}' for each in (UNIT, *columns))
        one, other = (sought(f"{each}.{UNIT}", scan) for each in ('"__old"', '"__many"'))
        both = (
            f'SELECT {listed}, "__n", CAST(NULL AS tid) AS "__row" FROM {new} AS "__came" '
            f'JOIN {many} AS "__many" USING ({UNIT}) UNION ALL '
            f'SELECT {kept_columns}, "__n", "__old".ctid AS "__row" FROM {kept} AS "__old" '
            f'JOIN {many} AS "__many" ON {one} = {other} AND "__old".{UNIT} = "__many".{UNIT}'
        )
        order = self.maker.order(columns, limit)
        ranked = self._make(
            connection,
            RANKED,
            f'SELECT {listed}, "__row", row_number() OVER (PARTITION BY {UNIT} ORDER BY {order}) '
            f'AS "__rank" FROM ({both}) AS "__both"',
        )
        for each in (
            f'DELETE FROM {kept} AS "__old" USING {ranked} AS "__ranked" '
            f'WHERE "__old".ctid = "__ranked"."__row" AND "__rank" > {limit}',
            f"INSERT INTO {kept} SELECT {listed} FROM {ranked} "
            f'WHERE "__rank" <= {limit} AND "__row" IS NULL',
            f'INSERT INTO {kept} SELECT {listed} FROM {new} AS "__new" WHERE NOT EXISTS '
            f'(SELECT FROM {many} AS "__many" WHERE "__many".{UNIT} = "__new".{UNIT})',
            f'INSERT INTO {rest} SELECT {listed} FROM {ranked} WHERE "__rank" > {limit}',
            f'INSERT INTO {units} SELECT {UNIT}, least("__n", {limit}) - coalesce("__held", 0) '
            f'FROM {touched} WHERE coalesce("__held", 0) < {limit}',
            f"UPDATE {parts} SET units = units + "
            f'(SELECT count(*) FROM {touched} WHERE "__held" IS NULL) '
            f"WHERE name = {POSTGRESQL.text(name)} AND part = 0",
            f"DROP TABLE {ranked}, {many}, {touched}",
        ):
            connection.execute(each)
        self._add_up(connection, units, f"{parts} WHERE name = {POSTGRESQL.text(name)}")

    def _add_up(self, connection: "Connection[Any]", units: str, parts: str) -> None:
        """Add up what each unit keeps, if the table has many more rows than units."""
        is_long = (
            f"SELECT (SELECT count(*) FROM {units}) > {NOTES} * (SELECT sum(units) FROM {parts})"
        )
        if connection.execute(is_long).fetchone() != (True,):
            return
        added = f'SELECT {UNIT}, CAST(sum("__n") AS bigint) AS "__n" FROM {units} GROUP BY {UNIT}'
        summed = self._make(connection, TOUCHED, added)
        connection.execute(f"TRUNCATE {units}")
        connection.execute(f"INSERT INTO {units} SELECT * FROM {summed}")
        connection.execute(f"DROP TABLE {summed}")

    def _rename(
        self, connection: "Connection[Any]", old: Made, notes: Mapping[str, Fingerprint]
    ) -> None:
        """Give all that belongs to a form the mark of the new one, and note what it is of now."""
        names = {(PARTS, ABOUT): "TABLE"}
        for scan in self.maker.scans:
            name = scan.table.name
            names |= {(name, KEPT): "TABLE", (name, REST): "TABLE", (name, EVERY): "VIEW"}
            names[UNITS.format(name), ABOUT] = "TABLE"
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
