"""Rows of which no unit has more than the limit, with the columns that are grouped and summed."""

# ruff: noqa: S608 - this file writes SQL; every name in it is quoted and every value a literal

from collections.abc import Sequence
from dataclasses import replace

from discreet.catalog.schema import RowUnit
from discreet.engines.dialect import Dialect, Written
from discreet.engines.writer.choices import SALT, group_rank
from discreet.engines.writer.expressions import (
    FRESH,
    UNIT,
    Stages,
    WriteContext,
    columns_read,
    key_text,
    names_of,
    written_of,
)
from discreet.engines.writer.rows import rows_text
from discreet.query.tree import (
    Call,
    Case,
    ContributionBounding,
    ExactQuery,
    Expression,
    Literal,
    Relation,
    Scan,
    UnionAll,
)

SMALL = 2**22
"""A sum of numbers no further from 0 has 64 bits, unless there are 2^41 of them."""


def projected(query: ExactQuery, place: WriteContext) -> tuple[str, list[str]]:
    """Return the SELECT of the columns that matter, and their names besides the unit."""
    expressions = [*query.keys, *query.sums]
    expressions += [each for each in (query.cell, query.distinct) if each is not None]
    name = place.quoted(query.name)
    stages = Stages(name, place.dialect.fence)
    own = _inside(query, place, stages)
    columns = [(key_text(each, own), f'"k{number}"') for number, each in enumerate(query.keys)]
    if query.bounding is not ContributionBounding.UNITS_ONLY:
        columns += [
            (_summand(each, own, is_plain=is_plain(query)), f'"s{n}"')
            for n, each in enumerate(query.sums)
        ]
    if query.cell is not None:
        written = place.finite(written_of(query.cell, own))
        columns.append((_narrow(written, place.dialect), '"cell"'))
    if query.distinct is not None:
        columns.append((key_text(query.distinct, own), '"value"'))
    rows = rows_text(query.rows, place, names_of(columns_read(expressions), query.name))
    outputs = [f"{own.unit} AS {UNIT}", *(f"{text} AS {alias}" for text, alias in columns)]
    outputs += [f"{name}.{FRESH} AS {FRESH}"] if place.tells_fresh else []
    if place.tells_fresh and stages.depth < 2:
        stages.fence = ""  # a fence would keep several processes from adding up rows
    text = f"SELECT {', '.join(outputs)} FROM ({stages.around(rows)}) AS {name}{stages.fence}"
    return text, [alias for _, alias in columns]


def _inside(query: ExactQuery, place: WriteContext, stages: Stages) -> WriteContext:
    """Return where expressions over the rows of a query are written."""
    unit = f"{place.quoted(query.name)}.{UNIT}"
    return replace(place, rows=query.rows, unit=unit, stages=stages)


def has_small_terms(query: ExactQuery, number: int, place: WriteContext) -> bool:
    """Return whether what a sum adds up is close to 0, whatever the data are."""
    own = _inside(query, place, Stages(place.quoted(query.name), ""))
    written = written_of(query.sums[number], own)
    ends = written.low, written.high
    return all(end is not None and -SMALL <= end <= SMALL for end in ends)


def is_plain(query: ExactQuery) -> bool:
    """Return whether rows are only summed, so that NULL may stand for what adds nothing."""
    return query.is_bounded and query.bounding is ContributionBounding.ROWS


def marked(expression: Expression) -> Expression | None:
    """Return x of CASE WHEN x IS NULL THEN 0 ELSE 1 END: the number of its values is the sum."""
    match expression:
        case Case(
            branches=((Call(function="is_null", arguments=(found,)), Literal(value=0)),),
            otherwise=Literal(value=1),
        ):
            return found
    return None


def _summand(expression: Expression, place: WriteContext, *, is_plain: bool = False) -> str:
    """Return what is summed, NULL counting as 0; where rows are not ordered by it, NULL itself."""
    found = marked(expression) if is_plain else None
    if found is not None:
        return place.write(found)
    written = place.finite(written_of(expression, place))
    if isinstance(written.value, int):
        return written.text
    text = _narrow(written, place.dialect)
    return text if is_plain else f"coalesce({text}, 0)"


