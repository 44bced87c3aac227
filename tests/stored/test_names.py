"""Names of releases follow from a table of words, not from what the code calls things."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, fields, make_dataclass
from datetime import date, datetime
from enum import Enum, StrEnum
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest

from discreet.catalog import Accounting
from discreet.catalog.schema import (
    AUTO,
    Bounds,
    ByMonth,
    Column,
    ColumnUnit,
    Kind,
    PathUnit,
    PrivateTable,
    RowUnit,
)
from discreet.mechanisms import Neighbours
from discreet.months import MonthSpan
from discreet.query import identity, stored_names
from discreet.query.identity import identity_text
from discreet.query.plan import Plan
from discreet.query.plan import identity as plan_identity
from discreet.query.plan.components import PAIRS
from discreet.query.plan.identity import identities_of
from discreet.query.questions import (
    DeclaredGroups,
    NoKeys,
    NotDeclared,
    Statistic,
    UndeclaredGroups,
)
from discreet.query.stored_names import (
    MEMBERS,
    OPERATIONS,
    RECORDS,
    StoredRecord,
    operation_name,
    stored_record,
)
from discreet.query.tree import Facts, Interval, JoinKind, Scan, UnitFunction, WindowFunction
from tests.stored.golden import golden
from tests.stored.identities import told
from tests.stored.questions import WAYS, all_plans, catalog_of

COLUMN = Column(
    name="x",
    kind=Kind.REAL,
    bounds=Bounds(low=Fraction(0), high=Fraction(1)),
    values=(1, 0.5, "a", None, True, date(2024, 3, 1), datetime(2024, 3, 1)),
)
TABLE = PrivateTable(name="t", columns=(COLUMN,), unit=ColumnUnit(column="who"))
BY_MONTH = Scan(
    table=PrivateTable(
        name="t", columns=(), unit=RowUnit(), by_month=ByMonth(column="came", most=3)
    ),
    months=MonthSpan(first=24276, last=24278),
)
BY_MONTH_TEXT = (
    "Scan(table=PrivateTable(name=str:3:'t';columns=()unit=RowUnit()rows_per_unit=int"
    ":2:10;is_default_limit=bool:4:True;key=NoneType:4:None;is_prepared=bool:5:False;"
    "by_month=ByMonth(arrival=str:6:'came';months_per_unit=int:1:3;))parents=()is_kep"
    "t=bool:5:False;months=Months(first=int:5:24276;last=int:5:24278;))"
)
"""What a release of a budget per month is called after, for ever."""
SAMPLES: tuple[Any, ...] = (
    Scan(table=TABLE, parents=(TABLE,), is_bounded=True),
    ByMonth(column="came", most=3),
    MonthSpan(first=24276),
    TABLE,
    COLUMN,
    COLUMN.bounds,
    RowUnit(),
    ColumnUnit(column="who"),
    PathUnit(column="a", table="b", key="c"),
    DeclaredGroups(rows=((1,),), why=NoKeys()),
    UndeclaredGroups(why=NotDeclared(columns=())),
    Facts(kind=Kind.INTEGER, interval=Interval(low=Fraction(0)), domain=(1, 2)),
    Interval(high=Fraction(1)),
)
"""A value of every class that is written."""

ENUMERATIONS = (Kind, type(AUTO), Neighbours, Accounting)
COMPUTED = (Statistic, JoinKind, UnitFunction, WindowFunction)


@pytest.fixture(autouse=True)
def _fresh() -> Iterator[None]:
    forget()
    yield
    forget()


def forget() -> None:
    """Forget texts that were made by the words of before."""
    stored_record.cache_clear()
    identity._scan_text.forget()
    identity._listed.forget()


def test_every_class_and_member_has_a_written_name() -> None:
    assert {type(each) for each in SAMPLES} == set(RECORDS)
    assert set(MEMBERS) == {member for kind in ENUMERATIONS for member in kind}
    assert set(OPERATIONS) == {member for kind in COMPUTED for member in kind}
    assert all(stored_record(kind) for kind in RECORDS)


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda each: type(each).__name__)
def test_a_class_and_its_fields_may_be_renamed(
    sample: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    kind, before = type(sample), identity_text(sample)
    record = RECORDS[kind]
    terms = {each.name: getattr(sample, each.name) for each in fields(sample)}
    made = [(f"{each.name}_renamed", Any, field(compare=each.compare)) for each in fields(sample)]
    renamed = make_dataclass("Renamed", made, frozen=True, kw_only=True)
    listed = {f"{name}_renamed": word for name, word in record.fields.items()}
    added = {f"{name}_renamed": each for name, each in record.added.items()}
    elsewhere = frozenset(f"{name}_renamed" for name in record.elsewhere)
    known = {**RECORDS, renamed: StoredRecord(record.name, listed, added, elsewhere)}
    monkeypatch.setattr(stored_names, "RECORDS", known)
    twin = renamed(**{f"{name}_renamed": value for name, value in terms.items()})
    assert identity_text(twin) == before


@pytest.mark.parametrize(
    "kind", [*RECORDS, *ENUMERATIONS, *COMPUTED], ids=lambda each: each.__name__
)
def test_what_python_calls_a_class_changes_no_name(kind: type) -> None:
    with renamed(kind):
        assert [names(each) for each in SOME] == [golden_names()[each] for each in SOME]


@contextmanager
def renamed(kind: type) -> Iterator[None]:
    """Let Python call a class something else."""
    before, kind.__name__ = kind.__name__, "Renamed"
    try:
        yield
    finally:
        kind.__name__ = before


SOME = (
    "per-query SELECT region, COUNT(*), AVG(income) FROM patients GROUP BY region",
    "per-query SELECT s, AVG(x), SUM(i) FROM kinds GROUP BY s",
    "concentrated bounds of lines.amount",
)


FOUND_AGAIN = ("bounds of lines.amount", "SELECT COUNT(*) FROM lines")
"""Questions that are planned in all ways; one way will do for the others."""


@cache
def plans() -> dict[str, tuple[Plan, Any]]:
    """Return plans with the policies that they were made under, by way and question."""
    return {
        f"{way} {question}": (plan, catalog_of(curator, way).budget)
        for way in WAYS
        for question, plan, curator in all_plans(way)
        if way == "per-query" or question in FOUND_AGAIN
    }


@cache
def golden_names() -> dict[str, list[str]]:
    """Return what releases were called, by way and question."""
    known = golden("identities.json")
    return {f"{way} {sql}": each for sql, ways in known.items() for way, each in ways.items()}


def names(question: str) -> list[str]:
    plan, policy = plans()[question]
    return [told(each) for each in identities_of(plan.question, plan.releases, policy)]


@pytest.fixture(autouse=True)
def _read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Compute what releases are called each time: here words change while they live."""
    monkeypatch.setattr(plan_identity, "_plain", plan_identity._read_plainly)


