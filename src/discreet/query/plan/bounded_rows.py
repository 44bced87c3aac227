"""Bounding before the question: a prepared table has set apart which rows of each unit count.

Of a prepared table only the kept rows are read, no more of any unit than its limit. Filters drop
rows, joins multiply them and unions add them by numbers that the question and public tables fix, so
the product bounds what a unit has in the end, whether or not the data keep the promises of the
catalog. Proof: docs/proofs/measures.md, section 2.

What is computed of all rows of a unit (groups by unit, windows) would change its meaning if rows
were missing: there the rows are chosen afterwards, by the question.
"""

from collections.abc import Iterable
from dataclasses import replace
from math import prod

from discreet.catalog.catalog import Catalog, RowChoice
from discreet.catalog.schema import PrivateTable, RowUnit
from discreet.errors import ParameterError
from discreet.query.questions import Aggregation, Question, Statistic
from discreet.query.tree import (
    Expression,
    GroupByUnit,
    Join,
    JoinKind,
    PublicRelation,
    Relation,
    Scan,
    Select,
    UnionAll,
    Window,
    is_unfiltered,
    parts_of,
)


def with_bounded_rows(question: Question, catalog: Catalog) -> Question:
    """Return the question with rows chosen when the catalog says."""
    is_prepared = catalog.source.row_choice is RowChoice.ONCE
    return reading_bounded_rows(question) if is_prepared else question


def with_row_choice(catalog: Catalog, choice: RowChoice | str | None) -> Catalog:
    """Return the catalog with rows chosen then, or reject what it is not prepared for."""
    if choice is None:
        return catalog
    names = [each.value for each in RowChoice]
    if not isinstance(choice, RowChoice) and choice not in names:
        raise ParameterError("row_choice", choice, f"must be {' or '.join(map(repr, names))}")
    asked = RowChoice(choice)
    if asked is catalog.source.row_choice:
        return catalog
    if asked is RowChoice.ONCE:
        rule = "needs prepared tables, and these tables are not prepared"
        raise ParameterError("row_choice", choice, rule)
    return replace(catalog, source=replace(catalog.source, row_choice=asked))


def reading_bounded_rows(question: Question) -> Question:
    """Return the question over kept rows, wherever these bound it and mean the same."""
    return replace(question, aggregations=tuple(map(_release, question.aggregations)))


def is_bounded(release: Aggregation) -> bool:
    """Return whether no unit has more rows than the limit to begin with."""
    most = most_rows(release.rows)
    return most is not None and most <= release.contribution_limit


def _release(release: Aggregation) -> Aggregation:
    if release.one_row_per_unit or _have_windows(_expressions(release)):
        return release
    rows = _kept(release.rows)
    if rows is None or (_counts_units_alone(release) and not is_unfiltered(rows)):
        return release
    kept = replace(release, rows=rows)
    return kept if is_bounded(kept) else release


def _expressions(release: Aggregation) -> list[Expression]:
    arguments = [part for each in release.aggregates for part in each.arguments]
    return [*(each.expression for each in release.keys), *arguments]


def _counts_units_alone(release: Aggregation) -> bool:
    """Return whether a unit counts once however many rows it has, so that none need be missing."""
    statistics = {each.statistic for each in release.aggregates}
    return not release.keys and statistics == {Statistic.COUNT_UNITS}


def reads_bounded_rows(rows: Relation) -> bool:
    """Return whether rows were left out before any filter."""
    match rows:
        case Scan(is_bounded=is_kept):
            return is_kept
        case Select(source=source, joins=joins):
            inner = [each.source for each in joins if not isinstance(each.source, PublicRelation)]
            return any(map(reads_bounded_rows, (source, *inner)))
        case GroupByUnit():
            return False
        case UnionAll(parts=parts):
            return any(map(reads_bounded_rows, parts))


def most_rows(rows: Relation) -> int | None:
    """Return how many rows of a unit there can be, whatever the data; None if nobody knows."""
    match rows:
        case Scan(table=table, parents=parents, is_bounded=is_kept):
            if is_kept:
                return table.rows_per_unit
            return 1 if _is_unit_itself(table, parents) else None
        case Select(source=source, joins=joins):
            return _product([most_rows(source), *map(_most_partners, joins)])
        case GroupByUnit(keys=keys):
            return None if keys else 1
        case UnionAll(parts=parts):
            found = [most_rows(each) for each in parts]
            return None if None in found else sum(each for each in found if each is not None)


def _most_partners(join: Join) -> int | None:
    most = join.fan_out if isinstance(join.source, PublicRelation) else most_rows(join.source)
    return most if most is None or join.kind is JoinKind.INNER else max(1, most)


def _product(factors: Iterable[int | None]) -> int | None:
    known = list(factors)
    return None if None in known else prod(each for each in known if each is not None)


def _is_unit_itself(table: PrivateTable, parents: tuple[PrivateTable, ...]) -> bool:
    return isinstance(table.unit, RowUnit) and not parents


def _kept(rows: Relation) -> Relation | None:
    """Return the same rows of kept ones; None where rows that are missing would change meaning."""
    match rows:
        case Scan(table=table):
            return replace(rows, is_bounded=True) if table.is_prepared else rows
        case Select():
            return _kept_select(rows)
        case GroupByUnit(keys=keys):
            return None if keys else rows
        case UnionAll(parts=parts):
            found = [each for each in map(_kept, parts) if each is not None]
            return replace(rows, parts=tuple(found)) if len(found) == len(parts) else None


def _kept_select(select: Select) -> Select | None:
    conditions = [each for each in (select.where, select.qualify) if each is not None]
    expressions = [each.expression for each in select.columns]
    if _have_windows([*expressions, *conditions, *(each.on for each in select.joins)]):
        return None
    source = _kept(select.source)
    joins = [each for each in map(_kept_join, select.joins) if each is not None]
    if source is None or len(joins) < len(select.joins):
        return None
    return replace(select, source=source, joins=tuple(joins))


def _kept_join(join: Join) -> Join | None:
    if isinstance(join.source, PublicRelation):
        return join
    source = _kept(join.source)
    return None if source is None else replace(join, source=source)


def _have_windows(expressions: Iterable[Expression]) -> bool:
    return any(isinstance(part, Window) for each in expressions for part in parts_of(each))
