"""SQL from the tree: private rows, expressions and exact queries, in an engine's dialect.

Nothing that an analyst wrote is copied: identifiers are quoted, values become literals, and
functions come from the dialect's table. What is written is total: it is NULL where plain SQL would
raise an error, for every content of the tables, not only for contents within declared bounds.
"""

# ruff: noqa: S608 - this file writes SQL; every name in it is quoted and every value a literal

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from decimal import Decimal
from fractions import Fraction

from discreet.catalog.schema import ColumnUnit, Kind, PathUnit, PrivateTable, RowUnit, Value
from discreet.engines.base import Bounding, ExactQuery
from discreet.engines.dialect import (
    Dialect,
    Written,
    real_literal,
    text_literal,
    whole_literal,
)
from discreet.errors import UnboundedError, UnsupportedError
from discreet.query.tree import (
    Call,
    Case,
    Column,
    ColumnOf,
    Expression,
    Join,
    JoinKind,
    Literal,
    Ordering,
    PerUnit,
    PublicScan,
    Released,
    Rows,
    Scan,
    Select,
    Union,
    UnitAggregate,
    UnitFunction,
    UnitIsIn,
    Window,
    WindowFunction,
)

UNIT = '"__unit"'
"""The column of every relation of private rows that says whose row it is."""

ROW = '"__row"'
"""A number that tells the rows of one unit apart."""

SALT = "'discreet'"
FIXED_POINT_BITS = 40

Numbers = Sequence[Value] | None
"""Noisy numbers of earlier releases; None stands for not known yet, as in an explanation."""


def write_query(query: ExactQuery, dialect: Dialect, released: Numbers = None) -> str:
    """Return the one statement that computes an exact query."""
    return _exact(query, _Place(dialect=dialect, released=released))


def write_rows(rows: Rows, dialect: Dialect, released: Numbers = None) -> str:
    """Return a SELECT of private rows: the unit, then the columns."""
    return _rows(rows, _Place(dialect=dialect, released=released), None)


def write_expression(expression: Expression, dialect: Dialect, released: Numbers = None) -> str:
    """Return an expression over columns that stand in reach by `source`.`name`."""
    return _Place(dialect=dialect, released=released).write(expression)


# --------------------------------------------------------------------------- names


def column_name(name: str) -> str:
    """Return a column's name inside a statement, where names that begin with __ are ours."""
    return "_" + name if name.startswith("__") else name


@dataclass(frozen=True, slots=True, kw_only=True)
class _Place:
    """Where an expression stands: how the row's unit and its ties are called there."""

    dialect: Dialect
    released: Numbers
    unit: str = UNIT
    ties: tuple[str, ...] = ()

    def quoted(self, name: str) -> str:
        return self.dialect.quoted(name)

    def column(self, name: str) -> str:
        return self.dialect.quoted(column_name(name))

    def write(self, expression: Expression) -> str:
        """Return an expression whose NaN and infinities are NULL."""
        return _finite(_written(expression, self), self.dialect).text


# --------------------------------------------------------------------------- expressions


def _finite(written: Written, dialect: Dialect) -> Written:
    if written.is_finite:
        return written
    return replace(written, text=dialect.finite(written.text), is_finite=True)


def _written(expression: Expression, place: _Place) -> Written:  # noqa: PLR0911
    match expression:
        case ColumnOf(source=source, name=name, facts=facts):
            text = f"{place.quoted(source)}.{place.column(name)}"
            return Written(text=text, kind=facts.kind)
        case Literal(value=value, facts=facts):
            return _literal(value, facts.kind, place.dialect)
        case Released(number=number, facts=facts):
            if place.released is None:
                return Written(text=f"$released_{number}", kind=facts.kind, is_literal=True)
            return _literal(place.released[number], facts.kind, place.dialect)
        case Call():
            return _call(expression, place)
        case Case():
            return _case(expression, place)
        case UnitIsIn():
            return Written(text=_unit_is_in(expression, place), kind=Kind.BOOLEAN)
        case Window():
            return Written(text=_window(expression, place), kind=expression.facts.kind)


