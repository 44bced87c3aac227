"""Odd values in odd places: rejected in one sentence, and by no error of another kind."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from discreet.errors import CollectionError, DiscreetError, ParameterError
from discreet.local import (
    BitFlips,
    Client,
    Collector,
    Discovery,
    Duchi,
    HadamardSketch,
    HeavyHitters,
    KaryResponse,
    Memoized,
    Rappor,
    Reports,
    Server,
    SquareWave,
    Tally,
    channel,
    choose,
    mechanism_from_json,
    mechanism_to_json,
    memoized_price,
    rappor_price,
)
from discreet.mechanisms import Exponential, Extreme, NoisyMax, Quantile, RandomizedResponse, Sparse

ODD: list[Any] = [
    None,
    [],
    (),
    [[]],
    {},
    "",
    b"xx",
    "\ud800",
    5,
    -1,
    1.5,
    float("nan"),
    float("inf"),
    10**400,
    True,
    [None],
    ["a"],
    [[1], [1, 2]],
    (1, 2, 3),
    object(),
    np.array([]),
    np.array(3),
    np.array([None]),
    np.datetime64("2026-01-01"),
    1j,
    {1, 2},
    Fraction(1, 3),
    KaryResponse,
]

KARY = KaryResponse(epsilon=1, categories=4)
RAPPOR = Rappor()
QUANTILE, EXTREME = Quantile(epsilon=1, fraction=0.5), Extreme(epsilon=1, end="max")
RESPONSE, CHOICE = RandomizedResponse(epsilon=1), Exponential(epsilon=1, sensitivity=1)


def not_callable(odd: Any) -> Any:
    return None if callable(odd) else odd


CALLS: dict[str, Callable[[Any], object]] = {
    "quantile of cells": lambda odd: QUANTILE.release(odd, [1], 10),
    "quantile of counts": lambda odd: QUANTILE.release([0], odd, 10),
    "quantile on a grid": lambda odd: QUANTILE.release([0], [1], odd),
    "law of a quantile": lambda odd: QUANTILE.distribution(odd, [1], 10),
    "extreme": lambda odd: EXTREME.release(odd, [1], 10),
    "law of an extreme": lambda odd: EXTREME.distribution(odd, [1], 10),
    "response": RESPONSE.release,
    "law of a response": RESPONSE.distribution,
    "error of a response": lambda odd: RESPONSE.margin(0.9, people=odd),
    "choice by something": lambda odd: CHOICE.choose([1, 2], not_callable(odd)),
    "choice among something": lambda odd: CHOICE.choose(odd, lambda _: 1),
    "error of a choice": lambda odd: CHOICE.margin(0.9, candidates=odd),
    "error of a maximum": lambda odd: NoisyMax(epsilon=1, sensitivity=1).margin(
        0.9, candidates=odd
    ),
    "sparse answers": lambda odd: Sparse(epsilon=1, sensitivity=1, threshold=0, answers=odd),
    "client": Client,
    "report": Client(KARY).report,
    "reports": Client(KARY).report_many,
    "numeric client": Client,
    "numeric report": Client(Duchi(epsilon=1)).report,
    "wave client": Client,
    "wave report": Client(SquareWave(epsilon=1)).report,
    "sketch client": Client,
    "sketch reports": Client(HadamardSketch(epsilon=1)).report_many,
    "heavy client": Client,
    "heavy report": Client(HeavyHitters(epsilon=1)).report,
    "heavy reports": Client(HeavyHitters(epsilon=1)).report_many,
    "rappor client": Client,
    "rappor report": Client(RAPPOR).report,
    "rappor reports": Client(RAPPOR).report_many,
    "discovery client": Client,
    "discovery report": Client(Discovery(RAPPOR)).report,
    "discovery reports": Client(Discovery(RAPPOR)).report_many,
    "flip client": Client,
    "flip report": Client(BitFlips(epsilon=1, buckets=4)).report,
    "memoized": Memoized,
    "memoized answer": lambda odd: Client(Memoized(KARY)).report(odd),
    "memoized state": lambda odd: Client.from_json(Memoized(KARY), odd),
    "rappor state": lambda odd: Client.from_json(RAPPOR, odd),
    "flip state": lambda odd: Client.from_json(BitFlips(epsilon=1, buckets=4), odd),
    "price of rounds": lambda odd: memoized_price(epsilon=1, rounds=odd),
    "price of values": lambda odd: memoized_price(epsilon=1, rounds=3, values=odd),
    "price of a filter": lambda odd: rappor_price(odd, rounds=3),
    "choice for people": lambda odd: choose(1, 4, odd),
    "tally": Tally,
    "counts": lambda odd: Tally.from_bytes(KARY, odd),
    "merged": lambda odd: Tally(KARY).merge(odd),
    "server": Server,
    "merged servers": lambda odd: Server(KARY).merge(odd),
    "counts of a server": lambda odd: Server.from_bytes(KARY, odd),
    "rows": lambda odd: Reports(KARY, odd),
    "joined": lambda odd: Reports.join(KARY, odd),
    "channel": channel,
    "description": mechanism_from_json,
    "described": mechanism_to_json,
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS.keys())
def test_an_odd_value_is_refused_in_a_sentence(call: Callable[[Any], object]) -> None:
    """What is accepted is fine; what is not is refused by an error of ours."""
    sentences = []
    for odd in ODD:
        try:
            call(odd)
        except DiscreetError as error:
            sentences.append(str(error))
    assert len(sentences) > len(ODD) / 2
    assert all(each.endswith(".") for each in sentences)


def test_a_collection_refuses_odd_values_and_counts_nothing(tmp_path: Path) -> None:
    report = Client(KARY).report(1)
    with Collector.create(tmp_path / "c.db", KARY, least_people=1) as collector:
        for batch in (None, 5, "ab", [None], [()], [("a",)], [("a", report, "c")], ["ab"], {1: 2}):
            with pytest.raises(CollectionError, match="pairs of an id and a report"):
                collector.add_many(batch)  # type: ignore[arg-type]
        with pytest.raises(CollectionError, match="pairs"):
            collector.add_many([("good", report), ("a", report, "c")])  # type: ignore[list-item]
        for odd in ODD:
            with pytest.raises(DiscreetError):
                collector.add(odd, report_id="id")
        assert collector.people == 0
    for path in (None, 5, b"c.db", "\ud800"):
        with pytest.raises(ParameterError, match="path must be the path of a file"):
            Collector(path)  # type: ignore[arg-type]
    for odd in ODD:
        with pytest.raises(DiscreetError):
            Collector.create(tmp_path / "new.db", odd)
    assert not (tmp_path / "new.db").exists()


@pytest.mark.parametrize(
    "damage",
    ["DELETE FROM collection", "UPDATE collection SET mechanism = x'00'"],
)
def test_a_collection_that_lost_its_row_says_so(tmp_path: Path, damage: str) -> None:
    Collector.create(tmp_path / "c.db", KARY).close()
    with closing(sqlite3.connect(tmp_path / "c.db")) as connection:
        connection.execute(damage)
        connection.commit()
    with pytest.raises(CollectionError, match="This collection is damaged"):
        Collector(tmp_path / "c.db")


def test_a_collection_that_loses_its_row_while_it_is_open_says_so(tmp_path: Path) -> None:
    with Collector.create(tmp_path / "c.db", KARY) as collector:
        with closing(sqlite3.connect(tmp_path / "c.db")) as connection:
            connection.execute("DELETE FROM collection")
            connection.commit()
        with pytest.raises(CollectionError, match="This collection is damaged"):
            collector.add(Client(KARY).report(1), report_id="id")
        with pytest.raises(CollectionError, match="This collection is damaged"):
            collector.tally()