def are_caught() -> bool:
    """Return whether a golden name is missed now."""
    if identity_text(BY_MONTH) != BY_MONTH_TEXT:
        return True
    return any(names(each) != golden_names()[each] for each in plans())


def test_without_a_change_nothing_is_caught() -> None:
    assert not are_caught()


@pytest.mark.parametrize(
    ("kind", "word"),
    [
        (kind, word)
        for kind, record in RECORDS.items()
        for word in (record.name, *record.fields.values())
    ],
    ids=lambda each: each if isinstance(each, str) else each.__name__,
)
def test_another_word_is_caught(kind: type, word: str, monkeypatch: pytest.MonkeyPatch) -> None:
    record = RECORDS[kind]
    changed = StoredRecord(
        "other" if word == record.name else record.name,
        {name: "other" if each == word else each for name, each in record.fields.items()},
        record.added,
        record.elsewhere,
    )
    monkeypatch.setattr(stored_names, "RECORDS", {**RECORDS, kind: changed})
    assert are_caught()


IN_NO_GOLDEN: set[Enum] = {Kind.INTERVAL, *PAIRS}
"""Members that are part of no release, as spans of time, or that are newer than the files."""


@pytest.mark.parametrize("member", [*MEMBERS, *OPERATIONS], ids=str)
def test_another_word_for_a_member_is_caught(member: Enum, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(identity, "MEMBERS", {**MEMBERS, member: "other"})
    monkeypatch.setattr(stored_names, "OPERATIONS", {**OPERATIONS, member: "other"})
    assert are_caught() == (member not in IN_NO_GOLDEN)


# --------------------------------------------------------------------------- what is not listed


def test_a_class_of_ours_that_is_not_listed_is_a_mistake() -> None:
    @dataclass(frozen=True)
    class Unlisted:
        x: int = 1

    class Ours(str):
        __slots__ = ()
        __module__ = "discreet.query.tree"

    for value in (Unlisted(), Ours("a"), [1], {1}, {}, b"a", object(), 1j):
        with pytest.raises(TypeError, match="has no name"):
            identity_text((value,))


def test_a_member_that_is_not_listed_is_a_mistake() -> None:
    class More(Enum):
        ONE = 1

    with pytest.raises(TypeError, match="has no name"):
        operation_name(More.ONE)
    with pytest.raises(TypeError, match="has no name"):
        identity_text(More.ONE)


def test_a_field_that_is_not_listed_is_a_mistake(monkeypatch: pytest.MonkeyPatch) -> None:
    short = StoredRecord("Interval", {"low": "low"})
    monkeypatch.setattr(stored_names, "RECORDS", {**RECORDS, Interval: short})
    with pytest.raises(TypeError, match="other fields"):
        identity_text(Interval())


def test_a_field_that_was_added_is_written_only_where_it_says_something(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    @dataclass(frozen=True, kw_only=True)
    class Longer:
        low: Fraction | None = None
        high: Fraction | None = None
        is_open: bool = False

    record = RECORDS[Interval]
    longer = StoredRecord(record.name, record.fields, {"is_open": ("is_open", False)})
    monkeypatch.setattr(stored_names, "RECORDS", {**RECORDS, Longer: longer})
    assert identity_text(Longer()) == identity_text(Interval())
    assert (
        identity_text(Longer(is_open=True))
        == identity_text(Interval())[:-1] + "is_open=bool:4:True;)"
    )


class Region(StrEnum):
    """Values as an owner's own program has them."""

    NORTH = "north"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (Region.NORTH, "Region.NORTH;"),
        (pd.Timestamp("2024-03-01"), "Timestamp:2024-03-01T00:00:00;"),
        (np.str_("a"), "str_:12:np.str_('a');"),
        (True, "bool:4:True;"),
        (1, "int:1:1;"),
        ("it's", 'str:6:"it\'s";'),
        (date(2024, 3, 1), "date:2024-03-01;"),
        (datetime(2024, 3, 1), "datetime:2024-03-01T00:00:00;"),
        (Fraction(1, 2), "Fraction:14:Fraction(1, 2);"),
        (None, "NoneType:4:None;"),
        ((), "()"),
    ],
)
def test_values_are_written_as_they_were(value: object, text: str) -> None:
    assert identity_text(value) == text
