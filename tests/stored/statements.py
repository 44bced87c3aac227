"""SQL of exact queries for the engines that are run, all of it as digests, some in full.

Names in it decide which rows of a unit count (they are ordered by a hash of what is written), so
that SQL that changes is looked at.
"""

from hashlib import sha256

from discreet.curator import Curator
from discreet.engines.postgresql.dialect import POSTGRESQL
from discreet.engines.spark import sql as spark_sql
from discreet.engines.writer import write_query
from discreet.query.tree import ExactQuery
from tests.stored.golden import golden_text
from tests.stored.questions import all_plans

ENGINES = ("duckdb", "postgresql", "spark")

EVERY = 9
"""Of so many questions, one is there in full."""

LENGTH = 16


def statements(engine: str) -> str:
    """Return the golden file of an engine: for each question and way a line of digests."""
    found: dict[str, dict[str, list[str]]] = {}
    for way in ("prepared", "per-query"):
        for question, plan, curator in all_plans(way):
            queries = [query for planned in plan.releases for query in planned.queries]
            found.setdefault(question, {})[way] = [
                statement(engine, each, curator) for each in queries
            ]
    return "\n".join(
        _told(question, ways, is_full=number % EVERY == 0)
        for number, (question, ways) in enumerate(found.items())
    )


def changed(engine: str) -> str:
    """Return what engines are told otherwise than first: quantiles are read off a finer grid."""
    known = golden_text(f"{engine}.sql").split("\n\n")
    found = statements(engine).split("\n\n")
    return "\n\n".join(b for a, b in zip(known, found, strict=True) if a != b)


def statement(engine: str, query: ExactQuery, curator: Curator) -> str:
    """Return the statement that an engine would run."""
    if engine == "spark":
        return spark_sql(query)
    if engine == "postgresql":
        return write_query(query, POSTGRESQL)
    return curator._engine.bind(query).sql


def _told(question: str, ways: dict[str, list[str]], *, is_full: bool) -> str:
    lines = [f"-- {' '.join(question.split())}"]
    for way, texts in ways.items():
        digests = [sha256(each.encode()).hexdigest()[:LENGTH] for each in texts]
        lines.append(f"-- {way}: {' '.join(digests)}")
        lines += [f"{each};" for each in texts if is_full]
    return "\n".join(lines) + "\n"
