"""Questions by the shapes of their texts: another number or name need not be checked from nothing.

Two texts have one shape if they differ only in digits: in those of whole numbers, as many, that
WHERE compares columns with, and in those at the end of names of outputs. So their trees are alike,
with everything at the same place. What the check makes of such a number is its condition, which is
made anew, and what that tells of columns. A question is taken from another one of its shape only
where it tells nothing else of the columns that keys and aggregates read. Names of outputs are used
nowhere else in the text, and only the SQL after the noise has them.

Everything behind the check, such as the plan, its cost and the identity of the release, is made
anew. Proof that nothing else depends on these digits: docs/proofs/sql_forms.md.
"""

import re
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache, cached_property, lru_cache
from threading import Lock
from typing import TypeAlias

from discreet.catalog.catalog import Catalog
from discreet.checked_questions import (
    LONGEST,
    MOST,
    CheckedQuestion,
    is_small,
    text_alone,
)
from discreet.query.expressions.narrowing import narrow
from discreet.query.expressions.renumbered import with_numbers
from discreet.query.parse import DIALECT
from discreet.query.plan.identity import read_alike
from discreet.query.plan.measurements import Strategy
from discreet.query.plan.months import scans_in
from discreet.query.questions import Aggregation, Question
from discreet.query.tree import (
    Expression,
    Scan,
    Select,
    columns_in,
)
from discreet.written import WrittenQuery

TOKEN = re.compile(
    r"[ \n\t]+|[A-Za-z_][A-Za-z0-9_]*|[0-9]+(?![A-Za-z0-9_.])|<>|!=|<=|>=|[=<>(),*.]"
)
"""All that texts with a shape are made of: no quotes, comments, decimals or signs of numbers."""

WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")

WHOLE = re.compile(r"0|[1-9][0-9]{0,14}")
"""Numbers that are of 64 bits, and no others."""

NUMBERED = re.compile(r"(?P<stem>[A-Za-z_]*[A-Za-z])(?P<digits>[0-9]+)")
"""Names that may differ in their digits."""

INTERNAL = frozenset({"a", "g", "k", "m", "s", "u"})
"""Numbered columns of released tables begin so."""

ONCE = ("SELECT", "FROM", "WHERE")
"""Words that stand in a text once at most: there are no inner queries."""

NEVER = frozenset({"WITH", "UNION", "INTERSECT", "EXCEPT", "PIVOT", "UNPIVOT", "WINDOW"})

BEHIND = frozenset({"GROUP", "HAVING", "QUALIFY", "ORDER", "LIMIT"})
"""What may stand behind the conditions of WHERE."""

SIGNS = frozenset({"=", "<>", "!=", "<", "<=", ">", ">="})


Place: TypeAlias = tuple[str, str]
"""A column, by its source and its name."""


@dataclass(frozen=True, slots=True)
class TextShape:
    """A text with its numbers and the digits of its names left out, and these."""

    masked: str
    columns: tuple[str, ...]
    """What each number is compared with, in small letters."""
    numbers: tuple[int, ...]
    names: tuple[str, ...]


@dataclass(frozen=True)
class CheckedShape:
    """A question that was checked, and its text's own numbers and names."""

    known: CheckedQuestion
    shape: TextShape

    @cached_property
    def shared(self) -> frozenset[Place] | None:
        """The columns that both WHERE and aggregates read; None if it stands for no others."""
        return _shared_by(self.known, self.shape)

    def with_digits_of(self, other: TextShape) -> CheckedQuestion | None:
        """Return the question of another text of this shape; None if it has to be checked."""
        shared = self.shared
        if shared is None:
            return None
        question, strategies = self.known.question, self.known.strategies
        if other.names != self.shape.names:
            names = dict(zip(self.shape.names, other.names, strict=True))
            taken = {each.casefold() for each in question.columns if each not in names}
            if not taken.isdisjoint(each.casefold() for each in other.names):
                return None
            question = _renamed(question, names)
        if other.numbers != self.shape.numbers:
            (release,) = question.aggregations
            rows = release.rows
            assert isinstance(rows, Select) and rows.where is not None  # noqa: S101, PT018 - as kept
            where = with_numbers(rows.where, iter(other.numbers))
            if where is None or not _tells_the_same(rows.where, where, shared):
                return None
            other_rows = replace(rows, where=where)
            release = replace(release, rows=other_rows)
            question = replace(question, aggregations=(release,))
            strategies = tuple(_over(each, release) for each in strategies)
        return CheckedQuestion(self.known.catalog, question, strategies)


