"""SQL from the tree: private rows, expressions and exact queries, in an engine's dialect.

Nothing that an analyst wrote is copied: identifiers are quoted, values become literals, and
functions come from the dialect's table. What is written is total: it is NULL where plain SQL would
raise an error, for every content of the tables, not only for contents within declared bounds.
"""

# ruff: noqa: S608 - this file writes SQL; every name in it is quoted and every value a literal

from collections.abc import Sequence
from dataclasses import replace

from discreet.catalog.schema import Kind, Value
from discreet.engines.dialect import Dialect, integer_literal, literal_of
from discreet.engines.heavy import HeavyTable
from discreet.engines.writer.bounded import (
    bounded_rows,
    has_small_terms,
    is_plain,
    marked,
    projected,
)
from discreet.engines.writer.choices import column_rank, group_rank, rank_name
from discreet.engines.writer.expressions import (
    FRESH,
    UNIT,
    Numbers,
    WriteContext,
    column_name,
)
from discreet.engines.writer.heavy import Division, division_of, whole_of
from discreet.engines.writer.rows import (
    ABOUT,
    EVERY,
    KEPT,
    prepared_name,
    rows_text,
)
from discreet.query.tree import (
    ContributionBounding,
    ExactQuery,
    Expression,
    Literal,
    Relation,
    Scan,
    Select,
    is_unfiltered,
)

__all__ = [
    "ABOUT",
    "EVERY",
    "FRESH",
    "FRESH_ROWS",
    "KEPT",
    "UNIT",
    "HeavyTable",
    "Numbers",
    "column_name",
    "column_rank",
    "prepared_name",
    "rank_name",
    "tables_counted",
    "write_expression",
    "write_literal",
    "write_query",
    "write_rows",
]


def exact_text(query: ExactQuery, place: WriteContext) -> str:
    """Return the statement: one row without groups, else one for each group that has rows."""
    if _is_number_of_kept_units(query):
        return _kept_units(query, place)
    counted = _counted(query, place)
    if counted is not None:
        return counted
    division = division_in(query, place.dialect)
    return _text(query, place) if division is None else _divided(query, division, place)


def division_in(query: ExactQuery, dialect: Dialect) -> Division | None:
    """Return how a query is divided by units, if it is and the engine can tell them apart."""
    if dialect.heavy is None:
        return None
    division = division_of(query)
    return division if division is not None and dialect.heavy.knows(division.tables) else None


def tables_counted(query: ExactQuery, dialect: Dialect) -> tuple[HeavyTable, ...]:
    """Return the tables of which a statement asks which units are heavy."""
    if dialect.heavy is None:
        return ()
    whole = None if _is_number_of_kept_units(query) else whole_table(query)
    if whole is not None and dialect.heavy.counts(whole) is not None:
        return (whole,)
    division = division_in(query, dialect)
    return () if division is None else division.tables


def _text(query: ExactQuery, place: WriteContext) -> str:
    if query.is_bounded and query.group_bounding is not None and _adds_up(query):
        return _by_groups(query, place)
    if _is_plain_count(query) and not query.is_bounded:
        return _plain_count(query, place)
    groups = _groups(query)
    outputs = groups + _measures(query, groups, place)
    text = f'SELECT {", ".join(outputs)} FROM ({bounded_rows(query, groups, place)}) AS "bounded"'
    if not groups:
        return text
    return f"{text} GROUP BY {', '.join(groups)}"


def _groups(query: ExactQuery) -> list[str]:
    keys = [f'"k{number}"' for number in range(len(query.keys))]
    return keys if query.cell is None else [*keys, '"cell"']


