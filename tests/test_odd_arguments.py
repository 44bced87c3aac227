"""Odd arguments of the public interface are refused in one sentence, never by a raw exception."""

from collections.abc import Callable, Iterator
from datetime import date
from decimal import Decimal
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import discreet
from discreet import dbapi
from discreet.curator import Curator
from discreet.errors import DiscreetError, ParameterError, SourceError
from discreet.streams import (
    BufferedStream,
    BufferedToeplitz,
    NodeNoise,
    SquareRoot,
    SubtractionTree,
    Tree,
    best_mechanism,
)
from discreet.utility import uniform


class NoRepr:
    """A value that cannot even be shown."""

    def __repr__(self) -> str:
        raise RuntimeError


ODD: list[Any] = [
    None,
    True,
    -1,
    5,
    1.5,
    float("nan"),
    float("inf"),
    10**400,
    Fraction(10) ** 400,
    Decimal("1e999999999"),
    Decimal("sNaN"),
    1j,
    "",
    " ",
    "x",
    "a\0b",
    "\x1b[31m",
    "\ud800",
    "x" * 5000,
    "\n",
    b"x",
    [],
    [None],
    ["x"],
    [["x"]],
    (),
    {},
    {"x": 1},
    {1: "x"},
    {None: None},
    {"spend": None},
    {"a\0b": 1},
    {"x"},
    NoRepr(),
    object(),
    int,
    np.array([1]),
    pa.table({"a": [1]}),
    date(2020, 1, 1),
    iter(()),
    Path(),
    Path("nowhere.csv"),
    "nowhere.toml",
    "[",
]

PEOPLE = pa.table(
    {
        "who": list(range(200)),
        "spend": [each % 50 for each in range(200)],
        "k": ["a", "b"] * 100,
    }
)
COUNT = "SELECT COUNT(*) AS n FROM data"


def wrong(calls: Iterator[tuple[str, Callable[[], object]]]) -> list[str]:
    """Return which calls end otherwise than well or with a refusal in a short sentence."""
    found = []
    for what, call in calls:
        try:
            call()
        except (DiscreetError, dbapi.Error) as error:
            if not str(error).partition("\n")[0].endswith((".", "?")):
                found.append(f"{what}: {error}")
        except Exception as error:  # noqa: BLE001 - what is looked for
            found.append(f"{what}: {type(error).__name__}")
    return found


def named(value: object) -> str:
    return "NoRepr" if isinstance(value, NoRepr) else repr(value)[:40]


@pytest.fixture(scope="module")
def curator() -> Iterator[Curator]:
    with discreet.open(PEOPLE, unit="who", epsilon=10**6, delta=0.1) as opened:
        yield opened


@pytest.mark.parametrize(
    "argument",
    [
        "source",
        "epsilon",
        "delta",
        "unit",
        "bounds",
        "values",
        "step",
        "nulls",
        "types",
        "rows_per_unit",
        "public",
        "neighbours",
        "accounting",
        "name",
        "version",
        "row_choice",
        "disjoint",
        "key",
        "question_delta",
        "least_epsilon",
        "incident_suspends",
        "analysts",
        "memory_limit",
        "threads",
        "timeout",
    ],
)
def test_open_takes_no_odd_argument(
    argument: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    def opened(value: object) -> None:
        given: dict[str, Any] = {"source": PEOPLE, "unit": "who", "epsilon": 1, argument: value}
        if argument == "public":
            del given["unit"]
        discreet.open(given.pop("source"), **given).close()

    assert wrong((named(each), partial(opened, each)) for each in ODD) == []


@pytest.mark.parametrize("ledger", [5, b"x", "", "a\0b", " ", [], Path("a\0b")])
def test_a_ledger_that_has_no_place_is_refused(ledger: Any) -> None:
    with pytest.raises(ParameterError, match="ledger must be the path of a file, or an address"):
        discreet.open(PEOPLE, unit="who", epsilon=1, ledger=ledger)


@pytest.mark.parametrize(
    "frame", [pd.DataFrame(), pl.DataFrame(), pa.table({}), pd.DataFrame(index=[1])]
)
def test_a_frame_without_columns_is_refused(frame: Any) -> None:
    with pytest.raises(
        SourceError, match=r"The table data has no columns\. Give it at least one\."
    ):
        discreet.open(frame, unit="who", epsilon=1)


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame({"who": pd.Series([], dtype="int64")}),
        pl.DataFrame({"who": pl.Series([], dtype=pl.Int64)}),
        pa.table({"who": pa.array([], pa.int64())}),
    ],
)
def test_a_frame_without_rows_is_an_empty_table(frame: Any) -> None:
    with discreet.open(frame, unit="who", epsilon=100) as opened:
        assert opened.ask(COUNT, epsilon=99).rows == [{"n": 0}]


