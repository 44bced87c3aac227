"""What each of many units adds to exact tables, on every engine: no more than is charged for it.

Undeclared groups, limits on groups, conditions that are disjoint, and numbers of a unit's rows.
"""

# ruff: noqa: S608 - this file writes questions

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from fractions import Fraction
from itertools import pairwise, product
from pathlib import Path

import pytest

from discreet.engines import writer
from discreet.engines.dialect import Dialect
from discreet.engines.writer import bounded
from discreet.engines.writer.choices import group_rank
from discreet.engines.writer.expressions import WriteContext
from discreet.mechanisms.sensitivity import ADD_REMOVE, REPLACE
from discreet.noise import SYSTEM
from discreet.query.tree import ExactQuery
from tests.properties import twins
from tests.properties.contributions import HOLDERS, Crowd, Draw, Held, crowd, part_of
from tests.properties.movement import check_movement
from tests.properties.plans import plan_of
from tests.properties.questions import Written
from tests.replay import ReplayableEntropy

NUMBERED = "ROW_NUMBER() OVER (PARTITION BY patient_id ORDER BY cost)"
ONE = f"(SELECT * FROM visits QUALIFY {NUMBERED} = 1)"

KEYS = (
    *("v.diagnosis", "v.clinic_id", "v.note, v.clinic_id", "upper(v.note)", "v.cost", "v.minutes"),
    *("date_trunc('month', v.day)", "round(v.cost, -2)", "v.minutes // 60", "v.day"),
)
ASKED = (
    "COUNT(DISTINCT v.patient_id)",
    "COUNT(*)",
    "COUNT(*), SUM(v.minutes)",
    "AVG(v.minutes)",
    "AVG(v.minutes), COUNT(DISTINCT v.patient_id)",
    "SUM(v.cost), COUNT(*), COUNT(DISTINCT v.patient_id)",
    "VARIANCE(v.cost), COUNT(*)",
    "COUNT(v.cost)",
    "COUNT(*) FILTER (WHERE v.minutes > 30), COUNT(*) FILTER (WHERE v.minutes <= 30), COUNT(*)",
    "SUM(CASE WHEN v.note = '' THEN 1 ELSE 0 END), COUNT(*) FILTER (WHERE v.note IS NULL)",
    "COUNT(DISTINCT v.minutes > 30), COUNT(DISTINCT v.patient_id)",
    "SUM(DISTINCT v.minutes)",
    "MEDIAN(v.minutes), COUNT(DISTINCT v.patient_id)",
    "CORR(v.minutes, v.cost), COUNT(*)",
)
ROWS = (
    "visits v",
    "visits v WHERE v.minutes > 20",
    "visits v JOIN patients p ON p.patient_id = v.patient_id WHERE p.insured",
    "visits v LEFT JOIN rooms r ON r.clinic_id = v.clinic_id",
    f"{ONE} v",
    f"{ONE} v JOIN rooms r ON r.clinic_id = v.clinic_id",
    f"{ONE} v JOIN visits w ON w.patient_id = v.patient_id",
    f"(SELECT *, {NUMBERED} AS n FROM visits) v WHERE v.n IN (1, 3)",
    f"(SELECT a.*, {NUMBERED} AS n FROM visits a) v LEFT JOIN rooms r ON TRUE WHERE v.n = 1",
    f"(SELECT * FROM (SELECT *, {NUMBERED} AS n FROM visits) UNION ALL "
    f"SELECT * FROM (SELECT *, {NUMBERED} AS n FROM visits)) v WHERE v.n = 1",
    "(SELECT * FROM visits QUALIFY DENSE_RANK() OVER (PARTITION BY patient_id ORDER BY note) = 1)"
    " AS v",
)
QUESTIONS = tuple(
    f"SELECT {keys}, {asked} FROM {rows} GROUP BY {keys}"
    for keys, asked, rows in product(KEYS, ASKED, ROWS)
)

SIZE = 80
QUICK = {"duckdb": 24, "postgresql": 24, "spark": 6}
"""Questions that are asked of each engine on a push; `make test-long` asks ten times as many."""

Sides = tuple[Held, Held, set[int]]
"""An engine of a crowd, one of half of it, and who these are."""


