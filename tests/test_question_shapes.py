"""A text that differs from a known one in digits alone means what it would mean afresh."""

# ruff: noqa: S608 - this file writes questions

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, replace
from functools import partial

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import discreet
from discreet import question_shapes
from discreet.catalog.catalog import Catalog
from discreet.curator import Curator
from discreet.errors import DiscreetError, QuestionError
from discreet.planner import Planner
from discreet.query.plan import Plan
from discreet.query.plan.plan import EpsilonTarget
from discreet.question_shapes import shape_of
from discreet.written import SqlDialect, WrittenQuery
from tests.fuzzing.choices import Choices
from tests.properties.databases import catalog as clinic_catalog
from tests.properties.databases import public_store
from tests.properties.questions import Drawn, questions

CLINIC = clinic_catalog(is_prepared=True)

KEYS = ("", "region", "age", "city", "stage")
TESTED = ("age", "cost", "who", "stage", "items", "t.age", "flag", "region", "missing")
SIGNS = ("=", "<>", "!=", "<", "<=", ">", ">=")
ASKED = (
    *("COUNT(*) AS n{}", "SUM(cost) AS total{}", "AVG(age) AS mean{}", "MAX(items) AS most{}"),
    *("COUNT(DISTINCT who) AS people{}", "SUM(age) AS age_{}", "COUNT(items) AS int{}"),
)
ENDS = ("", "", "", " HAVING COUNT(*) > 5", " ORDER BY 1", " ORDER BY COUNT(*) LIMIT 3")
NUMBERS = (0, 1, 4, 7, 30, 80, 99, 100, 119, 120, 121, 500, 999, 10**6, 10**15, 10**18, 10**19)


