"""The grammar says all that the checker accepts: else what finds nothing may never have looked.

What is accepted is read off the checker itself (its tables, and the nodes that its source names),
off the checked questions, and off the questions that the other tests and the docs have answered.
"""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from sqlglot import exp

import discreet.query
from discreet.errors import DiscreetError
from discreet.query.check import check
from discreet.query.check.aggregates import OTHER_NAMES, SIMPLE
from discreet.query.check.row_scope import FUNCTIONS as WINDOW_NODES
from discreet.query.check.unit_groups import UNIT_FUNCTIONS
from discreet.query.expressions.casts import CASTS, INTEGERS
from discreet.query.expressions.functions import FUNCTIONS
from discreet.query.expressions.translate import ANONYMOUS, NAMED, PLAIN, TRANSLATIONS
from discreet.query.parse import parse
from discreet.query.questions import Question, Statistic
from discreet.query.tree import (
    Call,
    ConstantRows,
    GroupByUnit,
    InReleasedRows,
    Join,
    JoinKind,
    PublicScan,
    ReleasedRows,
    ReleasedScalar,
    Scan,
    Select,
    UnionAll,
    UnitAggregate,
    UnitFunction,
    UnitSemiJoin,
    Window,
    WindowFunction,
)
from tests.attacks.clinic import golden
from tests.fuzzing.grammar import SPELLINGS, Questions, one_of_each
from tests.fuzzing.tables import catalog, public_store

DRAWN = 250
"""Random questions that are looked through, besides one of each."""

TREE_NODES = (
    Scan,
    PublicScan,
    ConstantRows,
    ReleasedRows,
    InReleasedRows,
    Select,
    GroupByUnit,
    UnionAll,
    Join,
    UnitSemiJoin,
    Window,
    ReleasedScalar,
    Call,
)

OTHER_WORDS = {exp.DType.CHAR, exp.DType.VARCHAR, exp.DType.TIMESTAMP}
"""Types that the parser reads as TEXT and TIMESTAMPNTZ in DuckDB's SQL."""

READ_AS_NODES = {"countif", "instr", "to_days", "var_samp"}
"""Names for which the parser has nodes that are in the grammar under other names."""

FRAMES = {"whole", "running", "2 preceding"}

NEVER_MADE = {"concat": "CONCAT is translated to concatenate and coalesce"}
"""Functions of the table that no question is translated to."""


@cache
def accepted() -> tuple[tuple[exp.Query, Question], ...]:
    """Return questions of the grammar that the checker accepts, as they are parsed and checked."""
    found = []
    here, public = catalog(is_prepared=False), public_store()
    random = [Questions(f"coverage {number}").question() for number in range(DRAWN)]
    for sql in (*one_of_each("first"), *one_of_each("second"), *one_of_each("third"), *random):
        try:
            found.append((parse(sql), check(parse(sql), here, public)))
        except DiscreetError:
            continue
    return tuple(found)


@cache
def nodes_said() -> frozenset[type[exp.Expr]]:
    return frozenset(type(node) for tree, _ in accepted() for node in tree.walk())


@cache
def parts_said() -> frozenset[tuple[str, str]]:
    return frozenset(part for tree, _ in accepted() for part in parts_of(tree))


def parts_of(tree: exp.Expr) -> Iterator[tuple[str, str]]:
    """Yield which parts the nodes of a tree have: that LIKE has an ESCAPE, a JOIN a side."""
    for node in tree.walk():
        for name, value in node.args.items():
            if value not in (None, False, []):
                yield type(node).__name__, name


def values_in(thing: Any) -> Iterator[Any]:
    """Yield all values that a checked question is made of."""
    waiting = [thing]
    while waiting:
        each = waiting.pop()
        yield each
        if isinstance(each, tuple | list):
            waiting += each
        elif hasattr(each, "__dataclass_fields__"):
            waiting += [getattr(each, name) for name in each.__dataclass_fields__]


@cache
def tree_values() -> tuple[Any, ...]:
    return tuple(value for _, question in accepted() for value in values_in(question.aggregations))


# --------------------------------------------------------------------------- the checker's tables


def test_every_function_of_the_table_has_a_spelling() -> None:
    assert SPELLINGS.keys() == FUNCTIONS.keys()


def test_every_function_of_the_table_is_in_a_checked_question() -> None:
    called = {each.function for each in tree_values() if isinstance(each, Call)}
    assert FUNCTIONS.keys() - called == NEVER_MADE.keys()


def test_every_stated_argument_that_may_be_left_out_is_stated_and_left_out() -> None:
    sizes: dict[str, set[int]] = {}
    for each in tree_values():
        if isinstance(each, Call):
            sizes.setdefault(each.function, set()).add(len(each.arguments))
    for name, function in FUNCTIONS.items():
        if function.optional:
            whole = len(function.accepts)
            assert sizes[name] == set(range(whole - function.optional, whole + 1)), name