def _literal(value: Value, kind: Kind, dialect: Dialect) -> Written:
    text = _literal_text(value, kind, dialect)
    whole = value if isinstance(value, int) and not isinstance(value, bool) else None
    return Written(text=text, kind=kind, low=whole, high=whole, is_literal=True, value=value)


def _literal_text(value: Value, kind: Kind, dialect: Dialect) -> str:  # noqa: PLR0911
    match value:
        case None:
            return f"CAST(NULL AS {dialect.types[kind]})"
        case bool():
            return "TRUE" if value else "FALSE"
        case int() if kind is not Kind.REAL:
            return whole_literal(value)
        case int() | float() | Fraction() | Decimal():
            return real_literal(_nearest_float(value))
        case str():
            return text_literal(value)
        case datetime() if kind is Kind.TIMESTAMP_TZ or value.tzinfo is not None:
            utc = value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)
            stamp = utc.replace(tzinfo=None).isoformat(sep=" ")
            return f"CAST('{stamp}+00' AS {dialect.types[Kind.TIMESTAMP_TZ]})"
        case datetime():
            return f"CAST('{value.isoformat(sep=' ')}' AS {dialect.types[Kind.TIMESTAMP]})"
        case date():
            return f"CAST('{value.isoformat()}' AS {dialect.types[Kind.DATE]})"


def _nearest_float(value: float | Fraction | Decimal) -> float:
    try:
        return float(value)
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")


def _call(call: Call, place: _Place) -> Written:
    function = place.dialect.functions.get(call.function)
    if function is None:
        raise UnsupportedError(
            f"{call.function} cannot be computed by {place.dialect.name}",
            "write the question without it",
        )
    arguments = [
        written if number in function.carries else _finite(written, place.dialect)
        for number, written in enumerate(_written(each, place) for each in call.arguments)
    ]
    low, high = function.range(arguments)
    is_real = call.facts.kind is Kind.REAL
    return Written(
        text=function.write(arguments),
        kind=call.facts.kind,
        is_finite=not is_real or (function.is_finite and all(each.is_finite for each in arguments)),
        low=low,
        high=high,
    )


def _case(case: Case, place: _Place) -> Written:
    results = [_written(value, place) for _, value in case.branches]
    results.append(_written(case.otherwise, place))
    lows, highs = [each.low for each in results], [each.high for each in results]
    branches = "".join(
        f" WHEN {place.write(condition)} THEN {result.text}"
        for (condition, _), result in zip(case.branches, results, strict=False)
    )
    return Written(
        text=f"CASE{branches} ELSE {results[-1].text} END",
        kind=case.facts.kind,
        is_finite=all(each.is_finite for each in results),
        low=None if None in lows else min(each for each in lows if each is not None),
        high=None if None in highs else max(each for each in highs if each is not None),
    )


def _unit_is_in(test: UnitIsIn, place: _Place) -> str:
    name = place.quoted(test.name)
    inner = replace(place, unit=f"{name}.{UNIT}")
    read = _read([] if test.where is None else [test.where])
    rows = _rows(test.rows, place, _of_source(read, test.name))
    where = "" if test.where is None else f" WHERE {inner.write(test.where)}"
    return f"({place.unit} IN (SELECT {inner.unit} FROM ({rows}) AS {name}{where}))"


# --------------------------------------------------------------------------- windows

RANKS = {WindowFunction.RANK, WindowFunction.DENSE_RANK}
ORDERLESS = {WindowFunction.COUNT, WindowFunction.SUM, WindowFunction.MIN, WindowFunction.MAX}
FRAMED = {*ORDERLESS, WindowFunction.FIRST_VALUE, WindowFunction.LAST_VALUE}
FRAMES = {
    "running": " ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW",
    "whole": " ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING",
}