@pytest.fixture(scope="module")
def curator() -> Curator:
    regions, count = ["north", "south"] * 100, 200
    table = pa.table(
        {
            "who": range(count),
            "region": regions,
            "city": regions,
            "stage": [1, 2] * (count // 2),
            "age": [30] * count,
            "items": [3] * count,
            "cost": [1.5] * count,
            "flag": [True] * count,
        }
    )
    return discreet.open(
        table,
        name="visits",
        unit="who",
        epsilon=1000,
        delta=1e-6,
        bounds={"age": (0, 120), "cost": (0, 500), "items": (0, 1000)},
        values={"region": ["north", "south"], "stage": [1, 2, 3, 4]},
    )


def drawn_text(draw: Choices) -> str:
    """Return a query with numbers in WHERE and numbered names, as dashboards write them."""
    key = draw.one(KEYS)
    asked = [
        each.format(draw.one((1, 7, 23)))
        for each in dict.fromkeys(draw.one(ASKED) for _ in range(draw.below(2) + 1))
    ]
    tests = [
        f"{draw.one(TESTED if draw.is_one_of(10) else TESTED[:6])} {draw.one(SIGNS)} "
        f"{draw.one(NUMBERS)}"
        for _ in range(draw.one((0, 1, 1, 2, 3)))
    ]
    return (
        f"SELECT {', '.join([*([key] if key else []), *asked])} FROM visits t"
        + (f" WHERE {' AND '.join(tests)}" if tests else "")
        + (f" GROUP BY {key}" if key else "")
        + draw.one(ENDS)
    )


def with_other_digits(text: str, draw: Choices) -> str:
    """Return a text with other numbers of as many digits in some places, wherever they stand."""

    def other(found: re.Match[str]) -> str:
        size = len(found[0])
        least = 10 ** (size - 1) if size > 1 else 0
        return str(least + draw.below(10**size - least))

    return re.sub(r"\d+", lambda found: found[0] if draw.is_one_of(5) else other(found), text)


def told(planner: Planner, text: str, catalog: Catalog) -> object:
    """Return all that follows from a text: its plan, or the error and its place."""
    try:
        plan = planner.draft(text, EpsilonTarget(1), catalog)
    except QuestionError as error:
        return type(error), str(error), error.span, error.text
    except DiscreetError as error:
        return type(error), str(error)
    return all_of(plan)


def all_of(plan: Plan) -> object:
    """Return a plan as texts, which have what comparing leaves out."""
    releases = [
        {each.name: repr(getattr(one, each.name)) for each in fields(one) if each.name != REASON}
        for one in plan.releases
    ]
    return repr(plan.question), releases, plan.identities, plan.events, plan.epsilon, plan.delta


REASON = "noise_reason"
"""It holds a function."""


@dataclass(frozen=True)
class Compared:
    """Two texts with other digits, and whether what the second means was taken from the first."""

    texts: tuple[str, str]
    is_taken: bool
    is_same: bool


def compared(first: str, second: str, new: Callable[[], Planner], catalog: Catalog) -> Compared:
    planner = new()
    told(planner, first, catalog)
    is_taken = planner._shapes.known(second, catalog) is not None
    is_same = told(planner, second, catalog) == told(new(), second, catalog)
    return Compared((first, second), is_taken, is_same)


def pairs(curator: Curator, most: int, seed: str) -> Iterator[Compared]:
    """Yield random pairs of texts of the grammar above."""
    draw = Choices(seed)
    for _ in range(most):
        first = drawn_text(draw)
        second = with_other_digits(first, draw)
        new = partial(Planner, engine=curator._engine, public=curator._public)
        yield compared(first, second, new, curator.catalog)


def test_what_is_taken_from_another_text_is_what_would_be_planned_afresh(curator: Curator) -> None:
    found = list(pairs(curator, most=100, seed="afresh"))
    assert [each.texts for each in found if not each.is_same] == []
    assert sum(each.is_taken for each in found) > 5


@pytest.mark.parametrize("broken", ["what is told of columns", "keys"])
def test_a_variant_that_looks_at_fewer_columns_is_caught(
    curator: Curator, monkeypatch: pytest.MonkeyPatch, broken: str
) -> None:
    if broken == "keys":
        monkeypatch.setattr(question_shapes, "_places", lambda _: frozenset())
    else:
        monkeypatch.setattr(question_shapes, "_tells_the_same", lambda *_: True)
    assert any(not each.is_same for each in pairs(curator, most=250, seed="broken"))


@settings(max_examples=30, deadline=None, suppress_health_check=list(HealthCheck), database=None)
@given(questions(), st.integers(min_value=0))
def test_other_digits_anywhere_in_any_question_are_planned_as_they_would_be_afresh(
    curator: Curator, drawn: Drawn, seed: int
) -> None:
    second = with_other_digits(drawn.sql, Choices(str(seed)))
    new = partial(Planner, engine=curator._engine, public=public_store())
    assert compared(drawn.sql, second, new, CLINIC).is_same


SQL = "SELECT region, COUNT(*) AS n17 FROM visits WHERE age <> 30 GROUP BY region"


def test_a_text_of_a_known_shape_is_not_checked_again(
    curator: Curator, monkeypatch: pytest.MonkeyPatch
) -> None:
    curator.ask(SQL, epsilon=1)
    monkeypatch.setattr("discreet.planner.check", lambda *_: pytest.fail("checked again"))
    answer = curator.ask(SQL.replace("30", "75").replace("n17", "n18"), epsilon=1)
    assert answer.table.column_names == ["region", "n18"]
    assert not answer.from_ledger  # they are other rows


@pytest.mark.parametrize(
    "text",
    [
        SQL.replace("30", "30.0"),
        SQL.replace("30", "-30"),
        SQL.replace("30", "030"),
        SQL.replace("30", "3e1"),
        SQL.replace("30", "30 OR age = 5"),
        SQL.replace("<> 30", "IN (30)"),
        SQL.replace("30", "30 -- 5"),
        SQL.replace("30", "(SELECT 30)"),
        SQL.replace("30", "30 + 1"),
        SQL.replace("age", '"age"'),
        f"WITH w AS ({SQL}) SELECT * FROM w",
        f"{SQL} UNION ALL {SQL}",
        "SELECT COUNT(*) AS n FROM visits",
        "SELECT COUNT(*) AS int4 FROM visits",
        "SELECT COUNT(*) AS a0 FROM visits",
        "SELECT COUNT(*) AS n7 FROM visits ORDER BY n7",
    ],
)
def test_texts_with_anything_else_have_no_shape(text: str) -> None:
    assert shape_of(text) is None


def test_shapes_are_of_one_catalog_and_of_plain_texts(curator: Curator) -> None:
    planner = Planner(engine=curator._engine, public=curator._public)
    planner.draft(SQL, EpsilonTarget(1), curator.catalog)
    other = SQL.replace("17", "18")
    assert planner._shapes.known(other, curator.catalog) is not None
    assert planner._shapes.known(other, replace(curator.catalog)) is None
    postgres = WrittenQuery(text=other, dialect=SqlDialect.POSTGRES)
    assert planner._shapes.known(postgres, curator.catalog) is None
    assert planner._shapes.known(other.replace("n18", "n180"), curator.catalog) is None
