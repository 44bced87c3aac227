"""A series over its years: one charge, each tick released once, read for free ever after."""

from collections import Counter
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import numpy as np
import psycopg
import pyarrow as pa
import pytest
from scipy.stats import binom

import discreet
import discreet.series.series
from discreet.answer.series_table import SeriesTable, series_table_from_json
from discreet.curator import Curator
from discreet.errors import (
    BudgetError,
    DiscreetError,
    EngineError,
    LeastEpsilonError,
    ParameterError,
    SeriesError,
    SuspendedError,
)
from discreet.series.definition import (
    bytes_from_definition,
    charge_name,
    definition_from_bytes,
)
from tests.curated import curator_of
from tests.engines.on_postgresql import stored
from tests.postgresql import shared_server
from tests.series.made import BY_CLINIC, DECLARED, FIRST, TICKS, Visit, series_of, table_of, visits

END = FIRST + timedelta(days=TICKS)


def opened(
    rows: Iterable[Visit] = (), *series: dict[str, Any], ledger: Path | None = None, **changed: Any
) -> Curator:
    """Return a curator of visits with series, which must be closed."""
    terms: dict[str, Any] = {**DECLARED, "series": list(series) or [series_of()], **changed}
    return discreet.open({"visits": table_of(rows)}, **terms, ledger=ledger)


def charges(curator: Curator) -> int:
    return [each.kind for each in curator.ledger.entries()].count("charge")


def values(table: SeriesTable, column: str = "n") -> list[float]:
    found: list[Any] = table.table.column(column).to_pylist()
    return found


def test_a_series_is_charged_once_and_in_full() -> None:
    with opened(visits(200, seed=1)) as curator:
        series = curator.series("visits")
        assert not series.status.is_charged
        assert charges(curator) == 0
        for day in range(1, TICKS + 1):
            assert series.tick(FIRST + timedelta(days=day)) == 1
        assert charges(curator) == 1
        assert curator.remaining.epsilon == 9
        assert series.tick() == 0
        assert series.status.released == TICKS
        assert series.status.next_at is None
        curator.ledger.verify()
        assert curator.incidents() == ()


def test_twenty_charts_of_a_year_of_days_are_twenty_charges() -> None:
    declared = [
        series_of(
            name=f"chart {number}",
            question=f"SELECT COUNT(*) AS n FROM visits WHERE cost < {number}",  # noqa: S608 - ours
            ticks=365,
            epsilon=0.5,
            first=datetime(2025, 1, 6),
        )
        for number in range(20)
    ]
    with opened(visits(100, seed=2), *declared) as curator:
        for day in (7, 8, 180, 365):
            for each in curator.all_series():
                each.tick(datetime(2025, 1, 6) + timedelta(days=day))
        assert {each.status.released for each in curator.all_series()} == {365}
        assert charges(curator) == 20
        assert curator.remaining.epsilon == 0


@pytest.mark.parametrize("ticks", range(1, 10))
@pytest.mark.parametrize("mechanism", ["auto", "square-root", "buffered-toeplitz", "tree"])
def test_a_series_may_be_short(ticks: int, mechanism: str) -> None:
    with opened(visits(50, seed=1), series_of(ticks=ticks, mechanism=mechanism)) as curator:
        series = curator.series("visits")
        assert series.tick(END) == ticks
        assert series.read().released == ticks


def test_nothing_is_charged_before_the_first_tick_has_ended() -> None:
    tomorrow = (datetime.now(UTC) + timedelta(days=1)).date()
    with opened((), series_of(first=tomorrow)) as curator:
        series = curator.series("visits")
        assert series.tick() == 0
        assert charges(curator) == 0
        with pytest.raises(SeriesError, match="No tick of the series visits is released yet"):
            series.read()
        assert series.mechanisms[0].max_deviation > 0