def _window(window: Window, place: _Place) -> str:
    function = window.function
    partition = ", ".join([place.unit, *map(place.write, window.partition)])
    order = [_ordering(each, place) for each in window.order]
    if function not in RANKS:
        order += place.ties
    if function in ORDERLESS and window.frame == "whole":
        over = f"OVER (PARTITION BY {partition})"
    else:
        frame = FRAMES[window.frame] if function in FRAMED else ""
        ordered = f" ORDER BY {', '.join(order)}" if order else ""
        over = f"OVER (PARTITION BY {partition}{ordered}{frame})"
    if function is WindowFunction.COUNT and not window.arguments:
        return f"count(*) {over}"
    if function is WindowFunction.SUM:
        return _sum_of(window.arguments[0], place.write(window.arguments[0]), over, place.dialect)
    arguments = ", ".join(map(place.write, window.arguments))
    return f"{function.value}({arguments}) {over}"


def _ordering(ordering: Ordering, place: _Place) -> str:
    direction = " DESC" if ordering.descending else ""
    nulls = "FIRST" if ordering.nulls_first else "LAST"
    return f"{place.write(ordering.expression)}{direction} NULLS {nulls}"


def _sum_of(argument: Expression, text: str, over: str, dialect: Dialect) -> str:
    """Return a sum within a unit; of reals in fixed point, so that no order of adding shows."""
    over = f" {over}" if over else ""
    if argument.facts.kind is not Kind.REAL:
        return dialect.whole.format(f"sum({dialect.whole.format(text)}){over}")
    grain, clamped = _fixed_point(argument, text)
    scaled = dialect.as_wide.format(f"round(({clamped}) * {real_literal(1 / grain)})")
    return f"({dialect.as_real.format(f'sum({scaled}){over}')} * {real_literal(grain)})"


def _fixed_point(argument: Expression, text: str) -> tuple[float, str]:
    """Return the grain, a power of two, and the text moved into its interval."""
    interval = argument.facts.interval
    if interval.low is None or interval.high is None:
        raise UnboundedError(
            "a sum within a unit has no bounds", "declare bounds, or clamp what is summed"
        )
    low, high = _nearest_float(interval.low), _nearest_float(interval.high)
    reach = max(abs(interval.low), abs(interval.high))
    exponent = reach.numerator.bit_length() - reach.denominator.bit_length() + 1 if reach else 0
    grain = 2.0 ** min(1000, max(-1000, exponent - FIXED_POINT_BITS))
    clamped = (
        f"CASE WHEN {text} < {real_literal(low)} THEN {real_literal(low)} "
        f"WHEN {text} > {real_literal(high)} THEN {real_literal(high)} ELSE {text} END"
    )
    return grain, clamped


# --------------------------------------------------------------------------- what is read


def _children(expression: Expression) -> Iterable[Expression]:
    match expression:
        case Call(arguments=arguments):
            return arguments
        case Case(branches=branches, otherwise=otherwise):
            return (*(each for pair in branches for each in pair), otherwise)
        case UnitIsIn(where=where):
            return () if where is None else (where,)
        case Window(arguments=arguments, partition=partition, order=order):
            return (*arguments, *partition, *(each.expression for each in order))
        case _:
            return ()


def _walk(expression: Expression) -> Iterator[Expression]:
    yield expression
    for each in _children(expression):
        yield from _walk(each)


def _read(expressions: Iterable[Expression]) -> list[tuple[str, str]]:
    """Return the columns that are read, by source and name, each once, in a fixed order."""
    return sorted(
        {
            (part.source, part.name)
            for expression in expressions
            for part in _walk(expression)
            if isinstance(part, ColumnOf)
        }
    )


def _of_source(read: Iterable[tuple[str, str]], source: str) -> frozenset[str]:
    return frozenset(name for each, name in read if each == source)


# --------------------------------------------------------------------------- private rows