@pytest.mark.parametrize("method", ["ask", "explain"])
@pytest.mark.parametrize(
    "argument",
    ["sql", "epsilon", "delta", "within", "confidence", "find_bounds_of", "row_choice", "account"],
)
def test_a_question_takes_no_odd_argument(curator: Curator, method: str, argument: str) -> None:
    def asked(value: object) -> object:
        given: dict[str, Any] = {"sql": COUNT, "epsilon": 1, argument: value}
        if argument == "within":
            del given["epsilon"]
        return getattr(curator, method)(given.pop("sql"), **given)

    assert wrong((named(each), partial(asked, each)) for each in ODD) == []


def test_no_other_method_of_a_curator_takes_an_odd_argument(curator: Curator) -> None:
    def calls() -> Iterator[tuple[str, Callable[[], object]]]:
        for odd in ODD:
            each: Any = odd
            for what, call in {
                "dialect": lambda each=each: curator.explain(COUNT, epsilon=1, dialect=each),
                "sql_for": lambda each=each: curator.explain(COUNT, epsilon=1, sql_for=each),
                "parameters": lambda each=each: curator.explain(COUNT, epsilon=1, parameters=each),
                "column": lambda each=each: curator.find_bounds(each, epsilon=1),
                "price": lambda each=each: curator.find_bounds("data.spend", epsilon=each),
                "payer": lambda each=each: curator.find_bounds("spend", epsilon=1, account=each),
                "table": lambda each=each: curator.coverage(each, epsilon=1),
                "coverage": lambda each=each: curator.coverage("data", epsilon=each),
                "columns": lambda each=each: curator.coverage("data", epsilon=1, columns=each),
                "name": lambda each=each: curator.on_account(each),
                "token": lambda each=each: curator.as_analyst(each),
                "account": lambda each=each: curator.remaining_of(each),
            }.items():
                yield f"{what} {named(each)}", call

    assert wrong(calls()) == []


