"""Private rows as SQL: each a SELECT of the unit and the columns that are needed."""

# ruff: noqa: S608 - this file writes SQL; every name in it is quoted and every value a literal

from collections.abc import Iterable, Sequence
from dataclasses import replace

from discreet.catalog.schema import ByMonth, ColumnUnit, Kind, PathUnit, PrivateTable, RowUnit
from discreet.engines.dialect import Dialect
from discreet.engines.writer.choices import column_rank, rank_name, rows_of_heavy
from discreet.engines.writer.constants import ROW, constants_text
from discreet.engines.writer.expressions import (
    FRESH,
    SEEN,
    UNIT,
    Seen,
    WriteContext,
    column_name,
    columns_read,
    key_text,
    names_of,
    parts_of,
)
from discreet.engines.writer.sums import added, fixed_point, sum_of
from discreet.engines.writer.units import (
    MONTH,
    kind_in,
    month_of_row,
    private_names,
    refuse_other_units,
)
from discreet.errors import UnsupportedError
from discreet.query.tree import (
    ColumnOf,
    ConstantRows,
    Expression,
    GroupByUnit,
    Join,
    JoinKind,
    NamedExpression,
    PublicRelation,
    PublicScan,
    Relation,
    ReleasedRows,
    Scan,
    Select,
    UnionAll,
    UnitAggregate,
    UnitFunction,
    Window,
)


def rows_text(rows: Relation, place: WriteContext, needed: frozenset[str] | None) -> str:
    """Return a SELECT of the unit and the columns that are needed; all of them if None."""
    match rows:
        case Scan():
            return _scan(rows, place, needed)
        case Select():
            return _select(rows, place, needed)
        case GroupByUnit():
            return _per_unit(rows, place, needed)
        case UnionAll():
            return _union(rows, place, needed)


def _columns_of(rows: Relation) -> tuple[str, ...]:
    match rows:
        case Scan(table=table):
            return tuple(each.name for each in table.columns)
        case Select(columns=columns):
            return tuple(each.name for each in columns)
        case GroupByUnit(keys=keys, aggregates=aggregates):
            return (*(each.name for each in keys), *(each.name for each in aggregates))
        case UnionAll(parts=parts):
            return _columns_of(parts[0])


def _scan(scan: Scan, place: WriteContext, needed: frozenset[str] | None) -> str:
    """Return a table's rows; where units are chosen, of these alone, as soon as they are read."""
    rows = _every(scan, place, needed)
    kept = None if place.heavy is None else rows_of_heavy(scan, place, needed, rows)
    if kept is not None:
        return kept
    return f'SELECT * FROM ({rows}) AS "__of" WHERE {place.chosen}' if place.chosen else rows


def _every(scan: Scan, place: WriteContext, needed: frozenset[str] | None) -> str:
    is_prepared = scan.table.is_prepared and (scan.is_bounded or place.dialect.has_prepared)
    read = _prepared if is_prepared else _plain
    dated = scan.table.by_month
    if dated is None:
        return read(scan, place, needed)
    rows = read(scan, place, None if needed is None else needed | {dated.column})
    return _of_months(scan, dated, rows, place, needed, is_prepared=is_prepared)


def _of_months(  # noqa: PLR0913 - what is read, and of what
    scan: Scan,
    dated: ByMonth,
    rows: str,
    place: WriteContext,
    needed: frozenset[str] | None,
    *,
    is_prepared: bool,
) -> str:
    """Return rows of the months that are read, each with the unit and its month as the unit.

    Prepared tables have both already: only the months are left to choose. Which months of a unit
    are its first is decided before anything else, by all of its rows.
    """
    names = [each.name for each in scan.table.columns if needed is None or each.name in needed]
    kind = kind_in(scan.table, dated.column) or Kind.OTHER
    own = WriteContext(dialect=place.dialect, released=None, inner_rows=place.inner_rows)
    month = own.write(month_of_row(dated, kind, "__rows"))
    rows = f'SELECT "__rows".*, {month} AS {MONTH} FROM ({rows}) AS "__rows"'
    conditions = [f"{MONTH} IS NOT NULL"]
    unit = UNIT
    if not is_prepared and scan.table.is_by_month:
        text = place.dialect.types[Kind.TEXT]
        unit = f"CAST({UNIT} AS {text}) || '@' || CAST({MONTH} AS {text}) AS {UNIT}"
        if dated.most is not None:
            rank = f'dense_rank() OVER (PARTITION BY {UNIT} ORDER BY {MONTH}) AS "__nth"'
            rows = f'SELECT *, {rank} FROM ({rows}) AS "__months" WHERE {MONTH} IS NOT NULL'
            conditions = [f'"__nth" <= {dated.most}']
    first, last = scan.months.first, scan.months.last
    conditions += [] if first is None else [f"{MONTH} >= {first}"]
    conditions += [] if last is None else [f"{MONTH} <= {last}"]
    columns = ", ".join([unit, *map(place.column, names), *([FRESH] if place.tells_fresh else [])])
    return f'SELECT {columns} FROM ({rows}) AS "__dated" WHERE {" AND ".join(conditions)}'


