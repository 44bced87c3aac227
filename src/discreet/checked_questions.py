"""Questions by their texts: the same text need not be checked again for another price."""

from collections import OrderedDict
from threading import Lock

from discreet.catalog.catalog import Catalog
from discreet.catalog.schema import PrivateTable
from discreet.query.plan.measurements import Strategy
from discreet.query.plan.pricing import strategies_for
from discreet.query.questions import DeclaredGroups, Question
from discreet.query.tree import ConstantRows, Facts
from discreet.query.walk import Walk
from discreet.written import WrittenQuery

MOST = 128
"""So many questions are kept for the next time."""

LONGEST, MOST_ROWS = 4_000, 5_000
"""Questions with longer texts, or with more groups and constant rows, are not kept."""


class CheckedQuestion:
    """A question as it is planned under a catalog."""

    def __init__(
        self, catalog: Catalog, question: Question, strategies: tuple[Strategy, ...] | None = None
    ) -> None:
        self.catalog, self.question, self._strategies = catalog, question, strategies

    @property
    def strategies(self) -> tuple[Strategy, ...]:
        """What is measured for each release, whatever the price."""
        if self._strategies is None:
            self._strategies = strategies_for(self.question, self.catalog.budget)
        return self._strategies


class CheckedQuestions:
    """Keeps questions that were checked, for one planner.

    What a text means follows from itself, the catalog and the public tables, which never change
    while a planner lives. So nothing here follows from who asks, at what price, or from private
    rows. Texts that are rejected are checked each time.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._held: OrderedDict[str, CheckedQuestion] = OrderedDict()

    def known(self, query: str | WrittenQuery, catalog: Catalog) -> CheckedQuestion | None:
        """Return what a text asks under this very catalog, if it was checked."""
        text = text_alone(query)
        if text is None:
            return None
        with self._lock:
            found = self._held.get(text)
            if found is None or found.catalog is not catalog:
                return None
            self._held.move_to_end(text)
        return found

    def keep(self, query: str | WrittenQuery, catalog: Catalog, question: Question) -> None:
        """Keep a question; the one that was not asked for longest goes."""
        text = text_alone(query)
        if text is None or len(text) > LONGEST or not is_small(question):
            return
        with self._lock:
            self._held[text] = CheckedQuestion(catalog, question)
            self._held.move_to_end(text)
            while len(self._held) > MOST:
                self._held.popitem(last=False)


def text_alone(query: str | WrittenQuery) -> str | None:
    """Return the text of a query; None if it has placeholders or another dialect."""
    if isinstance(query, str):
        return query
    return query.text if query.is_plain else None


_nodes = Walk(plain=(Facts, PrivateTable), whole=(DeclaredGroups, ConstantRows))


def is_small(question: Question) -> bool:
    """Return whether a question has so few groups and constant rows that it may be kept."""
    listed = (DeclaredGroups, ConstantRows)
    nodes = _nodes(question.aggregations)
    return sum(len(each.rows) for each in nodes if isinstance(each, listed)) <= MOST_ROWS