def test_every_node_with_a_translation_is_said() -> None:
    assert {*PLAIN, *TRANSLATIONS} - nodes_said() == set()


def test_every_type_of_a_cast_is_said() -> None:
    said = {each.this for tree, _ in accepted() for each in tree.find_all(exp.DataType)}
    assert {*INTEGERS, *CASTS, exp.DType.DECIMAL} - said == OTHER_WORDS


def test_every_name_that_the_checker_looks_up_is_said() -> None:
    said = {each.name.casefold() for tree, _ in accepted() for each in tree.find_all(exp.Anonymous)}
    assert {*ANONYMOUS, *NAMED, *OTHER_NAMES} - said == READ_AS_NODES


def test_every_statistic_window_and_join_is_in_a_checked_question() -> None:
    aggregates = [each for _, q in accepted() for r in q.aggregations for each in r.aggregates]
    assert {each.statistic for each in aggregates} == set(Statistic)
    values = tree_values()
    windows = {each.function for each in values if isinstance(each, Window)}
    assert windows == set(WindowFunction)
    assert {each.frame for each in values if isinstance(each, Window)} == FRAMES
    assert {each.kind for each in values if isinstance(each, Join)} == set(JoinKind)
    unit = {each.function for each in values if isinstance(each, UnitAggregate)}
    assert unit == {*UNIT_FUNCTIONS.values(), UnitFunction.MEDIAN}
    assert {type(each) for each in values} >= set(TREE_NODES)
    assert {*SIMPLE, *WINDOW_NODES} - nodes_said() == set()


# --------------------------------------------------------------------------- the checker's source

NAMED_OTHERWISE = {
    "what a node is in general": "AggFunc Binary Condition Connector Expr Func Predicate Query "
    "SetOperation Unary",
    "only to refuse it": "AnonymousAggFunc BitString Columns Command GroupConcat HavingMax "
    "HexString Hint Into Lock MatchRecognize Parameter Pivot Placeholder RespectNulls "
    "SessionParameter TableSample Unnest",
    "made by the checker, not by the parser": "DType",
    "given back its own name by the reader": "ToChar",
    "in times that are rounded before a query is checked": "AtTimeZone",
    "read in other dialects only, and rewritten or refused": "CurrentDate CurrentDatetime "
    "CurrentTime CurrentTimestamp DateSub DatetimeAdd DatetimeDiff DatetimeSub DatetimeTrunc Rand "
    "SafeDivide StrToDate TimestampAdd TimestampSub TsOrDsToDate WeekStart",
    "where no placeholder can stand": "Dot",
}
"""Names of nodes in the checker's source that a question about rows does not say."""


def test_every_node_that_the_checker_names_is_said_or_listed_as_refused() -> None:
    named = set()
    for file in Path(discreet.query.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            match node:
                case ast.Attribute(value=ast.Name(id="exp"), attr=name) if name[0].isupper():
                    named.add(name)
    listed = {name for names in NAMED_OTHERWISE.values() for name in names.split()}
    said = {each.__name__ for each in nodes_said()}
    assert named - said - listed == set()
    assert listed - named == set()


# --------------------------------------------------------------------------- answered elsewhere

TESTS = Path(__file__).parent.parent


def answered_elsewhere() -> list[str]:
    """Return the questions that the corpora of other tests and the docs have answered."""
    found = [each["sql"] for name in ("corpus", "shapes") for each in golden(name)["answer"]]
    shapes = (TESTS / "properties" / "shapes.sql").read_text(encoding="utf-8").splitlines()
    found += [each for each in shapes if not each.startswith("--")]
    page = (TESTS.parent / "docs" / "reference" / "sql.md").read_text(encoding="utf-8")
    found += re.findall(r"```sql\n(.*?)```", page, flags=re.DOTALL)
    return found


def test_every_part_of_a_node_that_is_answered_elsewhere_is_said() -> None:
    elsewhere: dict[tuple[str, str], str] = {}
    for sql in answered_elsewhere():
        try:
            tree = parse(sql)
        except DiscreetError:
            continue
        for part in parts_of(tree):
            elsewhere.setdefault(part, sql)
    missing = {part: sql for part, sql in elsewhere.items() if part not in parts_said()}
    assert missing == {}


@pytest.mark.parametrize("clause", ["ESCAPE", "USING", "QUALIFY", "FILTER", "UNION ALL", "WITHIN"])
def test_a_clause_that_fuzzers_once_forgot_is_said_often(clause: str) -> None:
    said = sum(clause in Questions(f"clauses {number}").question() for number in range(300))
    assert said >= 2
