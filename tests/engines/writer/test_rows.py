"""Private rows as SQL: whose row each is, what is joined, and what windows see."""

from collections.abc import Iterator
from datetime import date
from fractions import Fraction
from math import exp

import pytest

from discreet.catalog.schema import ColumnUnit, Kind, PathUnit, RowUnit
from discreet.engines.duckdb import DuckDbEngine
from discreet.engines.duckdb.dialect import DUCKDB
from discreet.engines.writer import write_rows
from discreet.errors import JoinError, UnboundedError, UnsupportedError
from discreet.query.expressions.facts import literal
from discreet.query.expressions.functions import call
from discreet.query.tree import (
    Case,
    ContributionBounding,
    Expression,
    Facts,
    GroupByUnit,
    Interval,
    Join,
    JoinKind,
    NamedExpression,
    Ordering,
    PublicScan,
    Relation,
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
from tests.engines.made import (
    TRUE,
    between,
    column,
    count,
    exact,
    listed,
    loaded,
    private,
    select,
    table_of,
)

INTEGER, REAL, TEXT = Kind.INTEGER, Kind.REAL, Kind.TEXT


@pytest.fixture(scope="module")
def engine() -> Iterator[DuckDbEngine]:
    engine = loaded(
        visits={
            "visit_id": [1, 2, 3, 4, 5, 6],
            "patient_id": [7, 7, 7, 8, 8, None],
            "cost": [10.0, 20.0, float("nan"), 0.1, 0.2, 99.0],
            "minutes": [1, 2, 2, 2**62, 2**62, 5],
            "day": [date(2024, 1, each) for each in (3, 1, 1, 5, 5, 6)],
        },
        patients={"patient_id": [7, 8, 9, None], "sex": ["f", "m", "f", "m"]},
        prescriptions={"visit_id": [1, 1, 4, 6, 99, None], "dose": [1, 2, 3, 4, 5, 6]},
        clinics={"minutes": [2, 2, 5], "name": ["a", "b", "c"]},
    )
    yield engine
    engine.close()


@pytest.fixture(scope="module")
def visits(engine: DuckDbEngine) -> Scan:
    return Scan(table=private(engine))


@pytest.fixture(scope="module")
def patients(engine: DuckDbEngine) -> Scan:
    return Scan(table=private(engine, "patients"))


def test_rows_of_nobody_are_left_out(engine: DuckDbEngine, visits: Scan) -> None:
    assert exact(engine, count(visits)) == [{"s0": 5}]


def test_a_row_can_be_a_unit_of_its_own(engine: DuckDbEngine) -> None:
    table = private(engine, unit=RowUnit())
    found = exact(engine, count(table, bounding=ContributionBounding.ROWS, limit=1, units=True))
    assert found == [{"s0": 6, "units": 6}]


def test_a_row_belongs_to_whom_the_path_leads(engine: DuckDbEngine, visits: Scan) -> None:
    unit = PathUnit(column="visit_id", table="visits", key="visit_id")
    scan = Scan(table=private(engine, "prescriptions", unit), parents=(visits.table,))
    rows = select(scan, column("dose"))
    assert listed(engine, rows, INTEGER) == [(1,), (2,), (3,)]
    assert exact(engine, count(scan, bounding=ContributionBounding.UNITS_ONLY, sums=())) == [
        {"units": 2}
    ]


def test_a_path_may_end_in_rows_that_are_units(engine: DuckDbEngine) -> None:
    unit = PathUnit(column="visit_id", table="visits", key="visit_id")
    parent = private(engine, unit=RowUnit())
    scan = Scan(table=private(engine, "prescriptions", unit), parents=(parent,))
    assert exact(engine, count(scan, units=True, limit=1)) == [{"s0": 3, "units": 3}]


def test_a_private_partner_is_joined_on_the_unit_whatever_else_is_asked(
    engine: DuckDbEngine, visits: Scan, patients: Scan
) -> None:
    rows = Select(
        source=patients,
        name="p",
        joins=(Join(kind=JoinKind.INNER, source=visits, name="v", on=TRUE),),
        columns=(
            NamedExpression(name="c0", expression=column("sex", TEXT, "p")),
            NamedExpression(name="c1", expression=column("visit_id")),
        ),
    )
    found = [("f", 1), ("f", 2), ("f", 3), ("m", 4), ("m", 5)]
    assert listed(engine, rows, TEXT, INTEGER) == found


def test_a_left_join_keeps_the_left_unit(
    engine: DuckDbEngine, visits: Scan, patients: Scan
) -> None:
    on = call("greater", column("cost", REAL), literal(15.0))
    rows = Select(
        source=patients,
        name="p",
        joins=(Join(kind=JoinKind.LEFT, source=visits, name="v", on=on),),
        columns=(
            NamedExpression(name="c0", expression=column("patient_id", source="p")),
            NamedExpression(name="c1", expression=column("visit_id")),
        ),
    )
    assert listed(engine, rows, INTEGER, INTEGER) == [(7, 2), (8, None), (9, None)]
    assert exact(engine, count(rows, units=True)) == [{"s0": 3, "units": 3}]


def test_a_public_partner_multiplies_rows_within_the_limit(
    engine: DuckDbEngine, visits: Scan
) -> None:
    on = call("equal", column("minutes"), column("minutes", source="c"))
    rows = Select(
        source=visits,
        name="v",
        joins=(Join(kind=JoinKind.INNER, source=PublicScan(table="clinics"), name="c", on=on),),
        columns=(NamedExpression(name="c0", expression=column("name", TEXT, "c")),),
    )
    assert listed(engine, rows, TEXT) == [("a",), ("a",), ("b",), ("b",)]
    assert exact(engine, count(rows, limit=3)) == [{"s0": 3}]


@pytest.mark.parametrize(("is_negated", "expected"), [(False, [(7,)]), (True, [(8,), (9,)])])
def test_a_unit_can_be_asked_whether_it_has_other_rows(
    engine: DuckDbEngine, visits: Scan, patients: Scan, is_negated: bool, expected: list[tuple[int]]
) -> None:
    where = call("greater", column("cost", REAL), literal(15.0))
    test: Expression = UnitSemiJoin(
        rows=visits, name="v", where=where, facts=Facts(kind=Kind.BOOLEAN, nullable=False)
    )
    test = call("not", test) if is_negated else test
    rows = select(patients, column("patient_id", source="p"), name="p", where=test)
    assert listed(engine, rows, INTEGER) == expected


def test_inner_rows_called_like_the_outer_ones_are_still_tied_to_the_unit(
    engine: DuckDbEngine, visits: Scan, patients: Scan
) -> None:
    test = UnitSemiJoin(rows=visits, name="p", where=None, facts=Facts(kind=Kind.BOOLEAN))
    rows = select(patients, column("patient_id", source="p"), name="p", where=test)
    assert listed(engine, rows, INTEGER) == [(7,), (8,)]


def test_a_condition_on_other_rows_can_speak_of_the_outer_row(
    engine: DuckDbEngine, visits: Scan
) -> None:
    later = call("less", column("day", Kind.DATE, "o"), column("day", Kind.DATE))
    test = UnitSemiJoin(rows=visits, name="v", where=later, facts=Facts(kind=Kind.BOOLEAN))
    rows = select(visits, column("visit_id", source="o"), name="o", where=test)
    assert listed(engine, rows, INTEGER) == [(2,), (3,)]


def test_rows_of_two_kinds_are_put_below_each_other_by_position(
    engine: DuckDbEngine, visits: Scan, patients: Scan
) -> None:
    union = UnionAll(
        parts=(
            select(visits, column("minutes"), column("visit_id")),
            Select(
                source=patients,
                name="p",
                columns=(
                    NamedExpression(name="x", expression=literal(0)),
                    NamedExpression(name="y", expression=column("patient_id", source="p")),
                ),
            ),
        )
    )
    rows = select(union, column("c1", source="u"), name="u")
    assert listed(engine, rows, INTEGER) == [(1,), (2,), (3,), (4,), (5,), (7,), (8,), (9,)]
    assert exact(engine, count(union, units=True, limit=2)) == [{"s0": 5, "units": 3}]


def test_units_of_different_kinds_are_never_compared(engine: DuckDbEngine, visits: Scan) -> None:
    other = Scan(table=table_of("texts", ColumnUnit(column="patient_id"), patient_id=TEXT))
    join = Join(kind=JoinKind.INNER, source=other, name="t", on=TRUE)
    joined = Select(source=visits, name="v", joins=(join,), columns=())
    test = UnitSemiJoin(rows=other, name="t", where=None, facts=Facts(kind=Kind.BOOLEAN))
    for rows in (joined, UnionAll(parts=(visits, other)), select(visits, where=test)):
        with pytest.raises(JoinError, match="different types"):
            engine.bind(count(rows))
    path = PathUnit(column="visit", table="visits", key="visit_id")
    leading = Scan(table=table_of("texts", path, visit=TEXT), parents=(visits.table,))
    with pytest.raises(UnsupportedError, match=r"texts\.visit and visits\.visit_id"):
        engine.bind(count(leading))


# --------------------------------------------------------------------------- per unit


def per_unit(source: Relation, function: UnitFunction, argument: Expression | None) -> GroupByUnit:
    kind = REAL if argument is None else argument.facts.kind
    aggregate = UnitAggregate(
        name="a", function=function, argument=argument, facts=Facts(kind=kind)
    )
    key = NamedExpression(name="k", expression=column("patient_id"))
    return GroupByUnit(source=source, name="v", keys=(key,), aggregates=(aggregate,))


COST = column("cost", REAL, interval=between(0, 500))


@pytest.mark.parametrize(
    ("function", "argument", "expected"),
    [
        (UnitFunction.COUNT_ROWS, None, [3, 2]),
        (UnitFunction.COUNT, COST, [2, 2]),
        (UnitFunction.COUNT_DISTINCT, column("minutes"), [2, 1]),
        (
            UnitFunction.MIN,
            column("day", Kind.DATE),
            [date(2024, 1, 1), date(2024, 1, 5)],
        ),
        (UnitFunction.MAX, COST, [20.0, 0.2]),
        (UnitFunction.SUM, column("minutes"), [5, None]),
        (UnitFunction.AVG, column("minutes"), [5 / 3, float(2**62)]),
        (UnitFunction.AVG, COST, [15.0, pytest.approx(0.15)]),
        (UnitFunction.SUM, COST, [30.0, pytest.approx(0.3)]),
        (UnitFunction.MEDIAN, column("minutes"), [2.0, float(2**62)]),
    ],
)
def test_rows_of_a_unit_are_aggregated_exactly(
    engine: DuckDbEngine,
    visits: Scan,
    function: UnitFunction,
    argument: Expression | None,
    expected: list[object],
) -> None:
    counts = (UnitFunction.COUNT_ROWS, UnitFunction.COUNT, UnitFunction.COUNT_DISTINCT)
    means = (UnitFunction.AVG, UnitFunction.MEDIAN)
    kind = INTEGER if argument is None or function in counts else argument.facts.kind
    kind = REAL if function in means else kind
    grouped = per_unit(visits, function, argument)
    rows = select(grouped, column("k", source="g"), column("a", kind, "g"), name="g")
    assert [each[1] for each in listed(engine, rows, INTEGER, kind)] == expected


def test_a_sum_of_reals_without_bounds_is_never_written(visits: Scan) -> None:
    with pytest.raises(UnboundedError):
        write_rows(per_unit(visits, UnitFunction.SUM, column("cost", REAL)), DUCKDB)


def test_a_sum_of_reals_does_not_depend_on_the_order_of_rows() -> None:
    values = [0.1, 1e8, -1e8, 3.3e-7, 0.2] * 400
    found = set()
    for order in (values, values[::-1], sorted(values)):
        engine = loaded(t={"patient_id": [1] * len(order), "x": order})
        argument = column("x", REAL, interval=between(-1e9, 1e9))
        grouped = per_unit(Scan(table=private(engine, "t")), UnitFunction.SUM, argument)
        rows = select(grouped, column("a", REAL, "g"), name="g")
        found.add(listed(engine, rows, REAL)[0])
    assert len(found) == 1


def test_values_outside_the_interval_are_moved_to_its_end_in_sums() -> None:
    engine = loaded(t={"patient_id": [1, 1], "x": [1e300, 2.0]})
    argument = column("x", REAL, interval=between(0, 500))
    grouped = per_unit(Scan(table=private(engine, "t")), UnitFunction.SUM, argument)
    rows = select(grouped, column("a", REAL, "g"), name="g")
    assert listed(engine, rows, REAL) == [(502.0,)]


@pytest.mark.parametrize("reach", [0, 5e-324, 1e-300, 1e308])
def test_sums_of_reals_work_at_every_scale(reach: float) -> None:
    engine = loaded(t={"patient_id": [1, 1], "x": [reach, -reach]})
    interval = Interval(low=-Fraction(reach), high=Fraction(reach))
    argument = column("x", REAL, interval=interval)
    grouped = per_unit(Scan(table=private(engine, "t")), UnitFunction.SUM, argument)
    assert listed(engine, select(grouped, column("a", REAL, "g"), name="g"), REAL) == [(0.0,)]


# --------------------------------------------------------------------------- windows


def window(
    function: WindowFunction,
    *arguments: Expression,
    kind: Kind = INTEGER,
    frame: str = "running",
    descending: bool = False,
) -> Window:
    return Window(
        function=function,
        arguments=arguments,
        partition=(),
        order=(Ordering(expression=column("day", Kind.DATE), descending=descending),),
        frame=frame,
        facts=Facts(kind=kind),
    )


@pytest.mark.parametrize(
    ("shown", "expected"),
    [
        (window(WindowFunction.ROW_NUMBER), [(1, 3), (2, 1), (3, 2), (4, 1), (5, 2)]),
        (window(WindowFunction.RANK), [(1, 3), (2, 1), (3, 1), (4, 1), (5, 1)]),
        (window(WindowFunction.DENSE_RANK), [(1, 2), (2, 1), (3, 1), (4, 1), (5, 1)]),
        (
            window(WindowFunction.LAG, column("visit_id")),
            [(1, 3), (2, None), (3, 2), (4, None), (5, 4)],
        ),
        (
            window(WindowFunction.LEAD, column("visit_id"), literal(1), literal(0)),
            [(1, 0), (2, 3), (3, 1), (4, 5), (5, 0)],
        ),
        (
            window(WindowFunction.LAST_VALUE, column("visit_id"), frame="whole"),
            [(1, 1), (2, 1), (3, 1), (4, 5), (5, 5)],
        ),
        (window(WindowFunction.COUNT), [(1, 3), (2, 1), (3, 2), (4, 1), (5, 2)]),
        (
            window(WindowFunction.SUM, column("minutes")),
            [(1, 5), (2, 2), (3, 4), (4, 2**62), (5, None)],
        ),
        (
            window(WindowFunction.MAX, column("visit_id"), frame="whole"),
            [(1, 3), (2, 3), (3, 3), (4, 5), (5, 5)],
        ),
    ],
)
def test_a_window_sees_the_rows_of_its_unit_only(
    engine: DuckDbEngine, visits: Scan, shown: Window, expected: list[tuple[int, int]]
) -> None:
    rows = select(visits, column("visit_id"), shown)
    assert listed(engine, rows, INTEGER, INTEGER) == expected


def test_rows_can_be_kept_by_a_window(engine: DuckDbEngine, visits: Scan) -> None:
    first = call("equal", window(WindowFunction.ROW_NUMBER, descending=True), literal(1))
    rows = Select(
        source=visits,
        name="v",
        columns=(NamedExpression(name="c0", expression=column("visit_id")),),
        qualify=first,
    )
    assert listed(engine, rows, INTEGER) == [(1,), (4,)]


def test_two_windows_agree_on_the_order_of_equal_rows(engine: DuckDbEngine, visits: Scan) -> None:
    day: Expression = column("day", Kind.DATE)
    up, down = window(WindowFunction.ROW_NUMBER), window(WindowFunction.ROW_NUMBER, descending=True)
    on = call("equal", column("minutes"), column("minutes", source="c"))
    joined = Join(kind=JoinKind.LEFT, source=PublicScan(table="clinics"), name="c", on=on)
    rows = Select(
        source=visits,
        name="v",
        joins=(joined,),
        columns=tuple(
            NamedExpression(name=f"c{n}", expression=each) for n, each in enumerate((day, up, down))
        ),
    )
    found = listed(engine, rows, Kind.DATE, INTEGER, INTEGER)
    same_day = [(a, b) for each, a, b in found if each == date(2024, 1, 1)]
    assert same_day == [(1, 2), (2, 3), (3, 4), (4, 5)]


# --------------------------------------------------------------------------- noisy numbers


def test_a_noisy_number_is_written_as_it_is(engine: DuckDbEngine, visits: Scan) -> None:
    threshold = ReleasedScalar(number=0, facts=Facts(kind=REAL))
    rows = select(visits, where=call("less", column("cost", REAL), threshold))
    for value, expected in ((0.15, 1), (float("nan"), 0), (None, 0), (-5, 0), (1e400, 0)):
        assert exact(engine, count(rows), value) == [{"s0": expected}]
    assert "$released_0" in engine.bind(count(rows)).sql


def test_a_case_keeps_reals_finite(engine: DuckDbEngine, visits: Scan) -> None:
    big = call("exp", call("multiply", column("cost", REAL), literal(1000.0)))
    picked = Case(branches=((TRUE, big),), otherwise=literal(0.0), facts=Facts(kind=REAL))
    found = [each for (each,) in listed(engine, select(visits, picked), REAL)]
    assert found == [pytest.approx(exp(100)), pytest.approx(exp(200)), None, None, None]


def test_a_unit_column_may_be_quoted_and_reserved() -> None:
    names = {'sel"ect': [1, 1, 2], "größe; DROP TABLE t": [5, 6, 7], "__unit": [8, 8, 9]}
    engine = loaded(**{'or"der': names})
    table = private(engine, 'or"der', ColumnUnit(column='sel"ect'))
    kept = [column(each, source="the from") for each in names]
    rows = select(Scan(table=table), *kept, name="the from")
    assert listed(engine, rows, INTEGER, INTEGER, INTEGER) == [(1, 5, 8), (1, 6, 8), (2, 7, 9)]
    assert exact(engine, count(rows, limit=1)) == [{"s0": 2}]


def test_a_wide_table_is_read_by_the_columns_that_are_used() -> None:
    engine = loaded(wide={"patient_id": [1, 2], **{f"x{n}": [n, n] for n in range(300)}})
    scan = Scan(table=private(engine, "wide"))
    query = count(scan, keys=(column("x299"),))
    assert "x298" not in engine.bind(query).sql
    assert exact(engine, query) == [{"k0": 299, "s0": 2}]
