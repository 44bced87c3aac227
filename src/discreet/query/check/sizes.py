"""How large a query may become while it is checked.

A name of WITH may stand for rows many times, and each of these may do so again. IN, SEMI JOIN and
COUNT(*) over groups check their inner queries more than once. Nested, both grow without bounds.
"""

from collections.abc import Iterator
from dataclasses import dataclass, fields, is_dataclass

from sqlglot import exp

from discreet.catalog.schema import PrivateTable
from discreet.errors import QuestionSizeError
from discreet.query.check.relations import PrivateRows
from discreet.query.parse import span_of
from discreet.query.tree import ConstantRows, Expression, Facts, Relation, Scan

MOST_TABLES = 1_000
"""No more private tables are read by one release, each as often as it is read."""

CHECKS, CHECKS_EACH = 500, 4
"""So many queries are checked in all, and so many more for each query that is written."""

LEAVES = (ConstantRows, Facts, PrivateTable)
"""What reads no private tables, and may be long."""


@dataclass(slots=True)
class CheckedQueries:
    """How many queries were checked, those that are checked again among them."""

    number: int = 0
    most: int = 0

    def count(self, node: exp.Expr) -> None:
        """Count a query, or reject one more than may be checked; the first contains all others."""
        if self.number == 0:
            self.most = CHECKS + CHECKS_EACH * sum(1 for _ in node.find_all(exp.Query))
        self.number += 1
        if self.number > self.most:
            raise QuestionSizeError(
                f"The subqueries of this query would have to be checked more than {self.most:,} "
                "times",
                "Use fewer subqueries inside each other",
                span=span_of(node),
            )


def tables_read(*parts: Relation | Expression) -> int:
    """Return how often private tables are read, those of EXISTS and IN among them."""
    known: dict[int, int] = {}
    return sum(_tables(each, known) for each in parts)


def within_size(rows: PrivateRows, node: exp.Expr) -> PrivateRows:
    """Return rows, or reject those that read tables too often."""
    refuse_many_reads(rows.rows, "The query", node)
    return rows


def refuse_many_reads(rows: Relation, what: str, node: exp.Expr) -> None:
    """Reject rows that are put together from too many tables."""
    number = tables_read(rows)
    if number > MOST_TABLES:
        raise many_reads(number, what, node)


def many_reads(number: int, what: str, node: exp.Expr) -> QuestionSizeError:
    """Return the error for rows that read tables too often."""
    return QuestionSizeError(
        f"{what} reads tables {number:,} times, and at most {MOST_TABLES:,} are allowed",
        "Combine fewer queries",
        span=span_of(node),
    )


def _tables(part: object, known: dict[int, int]) -> int:
    """Return how often a part reads tables; `known` has what was counted before, by `id`."""
    if isinstance(part, Scan):
        return 1
    if id(part) not in known:
        known[id(part)] = sum(_tables(each, known) for each in _inner(part))
    return known[id(part)]


def _inner(part: object) -> Iterator[object]:
    if isinstance(part, tuple):
        yield from part
    elif is_dataclass(part) and not isinstance(part, LEAVES):
        yield from (getattr(part, each.name) for each in fields(part))
