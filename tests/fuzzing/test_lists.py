"""Queries that list declared groups say the same whoever is in the data, and cost nothing.

What is seen is the answer, the explanation, the columns and the rejection. Each query is put to all
twins, whose engines are watched: none of them may run anything.
"""

from collections import Counter
from uuid import uuid4

import pytest

from discreet.curator import Curator
from discreet.errors import DiscreetError
from tests.attacks.watched import watch
from tests.engines.contract import ENGINES
from tests.fuzzing.grammar import Questions, Writer
from tests.fuzzing.running import twins

NUMBERS = {"duckdb": (40, 2000), "postgresql": (10, 500), "spark": (3, 60)}
"""How many queries are asked on a push, and in the long run."""

AROUND = (
    *("{}", "{}", "SELECT * FROM ({}) AS o", "({}) UNION ALL ({})"),
    "SELECT o.key0, ROW_NUMBER() OVER (ORDER BY o.key0) AS place FROM ({}) AS o",
)


def listing(seed: str) -> str:
    """Return a query without aggregates over a relation of the grammar."""
    made = Questions(seed)
    choices, relation = made.choices, made.relation(1)
    writer = Writer(choices=choices, relation=relation)
    keys = [
        choices.one(relation.known) if relation.known and choices.below(3) else writer.key()
        for _ in range(choices.one((1, 1, 2)))
    ]
    columns = ", ".join(f"{text} AS key{place}" for place, text in enumerate(keys))
    rows = f"FROM {relation.text}{writer.where()}"
    groups = ", ".join(str(place + 1) for place in range(len(keys)))
    query = choices.one(
        (f"SELECT DISTINCT {columns} {rows}", f"SELECT {columns} {rows} GROUP BY {groups}")
    )
    around = choices.one(AROUND)
    order = choices.one(("", " ORDER BY 1 DESC", " LIMIT 2")) if around == "{}" else ""
    return f"{relation.common} {around.replace('{}', query)}{order}".strip()


def seen(curator: Curator, sql: str) -> tuple[str, str, str]:
    """Return all that an analyst sees of a query that states no epsilon."""
    before = (curator.remaining, len(list(curator.ledger.entries())))
    try:
        columns, explained, answer = (
            str(curator.columns(sql)),
            str(curator.explain(sql)),
            curator.ask(sql).to_json(),
        )
    except DiscreetError as error:
        columns, explained, answer = type(error).__name__, str(error), ""
    assert (curator.remaining, len(list(curator.ledger.entries()))) == before
    return columns, explained, answer


def check_lists(kind: str, seeds: list[str]) -> Counter[bool]:
    """Check that queries say the same of all twins, and return how many are answered."""
    tally: Counter[bool] = Counter()
    with twins(kind, is_prepared=kind == "duckdb") as curators:
        engines = [watch(each) for each in curators]
        for seed in seeds:
            sql = listing(seed)
            found = {seen(each, sql) for each in curators}
            assert len(found) == 1, (seed, sql)
            assert all(each.runs == 0 for each in engines), (seed, sql)
            tally[found.pop()[2] != ""] += 1
    return tally


ON = [
    pytest.param(kind, marks=[] if kind == "duckdb" else [pytest.mark.xdist_group(kind)])
    for kind in ENGINES
]


@pytest.mark.parametrize("kind", ON)
def test_lists_are_the_same_whoever_is_in_the_data(kind: str) -> None:
    number = NUMBERS[kind][0]
    assert check_lists(kind, [f"push {each}" for each in range(number)])[True] > number / 5


@pytest.mark.slow
@pytest.mark.parametrize("kind", ON)
def test_many_lists_are_the_same_whoever_is_in_the_data(kind: str) -> None:
    run, number = uuid4().hex[:12], NUMBERS[kind][1]
    assert check_lists(kind, [f"{run} {each}" for each in range(number)])[True] > number / 3