def _plain(scan: Scan, place: WriteContext, needed: frozenset[str] | None) -> str:
    path = (scan.table, *scan.parents)
    aliases = [f'"__{number}"' for number in range(len(path))]
    if len(path) == 1:
        aliases = [place.quoted(scan.table.name)]
    columns = [
        _scanned(each.name, each.kind, aliases[0], place)
        for each in scan.table.columns
        if needed is None or each.name in needed
    ]
    if place.tells_fresh:
        columns.append(f"({' OR '.join(f'{each}.{FRESH}' for each in aliases)}) AS {FRESH}")
    unit, where = _unit_column(path[-1], aliases[-1], place)
    tables = [
        place.quoted(table.name) + ("" if len(path) == 1 else f" AS {alias}")
        for table, alias in zip(path, aliases, strict=True)
    ]
    joins = "".join(
        f" JOIN {tables[number + 1]} ON "
        + _step(table, path[number + 1], aliases[number : number + 2], place)
        for number, table in enumerate(path[:-1])
    )
    return f"SELECT {', '.join([unit, *columns])} FROM {tables[0]}{joins}{where}"


KEPT, EVERY, ABOUT = "kept", "every", "about"
"""Schemas of prepared tables: the rows of each unit that count, all rows, and how many units."""


def _prepared(scan: Scan, place: WriteContext, needed: frozenset[str] | None) -> str:
    """Return rows of a prepared table, which has the unit and our names for columns."""
    columns = [
        place.column(each.name)
        for each in scan.table.columns
        if needed is None or each.name in needed
    ]
    table = prepared_name(scan.table.name, place.dialect, KEPT if scan.is_bounded else EVERY)
    rows, where = _limited(scan, table, place)
    return f"SELECT {', '.join([UNIT, *columns])} FROM {rows}{where}"


def _limited(scan: Scan, table: str, place: WriteContext) -> tuple[str, str]:
    """Return a prepared table with the ranks of groups, and the condition that limits them."""
    if not scan.group_limits:
        return table, ""
    ranks, conditions = [], []
    for number, (name, most) in enumerate(scan.group_limits):
        rank = place.quoted(column_name(rank_name(name)))
        if name not in scan.ranked:
            # No column of a table is called so: a name that it has would be read in our place.
            rank = place.quoted(f"__rank{number}")
            ranks.append(f"{column_rank(scan.table, name, place.dialect)} AS {rank}")
        conditions.append(f"{rank} <= {most}")
    where = f" WHERE {' AND '.join(conditions)}"
    if not ranks:
        return table, where
    return f'(SELECT *, {", ".join(ranks)} FROM {table}) AS "__ranked"', where


def prepared_name(table: str, dialect: Dialect, schema: str) -> str:
    """Return what a prepared table is called in the engine."""
    return dialect.prepared(table, schema)


def _scanned(name: str, kind: Kind, alias: str, place: WriteContext) -> str:
    column = f"{alias}.{place.quoted(name)}"
    read = place.dialect.reads.get(kind, "{0}").format(column)
    is_same = read == column and column_name(name) == name
    return read if is_same else f"{read} AS {place.column(name)}"


def _unit_column(table: PrivateTable, alias: str, place: WriteContext) -> tuple[str, str]:
    match table.unit:
        case RowUnit():
            return f"{alias}.{place.dialect.row_id} AS {UNIT}", ""
        case ColumnUnit(column=column):
            unit = f"{alias}.{place.quoted(column)}"
            return f"{unit} AS {UNIT}", f" WHERE {unit} IS NOT NULL"
        case PathUnit():
            raise UnsupportedError(
                f"The path of {table.name} does not lead to a privacy unit",
                "Declare all tables on the path",
            )


def _step(
    table: PrivateTable, parent: PrivateTable, aliases: Sequence[str], place: WriteContext
) -> str:
    unit = table.unit
    if not isinstance(unit, PathUnit):
        raise UnsupportedError(
            f"{table.name} has both a unit and a path to one", "Declare only one of them"
        )
    here, there = aliases
    if kind_in(table, unit.column) is not kind_in(parent, unit.key):
        raise UnsupportedError(
            f"{table.name}.{unit.column} and {parent.name}.{unit.key} have different types",
            "Store both with the same type",
        )
    return f"{here}.{place.quoted(unit.column)} = {there}.{place.quoted(unit.key)}"