def _rows(rows: Rows, place: _Place, needed: frozenset[str] | None) -> str:
    """Return a SELECT of the unit and the columns that are needed; all of them if None."""
    match rows:
        case Scan():
            return _scan(rows, place, needed)
        case Select():
            return _select(rows, place, needed)
        case PerUnit():
            return _per_unit(rows, place, needed)
        case Union():
            return _union(rows, place, needed)


def _columns_of(rows: Rows) -> tuple[str, ...]:
    match rows:
        case Scan(table=table):
            return tuple(each.name for each in table.columns)
        case Select(columns=columns):
            return tuple(each.name for each in columns)
        case PerUnit(keys=keys, aggregates=aggregates):
            return (*(each.name for each in keys), *(each.name for each in aggregates))
        case Union(parts=parts):
            return _columns_of(parts[0])


def _scan(scan: Scan, place: _Place, needed: frozenset[str] | None) -> str:
    path = (scan.table, *scan.parents)
    aliases = [f'"__{number}"' for number in range(len(path))]
    if len(path) == 1:
        aliases = [place.quoted(scan.table.name)]
    columns = [
        _scanned(each.name, each.kind, aliases[0], place)
        for each in scan.table.columns
        if needed is None or each.name in needed
    ]
    unit, where = _unit_column(path[-1], aliases[-1], place)
    tables = [
        place.quoted(table.name) + ("" if len(path) == 1 else f" AS {alias}")
        for table, alias in zip(path, aliases, strict=True)
    ]
    joins = "".join(
        f" JOIN {tables[number + 1]} ON {_step(table, aliases[number : number + 2], place)}"
        for number, table in enumerate(path[:-1])
    )
    return f"SELECT {', '.join([unit, *columns])} FROM {tables[0]}{joins}{where}"


def _scanned(name: str, kind: Kind, alias: str, place: _Place) -> str:
    column = f"{alias}.{place.quoted(name)}"
    read = place.dialect.reads.get(kind, "{0}").format(column)
    is_same = read == column and column_name(name) == name
    return read if is_same else f"{read} AS {place.column(name)}"


def _unit_column(table: PrivateTable, alias: str, place: _Place) -> tuple[str, str]:
    match table.unit:
        case RowUnit():
            return f"{alias}.{place.dialect.row_id} AS {UNIT}", ""
        case ColumnUnit(column=column):
            unit = f"{alias}.{place.quoted(column)}"
            return f"{unit} AS {UNIT}", f" WHERE {unit} IS NOT NULL"
        case PathUnit():
            raise UnsupportedError(
                f"the path of {table.name} ends before a unit", "declare the tables on the path"
            )


def _step(table: PrivateTable, aliases: Sequence[str], place: _Place) -> str:
    unit = table.unit
    if not isinstance(unit, PathUnit):
        raise UnsupportedError(
            f"{table.name} has its own unit and needs no path", "declare one of them"
        )
    here, there = aliases
    return f"{here}.{place.quoted(unit.column)} = {there}.{place.quoted(unit.key)}"


def _select(select: Select, place: _Place, needed: frozenset[str] | None) -> str:
    columns = [each for each in select.columns if needed is None or each.name in needed]
    outputs = [each.expression for each in columns]
    conditions = [each for each in (select.where, select.only) if each is not None]
    read = _read([*outputs, *conditions, *(each.on for each in select.joins)])
    windows = {
        part for each in (*outputs, *conditions) for part in _walk(each) if isinstance(part, Window)
    }
    numbered = len(windows) > 1
    own = replace(
        place,
        unit=f"{place.quoted(select.name)}.{UNIT}",
        ties=_ties(select, read, place, numbered=numbered),
    )
    tables = _source(select.source, select.name, read, place, numbered=numbered)
    for join in select.joins:
        tables += _join(join, own, read, numbered=numbered)
    written = [f"{own.unit} AS {UNIT}", *(_output(each, own) for each in columns)]
    if select.only is not None:
        written.append(f'{own.write(select.only)} AS "__only"')
    where = "" if select.where is None else f" WHERE {own.write(select.where)}"
    text = f"SELECT {', '.join(written)} FROM {tables}{where}"
    if select.only is None:
        return text
    names = ", ".join([UNIT, *(place.column(each.name) for each in columns)])
    return f'SELECT {names} FROM ({text}) AS "__all" WHERE "__only"'


