"""Facts for a first catalog, found privately: what is found, what it costs, where it is charged."""

from collections.abc import Iterator
from fractions import Fraction
from functools import partial
from pathlib import Path

import pytest

from discreet.catalog import Bounds, Column, Kind
from discreet.catalog.toml import PrivateFacts, TableDraft, draft
from discreet.curator import Curator
from discreet.errors import ParameterError
from discreet.ledger import SqliteLedger
from discreet.opening import open as opening
from discreet.opening import open_data
from discreet.opening.private_draft import TOTAL_DELTA, find_all, shares_by_need
from tests.coverage.flights import flights
from tests.replay import ReplayableEntropy

ROWS = 3000

HEADER = "patient_id,visit_id,age,cost,day,region,note,insured"


def row(number: int) -> str:
    region = ["north", "south", "", "east"][number % 4]
    return (
        f"{number},{number},{18 + number % 70},{1 + number % 200}.5,2024-{1 + number % 12:02}-15,"
        f"{region},note {number},{'true' if number % 3 else 'false'}"
    )


@pytest.fixture(scope="module", autouse=True)
def replayed() -> Iterator[None]:
    """Let all noise follow from a seed: else one run in a thousand would find too much."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(opening, "Curator", partial(Curator, entropy=ReplayableEntropy(1)))
        yield


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("data") / "visits.csv"
    place.write_text("\n".join([HEADER, *map(row, range(ROWS))]) + "\n", encoding="utf-8")
    return place


@pytest.fixture(scope="module")
def found(data: Path) -> PrivateFacts:
    return find_all(
        data, "visits", "patient_id", epsilon=50, total_epsilon=100, ledger=ledger_of(data)
    )


def ledger_of(data: Path) -> Path:
    return data.with_name("discreet.ledger")


def test_bounds_of_numbers_and_times_and_few_texts_are_found(found: PrivateFacts) -> None:
    by_name = {each.name: each for each in found.columns}
    assert by_name["age"].bounds == Bounds(low=Fraction(16), high=Fraction(128))
    cost, day = by_name["cost"].bounds, by_name["day"].bounds
    assert isinstance(cost, Bounds)
    assert isinstance(day, Bounds)
    assert cost == Bounds(low=Fraction(1), high=Fraction(256))
    assert day.high - day.low == 365
    assert by_name["region"].values == ("east", "north", "south")
    assert by_name["region"].nulls is True


def test_texts_of_many_values_and_what_tells_things_apart_are_left_out(found: PrivateFacts) -> None:
    assert {each.name for each in found.columns} == {"age", "cost", "day", "region"}


def test_all_of_it_is_charged_to_the_ledger_that_the_catalog_will_use(
    data: Path, found: PrivateFacts
) -> None:
    assert found.epsilon == 50
    assert found.delta == TOTAL_DELTA / 10
    ledger = SqliteLedger.existing(ledger_of(data))
    charged = ledger.charged()
    ledger.close()
    # A quarter is for rows of units; age, cost, day, region and note divided the rest.
    assert charged.epsilon == 50
    assert charged.delta == TOTAL_DELTA / 10


def test_the_same_again_is_free(data: Path, found: PrivateFacts) -> None:
    told: list[tuple[str, int, int]] = []
    again = find_all(
        data,
        "visits",
        "patient_id",
        epsilon=50,
        total_epsilon=100,
        ledger=ledger_of(data),
        progress=lambda *step: told.append(step),
    )
    assert again == found
    names = ["age", "cost", "day", "region", "note"]
    assert told == [(name, i, len(names)) for i, name in enumerate(names)]


def test_the_drafted_catalog_goes_on_with_the_same_books(data: Path, found: PrivateFacts) -> None:
    names = HEADER.split(",")
    kinds = [Kind.INTEGER] * 3 + [Kind.REAL, Kind.DATE, Kind.TEXT, Kind.TEXT, Kind.BOOLEAN]
    columns = tuple(Column(name=n, kind=kind) for n, kind in zip(names, kinds, strict=True))
    text = draft(
        TableDraft(
            name="visits", source="visits.csv", columns=columns, unit="patient_id", found=found
        )
    )
    catalog = data.with_name("discreet.toml")
    catalog.write_text(text.replace("epsilon = 1.0", "epsilon = 100"), encoding="utf-8")
    with open_data(catalog) as curator:
        assert curator.remaining.epsilon == 50
        again = curator.coverage("visits", epsilon=Fraction(50, 4), columns=())
        assert again.from_ledger
        assert curator.remaining.epsilon == 50
        assert (
            len(curator.ask("SELECT region, AVG(cost) FROM visits GROUP BY region", epsilon=1)) == 4
        )


def test_where_nothing_stands_out_nothing_is_told(tmp_path: Path) -> None:
    place = tmp_path / "few.csv"
    place.write_text("x,s\n1,a\n2,b\n", encoding="utf-8")
    found = find_all(place, "few", "row", epsilon=0.5, ledger=tmp_path / "few.ledger")
    assert (found.columns, found.epsilon, found.delta) == ((), Fraction(1, 2), TOTAL_DELTA / 10)
    assert [each.partition(";")[0] for each in found.reports] == [
        "x: nothing",
        "s: no list of at most 50 values",
    ]


def test_without_a_delta_no_lists_of_keys_are_sought(tmp_path: Path) -> None:
    place = tmp_path / "texts.csv"
    place.write_text("s,id\na,1\n", encoding="utf-8")
    found = find_all(place, "texts", "row", epsilon=0.5, delta=0, ledger=tmp_path / "t.ledger")
    assert found == PrivateFacts(columns=(), epsilon=Fraction(0))


def test_more_than_the_whole_budget_is_refused_before_anything_is_opened(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="at most the total budget"):
        find_all("absent.csv", "t", "row", epsilon=2, ledger=tmp_path / "t.ledger")
    with pytest.raises(ParameterError, match="delta"):
        find_all("absent.csv", "t", "row", epsilon=1, delta=1e-5, ledger=tmp_path / "t.ledger")
    assert not (tmp_path / "t.ledger").exists()


# --------------------------------------------------------------------------- flights


@pytest.fixture(scope="module")
def planes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write flights with thirteen more columns, most of them of no use."""
    place = tmp_path_factory.mktemp("planes") / "flights.csv"
    table = flights().copy()
    for number in range(6):
        table[f"whole{number}"] = table["distance"] % (7 + number)
        table[f"text{number}"] = table["tailnum"] + str(number)
    table.to_csv(place, index=False)
    return place