def _select(select: Select, place: WriteContext, needed: frozenset[str] | None) -> str:
    columns = [each for each in select.columns if needed is None or each.name in needed]
    outputs = [each.expression for each in columns]
    conditions = [each for each in (select.where, select.qualify) if each is not None]
    used = [*outputs, *conditions, *(each.on for each in select.joins)]
    read, parts = columns_read(used), [part for each in used for part in parts_of(each)]
    numbered = sum(isinstance(part, Window) for part in parts) > 1
    own = replace(
        place,
        rows=select.source,
        unit=f"{place.quoted(select.name)}.{UNIT}",
        ties=_ties(select, parts, place, numbered=numbered),
    )
    tables = _source(select.source, select.name, read, place, numbered=numbered)
    for join in select.joins:
        if not isinstance(join.source, PublicRelation):
            refuse_other_units(select.source, join.source)
        tables += _join(join, own, read, numbered=numbered)
    if select.where is not None:
        tables += f" WHERE {own.write(select.where)}"
    has_windows = any(isinstance(part, Window) for part in parts)
    if place.dialect.fence and has_windows:
        sources = frozenset([select.name, *(each.name for each in select.joins)])
        seen = Seen(own.unit, sources)
        own = replace(own, unit=f"{SEEN}.{UNIT}", seen=seen)
    written = [f"{own.unit} AS {UNIT}", *(_output(each, own) for each in columns)]
    if place.tells_fresh:
        found = (f"{place.quoted(each)}.{FRESH}" for each in private_names(select))
        fresh = f"({' OR '.join(f'coalesce({each}, FALSE)' for each in found)})"
        written.append(f"{fresh if own.seen is None else own.seen.column(fresh)} AS {FRESH}")
    if select.qualify is not None:
        written.append(f'{own.write(select.qualify)} AS "__only"')
    if own.seen is not None:
        tables = f"(SELECT {own.seen.columns()} FROM {tables}) AS {SEEN}"
    text = f"SELECT {', '.join(written)} FROM {tables}"
    if select.qualify is None:
        return text
    told = [FRESH] if place.tells_fresh else []
    names = ", ".join([UNIT, *(place.column(each.name) for each in columns), *told])
    return f'SELECT {names} FROM ({text}) AS "__all" WHERE "__only"'


def _output(column: NamedExpression, place: WriteContext) -> str:
    return f"{place.write(column.expression)} AS {place.column(column.name)}"


def _ties(
    select: Select, parts: Iterable[Expression], place: WriteContext, *, numbered: bool
) -> tuple[str, ...]:
    """Return what orders the rows of a unit that a window's own order leaves equal.

    One window needs the columns that are read: rows that agree in all of them are interchangeable.
    Several windows must agree on which of two such rows comes first, so there rows have numbers.
    """
    sources = [select.name, *(each.name for each in select.joins)]
    if numbered:
        return tuple(f"{place.quoted(each)}.{ROW}" for each in sources)
    read = {
        (each.source, each.name): place.write(each)
        for each in parts
        if isinstance(each, ColumnOf) and each.source in sources
    }
    return tuple(text for _, text in sorted(read.items()))


def _source(
    rows: "Relation | PublicRelation",
    name: str,
    read: Iterable[tuple[str, str]],
    place: WriteContext,
    *,
    numbered: bool,
) -> str:
    needed = names_of(read, name)
    match rows:
        case PublicScan():
            return _public(rows, name, needed, place, numbered=numbered)
        case ConstantRows() | ReleasedRows():
            return constants_text(rows, name, needed, place)
    text = rows_text(rows, place, needed)
    if numbered:
        order = place.dialect.ordered([UNIT, *(place.column(each) for each in sorted(needed))])
        number = f"row_number() OVER (PARTITION BY {UNIT} ORDER BY {order}) AS {ROW}"
        text = f'SELECT *, {number} FROM ({text}) AS "__all"'
    return f"({text}) AS {place.quoted(name)}"


def _public(
    scan: PublicScan, name: str, needed: frozenset[str], place: WriteContext, *, numbered: bool
) -> str:
    is_plain = not numbered and not any(each.startswith("__") for each in needed)
    table = place.quoted(scan.table)
    if is_plain:
        return table if scan.table == name else f"{table} AS {place.quoted(name)}"
    columns = [f"{place.quoted(each)} AS {place.column(each)}" for each in sorted(needed)]
    columns.append(f"{place.dialect.row_id} AS {ROW}")
    return f"(SELECT {', '.join(columns)} FROM {table}) AS {place.quoted(name)}"


def _join(
    join: Join, place: WriteContext, read: Iterable[tuple[str, str]], *, numbered: bool
) -> str:
    kind = "LEFT JOIN" if join.kind is JoinKind.LEFT else "JOIN"
    partners = replace(place, chosen=place.chosen_beside)
    source = _source(join.source, join.name, read, partners, numbered=numbered)
    on = place.write(join.on)
    if not isinstance(join.source, PublicRelation):
        on = f"{place.unit} = {place.quoted(join.name)}.{UNIT} AND {on}"
    return f" {kind} {source} ON {on}"