def test_released_ticks_are_the_same_for_ever(tmp_path: Path) -> None:
    ledger = tmp_path / "ledger"
    with opened(visits(200, seed=3), ledger=ledger) as curator:
        series = curator.series("VISITS")
        series.tick(FIRST + timedelta(days=7))
        first = series.read()
        series.tick(FIRST + timedelta(days=12))
        again = series.read()
    with opened(visits(200, seed=99), ledger=ledger) as curator:  # other data, the same ledger
        later = curator.series("visits").read()
    assert again.table.slice(0, first.table.num_rows) == first.table
    assert later.table == again.table


def test_a_series_is_the_same_in_one_go_and_day_by_day() -> None:
    rows = visits(300, seed=4)
    found = []
    for days in ([TICKS], range(1, TICKS + 1)):
        terms: dict[str, Any] = {**DECLARED, "epsilon": 10**6}
        declared = series_of(epsilon=400, delta=0)
        with closing(curator_of(table_of(rows), **terms, series=[declared])) as curator:
            series = curator.series("visits")
            for day in days:
                series.tick(FIRST + timedelta(days=day))
            found.append(np.round(np.array(values(series.read()))))
    assert (found[0] == found[1]).all()  # at this epsilon all noise rounds to nothing


def test_windows_and_single_ticks_are_differences_of_running_totals() -> None:
    with opened(visits(300, seed=5), series_of(mechanism="square-root")) as curator:
        series = curator.series("visits")
        series.tick(END)
        running = np.array(values(series.read())).reshape(TICKS, 2)
        single = np.array(values(series.read("tick"))).reshape(TICKS, 2)
        weeks = np.array(values(series.read("window", window=7))).reshape(TICKS, 2)
        assert np.allclose(single, np.diff(running, axis=0, prepend=0))
        assert np.allclose(weeks[7:], running[7:] - running[:-7])
        assert np.allclose(weeks[:7], running[:7])
        newest = np.array(values(series.read(last=3))).reshape(3, 2)
        assert (newest == running[-3:]).all()


def test_margins_hold_for_as_many_groups_as_they_say() -> None:
    """Of 300 groups without rows, 95 % are within their margin; it fails one time in a million."""
    names = [f"c{number}" for number in range(300)]
    terms = {"values": {"clinic": names}, "question_delta": 1e-7}
    question = "SELECT clinic, COUNT(*) AS n FROM visits GROUP BY clinic"
    for mechanism in ("square-root", "tree", "binary-tree"):
        declared = series_of(question=question, mechanism=mechanism)
        table = table_of(visits(5, seed=0))
        given: dict[str, Any] = {**DECLARED, **terms, "series": [declared]}
        with closing(curator_of(table, seed=7, **given)) as curator:
            series = curator.series("visits")
            series.tick(END)
            for kind in ("running", "tick"):
                read = series.read(kind)
                noise, margin = (
                    np.array(values(read, name)).reshape(TICKS, 300) for name in ("n", "n_margin")
                )
                for day in (0, 6, TICKS - 1):
                    inside = int((np.abs(noise[day]) <= margin[day]).sum())
                    assert binom.cdf(inside, 300, 0.95) > 1e-6
                    assert binom.sf(inside - 1, 300, 0.95) > 1e-7 or inside >= 285


def test_a_series_that_is_too_expensive_charges_nothing() -> None:
    with opened((), series_of(epsilon=11)) as curator:
        with pytest.raises(BudgetError):
            curator.series("visits").tick(END)
        assert charges(curator) == 0
        assert curator.remaining.epsilon == 10


def test_a_series_that_cannot_run_is_rejected_before_it_is_charged() -> None:
    with opened((), series_of(question="SELECT COUNT(*) FROM nowhere")) as curator:
        with pytest.raises(DiscreetError, match="nowhere"):
            curator.series("visits").tick(END)
        assert charges(curator) == 0


CHANGED: dict[str, dict[str, Any]] = {
    "question": {"question": "SELECT clinic, COUNT(*) AS n FROM visits GROUP BY clinic"},
    "clock": {"clock": "week"},
    "ticks": {"ticks": TICKS + 1},
    "epsilon": {"epsilon": 2},
    "rows": {"rows_per_unit": 4},
    "first": {"first": FIRST - timedelta(days=1)},
}