def _over(strategy: Strategy, release: Aggregation) -> Strategy:
    """Return what is measured, of a release whose rows differ in the numbers of their WHERE."""
    queries = tuple(replace(each, rows=release.rows) for each in strategy.queries)
    read_alike(release, strategy.aggregation)
    for one, other in zip(queries, strategy.queries, strict=True):
        read_alike(one, other)
    scans_in.take_from(release, strategy.aggregation)
    return replace(strategy, aggregation=release, queries=queries)


class QuestionShapes:
    """Keeps one question for each shape, for one planner.

    As with whole texts, nothing here follows from who asks, at what price, or from private rows.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._held: OrderedDict[str, CheckedShape] = OrderedDict()

    def known(self, query: str | WrittenQuery, catalog: Catalog) -> CheckedQuestion | None:
        """Return what a text asks under this very catalog, if one of its shape was checked."""
        shape = shape_of(query)
        if shape is None:
            return None
        with self._lock:
            found = self._held.get(shape.masked)
            if found is None or found.known.catalog is not catalog:
                return None
            self._held.move_to_end(shape.masked)
        return found.with_digits_of(shape)

    def keep(self, query: str | WrittenQuery, known: CheckedQuestion) -> None:
        """Keep a question for others of its shape; whether it may stand for them is seen then."""
        shape = shape_of(query)
        if shape is None or not is_small(known.question):
            return
        with self._lock:
            self._held[shape.masked] = CheckedShape(known, shape)
            self._held.move_to_end(shape.masked)
            while len(self._held) > MOST:
                self._held.popitem(last=False)


# --------------------------------------------------------------------------- texts


def shape_of(query: str | WrittenQuery) -> TextShape | None:
    """Return the shape of a text; None of those that have none, and of other dialects."""
    text = text_alone(query)
    return None if text is None or len(text) > LONGEST else _shape_of(text)


@lru_cache(maxsize=16)
def _shape_of(text: str) -> TextShape | None:
    tokens = TOKEN.findall(text)
    if sum(map(len, tokens)) < len(text):  # what lies between them is something else
        return None
    words = WORD.findall(text.upper())
    if not NEVER.isdisjoint(words) or any(words.count(each) > 1 for each in ONCE):
        return None
    return _shape(tokens, words)


def _shape(tokens: list[str], words: list[str]) -> TextShape | None:
    """Return the shape of a text by its tokens; each word is there in capitals."""
    places = [place for place, each in enumerate(tokens) if not each.isspace()]
    masked = list(tokens)
    conditions = _conditions(tokens, places) if "WHERE" in words else []
    if conditions is None:
        return None
    for _, place in conditions:
        masked[place] = f"?{len(tokens[place])}"
    names = []
    for place in _named(tokens, places):
        found = NUMBERED.fullmatch(tokens[place])
        if found is not None and words.count(found[0].upper()) == 1 and _is_free(found):
            names.append(found[0])
            masked[place] = f"{found['stem']}#{len(found['digits'])}"
    if not conditions and not names:
        return None
    return TextShape(
        masked="".join(masked),
        columns=tuple(column for column, _ in conditions),
        numbers=tuple(int(tokens[place]) for _, place in conditions),
        names=tuple(names),
    )


def _conditions(tokens: list[str], places: list[int]) -> list[tuple[str, int]] | None:
    """Return the columns and the places of the numbers in WHERE; None if it has anything else."""
    found = []
    at = next(n for n, place in enumerate(places) if tokens[place].upper() == "WHERE") + 1
    while True:
        test = [tokens[place] for place in places[at : at + 5]]
        if test[1:2] == ["."]:  # the table's name stands before that of the column
            test, at = test[2:], at + 2
        if len(test) < 3:
            return None
        column, sign, value = test[:3]
        if WORD.match(column) is None or sign not in SIGNS or WHOLE.fullmatch(value) is None:
            return None
        found.append((column.casefold(), places[at + 2]))
        behind = tokens[places[at + 3]].upper() if at + 3 < len(places) else ""
        if behind != "AND":
            return found if not behind or behind in BEHIND else None
        at += 4


def _named(tokens: list[str], places: list[int]) -> Iterator[int]:
    """Yield the places of names that outputs have behind AS: before a comma or FROM."""
    for before, place, behind in zip(places, places[1:], places[2:], strict=False):
        if tokens[before].upper() == "AS" and tokens[behind].upper() in (",", "FROM"):
            yield place
        if tokens[place].upper() == "FROM":
            return


def _is_free(name: re.Match[str]) -> bool:
    """Return whether a name means nothing of itself."""
    return name["stem"].casefold() not in INTERNAL and name[0].upper() not in _keywords()


@cache
def _keywords() -> frozenset[str]:
    return frozenset(DIALECT.tokenizer_class.KEYWORDS)


# --------------------------------------------------------------------------- questions


def _shared_by(known: CheckedQuestion, shape: TextShape) -> frozenset[Place] | None:
    """Return the columns that both WHERE and aggregates read.

    None if something else of the question than what is replaced may follow from its digits.
    """
    rows = _only_rows(known)
    if rows is None or not all(_is_named_once(known.question, each) for each in shape.names):
        return None
    if rows.where is None or not shape.numbers:
        return frozenset() if rows.where is None and not shape.numbers else None
    again = with_numbers(rows.where, iter(shape.numbers))
    compared = tuple(each.name.casefold() for each in columns_in(rows.where))
    # As texts, which have all that comparing expressions leaves out.
    if compared != shape.columns or repr(again) != repr(rows.where):
        return None
    read = {each.name: _places(each.expression) for each in rows.columns}
    (release,) = known.question.aggregations
    of_keys = (column.name for key in release.keys for column in columns_in(key.expression))
    tested = _places(rows.where)
    if any(tested & read[each] for each in of_keys):  # conditions decide which groups there are
        return None
    return tested & frozenset[Place]().union(*read.values())


def _only_rows(known: CheckedQuestion) -> Select | None:
    """Return the rows of the only release, if they are those of one table that meet conditions."""
    question = known.question
    if question.scalars or question.tables or question.listed or len(question.aggregations) != 1:
        return None
    rows = question.aggregations[0].rows
    if not isinstance(rows, Select) or not isinstance(rows.source, Scan) or rows.joins:
        return None
    # With months, conditions decide which of these are read.
    is_dated = rows.source.table.by_month is not None
    is_same = all(each.rows is rows for one in known.strategies for each in one.queries)
    return rows if is_same and not is_dated else None


def _places(expression: Expression) -> frozenset[Place]:
    return frozenset((each.source, each.name) for each in columns_in(expression))


def _is_named_once(question: Question, name: str) -> bool:
    """Return whether an output is called so, of a table of which nothing else is computed."""
    if question.shown is None:
        return False
    texts = [question.post_sql, *([question.all_rows_sql] if question.all_rows_sql else [])]
    return question.columns.count(name) == 1 and all(
        each.casefold().count(f'"{name}"'.casefold()) == 1 for each in texts
    )


def _renamed(question: Question, names: dict[str, str]) -> Question:
    """Return the same question with other names of outputs."""

    def renamed(sql: str) -> str:
        return QUOTED.sub(lambda found: f'"{names.get(found[1], found[1])}"', sql)

    every, shown = question.all_rows_sql, question.shown
    return replace(
        question,
        post_sql=renamed(question.post_sql),
        columns=tuple(names.get(each, each) for each in question.columns),
        all_rows_sql=None if every is None else renamed(every),
        shown=None if shown is None else tuple((names.get(a, a), b) for a, b in shown),
    )


QUOTED = re.compile(r'"((?:[^"]|"")*)"')


def _tells_the_same(before: Expression, now: Expression, columns: frozenset[Place]) -> bool:
    """Return whether two conditions tell the same of the values of columns."""
    if not columns:
        return True
    known, found = narrow(before), narrow(now)
    return all(known.get(each) == found.get(each) for each in columns)