@contextmanager
def held(kind: str, folder: Path) -> Iterator[Sides]:
    draw = Draw(ReplayableEntropy(5))
    tables = crowd(draw, SIZE)
    people = sorted({each[1] for each in tables["visits"] if each[1] is not None})
    half = set(draw.sample(people, len(people) // 2))
    with (
        closing(HOLDERS[kind](tables, folder / "whole")) as whole,
        closing(HOLDERS[kind](part_of(tables, half, draw), folder / "half")) as few,
    ):
        yield whole, few, half


def check_questions(sides: Sides, draw: Draw, questions: Sequence[str]) -> None:
    """Assert of questions that units move no more than is charged, whoever else is there."""
    whole, few, half = sides
    for sql in questions:
        neighbours, is_prepared = draw.choice((ADD_REMOVE, REPLACE)), draw.choice((True, False))
        plan = plan_of(
            Written(sql),
            neighbours,
            draw.choice((Fraction(1), Fraction(1, 7), Fraction(30))),
            draw.choice(("basic", "concentrated")),
            is_prepared=is_prepared,
            groups=draw.choice((None, 0, 1, 2)),
        )
        found, others = (
            Crowd.of(plan, each.prepared if is_prepared else each.plain) for each in (whole, few)
        )
        for unit in half:
            assert found.counted(unit) == others.counted(unit), f"others change a unit: {sql}"
        units: list[int | None] = [*found.units]
        pairs = pairwise(units) if neighbours is REPLACE else ((each, None) for each in units)
        for here, there in pairs:
            check_movement(plan, found.alone(here), found.alone(there))


@pytest.mark.parametrize("kind", sorted(HOLDERS))
def test_no_unit_of_a_crowd_adds_more_than_it_is_charged_for(kind: str, tmp_path: Path) -> None:
    draw = Draw(ReplayableEntropy(1))
    with held(kind, tmp_path) as sides:
        check_questions(sides, draw, draw.sample(QUESTIONS, QUICK[kind]))


@pytest.mark.slow
@pytest.mark.parametrize("kind", sorted(HOLDERS))
def test_no_unit_of_a_crowd_adds_more_whatever_is_asked(kind: str, tmp_path: Path) -> None:
    draw = Draw(SYSTEM)
    with held(kind, tmp_path) as sides:
        check_questions(sides, draw, draw.sample(QUESTIONS, 10 * QUICK[kind]))


def without_a_limit_on_groups(patch: pytest.MonkeyPatch) -> None:
    """Count a unit in as many groups as it has."""

    def all_groups(_query: ExactQuery, rows: str, *_: object) -> str:
        return rows

    by_groups = writer._by_groups

    def by_all_groups(query: ExactQuery, place: WriteContext) -> str:
        return re.sub(r'"group" <= [0-9]+', "TRUE", by_groups(query, place))

    patch.setattr(bounded, "_in_few_groups", all_groups)
    patch.setattr(writer, "_by_groups", by_all_groups)


def with_groups_of_all_units_together(patch: pytest.MonkeyPatch) -> None:
    """Which groups of a unit count depends on those of others."""

    def ranked(keys: Sequence[str], dialect: Dialect) -> str:
        return group_rank(keys, dialect).replace('PARTITION BY "__unit" ', "")

    for module in (bounded, writer):
        patch.setattr(module, "group_rank", ranked)


UNITS_BESIDE_ROWS = "AVG(v.minutes), COUNT(DISTINCT v.patient_id)"

TWINS = [
    (without_a_limit_on_groups, UNITS_BESIDE_ROWS),
    (with_groups_of_all_units_together, UNITS_BESIDE_ROWS),
    (twins.taking_ranks_for_numbers, "DENSE_RANK"),
]


@pytest.mark.parametrize(("broken", "about"), TWINS, ids=[each.__name__ for each, _ in TWINS])
def test_a_broken_twin_is_caught(
    broken: Callable[[pytest.MonkeyPatch], None],
    about: str,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    draw = Draw(ReplayableEntropy(3))
    with held("duckdb", tmp_path) as sides:
        broken(monkeypatch)
        with pytest.raises(AssertionError):
            check_questions(sides, draw, [each for each in QUESTIONS if about in each])


def test_a_prepared_table_that_is_joined_to_itself_is_bound(tmp_path: Path) -> None:
    """One of its places reads what is stored beside a column, and the other does not."""
    sql = (
        "SELECT v.cost, SUM(v.minutes) FROM visits v LEFT JOIN visits w "
        "ON w.patient_id = v.patient_id AND w.minutes > v.minutes GROUP BY v.cost"
    )
    plan = plan_of(Written(sql), ADD_REMOVE, Fraction(1), is_prepared=True, groups=0)
    with held("duckdb", tmp_path) as (whole, _, _):
        (query,) = plan.releases[0].queries
        assert "steps from" in whole.prepared.bind(query).sql
