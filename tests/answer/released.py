"""Many releases of one question: how often the exact result lies within the margins of error."""

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import duckdb
import pyarrow as pa

from discreet.amounts import Balance, Price
from discreet.answer import Answer
from discreet.answer.present import present
from discreet.query.plan.plan import EpsilonTarget
from discreet.release import release
from tests.curated import curator_of
from tests.replay import ReplayableEntropy


def visits_of(sizes: tuple[int, ...]) -> pa.Table:
    """Return a row for each of so many people in each region: r0, r1 and so on."""
    regions = [f"r{i}" for i, size in enumerate(sizes) for _ in range(size)]
    return pa.table({"region": regions, "age": [i * 37 % 100 for i in range(len(regions))]})


def answers(sql: str, sizes: tuple[int, ...], *, epsilon: Any, number: int) -> Iterator[Answer]:
    """Yield answers to one question with fresh noise each, as only tests can have them."""
    regions = [f"r{i}" for i in range(len(sizes))]
    with curator_of(
        visits_of(sizes), values={"region": regions}, bounds={"age": (0, 100)}, delta=1e-3
    ) as curator:
        bound = curator._planner.plan(sql, EpsilonTarget(epsilon), curator.catalog)
        exact = [
            tuple(curator._engine.run(each, ()) for each in statements)
            for statements in bound.statements
        ]
        for i in range(number):
            noisy = tuple(
                release(planned, tables, entropy=ReplayableEntropy(f"{i}/{j}"))
                for j, (planned, tables) in enumerate(zip(bound.plan.releases, exact, strict=True))
            )
            yield present(
                bound.plan,
                noisy,
                curator._public.run,
                text=sql,
                confidence=0.95,
                price=Price(epsilon=Fraction(epsilon)),
                balance=Balance(epsilon=Fraction(1), total_epsilon=Fraction(1)),
                from_ledger=False,
            )


def coverage(
    sql: str, sizes: tuple[int, ...], *, epsilon: Any, number: int
) -> dict[tuple[str, object], tuple[int, int]]:
    """Return for each column and row how often the exact result was within ±, and of how many."""
    database = duckdb.connect()
    database.register("visits", visits_of(sizes))
    exact = database.sql(sql).to_arrow_table().to_pylist()
    found: dict[tuple[str, object], tuple[int, int]] = {}
    for answer in answers(sql, sizes, epsilon=epsilon, number=number):
        for i, row in enumerate(answer.rows):
            key = row.get("region", i)
            truth = next((each for each in exact if each.get("region", i) == key), None)
            for column, margins in answer.margins.items():
                if truth is None or truth[column] is None or margins[i] is None:
                    continue
                hits, trials = found.get((column, key), (0, 0))
                away = abs(float(row[column]) - float(truth[column]))  # type: ignore[arg-type]
                is_hit = away <= margins[i] + 1e-9  # type: ignore[operator]
                found[column, key] = (hits + is_hit, trials + 1)
    return found