@pytest.mark.parametrize("changed", CHANGED.values(), ids=CHANGED)
def test_a_series_that_was_charged_cannot_become_another(
    tmp_path: Path, changed: dict[str, Any]
) -> None:
    ledger = tmp_path / "ledger"
    with opened(visits(50, seed=6), ledger=ledger) as curator:
        curator.series("visits").tick(FIRST + timedelta(days=3))
    with opened(visits(50, seed=6), series_of(**changed), ledger=ledger) as curator:
        series = curator.series("visits")
        with pytest.raises(SeriesError, match="was charged with another"):
            series.tick(END)
        assert charges(curator) == 1
        assert series.read().released == 3


def test_another_arrival_column_is_another_series(tmp_path: Path) -> None:
    table = table_of(visits(50, seed=6))
    table = table.append_column("later", table.column("arrived"))
    terms: dict[str, Any] = {**DECLARED, "series": [series_of()], "ledger": tmp_path / "ledger"}
    with discreet.open({"visits": table}, **terms) as curator:
        curator.series("visits").tick(FIRST + timedelta(days=3))
    with (
        discreet.open({"visits": table}, **{**terms, "arrival": "later"}) as curator,
        pytest.raises(SeriesError, match="was charged with another"),
    ):
        curator.series("visits").tick(END)


def test_a_public_table_that_changes_makes_another_series(tmp_path: Path) -> None:
    """Its rows decide which rows count; changed daily, they would move a row through all ticks."""
    question = "SELECT COUNT(*) AS n FROM visits v JOIN params p ON v.cost >= p.least"
    terms: dict[str, Any] = {
        **DECLARED,
        "unit": {"visits": "patient"},
        "arrival": {"visits": "arrived"},
        "values": {"visits.clinic": ["north", "south"]},
        "bounds": {"visits.cost": (0, 10)},
        "public": ["params"],
        "series": [series_of(question=question)],
        "ledger": tmp_path / "ledger",
    }
    rows = table_of(visits(50, seed=6))

    def over(*least: int) -> Curator:
        return discreet.open({"visits": rows, "params": pa.table({"least": least})}, **terms)

    with over(3, 5) as curator:
        curator.series("visits").tick(FIRST + timedelta(days=3))
    with over(5, 3) as curator:  # the same rows in another order
        assert curator.series("visits").tick(FIRST + timedelta(days=4)) == 1
    with over(4, 5) as curator, pytest.raises(SeriesError, match="was charged with another"):
        curator.series("visits").tick(END)


def test_what_is_declared_of_other_columns_may_change(tmp_path: Path) -> None:
    ledger, rows = tmp_path / "ledger", visits(50, seed=6)
    plain = series_of(question="SELECT COUNT(*) AS n FROM visits WHERE clinic = 'north'")
    with opened(rows, plain, ledger=ledger) as curator:
        curator.series("visits").tick(FIRST + timedelta(days=3))
    with opened(rows, plain, ledger=ledger, bounds={"cost": (0, 99)}, values={}) as curator:
        assert curator.series("visits").tick(END) == TICKS - 3


def test_a_series_that_was_charged_and_not_saved_cannot_become_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger = tmp_path / "ledger"

    def stopped(*_: Any) -> Any:
        raise KeyboardInterrupt

    with opened(visits(50, seed=6), ledger=ledger) as curator, monkeypatch.context() as patched:
        patched.setattr(curator.ledger, "keep", stopped)
        with pytest.raises(KeyboardInterrupt):
            curator.series("visits").tick(END)
    other = series_of(question=BY_CLINIC.replace("FROM visits", "FROM visits WHERE cost < 9"))
    with (
        opened(visits(50, seed=6), other, ledger=ledger) as curator,
        pytest.raises(SeriesError, match="was charged with another"),
    ):
        curator.series("visits").tick(END)


