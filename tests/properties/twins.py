"""Discreet with one protection taken away: what the properties must notice."""

import re
from collections.abc import Callable, MutableMapping
from dataclasses import replace
from typing import Any, cast

import pytest

from discreet.engines import duckdb
from discreet.engines.dialect import Dialect, FunctionTemplate
from discreet.engines.duckdb import prepared
from discreet.engines.duckdb.dialect import DUCKDB
from discreet.engines.writer import HeavyTable, tables_counted, write_query
from discreet.mechanisms.sensitivity import ADD_REMOVE
from discreet.query.check import joins, row_numbers
from discreet.query.plan import bounded_rows, components, sensitivity, strategy
from discreet.query.tree import ExactQuery, Scan, Window

Patch = pytest.MonkeyPatch
Released = tuple[Any, ...]


def _asking(patch: Patch, change: Callable[[ExactQuery], ExactQuery]) -> None:
    """Let the engine answer another query than the one it is asked."""
    written, counted = write_query, tables_counted

    def write(query: ExactQuery, dialect: Dialect, released: Released) -> str:
        return written(change(query), dialect, released)

    def count(query: ExactQuery, dialect: Dialect) -> tuple[HeavyTable, ...]:
        return counted(change(query), dialect)

    patch.setattr(duckdb, "write_query", write)
    patch.setattr(duckdb, "tables_counted", count)


def _writing(patch: Patch, pattern: str, instead: str) -> None:
    """Let the engine run other SQL than what is written."""
    original = write_query

    def write(query: ExactQuery, dialect: Dialect, released: Released) -> str:
        return re.sub(pattern, instead, original(query, dialect, released))

    patch.setattr(duckdb, "write_query", write)


def without_limit(patch: Patch) -> None:
    """All rows of a unit count."""
    _asking(patch, lambda query: replace(query, contribution_limit=10**6))


def with_limit_doubled(patch: Patch) -> None:
    """Twice as many rows of a unit count as are paid for."""
    _asking(patch, lambda query: replace(query, contribution_limit=2 * query.contribution_limit))


def without_a_limit_on_groups(patch: Patch) -> None:
    """Count a unit in as many groups as it has rows."""
    _asking(
        patch,
        lambda query: replace(
            query,
            group_bounding=None,
            contribution_limit=max(3, query.contribution_limit),
        ),
    )


def with_groups_of_all_units_together(patch: Patch) -> None:
    """Units take each other's places among the groups that count."""
    _writing(patch, r'PARTITION BY "__unit" (ORDER BY [^)]*\)?[^)]*\) AS "group")', r"\1")


def without_a_limit_on_stored_groups(patch: Patch) -> None:
    """Store the ranks of groups, and do not look at them."""
    _writing(patch, r'"[^"]+ by rank" <= [0-9]+', "true")


def with_a_limit_for_all_units_together(patch: Patch) -> None:
    """Units take each other's places."""
    _writing(patch, r'PARTITION BY "__unit" (ORDER BY .*?\) AS "rank")', r"\1")


def with_the_first_rows_that_come(patch: Patch) -> None:
    """Which rows count depends on where they are stored."""
    _writing(patch, r'(PARTITION BY "__unit") ORDER BY .*?(\) AS "rank")', r"\1\2")


def with_all_rows_kept(patch: Patch) -> None:
    """Let all rows count of a prepared table; only kept ones have places."""
    patch.setattr(duckdb, "read_stored_columns", lambda query, _: query)
    _writing(patch, r'"kept"\."', '"every"."')


def prepared_with_units_in_each_others_places(patch: Patch) -> None:
    """Which rows are set apart depends on those of other units."""
    original = prepared.ranked_rows

    def ranked(scan: Scan, rows: str) -> str:
        return original(scan, rows).replace('PARTITION BY "__unit" ', "")

    patch.setattr(prepared, "ranked_rows", ranked)


def trusting_that_keys_are_keys(patch: Patch) -> None:
    """Bound joins by what the catalog promises, not by what the data can hold."""
    patch.setattr(bounded_rows, "is_bounded", lambda _: True)
    patch.setattr(strategy, "is_bounded", lambda _: True)


def counting_public_rows_by_each_other(patch: Patch) -> None:
    """Two public tables that are tied to each other count as if each bounded the other."""
    patch.setattr(joins, "bounding_equalities", lambda joined: [list(each.ties) for each in joined])


def without_clamps(patch: Patch) -> None:
    """Values outside the bounds count as they are."""
    functions = cast("MutableMapping[str, FunctionTemplate]", DUCKDB.functions)
    patch.setitem(functions, "clamp", FunctionTemplate(template="{0}"))


def with_windows_across_units(patch: Patch) -> None:
    """Windows see the rows of others."""
    _writing(patch, r'OVER \(PARTITION BY "\w+"\."__unit"', "OVER (PARTITION BY 1")


def taking_ranks_for_numbers(patch: Patch) -> None:
    """Rows that tie in DENSE_RANK count as one."""

    def is_number(expression: object) -> bool:
        return isinstance(expression, Window) and not expression.partition

    patch.setattr(row_numbers, "is_row_number", is_number)


def with_joins_across_units(patch: Patch) -> None:
    """Private rows meet rows of others."""
    _writing(patch, r'"\w+"\."__unit" = "\w+"\."__unit"', "1 = 1")


def priced_as_if_units_only_came_and_went(patch: Patch) -> None:
    """Units that are replaced are paid for as if they were removed."""
    for name in ("component_sensitivity", "signed_sum_sensitivity", "unit_count_sensitivity"):
        original = getattr(sensitivity, name)
        for module in (components, strategy):
            if hasattr(module, name):
                patch.setattr(module, name, _as_add_remove(original))


def _as_add_remove(original: Callable[..., Any]) -> Callable[..., Any]:
    def found(*parts: Any, **named: Any) -> Any:
        if "neighbours" in named:
            return original(*parts, **{**named, "neighbours": ADD_REMOVE})
        return original(*parts[:-1], ADD_REMOVE, **named)

    return found
