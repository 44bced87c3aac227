"""Prepared tables that grow: new rows are added to kept rows and to the rest.

The table that has the name of the table itself holds new rows only; the tables of its path are read
from their forms. What comes out is what `prepared` makes of all rows (`engines/growth.py` says why
that needs a look at few of them).

Rows of a table whose unit is found over a path may wait for it: they have no partner yet. They are
stored, because new rows of a parent can give them a unit.
"""

# ruff: noqa: S608 - names are quoted and values are numbers

from collections.abc import Iterator
from dataclasses import replace

import duckdb

from discreet.catalog.schema import Column, ColumnUnit, Kind, PathUnit, PrivateTable
from discreet.engines.duckdb.dialect import DUCKDB
from discreet.engines.duckdb.held import PARTS, add_held, has_held, held_numbers
from discreet.engines.duckdb.loaded import LOADED, STORED
from discreet.engines.duckdb.prepared import PART, REST, added_columns, insert_some, ranked_rows
from discreet.engines.duckdb.rewrites import ranked_columns
from discreet.engines.growth import Anew, CannotGrowError, refuse_months
from discreet.engines.writer import EVERY, KEPT, UNIT, column_name, prepared_name, write_rows
from discreet.engines.writer.units import kind_in, unit_kind
from discreet.query.tree import Scan

WAITING = "waiting"
"""The schema of rows that have no partner on the path to their unit; queries do not read it."""


ROW = '"__row"'
"""The number of a row that is in the form already; new ones have none."""


SPAN = 2**23
"""Numbers of rows that are looked for together."""


def has_table(connection: duckdb.DuckDBPyConnection, name: str, schema: str = "main") -> bool:
    """Return whether a table of this name is stored or loaded while a copy is made."""
    schemas, tables = (
        f"SELECT 1 FROM duckdb_{each}() WHERE database_name IN ('{STORED}', '{LOADED}') "
        "AND schema_name = ?"
        for each in ("schemas", "tables")
    )
    if connection.execute(schemas, [schema]).fetchone() is None:  # which takes less than the rest
        return False
    found = connection.execute(f"{tables} AND table_name = ?", [schema, name]).fetchone()
    return found is not None


def keep_waiting(connection: duckdb.DuckDBPyConnection, scan: Scan) -> None:
    """Store the rows of a loaded table that have no partner on the path to their unit."""
    path = _path_of(scan)
    if path is None or not has_table(connection, scan.table.name):
        return
    table = DUCKDB.quoted(scan.table.name)
    partner = f"SELECT {_held(path.key)} FROM {_form(scan.parents[0], EVERY)}"
    connection.execute(f'CREATE SCHEMA IF NOT EXISTS "{WAITING}"')
    connection.execute(
        f'CREATE OR REPLACE TABLE "{WAITING}".{table} AS FROM {table} AS "__here" '
        f'ANTI JOIN ({partner}) AS "__there" ON "__here".{DUCKDB.quoted(path.column)} '
        f'= "__there".{_held(path.key)} WHERE "__here".{DUCKDB.quoted(path.column)} IS NOT NULL'
    )


def refuse_to_grow(scan: Scan) -> None:
    """Refuse to grow where a form does not hold what new rows would have to be joined with.

    Rows of a parent without a month were left out. Values of no known kind are held as texts.
    """
    refuse_months(scan)
    path = (scan.table, *scan.parents)
    if scan.parents and any(each.by_month is not None for each in path):
        raise CannotGrowError(Anew.MONTHS, scan.table.name)
    if any(_is_of_no_kind(each) for each in path):
        raise CannotGrowError(Anew.PATH, scan.table.name)
    if any(each.name.casefold() == DUCKDB.row_id for each in scan.table.columns):
        raise CannotGrowError(Anew.PLACE, scan.table.name)


def _is_of_no_kind(table: PrivateTable) -> bool:
    """Return whether a path begins at a column of no known kind."""
    return isinstance(table.unit, PathUnit) and kind_in(table, table.unit.column) is Kind.OTHER


def grow_table(
    connection: duckdb.DuckDBPyConnection, scan: Scan, *, is_parent: bool = True
) -> None:
    """Add the rows of a loaded table to its form, in the transaction that is open.

    Afterwards the table is a view of all rows that the form has, as paths over it need them.
    Raises CannotGrowError where new rows do not tell what becomes of old ones.
    """
    added = added_columns(scan, "part")
    _refuse_other_columns(connection, scan, added)
    _refuse_new_units_of_old_rows(connection, scan)
    rows, name = write_rows(_over_form(scan), DUCKDB), scan.table.name
    every = _form(scan.table, EVERY)
    before = _count(connection, every) if is_parent else 0
    if is_parent:
        came = f"CREATE OR REPLACE TEMP TABLE {_came(scan.table)} AS FROM ({rows}) LIMIT 0"
        connection.execute(came)
    is_held = has_held(connection, scan.table)
    for new in _parts(connection, scan, rows):
        _add(connection, scan, new, added, is_held=is_held)
        if is_parent:
            connection.execute(f"INSERT INTO {_came(scan.table)} FROM {new}")
    # Paths read what this transaction wrote, which a fault of DuckDB may hide (`insert_some`).
    if is_parent and _count(connection, every) != before + _count(connection, _came(scan.table)):
        raise CannotGrowError(Anew.PLACE, name)
    keep_waiting(connection, scan)
    columns = (f"{_held(each.name)} AS {DUCKDB.quoted(each.name)}" for each in scan.table.columns)
    connection.execute(f"DROP TABLE {DUCKDB.quoted(name)}")
    connection.execute(
        f"CREATE VIEW {DUCKDB.quoted(name)} AS SELECT {', '.join((UNIT, *columns))} "
        f"FROM {_form(scan.table, EVERY)}"
    )