def test_a_release_that_fails_is_recorded_and_tells_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def failing(*_: Any, **__: Any) -> Any:
        raise OverflowError("the exact count is 4711")

    with opened(visits(50, seed=6)) as curator:
        monkeypatch.setattr(discreet.series.series, "release_ticks", failing)
        with pytest.raises(EngineError) as caught:
            curator.series("visits").tick(END)
        assert "4711" not in str(caught.value)
        assert caught.value.__cause__ is None
        (incident,) = curator.incidents()
        assert incident.failure == "release"
        monkeypatch.undo()
        with pytest.raises(SuspendedError):
            curator.series("visits").tick(END)
        curator.resume("owner")
        assert curator.series("visits").tick(END) == TICKS


def test_a_series_costs_no_less_than_a_query_may() -> None:
    with (
        opened((), series_of(epsilon=0.01), least_epsilon=0.5) as curator,
        pytest.raises(LeastEpsilonError),
    ):
        curator.series("visits").tick(END)


def test_other_values_in_the_catalog_are_another_series(tmp_path: Path) -> None:
    ledger = tmp_path / "ledger"
    with opened(visits(50, seed=6), ledger=ledger) as curator:
        curator.series("visits").tick(FIRST + timedelta(days=3))
    more = {"clinic": ["north", "south", "east"]}
    with (
        opened(visits(50, seed=6), ledger=ledger, values=more) as curator,
        pytest.raises(SeriesError, match="was charged with another"),
    ):
        curator.series("visits").tick(END)


@pytest.mark.parametrize("choice", ["once", "per-query"])
def test_when_rows_of_queries_are_chosen_does_not_matter_to_a_series(
    tmp_path: Path, choice: str
) -> None:
    ledger, rows = tmp_path / "ledger", visits(50, seed=6)
    with opened(rows, ledger=ledger, row_choice="once", rows_per_unit=1) as curator:
        curator.series("visits").tick(FIRST + timedelta(days=3))
    with opened(rows, ledger=ledger, row_choice=choice, rows_per_unit=7) as curator:
        assert curator.series("visits").tick(END) == TICKS - 3


def test_a_series_that_left_the_catalog_can_still_be_read(tmp_path: Path) -> None:
    ledger = tmp_path / "ledger"
    with opened(visits(50, seed=6), ledger=ledger) as curator:
        curator.series("visits").tick(FIRST + timedelta(days=3))
    with opened(visits(50, seed=6), series_of(name="another"), ledger=ledger) as curator:
        assert {each.name for each in curator.all_series()} == {"visits", "another"}
        series = curator.series("visits")
        assert series.read().released == 3
        assert series.status.next_at is None
        with pytest.raises(SeriesError, match="no longer declares"):
            series.tick()


def test_an_unknown_series_gets_the_nearest_name() -> None:
    with opened() as curator, pytest.raises(SeriesError, match="visits"):
        curator.series("visit")


def test_ticks_are_never_released_before_their_time() -> None:
    with opened() as curator:
        edge = timezone(timedelta(hours=14))
        for until in (
            datetime.now(UTC) + timedelta(days=1),
            datetime(1, 1, 1, tzinfo=edge),
            "2026-01-06",
        ):
            with pytest.raises(ParameterError, match="until"):
                curator.series("visits").tick(until)  # type: ignore[arg-type]
        assert charges(curator) == 0