def _output(column: Column, place: _Place) -> str:
    return f"{place.write(column.expression)} AS {place.column(column.name)}"


def _ties(
    select: Select, read: Iterable[tuple[str, str]], place: _Place, *, numbered: bool
) -> tuple[str, ...]:
    """Return what orders the rows of a unit that a window's own order leaves equal.

    One window needs the columns that are read: rows that agree in all of them are interchangeable.
    Several windows must agree on which of two such rows comes first, so there rows have numbers.
    """
    sources = [select.name, *(each.name for each in select.joins)]
    if numbered:
        return tuple(f"{place.quoted(each)}.{ROW}" for each in sources)
    return tuple(
        f"{place.quoted(source)}.{place.column(name)}" for source, name in read if source in sources
    )


def _source(
    rows: "Rows | PublicScan",
    name: str,
    read: Iterable[tuple[str, str]],
    place: _Place,
    *,
    numbered: bool,
) -> str:
    needed = _of_source(read, name)
    if isinstance(rows, PublicScan):
        return _public(rows, name, needed, place, numbered=numbered)
    text = _rows(rows, place, needed)
    if numbered:
        order = ", ".join([UNIT, *(place.column(each) for each in sorted(needed))])
        number = f"row_number() OVER (PARTITION BY {UNIT} ORDER BY {order}) AS {ROW}"
        text = f'SELECT *, {number} FROM ({text}) AS "__all"'
    return f"({text}) AS {place.quoted(name)}"


def _public(
    scan: PublicScan, name: str, needed: frozenset[str], place: _Place, *, numbered: bool
) -> str:
    is_plain = not numbered and not any(each.startswith("__") for each in needed)
    table = place.quoted(scan.table)
    if is_plain:
        return table if scan.table == name else f"{table} AS {place.quoted(name)}"
    columns = [f"{place.quoted(each)} AS {place.column(each)}" for each in sorted(needed)]
    columns.append(f"{place.dialect.row_id} AS {ROW}")
    return f"(SELECT {', '.join(columns)} FROM {table}) AS {place.quoted(name)}"


def _join(join: Join, place: _Place, read: Iterable[tuple[str, str]], *, numbered: bool) -> str:
    kind = "LEFT JOIN" if join.kind is JoinKind.LEFT else "JOIN"
    source = _source(join.source, join.name, read, place, numbered=numbered)
    on = place.write(join.on)
    if not isinstance(join.source, PublicScan):
        on = f"{place.unit} = {place.quoted(join.name)}.{UNIT} AND {on}"
    return f" {kind} {source} ON {on}"


def _per_unit(per_unit: PerUnit, place: _Place, needed: frozenset[str] | None) -> str:
    aggregates = [each for each in per_unit.aggregates if needed is None or each.name in needed]
    name = place.quoted(per_unit.name)
    inner = replace(place, unit=f"{name}.{UNIT}")
    arguments = [each.argument for each in aggregates if each.argument is not None]
    read = _of_source(
        _read([*(each.expression for each in per_unit.keys), *arguments]), per_unit.name
    )
    columns = [f"{inner.unit} AS {UNIT}"]
    columns += [
        f"{_key(each.expression, inner)} AS {place.column(each.name)}" for each in per_unit.keys
    ]
    columns += [
        f'{inner.write(each.argument)} AS "__a{number}"'
        for number, each in enumerate(aggregates)
        if each.argument is not None
    ]
    rows = _rows(per_unit.source, place, read)
    keys = [UNIT, *(place.column(each.name) for each in per_unit.keys)]
    outputs = keys + [
        f"{_aggregate(each, number, place.dialect)} AS {place.column(each.name)}"
        for number, each in enumerate(aggregates)
    ]
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
            return _sum_of(argument, text, "", dialect)
        case UnitFunction.AVG:
            return _mean_of(argument, text, dialect)
        case UnitFunction.MEDIAN:
            return _median_of(argument, text, dialect)
        case UnitFunction.COUNT_DISTINCT:
            return f"count(DISTINCT {text})"
        case _:
            return f"{aggregate.function.value}({text})"