def _per_unit(per_unit: GroupByUnit, place: WriteContext, needed: frozenset[str] | None) -> str:
    aggregates = [each for each in per_unit.aggregates if needed is None or each.name in needed]
    name = place.quoted(per_unit.name)
    inner = replace(place, rows=per_unit.source, unit=f"{name}.{UNIT}")
    arguments = [each.argument for each in aggregates if each.argument is not None]
    read = names_of(
        columns_read([*(each.expression for each in per_unit.keys), *arguments]), per_unit.name
    )
    columns = [f"{inner.unit} AS {UNIT}"]
    columns += [
        f"{key_text(each.expression, inner)} AS {place.column(each.name)}" for each in per_unit.keys
    ]
    columns += [
        f'{inner.write(each.argument)} AS "__a{number}"'
        for number, each in enumerate(aggregates)
        if each.argument is not None
    ]
    columns += [f"{name}.{FRESH} AS {FRESH}"] if place.tells_fresh else []
    rows = rows_text(per_unit.source, place, read)
    keys = [UNIT, *(place.column(each.name) for each in per_unit.keys)]
    outputs = keys + [
        f"{_aggregate(each, number, place.dialect)} AS {place.column(each.name)}"
        for number, each in enumerate(aggregates)
    ]
    outputs += [f"bool_or({FRESH}) AS {FRESH}"] if place.tells_fresh else []
    return (
        f"SELECT {', '.join(outputs)} FROM (SELECT {', '.join(columns)} FROM ({rows}) AS {name}) "
        f'AS "__all" GROUP BY {", ".join(keys)}'
    )


def _aggregate(aggregate: UnitAggregate, number: int, dialect: Dialect) -> str:
    text = f'"__a{number}"'
    argument = aggregate.argument
    if aggregate.function is UnitFunction.COUNT_ROWS or argument is None:
        return "count(*)"
    match aggregate.function:
        case UnitFunction.SUM:
            return _total_of(argument, text, dialect)
        case UnitFunction.AVG:
            return _mean_of(argument, text, dialect)
        case UnitFunction.MEDIAN:
            return _median_of(argument, text, dialect)
        case UnitFunction.COUNT_DISTINCT:
            return f"count(DISTINCT {text})"
        case _:
            name = aggregate.function.value
            return f"{dialect.aggregates.get((name, argument.facts.kind), name)}({text})"


def _total_of(argument: Expression, text: str, dialect: Dialect) -> str:
    """Return a sum; of a single real the value itself, which fixed point would move a little."""
    total = sum_of(argument, text, dialect)
    if argument.facts.kind is not Kind.REAL:
        return total
    return f"CASE WHEN count({text}) = 1 THEN {_least(argument, text, dialect)} ELSE {total} END"


def _mean_of(argument: Expression, text: str, dialect: Dialect) -> str:
    """Return an average; of equal reals the value itself, as a sum of one."""
    if argument.facts.kind is not Kind.REAL:
        total = dialect.as_real.format(f"sum({added(text, dialect)})")
        return f"CASE WHEN count({text}) > 0 THEN {total} / count({text}) END"
    total = sum_of(argument, text, dialect)
    return (
        f"CASE WHEN min({text}) = max({text}) THEN {_least(argument, text, dialect)} "
        f"WHEN count({text}) > 0 THEN {total} / count({text}) END"
    )


def _least(argument: Expression, text: str, dialect: Dialect) -> str:
    """Return the least of some reals, moved into their interval and never -0.0."""
    _, value = fixed_point(argument, f"min({text})", dialect)
    return f"{value} + {dialect.real(0.0)}"


def _median_of(argument: Expression, text: str, dialect: Dialect) -> str:
    if not argument.facts.kind.is_number:
        return dialect.quantile.format(text)
    is_real = argument.facts.kind is Kind.REAL
    median = dialect.quantile.format(text if is_real else dialect.as_real.format(text))
    return dialect.finite(median)


def _union(union: UnionAll, place: WriteContext, needed: frozenset[str] | None) -> str:
    names = _columns_of(union.parts[0])
    kept = [number for number, name in enumerate(names) if needed is None or name in needed]
    parts = []
    for part in union.parts:
        refuse_other_units(union.parts[0], part)
        own = [_columns_of(part)[number] for number in kept]
        columns = [
            f"{place.column(theirs)} AS {place.column(names[number])}"
            for number, theirs in zip(kept, own, strict=True)
        ]
        columns += [FRESH] if place.tells_fresh else []
        rows = rows_text(part, place, frozenset(own))
        parts.append(f'SELECT {", ".join([UNIT, *columns])} FROM ({rows}) AS "__part"')
    return " UNION ALL ".join(parts)
