"""Prepared forms: alike on every engine, divided by units alone, whole or not there."""

from math import inf, nan

import pyarrow as pa
import pytest

from discreet.catalog.schema import Kind
from discreet.engines import preparing as embedded
from discreet.engines.postgresql import preparing as on_server
from tests.engines.prepared import FORMS, Contents, Row, catalog_of, faults, table_of, visits

LIMIT = 3

OWN: list[Row] = [(n % 7, "many", [n / 2, nan, None, -0.0][n % 4]) for n in range(12)]
OTHERS: list[Row] = [
    *((n, "few", 1.5) for n in range(2)),
    *((n, "as many", inf) for n in range(LIMIT)),
    *((n, f"u{n % 5}", n / 8) for n in range(40)),
    (30, None, 1.0),
    (31, "", None),
    (32, "É", 7.0),
    (33, "é ", 7.0),
]


def made(engine: str, rows: list[Row], limit: int = LIMIT) -> Contents:
    return FORMS[engine](table_of(rows, pa.string()), catalog_of(visits(Kind.TEXT, limit)))


@pytest.mark.parametrize("engine", FORMS)
@pytest.mark.parametrize("size", [9, 10**6])
def test_no_unit_keeps_more_than_its_limit_and_no_row_is_lost(
    engine: str, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    for each in (embedded, on_server):
        monkeypatch.setattr(each, "PART", size)
    assert faults(made(engine, OWN + OTHERS), OWN + OTHERS, LIMIT) == set()
    assert faults(made(engine, OTHERS, 100), OTHERS, 100) == set()


@pytest.mark.parametrize("engine", FORMS)
def test_units_that_are_equal_are_one_in_every_part(
    engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for each in (embedded, on_server):
        monkeypatch.setattr(each, "PART", 5)
    rows: list[Row] = [(n, [0.0, -0.0, 1.5, nan, 1e300][n % 5], 1.0) for n in range(40)]
    found = FORMS[engine](table_of(rows, pa.float64()), catalog_of(visits(Kind.REAL, LIMIT)))
    whose = [(row[0], row[1], *row[2:]) for row in rows if row[1] == row[1]]
    assert faults(found, whose, LIMIT) == set()


def kept_of_many(engine: str, rows: list[Row]) -> list[Row]:
    return sorted((row for row in made(engine, rows).kept if row[0] == "many"), key=repr)


ORDERS = [OWN + OTHERS, OTHERS + OWN[::-1], OWN, [*OTHERS[:9], *OWN[5:], *OWN[:5], *OTHERS[20:]]]


@pytest.mark.parametrize("engine", FORMS)
def test_which_rows_are_kept_follows_from_the_units_own_alone(engine: str) -> None:
    found = [kept_of_many(engine, each) for each in ORDERS]
    assert all(each == found[0] for each in found)


def test_a_form_that_goes_by_where_rows_stand_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(on_server.Maker, "order", lambda *_: "1")
    found = [kept_of_many("postgresql", each) for each in ORDERS]
    assert any(each != found[0] for each in found)


def test_a_form_whose_parts_share_units_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(on_server, "PART", 17)
    monkeypatch.setattr(on_server, "_part_of", lambda _: 'hashtextextended("amount"::text, 0) & 7')
    assert "a unit keeps too many" in faults(made("postgresql", OWN + OTHERS), OWN + OTHERS, LIMIT)


@pytest.mark.parametrize("engine", FORMS)
def test_units_with_like_rows_do_not_all_keep_the_same_ones(engine: str) -> None:
    rows: list[Row] = [(n, f"unit {unit}", 0.5) for unit in range(40) for n in range(6)]
    numbers = [row[1] for row in made(engine, rows).kept]
    assert set(numbers) == set(range(6))
    assert max(map(numbers.count, range(6))) < 40
