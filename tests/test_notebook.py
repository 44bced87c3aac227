"""What a notebook shows: tables, budgets, and errors in one sentence."""

from fractions import Fraction

import pyarrow as pa
import pytest

import discreet
from discreet.amounts import Balance, Price
from discreet.catalog import Catalog
from discreet.curator import Curator

COUNT = "SELECT COUNT(*) AS n FROM visits"


class Printed:
    """Takes the texts that IPython would print."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def text(self, obj: str) -> None:
        self.texts.append(obj)


def printed(shown: object) -> str:
    """Return what IPython prints: it looks for the method in the class itself, before a repr."""
    printer = Printed()
    vars(type(shown))["_repr_pretty_"](shown, printer, cycle=False)
    return "".join(printer.texts)


@pytest.fixture
def curator() -> Curator:
    data = pa.table({"who": [1, 2], "<b>cost": [3, 4]})
    return discreet.open({"visits": data}, unit="who", rows_per_unit=2, epsilon=3, delta=1e-6)


def test_what_remains_is_shown_as_amounts(curator: Curator) -> None:
    assert printed(curator.remaining) == "ε = 3 of 3, δ = 1e-6 of 1e-6"
    assert printed(Price(epsilon=Fraction(1, 2))) == "ε = 0.5"
    assert isinstance(curator.remaining, Balance)


def test_a_catalog_is_shown_as_its_tables(curator: Curator) -> None:
    assert isinstance(curator.catalog, Catalog)
    assert printed(curator.catalog) == (
        "visits: each who, at most 2 rows\n  who, <b>cost\nTotal budget: ε = 3, δ = 1e-06"
    )
    shown = curator.catalog._repr_html_()
    assert "<td" in shown
    assert "&lt;b&gt;cost" in shown
    assert "<b>" not in shown


def test_a_curator_and_an_account_are_shown_as_tables_and_what_remains(curator: Curator) -> None:
    assert "Remaining: ε = 3 of 3" in curator._repr_html_()
    assert ">each who, at most 2 rows</td>" in curator._repr_html_()
    account = curator.on_account("owner")
    assert "Account: owner · Remaining: ε = 3 of 3" in account._repr_html_()


def test_an_error_is_one_sentence_and_keeps_its_traceback(curator: Curator) -> None:
    with pytest.raises(discreet.DiscreetError) as caught:
        curator.ask(COUNT.replace("visits", "visit"), epsilon=1)
    (shown,) = caught.value._render_traceback_()
    assert shown == f"{type(caught.value).__name__}: {caught.value}"
    assert "Traceback" not in shown
    assert caught.value.__traceback__ is not None