def test_what_is_lost_before_it_is_saved_is_drawn_again_and_nothing_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Stopped at each of its steps, a tick is released once, and the series charged once."""
    for step in ("charge_all", "keep", "keep_tick"):
        for is_after in (False, True):
            ledger = tmp_path / f"{step}-{is_after}"
            with opened(visits(50, seed=6), ledger=ledger) as curator:
                real = getattr(curator.ledger, step)

                def stopped(*given: Any, **named: Any) -> Any:
                    if is_after:  # noqa: B023 - called at once
                        real(*given, **named)  # noqa: B023
                    raise KeyboardInterrupt

                with monkeypatch.context() as patched:
                    patched.setattr(curator.ledger, step, stopped)
                    with pytest.raises(KeyboardInterrupt):
                        curator.series("visits").tick(FIRST + timedelta(days=2))
            with opened(visits(50, seed=6), ledger=ledger) as curator:
                curator.series("visits").tick(FIRST + timedelta(days=4))
                names = Counter(
                    each.question for each in curator.ledger.entries() if each.kind == "answer"
                )
                assert max(names.values()) == 1
                assert charges(curator) == 1
                assert curator.series("visits").read().released == 4
                curator.ledger.verify()


def test_threads_that_tick_at_once_release_each_tick_once() -> None:
    with opened(visits(200, seed=7)) as curator:
        series = [curator.series("visits") for _ in range(6)]
        with ThreadPoolExecutor(6) as pool:
            list(pool.map(lambda each: each.tick(END), series))
        tables = {str(each.read().to_json()) for each in series}
        assert len(tables) == 1
        assert charges(curator) == 1
        curator.ledger.verify()


@pytest.mark.postgresql
def test_rows_that_come_to_a_server_count_at_the_next_tick(tmp_path: Path) -> None:
    """A table of PostgreSQL grows between two ticks."""
    rows = [Visit(patient=n, clinic="north", cost=1, arrived=FIRST) for n in range(500)]
    schema = stored({"visits": table_of(rows)})
    terms: dict[str, Any] = {**DECLARED, "epsilon": 10**6, "row_choice": "per-query"}
    with discreet.open(
        shared_server(),
        **{**terms, "unit": {f"{schema}.visits": "patient"}, "values": None, "bounds": None},
        series=[series_of(question="SELECT COUNT(*) AS n FROM visits", epsilon=200, delta=0)],
        ledger=tmp_path / "ledger",
    ) as curator:
        series = curator.series("visits")
        series.tick(FIRST + timedelta(days=1))
        with psycopg.connect(shared_server(), autocommit=True) as connection:
            connection.execute(
                f"INSERT INTO {schema}.visits SELECT n, 'north', 1, %s FROM "  # noqa: S608 - ours
                "generate_series(1000, 1299) AS n",
                [FIRST + timedelta(days=1, hours=3)],
            )
        series.tick(FIRST + timedelta(days=2))
        assert np.round(values(series.read())).tolist() == [500, 800]


def test_the_definition_of_a_series_is_stored_and_read_as_it_was() -> None:
    sql = (
        "SELECT clinic, DATE_TRUNC('year', arrived) AS year, COUNT(*) AS n FROM visits WHERE "
        "arrived BETWEEN '2025-01-01' AND '2026-12-31' GROUP BY clinic, year"
    )
    with opened(visits(20, seed=1), series_of(question=sql)) as curator:
        curator.series("visits").tick(END)
        found = curator.ledger.find(charge_name("visits"))
        assert isinstance(found, discreet.ledger.SavedAnswer)
        definition = definition_from_bytes(found.answer)
        assert bytes_from_definition(definition) == found.answer
        assert definition.groups[1] == ("north", datetime(2026, 1, 1))
        table = curator.series("visits").read()
        assert series_table_from_json(table.to_json()) == table


def test_a_released_series_says_what_it_leaves_out() -> None:
    with opened(visits(50, seed=6), series_of(rows_per_tick=1, wait="2 hours")) as curator:
        series = curator.series("visits")
        series.tick(END + timedelta(days=1))
        shown = str(series.read())
        for words in (
            "Counts the first 3 rows of each patient by arrival, at most 1 of one day",
            "from 2026-01-05 on",
            "Left out: rows where patient is NULL.",
            "Values of cost below 0 count as 0",
            "Protects all data of one patient over the whole series",
            "A day is released 2:00:00 after its end",
        ):
            assert words in shown
        assert "<table" in series.read()._repr_html_()


def test_every_row_can_be_a_unit() -> None:
    rows = [Visit(patient=1, clinic="north", cost=1, arrived=FIRST) for _ in range(400)]
    terms: dict[str, Any] = {"unit": "row", "epsilon": 10**6}
    declared = series_of(epsilon=200, delta=0, rows_per_unit=None)
    with opened(rows, declared, **terms) as curator:
        series = curator.series("visits")
        series.tick(FIRST + timedelta(days=1))
        assert np.round(values(series.read())).tolist() == [400, 0]
        assert pa.types.is_timestamp(series.read().table.schema.field("tick").type)