def _narrow(written: Written, dialect: Dialect) -> str:
    """Return an integer of 64 bits, which needs no test where it is written to be one."""
    is_narrow = written.low is not None and written.high is not None
    return written.text if is_narrow else dialect.whole.format(written.text)


def bounded_rows(query: ExactQuery, groups: Sequence[str], place: WriteContext) -> str:
    """Return rows of which no unit has more than the limit.

    Which ones are kept follows from the unit's own rows alone: they are ordered by a hash of the
    unit and their contents, then by the contents, so that only equal rows are interchangeable. The
    unit is part of the hash because units with like rows would otherwise all lose the same ones;
    unless it is the row, whose number says where it stands, and so who else is in the table.
    """
    rows, columns = projected(query, place)
    rows = _in_few_groups(query, rows, columns, place.dialect)
    present = [each for each in ('"cell"', '"value"') if each in columns]
    where = " AND ".join(f"{each} IS NOT NULL" for each in present)
    where = f" WHERE {where}" if where else ""
    is_set = query.bounding in (ContributionBounding.UNITS_ONLY, ContributionBounding.PAIRS)
    if is_set or where:
        listed = ", ".join([UNIT, *columns])
        rows = _listed(listed, f'({rows}) AS "rows"{where}', place, is_set=is_set)
    if query.bounding is ContributionBounding.NONE or query.is_bounded or not columns:
        return _with_first(query, groups, rows, columns, place.dialect)
    unit = [] if _is_row(query.rows) else [UNIT]
    hashed = place.dialect.hash_of([SALT, *unit, *columns])
    order = place.dialect.ordered([hashed, *columns])
    rank = f'row_number() OVER (PARTITION BY {UNIT} ORDER BY {order}) AS "rank"'
    kept = f'SELECT *, {rank} FROM ({rows}) AS "rows"'
    kept = f'SELECT * FROM ({kept}) AS "ranked" WHERE "rank" <= {query.contribution_limit}'
    return _with_first(query, groups, kept, columns, place.dialect)


def _listed(columns: str, rows: str, place: WriteContext, *, is_set: bool) -> str:
    """Return these columns of rows, each combination once if they are a set."""
    if not place.tells_fresh:
        return f"SELECT {'DISTINCT ' if is_set else ''}{columns} FROM {rows}"
    if not is_set:
        return f"SELECT {columns}, {FRESH} FROM {rows}"
    return f"SELECT {columns}, bool_or({FRESH}) AS {FRESH} FROM {rows} GROUP BY {columns}"


def _in_few_groups(query: ExactQuery, rows: str, columns: Sequence[str], dialect: Dialect) -> str:
    """Return rows of which no unit is in more groups than the limit, if there is one.

    Equal groups have equal ranks: they are ordered by a hash of the unit and the group, then by the
    group's keys, which GROUP BY compares in the same way.
    """
    limit = query.group_bounding
    if limit is None:
        return rows
    rank = group_rank([f'"k{number}"' for number in range(limit.keys)], dialect)
    ranked = f'SELECT *, {rank} AS "group" FROM ({rows}) AS "all"'
    listed = ", ".join([UNIT, *columns])
    return f'SELECT {listed} FROM ({ranked}) AS "grouped" WHERE "group" <= {limit.most}'


def _with_first(
    query: ExactQuery, groups: Sequence[str], kept: str, columns: Sequence[str], dialect: Dialect
) -> str:
    """Return the rows; of values that are summed once, with a number that is 1 for one of each."""
    if query.bounding is not ContributionBounding.PAIRS or not query.sums:
        return kept
    group = ", ".join([*groups, '"value"'])
    order = dialect.ordered([UNIT, *columns])
    first = f'row_number() OVER (PARTITION BY {group} ORDER BY {order}) AS "first"'
    return f'SELECT *, {first} FROM ({kept}) AS "kept"'


def _is_row(rows: Relation) -> bool:
    """Return whether the row itself is the unit."""
    match rows:
        case Scan():
            owner = rows.parents[-1] if rows.parents else rows.table
            return isinstance(owner.unit, RowUnit)
        case UnionAll():
            return any(map(_is_row, rows.parts))
        case _:
            return _is_row(rows.source)