def test_no_part_of_the_database_interface_takes_an_odd_argument(
    curator: Curator, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    cursor = dbapi.connect(curator, epsilon=1).cursor()

    def calls() -> Iterator[tuple[str, Callable[[], object]]]:
        for odd in ODD:
            each: Any = odd
            for what, call in {
                "source": lambda each=each: dbapi.connect(each),
                "token": lambda each=each: dbapi.connect(curator, token=each),
                "catalog": lambda each=each: dbapi.connect(curator, catalog=each),
                "epsilon": lambda each=each: dbapi.connect(curator, epsilon=each),
                "delta": lambda each=each: dbapi.connect(curator, delta=each),
                "within": lambda each=each: dbapi.connect(curator, within=each).cursor(),
                "confidence": lambda each=each: dbapi.connect(curator, confidence=each),
                "dialect": lambda each=each: dbapi.connect(curator, dialect=each),
                "intervals": lambda each=each: dbapi.connect(curator, intervals=each),
                "execute": lambda each=each: cursor.execute(each),
                "parameters": lambda each=each: cursor.execute(COUNT, each),
                "for one": lambda each=each: cursor.execute(COUNT, epsilon=each),
                "margin": lambda each=each: cursor.execute(COUNT, within=each),
                "fetchmany": lambda each=each: cursor.execute(COUNT).fetchmany(each),
            }.items():
                yield f"{what} {named(each)}", call

    assert wrong(calls()) == []


def test_no_method_of_an_answer_takes_an_odd_argument(
    curator: Curator, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    answer = curator.ask("SELECT k, COUNT(*) AS n FROM data GROUP BY k", epsilon=1, delta=0.01)
    told, prior, picture = curator.explain(COUNT, epsilon=1), uniform(0, 200), answer.plot()

    def calls() -> Iterator[tuple[str, Callable[[], object]]]:
        for odd in ODD:
            each: Any = odd
            for what, call in {
                "margins_at": lambda each=each: answer.margins_at(each),
                "simultaneous": lambda each=each: answer.margins_at(0.9, simultaneous=each),
                "prior": lambda each=each: answer.best_guess(each, column="n"),
                "column": lambda each=each: answer.best_guess(prior, column=each),
                "plot": lambda each=each: answer.plot(each),
                "save": lambda each=each: picture.save(each),
                "to_arrow": lambda each=each: answer.to_arrow(errors=each),
                "to_pandas": lambda each=each: answer.to_pandas(errors=each),
                "to_polars": lambda each=each: answer.to_polars(errors=each),
                "to_csv": lambda each=each: answer.to_csv(errors=each),
                "path": lambda each=each: answer.to_csv(each),
                "to_json": lambda each=each: answer.to_json(indent=each),
                "to_text": lambda each=each: answer.to_text(width=each),
                "notes": lambda each=each: answer.to_text(notes=each),
                "explanation": lambda each=each: told.to_text(width=each),
                "its JSON": lambda each=each: told.to_json(indent=each),
            }.items():
                yield f"{what} {named(each)}", call

    assert wrong(calls()) == []


def test_the_sentences_say_what_is_meant(curator: Curator) -> None:
    nothing: Any = None
    for call, sentence in (
        (lambda: curator.ask(nothing, epsilon=1), "sql must be the text of a query"),
        (
            lambda: curator.ask(COUNT, epsilon=1, find_bounds_of=nothing),
            'find_bounds_of must be a list of columns, such as ["visits.cost"]',
        ),
        (
            lambda: curator.explain(COUNT, epsilon=1, sql_for=5),  # type: ignore[arg-type]
            "sql_for must be one of bigquery, databricks, snowflake, trino",
        ),
        (
            lambda: discreet.open(PEOPLE, unit="who", epsilon=1, name=""),
            "name must be the name of a table, not empty and without control characters",
        ),
        (
            lambda: discreet.open(PEOPLE, epsilon=1, public=5),  # type: ignore[arg-type]
            "public must be True or a list of tables",
        ),
    ):
        with pytest.raises(DiscreetError) as caught:
            call()
        assert str(caught.value).startswith(sentence)


def test_no_mechanism_for_streams_takes_an_odd_argument() -> None:
    terms: dict[str, Any] = {"ticks": 10, "epsilon": 1}
    shared = ("ticks", "epsilon", "rows_per_unit", "rows_per_tick", "magnitude", "cells")
    makers: dict[Callable[..., Any], tuple[dict[str, Any], tuple[str, ...]]] = {
        SquareRoot: ({"delta": 1e-6}, ("delta",)),
        BufferedToeplitz: (
            {"delta": 1e-6, "decays": [0.5], "weights": [0.5]},
            ("delta", "decays", "weights"),
        ),
        Tree: ({}, ("delta", "arity")),
        SubtractionTree: ({}, ("arity",)),
        best_mechanism: ({}, ("delta",)),
    }
    buffered = BufferedToeplitz(**terms, delta=1e-6, decays=[0.5], weights=[0.5])
    made: list[Any] = [
        SquareRoot(**terms, delta=1e-6),
        buffered,
        Tree(**terms),
        SubtractionTree(**terms),
    ]
    record = [[1], [2]]

    def calls() -> Iterator[tuple[str, Callable[[], object]]]:
        for odd in ODD:
            each: Any = odd
            for make, (given, more) in makers.items():
                for name in (*shared, *more):
                    what = f"{make.__name__} {name} {named(each)}"
                    yield what, partial(make, **(terms | given | {name: each}))
            for one in made:
                mechanism: Any = one
                for what, call in {
                    "release": partial(mechanism.release, each),
                    "since": partial(mechanism.release, record, each),
                    "record": partial(mechanism.running, each),
                    "windows": partial(mechanism.windows, record, each),
                    "numbers_at": partial(mechanism.numbers_at, each),
                    "last": partial(mechanism.deviations, each),
                    "length": partial(mechanism.window_deviations, each),
                    "margins": partial(mechanism.margins, each),
                    "window": partial(mechanism.margins, 0.9, window=each),
                }.items():
                    yield f"{type(mechanism).__name__} {what} {named(each)}", call
            yield f"stream {named(each)}", partial(BufferedStream, each)
            yield f"stream's cells {named(each)}", partial(BufferedStream, buffered, each)
            yield f"step {named(each)}", partial(BufferedStream(buffered).step, each)
            yield f"secrets {named(each)}", partial(made[3].release, record, 1, secrets=each)
            yield f"stored {named(each)}", partial(NodeNoise.from_bytes, each)

    assert wrong(calls()) == []