def _divided(query: ExactQuery, division: Division, place: WriteContext) -> str:
    """Return the statement that adds up what is computed of light units and of the others."""
    if _is_plain_count(query) and not query.is_bounded and not query.units:
        return _divided_count(query, division, place)
    texts = [_text(*each) for each in arms(division, place)]
    groups, totals = _groups(query), _totals(query, place.dialect)
    if place.dialect.fresh:
        texts[1] = f'SELECT *, 0 AS {FRESH_ROWS} FROM ({texts[1]}) AS "heavy"'
        totals.append(f"CAST(coalesce(sum({FRESH_ROWS}), 0) AS BIGINT) AS {FRESH_ROWS}")
    parts = " UNION ALL ".join(texts)
    text = f'SELECT {", ".join([*groups, *totals])} FROM ({parts}) AS "parts"'
    return f"{text} GROUP BY {', '.join(groups)}" if groups else text


FRESH_ROWS = '"fresh"'
"""How many rows of light units came after it was seen which units are heavy."""


def arms(division: Division, place: WriteContext) -> list[tuple[ExactQuery, WriteContext]]:
    """Return what is computed of light units and of the others, each with the units it is of."""
    assert place.dialect.heavy is not None  # noqa: S101 - else nothing is divided
    test = place.dialect.heavy.test(UNIT, division.tables)
    light = replace(place, chosen=f"NOT {test}", tells_fresh=bool(place.dialect.fresh))
    return [
        (division.light, light),
        (division.heavy, _of_heavy(division, test, place)),
    ]


def _of_heavy(division: Division, test: str, place: WriteContext) -> WriteContext:
    table = division.tables[0] if len(division.tables) == 1 else None
    return replace(place, chosen=test, chosen_beside=test, heavy=table)


def _divided_count(query: ExactQuery, division: Division, place: WriteContext) -> str:
    """Return the statement that counts all rows, less those that heavy units have too many of."""
    tells_fresh = bool(place.dialect.fresh)
    counts = ["count(*) AS n"]
    counts += [f"count(*) FILTER (WHERE {FRESH}) AS f"] if tells_fresh else ["0 AS f"]
    every = rows_text(query.rows, replace(place, tells_fresh=tells_fresh), frozenset())
    assert place.dialect.heavy is not None  # noqa: S101 - else nothing is divided
    test = place.dialect.heavy.test(UNIT, division.tables)
    heavy = rows_text(query.rows, _of_heavy(division, test, place), frozenset())
    limit = query.contribution_limit
    each = f'SELECT count(*) AS n FROM ({heavy}) AS "heavy" GROUP BY {UNIT}'
    excess = f"sum(CASE WHEN n > {limit} THEN n - {limit} ELSE 0 END)"
    parts = (
        f'SELECT {", ".join(counts)} FROM ({every}) AS "all" UNION ALL '
        f'SELECT -coalesce({excess}, 0), 0 FROM ({each}) AS "each"'
    )
    kind = place.dialect.types[Kind.INTEGER]
    total = f'CAST(sum(n) AS {kind}) AS "rows", CAST(sum(f) AS {kind}) AS f'
    outputs = _multiples(query, place) + ([f"sum(f) AS {FRESH_ROWS}"] if tells_fresh else [])
    return f'SELECT {", ".join(outputs)} FROM (SELECT {total} FROM ({parts}) AS "parts") AS "rows"'


def _totals(query: ExactQuery, dialect: Dialect) -> list[str]:
    """Return the sums of what `_measures` gives for disjoint units."""
    counts = []
    if query.bounding is ContributionBounding.UNITS_ONLY:
        counts = ["units"]
        sums = []
    else:
        sums = [f"s{number}" for number in range(len(query.sums))]
        counts += [] if query.cell is None else ["n"]
        counts += ["units"] if query.units else []
        counts = counts if sums or counts else ["n"]
    return [
        *(f'{dialect.total.format(chr(34) + each + chr(34))} AS "{each}"' for each in sums),
        *(
            f'CAST(coalesce(sum("{each}"), 0) AS {dialect.types[Kind.INTEGER]}) AS "{each}"'
            for each in counts
        ),
    ]


def _measures(query: ExactQuery, groups: Sequence[str], place: WriteContext) -> list[str]:
    """Return what is computed of the bounded rows of a group."""
    outputs = _measured(query, groups, place)
    if place.tells_fresh:
        outputs.append(f"count(*) FILTER (WHERE {FRESH}) AS {FRESH_ROWS}")
    return outputs