def test_a_value_of_a_third_of_all_flights_is_not_lost(planes: Path) -> None:
    """Divided equally over 16 columns, with ten rows of each plane, JFK was not found."""
    found = find_all(
        planes, "flights", "tailnum", epsilon=0.5, ledger=planes.with_name("one.ledger")
    )
    by_name = {each.name: each for each in found.columns}
    assert by_name["origin"].values == ("EWR", "JFK", "LGA")
    assert found.rows_per_unit is not None
    assert 400 <= found.rows_per_unit <= 1024
    assert found.reports[0].startswith(f"rows_per_unit: {found.rows_per_unit}, about ")
    assert "best for COUNT(*) at ε = 0.1" in found.reports[0]
    assert found.reports[1].startswith("origin: 3 values; what fewer than about ")


def test_the_owner_names_columns_and_each_gets_more(planes: Path) -> None:
    named = find_all(
        planes,
        "flights",
        "tailnum",
        epsilon=0.5,
        ledger=planes.with_name("two.ledger"),
        columns=["carrier", "ORIGIN"],
    )
    by_name = {each.name: each for each in named.columns}
    assert set(by_name) == {"carrier", "origin"}
    assert len(by_name["carrier"].values or ()) == 16
    for wrong in ("absent", "tailnum"):
        with pytest.raises(ParameterError, match="columns"):
            find_all(
                planes,
                "flights",
                "tailnum",
                epsilon=0.5,
                ledger=planes.with_name("three.ledger"),
                columns=[wrong],
            )


def test_epsilon_is_divided_by_need() -> None:
    kinds = [Kind.TEXT, Kind.INTEGER, Kind.DATE]
    parts = shares_by_need(kinds, Fraction(1, 10**7))
    assert sum(parts) == 1
    tighter = shares_by_need(kinds, Fraction(1, 10**12))
    assert tighter[0] > parts[0]
    assert parts[2] >= parts[1]