def _count(connection: duckdb.DuckDBPyConnection, rows: str) -> int:
    ((number,),) = connection.execute(f"SELECT count(*) FROM {rows}").fetchall()
    return int(number)


def _parts(connection: duckdb.DuckDBPyConnection, scan: Scan, rows: str) -> Iterator[str]:
    """Yield the new rows part by part, each called "part"."""
    counted = f"SELECT count(*) FROM {DUCKDB.quoted(scan.table.name)}"
    ((number,),) = connection.execute(counted).fetchall()
    parts = -(-int(number) // PART)
    if parts == 1 and not scan.parents:
        yield f'({rows}) AS "part"'  # as cheap to read as a table of them
        return
    for part in range(parts):
        chosen = "" if parts == 1 else f" WHERE hash({UNIT}) % {parts} = {part}"
        connection.execute(
            f'CREATE OR REPLACE TEMP TABLE "__new" AS SELECT * FROM ({rows}) AS "rows"{chosen}'
        )
        yield '"__new" AS "part"'


def _over_form(scan: Scan) -> Scan:
    """Return a scan whose path ends at the next table, where the form has the units of the rows.

    A row of that table is in the form once for each of its units. Were it joined with its own
    parents again, all of its units would count as often as there are of them.
    """
    if len(scan.parents) < 2:
        return scan
    name, next_one = UNIT.strip('"'), scan.parents[0]
    of_unit = Column(name=name, kind=unit_kind(scan) or Kind.OTHER)
    columns = (*next_one.columns, of_unit)
    return replace(
        scan, parents=(replace(next_one, columns=columns, unit=ColumnUnit(column=name)),)
    )


def end_growth(connection: duckdb.DuckDBPyConnection, scan: Scan) -> None:
    """Remove what was needed while tables grew together."""
    connection.execute(f"DROP VIEW {DUCKDB.quoted(scan.table.name)}")
    for each in (_came(scan.table), '"__new"', '"__looked"', '"__ranked"'):
        connection.execute(f"DROP TABLE IF EXISTS temp.{each}")


def _add(
    connection: duckdb.DuckDBPyConnection, scan: Scan, new: str, added: str, *, is_held: bool
) -> None:
    """Add "part" to a form: only units with new rows that exceed their limit are ranked again.

    Where ranks of groups are stored, all units with new rows are: a new value may come before.
    """
    limit, is_ranked = scan.table.rows_per_unit, bool(ranked_columns(scan.table))
    kept, rest = _form(scan.table, KEPT), _form(scan.table, REST)
    looked = f"n + coalesce(held, 0) > {limit}" + (" OR held IS NOT NULL" if is_ranked else "")
    # Where ranks are stored, rows that stay are written again with new ones.
    moved = f"{ROW} IS NOT NULL" + ("" if is_ranked else f' AND "__rank" > {limit}')
    chosen = f'"__rank" <= {limit}' + ("" if is_ranked else f" AND {ROW} IS NULL")
    without = f'SELECT * EXCLUDE ("__rank", {ROW})'
    connection.execute(_touched(scan, new, is_held=is_held))
    order = _order_of_new(connection)
    for name, rows in (
        ("__looked", f'SELECT {UNIT} FROM "__touched" WHERE {looked}'),
        ("__ranked", ranked_rows(scan, _looked_at(scan, new))),
    ):
        connection.execute(f'CREATE OR REPLACE TEMP TABLE "{name}" AS {rows}')
    _delete(connection, kept, f'SELECT {ROW} FROM "__ranked" WHERE {moved}')
    other, ranked = f'"__rank" > {limit}', 'FROM "__ranked" AS "part" WHERE'
    steps = (
        (
            kept,
            f'SELECT *{added} FROM {new} ANTI JOIN "__looked" USING ({UNIT}){order}',
            f'SELECT 1 FROM "__touched" ANTI JOIN "__looked" USING ({UNIT})',
        ),
        (
            kept,
            f"{without}{added} {ranked} {chosen} ORDER BY {UNIT}",
            f"SELECT 1 {ranked} {chosen}",
        ),
        (rest, f"{without} {ranked} {other} ORDER BY {UNIT}", f"SELECT 1 {ranked} {other}"),
    )
    for table, rows, some in steps:
        insert_some(connection, table, rows, some)
    connection.execute(
        f"UPDATE {PARTS} SET units = units + "
        '(SELECT count(*) FROM "__touched" WHERE held IS NULL) WHERE name = ? AND part = 0',
        [scan.table.name],
    )
    if is_held:
        add_held(connection, scan.table)
    connection.execute('DROP TABLE "__touched"')


def _touched(scan: Scan, new: str, *, is_held: bool) -> str:
    """Return what makes a table of units with new rows: how many are new, and how many kept."""
    by_unit = f"SELECT {UNIT}, count(*) AS n FROM {{0}} GROUP BY {UNIT}"
    kept, held = _form(scan.table, KEPT), held_numbers(scan.table.name)
    if not is_held:
        held = f"({by_unit.format(f'{kept} SEMI JOIN {new} USING ({UNIT})')})"
    return (
        f'CREATE OR REPLACE TEMP TABLE "__touched" AS SELECT {UNIT}, "many".n, "held".n AS held '
        f'FROM ({by_unit.format(new)}) AS "many" LEFT JOIN {held} AS "held" USING ({UNIT})'
    )


def _delete(connection: duckdb.DuckDBPyConnection, kept: str, moved: str) -> None:
    """Delete rows by their numbers, those of a range at a time.

    DuckDB looks for numbers of a small range by a bit for each, and for others by hashes.
    """
    spans = f"SELECT DISTINCT {ROW} // {SPAN} FROM ({moved}) ORDER BY ALL"
    for (span,) in connection.execute(spans).fetchall():
        connection.execute(
            f"DELETE FROM {kept} WHERE {DUCKDB.row_id} IN "
            f"(FROM ({moved}) WHERE {ROW} // {SPAN} = {int(span)})"
        )


def _order_of_new(connection: duckdb.DuckDBPyConnection) -> str:
    """Return the order of new rows: that of units, unless most have one row, beside no other."""
    counted = 'SELECT sum(n) >= 2 * count(*) FROM "__touched"'
    is_sorted = connection.execute(counted).fetchone() == (True,)
    return f" ORDER BY {UNIT}" if is_sorted else ""


def _looked_at(scan: Scan, new: str) -> str:
    """Return new and kept rows of units that are looked at, the kept ones with their numbers."""
    table = scan.table
    names = [_held(each.name) for each in table.columns]
    read = [
        f"{UNIT} AS {_held(each.name)}" if _is_unit(table, each) else _held(each.name)
        for each in table.columns
    ]
    return (
        f"(SELECT {', '.join([UNIT, *names])}, NULL AS {ROW} "
        f'FROM {new} SEMI JOIN "__looked" USING ({UNIT}) '
        f"UNION ALL SELECT {', '.join([UNIT, *read])}, {DUCKDB.row_id} AS {ROW} "
        f'FROM {_form(table, KEPT)} SEMI JOIN "__looked" USING ({UNIT}))'
    )


def _is_unit(table: PrivateTable, column: Column) -> bool:
    """Return whether a column is that of units, whose values need not be read twice."""
    is_plain = table.by_month is None and column.kind not in DUCKDB.reads
    return is_plain and table.unit == ColumnUnit(column=column.name)


def _refuse_other_columns(connection: duckdb.DuckDBPyConnection, scan: Scan, added: str) -> None:
    """Refuse to grow if the form has other columns or types than it would be made with now."""
    rows = write_rows(scan, DUCKDB)
    wanted = {
        KEPT: f'SELECT *{added} FROM ({rows}) AS "part"',
        REST: f"FROM ({rows})",
    }
    for schema, form in wanted.items():
        described = (f"FROM {_form(scan.table, schema)}", form)
        found, made = (connection.execute(f"DESCRIBE {each}").fetchall() for each in described)
        if found != made:
            raise CannotGrowError(Anew.TYPES, scan.table.name)


def _refuse_new_units_of_old_rows(connection: duckdb.DuckDBPyConnection, scan: Scan) -> None:
    """Refuse to grow if a row that has a unit already gets a second one: its key is repeated."""
    path = _path_of(scan)
    if path is None:
        return
    found = connection.execute(
        f"SELECT 1 FROM {_form(scan.table, EVERY)} "
        f"WHERE {_held(path.column)} IN (SELECT {_held(path.key)} FROM {_came(scan.parents[0])}) "
        "LIMIT 1"
    ).fetchall()
    if found:
        raise CannotGrowError(Anew.PATH, scan.table.name)


def _path_of(scan: Scan) -> PathUnit | None:
    return scan.table.unit if isinstance(scan.table.unit, PathUnit) else None


def _came(table: PrivateTable) -> str:
    """Return the table of the rows with a unit that came to a form just now."""
    return DUCKDB.quoted(f"__came {table.name}")


def _form(table: PrivateTable, schema: str) -> str:
    return prepared_name(table.name, DUCKDB, schema)


def _held(column: str) -> str:
    """Return a column as forms name it."""
    return DUCKDB.quoted(column_name(column))