def _measured(query: ExactQuery, groups: Sequence[str], place: WriteContext) -> list[str]:
    dialect = place.dialect
    units = ['count(DISTINCT "__unit") AS "units"']
    if query.bounding is ContributionBounding.UNITS_ONLY:
        return ['count(*) AS "units"'] if groups else units
    sums = [f'"s{number}"' for number in range(len(query.sums))]
    if query.bounding is ContributionBounding.PAIRS:
        outputs = [f"{dialect.wide_sum.format(_of_first(each))} AS {each}" for each in sums]
        outputs.append('count(DISTINCT "value") AS "n"')
    else:
        outputs = [f"{_summed(query, number, place)} AS {each}" for number, each in enumerate(sums)]
        outputs += [] if query.cell is None else ['count(*) AS "n"']
    if query.bounding is ContributionBounding.NONE:
        units = ['count(*) AS "units"']
    outputs += units if query.units else []
    return outputs or ['count(*) AS "n"']


def _summed(query: ExactQuery, number: int, place: WriteContext) -> str:
    """Return the sum; of a constant it is a multiple of the number of rows, which engines know."""
    column, expression, dialect = f'"s{number}"', query.sums[number], place.dialect
    if is_plain(query) and marked(expression) is not None:
        return dialect.as_wide.format(f"count({column})")
    if isinstance(expression, Literal) and isinstance(expression.value, int):
        return f"{dialect.as_wide.format('count(*)')} * {integer_literal(int(expression.value))}"
    is_small = bool(dialect.small_sum) and has_small_terms(query, number, place)
    return (dialect.small_sum if is_small else dialect.wide_sum).format(column)


def _of_first(column: str) -> str:
    return f'CASE WHEN "first" = 1 THEN {column} ELSE 0 END'


def _adds_up(query: ExactQuery) -> bool:
    """Return whether what a unit adds to a group can be summed before groups are chosen."""
    return query.bounding is ContributionBounding.ROWS and query.distinct is None


def _by_groups(query: ExactQuery, place: WriteContext) -> str:
    """Return the statement for units with few rows: their groups are chosen, not their rows.

    Each unit's rows of a group are summed first, so that as many are ordered as there are groups.
    """
    limit, dialect, groups = query.group_bounding, place.dialect, _groups(query)
    assert limit is not None  # noqa: S101 - that is why groups are chosen
    rows, _ = projected(query, place)
    present = "" if query.cell is None else '"cell" IS NOT NULL'
    # Beside heavy units, whose groups are chosen of all their rows, those without a cell are, too.
    where = f" WHERE {present}" if present and not place.chosen else ""
    kept = f" AND {present}" if present and place.chosen else ""
    by = ", ".join([UNIT, *groups])
    each = [*_measured(replace(query, units=False), groups, place)]
    each += [f"count(*) FILTER (WHERE {FRESH}) AS {FRESH_ROWS}"] if place.tells_fresh else []
    parts = f'SELECT {by}, {", ".join(each)} FROM ({rows}) AS "rows"{where} GROUP BY {by}'
    rank = group_rank([f'"k{number}"' for number in range(limit.keys)], dialect)
    ranked = f'SELECT *, {rank} AS "group" FROM ({parts}) AS "parts"'
    is_summed = bool(query.sums) or query.cell is not None or not query.units
    outputs = [*groups, *(_totals(replace(query, units=False), dialect) if is_summed else [])]
    is_once = len(query.keys) == limit.keys and query.cell is None
    units = "count(*)" if is_once else f"count(DISTINCT {UNIT})"
    outputs += [f'{units} AS "units"'] if query.units else []
    if place.tells_fresh:
        outputs.append(f"sum({FRESH_ROWS}) AS {FRESH_ROWS}")
    chosen = (
        f'SELECT {", ".join(outputs)} FROM ({ranked}) AS "ranked" WHERE "group" <= {limit.most}'
    )
    return f"{chosen}{kept} GROUP BY {', '.join(groups)}"


