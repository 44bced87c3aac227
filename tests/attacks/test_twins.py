"""SQL made to leak (cases S1 to S36): refused from its words alone, or answered alike by twins.

Every question is asked of neighbouring databases on each engine; of Spark on a push only some.
"""

from collections.abc import Iterator
from decimal import Decimal
from functools import cache
from typing import Any

import pyarrow as pa
import pytest

from discreet.query.plan.plan import EpsilonTarget
from tests.attacks.cases import ANSWERED, REFUSED
from tests.attacks.twins import Seen, Twin, twins
from tests.engines.contract import ENGINES, OTHERS
from tests.properties.movement import check_movement

SOME = 8
"""Of so many questions, one is answered by Spark on a push; `make test-long` asks all."""

TARGET: dict[str, Any] = {"epsilon": 1, "delta": 1e-12}
"""Keys that the data alone know are those of one person each: none is shown, but in one of 10^9."""

Tables = tuple[pa.Table, ...]


def cases(kind: str, listed: dict[str, list[Any]], some: int) -> Iterator[Any]:
    """Yield all questions for an engine; all but some wait for the long run on Spark."""
    number = 0
    for case, given in listed.items():
        for place, each in enumerate(given):
            marks = [] if kind == "duckdb" else [pytest.mark.xdist_group(kind)]
            if kind == "spark" and number % some:
                marks.append(pytest.mark.slow)
            number += 1
            yield pytest.param(kind, each, id=f"{case}-{place}-{kind}", marks=marks)


@cache
def databases(kind: str) -> tuple[Twin, ...]:
    return twins(kind)


@cache
def asked(kind: str, sql: str) -> tuple[tuple[Seen, Tables], ...]:
    """Return what is seen of each database, and what its engine found; asked once, for a price."""
    return tuple(each.asked(sql, **TARGET) for each in databases(kind))


@pytest.mark.parametrize(
    ("kind", "sql"), [each for kind in ENGINES for each in cases(kind, ANSWERED, SOME)]
)
def test_twins_answer_alike(kind: str, sql: str) -> None:
    """Whoever is in the data: same columns, keys, charge and explanation; no engine error."""
    present, absent, changed = (seen for seen, _ in asked(kind, sql))
    assert present.error == ""
    assert present.charged == 1
    assert present == absent == changed


@pytest.mark.parametrize(
    ("kind", "sql"), [each for kind in ENGINES for each in cases(kind, ANSWERED, SOME)]
)
def test_twins_differ_by_no_more_than_is_charged(kind: str, sql: str) -> None:
    """Before noise they differ by what one unit may move; a changed unit goes and comes."""
    present, absent, changed = (tables for _, tables in asked(kind, sql))
    curator = databases(kind)[0].curator
    plan = curator._planner.draft(sql, EpsilonTarget(**TARGET), curator.catalog)
    sizes = [len(planned.queries) for planned in plan.releases]
    here, there, other = (parted(each, sizes) for each in (present, absent, changed))
    check_movement(plan, here, there)
    check_movement(plan, there, other)


def parted(tables: Tables, sizes: list[int]) -> list[Tables]:
    """Return the tables of each release."""
    assert sum(sizes) == len(tables)
    return [tables[sum(sizes[:n]) : sum(sizes[: n + 1])] for n in range(len(sizes))]


@pytest.mark.parametrize(
    ("kind", "sql"), [each for kind in OTHERS for each in cases(kind, ANSWERED, SOME)]
)
def test_a_question_means_the_same_on_every_engine(kind: str, sql: str) -> None:
    found, expected = (
        [[rows_of(table) for table in tables] for _, tables in asked(each, sql)]
        for each in (kind, "duckdb")
    )
    assert found == expected


def rows_of(table: pa.Table) -> list[str]:
    """Return rows in an order of their own; whole numbers of any width are alike."""
    return sorted(
        repr([int(value) if isinstance(value, Decimal) else value for value in row.values()])
        for row in table.to_pylist()
    )


VARIANTS: dict[str, dict[str, Any]] = {
    "replace": {"neighbours": "replace"},
    "concentrated": {"accounting": "concentrated"},
    "per-query": {"row_choice": "per-query"},
}
"""Other promises, other noise, other choices of rows."""


@cache
def declared(variant: str) -> tuple[Twin, ...]:
    return twins(**VARIANTS[variant])


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("sql", [pytest.param(sqls[0], id=case) for case, sqls in ANSWERED.items()])
def test_twins_answer_alike_whatever_is_declared(variant: str, sql: str) -> None:
    """Under `replace` the victim is changed and never absent: how many there are is public."""
    is_replaced = variant == "replace"
    here, there = (each for n, each in enumerate(declared(variant)) if n != 1 + (not is_replaced))
    (seen, before), (other, after) = (each.asked(sql, **TARGET) for each in (here, there))
    assert seen.error == ""
    assert seen == other
    plan = here.curator._planner.draft(sql, EpsilonTarget(**TARGET), here.curator.catalog)
    sizes = [len(planned.queries) for planned in plan.releases]
    check_movement(plan, parted(before, sizes), parted(after, sizes))


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT COUNT(*) AS n FROM p WHERE hiv",
        "SELECT s, COUNT(*) AS n FROM p WHERE age < 50 GROUP BY s",
        "SELECT SUM(x) AS n FROM p WHERE id = 7",
        "SELECT COUNT(DISTINCT id) AS n FROM p",
    ],
)
def test_twins_pay_the_same_for_an_accuracy(sql: str) -> None:
    """The price is solved for from the question and the catalog, not from sizes of groups."""
    present, absent, changed = (each.seen(sql, within=7) for each in databases("duckdb"))
    assert present.charged > 0
    assert present == absent == changed


@pytest.mark.parametrize(
    ("kind", "refused"), [each for kind in ENGINES for each in cases(kind, REFUSED, 1)]
)
def test_twins_refuse_alike(kind: str, refused: tuple[str, str]) -> None:
    """Whoever is in the data: same error, same words, no data read, nothing charged."""
    sql, error = refused
    present, absent, changed = (each.seen(sql, **TARGET) for each in databases(kind))
    assert present.error == error, present.words
    assert present == absent == changed
    assert len(present.words) < 1000