def _mean_of(argument: Expression, text: str, dialect: Dialect) -> str:
    if argument.facts.kind is Kind.REAL:
        total = _sum_of(argument, text, "", dialect)
    else:
        total = dialect.as_real.format(f"sum({dialect.whole.format(text)})")
    return f"CASE WHEN count({text}) > 0 THEN {total} / count({text}) END"


def _median_of(argument: Expression, text: str, dialect: Dialect) -> str:
    if not argument.facts.kind.is_number:
        return dialect.quantile.format(text)
    median = dialect.quantile.format(dialect.as_real.format(text))
    return dialect.finite(median)


def _union(union: Union, place: _Place, needed: frozenset[str] | None) -> str:
    names = _columns_of(union.parts[0])
    kept = [number for number, name in enumerate(names) if needed is None or name in needed]
    parts = []
    for part in union.parts:
        own = [_columns_of(part)[number] for number in kept]
        columns = [
            f"{place.column(theirs)} AS {place.column(names[number])}"
            for number, theirs in zip(kept, own, strict=True)
        ]
        rows = _rows(part, place, frozenset(own))
        parts.append(f'SELECT {", ".join([UNIT, *columns])} FROM ({rows}) AS "__part"')
    return " UNION ALL ".join(parts)


# --------------------------------------------------------------------------- exact queries


def _key(expression: Expression, place: _Place) -> str:
    template = place.dialect.keys.get(expression.facts.kind, "{0}")
    return template.format(place.write(expression))


def _whole(expression: Expression, place: _Place) -> str:
    """Return what is summed, NULL counting as 0."""
    written = _finite(_written(expression, place), place.dialect)
    if isinstance(written.value, int):
        return written.text
    is_narrow = written.low is not None and written.high is not None
    text = written.text if is_narrow else place.dialect.whole.format(written.text)
    return f"coalesce({text}, 0)"


def _exact(query: ExactQuery, place: _Place) -> str:
    if _is_plain_count(query):
        return _plain_count(query, place)
    groups = [f'"k{number}"' for number in range(len(query.keys))]
    groups += [] if query.cell is None else ['"cell"']
    outputs = groups + _measures(query, groups, place.dialect)
    text = f'SELECT {", ".join(outputs)} FROM ({_bounded(query, groups, place)}) AS "bounded"'
    if not groups:
        return text
    listed = ", ".join(groups)
    return f"{text} GROUP BY {listed} ORDER BY {listed}"


def _measures(query: ExactQuery, groups: Sequence[str], dialect: Dialect) -> list[str]:
    """Return what is computed of the bounded rows of a group."""
    units = ['count(DISTINCT "__unit") AS "units"']
    if query.bounding is Bounding.UNITS_ONLY:
        return ['count(*) AS "units"'] if groups else units
    sums = [f'"s{number}"' for number in range(len(query.sums))]
    if query.bounding is Bounding.PAIRS:
        outputs = [f"{dialect.wide_sum.format(_of_first(each))} AS {each}" for each in sums]
        outputs.append('count(DISTINCT "value") AS "n"')
    else:
        outputs = [f"{dialect.wide_sum.format(each)} AS {each}" for each in sums]
        outputs += [] if query.cell is None else ['count(*) AS "n"']
    if query.bounding is Bounding.NONE:
        units = ['count(*) AS "units"']
    outputs += units if query.units else []
    return outputs or ['count(*) AS "n"']


def _of_first(column: str) -> str:
    return f'CASE WHEN "first" = 1 THEN {column} ELSE 0 END'