def _is_number_of_kept_units(query: ExactQuery) -> bool:
    """Return whether all units of a prepared table are counted, which was done already."""
    is_total = not query.keys and query.cell is None
    is_units = query.bounding is ContributionBounding.UNITS_ONLY
    return is_total and is_units and query.is_bounded and is_unfiltered(query.rows)


def _kept_units(query: ExactQuery, place: WriteContext) -> str:
    rows = query.rows
    while isinstance(rows, Select):
        rows = rows.source
    if not isinstance(rows, Scan):
        raise TypeError(rows)
    counted = place.dialect.whole.format('coalesce(sum("units"), 0)')
    parts = prepared_name("parts", place.dialect, ABOUT)
    name = place.dialect.text(rows.table.name)
    return f'SELECT {counted} AS "units" FROM {parts} WHERE "name" = {name}'


def _is_plain_count(query: ExactQuery) -> bool:
    """Return whether only the number of a unit's rows matters, so that none need be chosen."""
    is_constant = all(
        isinstance(each, Literal) and isinstance(each.value, int) for each in query.sums
    )
    is_total = not query.keys and query.cell is None
    return query.bounding is ContributionBounding.ROWS and is_constant and is_total


def _plain_count(query: ExactQuery, place: WriteContext) -> str:
    rows = rows_text(query.rows, place, frozenset())
    counts = f'SELECT least(count(*), {query.contribution_limit}) AS "rows" FROM ({rows}) AS "all"'
    outputs = _multiples(query, place)
    outputs += ['count(*) AS "units"'] if query.units else []
    return f'SELECT {", ".join(outputs)} FROM ({counts} GROUP BY {UNIT}) AS "bounded"'


def _multiples(query: ExactQuery, place: WriteContext) -> list[str]:
    """Return sums of constants, by the number of rows."""
    return [
        f"{place.dialect.wide_sum.format(f'{place.write(each)} * {chr(34)}rows{chr(34)}')} "
        f'AS "s{number}"'
        for number, each in enumerate(query.sums)
    ]


def _counted(query: ExactQuery, place: WriteContext) -> str | None:
    """Return the statement for a whole table whose units and rows the engine has counted."""
    heavy, table = place.dialect.heavy, whole_table(query)
    counts = None if heavy is None or table is None else heavy.counts(table)
    if counts is None:
        return None
    units = place.dialect.whole.format('coalesce(sum("units"), 0)')
    is_units = query.bounding is ContributionBounding.UNITS_ONLY
    outputs = [] if is_units else _multiples(query, place)
    outputs += [f'{units} AS "units"'] if is_units or query.units else []
    return f'SELECT {", ".join(outputs)} FROM {counts} AS "counts"'


def whole_table(query: ExactQuery) -> HeavyTable | None:
    """Return the table whose rows or units are counted, if it is all of them."""
    is_units = query.bounding is ContributionBounding.UNITS_ONLY
    is_total = not query.keys and query.cell is None and not query.is_bounded
    if not is_total or query.group_bounding is not None or not (is_units or _is_plain_count(query)):
        return None
    table = whole_of(query.rows)
    is_same = table is not None and (is_units or table.limit == query.contribution_limit)
    return table if is_same else None


def write_query(query: ExactQuery, dialect: Dialect, released: Numbers = None) -> str:
    """Return the one statement that computes an exact query."""
    return exact_text(query, _place(dialect, released))


def write_rows(rows: Relation, dialect: Dialect, released: Numbers = None) -> str:
    """Return a SELECT of private rows: the unit, then the columns."""
    return rows_text(rows, _place(dialect, released), None)


def write_expression(expression: Expression, dialect: Dialect, released: Numbers = None) -> str:
    """Return an expression over columns that stand in reach by `source`.`name`."""
    return _place(dialect, released).write(expression)


def write_literal(value: Value, kind: Kind, dialect: Dialect) -> str:
    """Return a value as SQL that reads back as the same one."""
    return literal_of(value, kind, dialect).text


def _place(dialect: Dialect, released: Numbers) -> WriteContext:
    return WriteContext(dialect=dialect, released=released, inner_rows=rows_text)
