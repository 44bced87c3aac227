"""Two checkouts are timed in turns, and compared by ratio."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks import checkouts
from benchmarks.environments import ROOT
from benchmarks.report import Figure

OLD = Path("old")


def test_checkouts_take_turns_and_are_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    timed: list[Path] = []

    def one_round(checkout: Path, _: float) -> Iterator[tuple[checkouts.Case, str, float]]:
        timed.append(checkout)
        yield ("total", "ours"), "check", 2.0 if checkout == OLD else 3.0

    monkeypatch.setattr(checkouts, "_round", one_round)
    (table,) = checkouts.compared(OLD, rounds=2, seconds=0).tables
    assert timed == [ROOT, OLD, OLD, ROOT]
    assert table.rows == [
        ("total, ours", "check", Figure(2.0), Figure(3.0), Figure(1.5), Figure(1.5))
    ]