def _projected(query: ExactQuery, place: _Place) -> tuple[str, list[str]]:
    """Return the SELECT of the columns that matter, and their names besides the unit."""
    expressions = [*query.keys, *query.sums]
    expressions += [each for each in (query.cell, query.distinct) if each is not None]
    name = place.quoted(query.name)
    own = replace(place, unit=f"{name}.{UNIT}")
    columns = [(_key(each, own), f'"k{number}"') for number, each in enumerate(query.keys)]
    if query.bounding is not Bounding.UNITS_ONLY:
        columns += [(_whole(each, own), f'"s{n}"') for n, each in enumerate(query.sums)]
    if query.cell is not None:
        columns.append((place.dialect.whole.format(own.write(query.cell)), '"cell"'))
    if query.distinct is not None:
        columns.append((_key(query.distinct, own), '"value"'))
    rows = _rows(query.rows, place, _of_source(_read(expressions), query.name))
    outputs = [f"{own.unit} AS {UNIT}", *(f"{text} AS {alias}" for text, alias in columns)]
    return f"SELECT {', '.join(outputs)} FROM ({rows}) AS {name}", [alias for _, alias in columns]


def _bounded(query: ExactQuery, groups: Sequence[str], place: _Place) -> str:
    """Return rows of which no unit has more than the limit.

    Which ones are kept follows from the unit's own rows alone: they are ordered by a hash of the
    unit and their contents, then by the contents, so that only equal rows are interchangeable. The
    unit is part of the hash because units with like rows would otherwise all lose the same ones.
    """
    rows, columns = _projected(query, place)
    present = [each for each in ('"cell"', '"value"') if each in columns]
    where = " AND ".join(f"{each} IS NOT NULL" for each in present)
    where = f" WHERE {where}" if where else ""
    is_set = query.bounding in (Bounding.UNITS_ONLY, Bounding.PAIRS)
    if is_set or where:
        listed = ", ".join([UNIT, *columns])
        distinct = "DISTINCT " if is_set else ""
        rows = f'SELECT {distinct}{listed} FROM ({rows}) AS "rows"{where}'
    if query.bounding is Bounding.NONE or not columns:
        return rows
    hashed = place.dialect.hash.format(all=", ".join([SALT, UNIT, *columns]))
    order = ", ".join([hashed, *columns])
    rank = f'row_number() OVER (PARTITION BY {UNIT} ORDER BY {order}) AS "rank"'
    kept = f'SELECT *, {rank} FROM ({rows}) AS "rows"'
    kept = f'SELECT * FROM ({kept}) AS "ranked" WHERE "rank" <= {query.limit}'
    if query.bounding is not Bounding.PAIRS or not query.sums:
        return kept
    group = ", ".join([*groups, '"value"'])
    order = ", ".join([UNIT, *columns])
    first = f'row_number() OVER (PARTITION BY {group} ORDER BY {order}) AS "first"'
    return f'SELECT *, {first} FROM ({kept}) AS "kept"'


def _is_plain_count(query: ExactQuery) -> bool:
    """Return whether only the number of a unit's rows matters, so that none need be chosen."""
    is_constant = all(
        isinstance(each, Literal) and isinstance(each.value, int) for each in query.sums
    )
    is_total = not query.keys and query.cell is None
    return query.bounding is Bounding.ROWS and is_constant and is_total


def _plain_count(query: ExactQuery, place: _Place) -> str:
    rows = _rows(query.rows, place, frozenset())
    counts = f'SELECT least(count(*), {query.limit}) AS "rows" FROM ({rows}) AS "all"'
    outputs = [
        f"{place.dialect.wide_sum.format(f'{place.write(each)} * {chr(34)}rows{chr(34)}')} "
        f'AS "s{number}"'
        for number, each in enumerate(query.sums)
    ]
    outputs += ['count(*) AS "units"'] if query.units else []
    return f'SELECT {", ".join(outputs)} FROM ({counts} GROUP BY {UNIT}) AS "bounded"'
