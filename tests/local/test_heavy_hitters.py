"""Heavy hitters: what is found, what is not, and what a report is."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from discreet.errors import ParameterError, ReportError
from discreet.local import Client, HeavyHitters, Reports, Server, heavy_influence
from tests.statistics import FALSE_ALARM, counts_misfit

NAMES = {"google": 4000, "wiki": 3000, "wikipedi": 2000, "a": 1500}


def rare_words(count: int) -> list[str]:
    """Return words that no two people share, and that no prefix of any length makes frequent."""
    letters = "abcdefghijklmnopqrstuvwxyz"
    return [
        "".join(letters[(i * k + k) % 26] for k in (1, 3, 5, 7, 11, 17, 19)) + letters[i // 26 % 26]
        for i in range(count)
    ]


def server_of(mechanism: HeavyHitters, words: list[str]) -> Server[HeavyHitters]:
    server = Server(mechanism)
    server.add(bytes(Client(mechanism).report_many(words)))
    return server


def test_frequent_words_are_found_with_their_counts_and_others_are_not() -> None:
    """A fresh seed finds what nobody holds once in 20 runs, as stated; misses are rarer still."""
    words = [name for name, count in NAMES.items() for _ in range(4 * count)]
    words += rare_words(2000)
    server = server_of(HeavyHitters(epsilon=4), words)
    found = server.estimate()
    assert set(found.words) == set(NAMES)
    for word, count, error in zip(found.words, found.counts, found.standard_errors, strict=True):
        assert abs(count - 4 * NAMES[word]) < 4.9 * error


def test_of_nobody_and_of_rare_words_nothing_is_found() -> None:
    mechanism = HeavyHitters(epsilon=1, length=4, first=1, step=1)
    assert Server(mechanism).estimate().words == ()
    assert server_of(mechanism, ["ab", "cd"]).estimate(confidence=0.999999).words == ()


def test_groups_are_drawn_evenly_whatever_the_word() -> None:
    """A fresh seed cries wolf once in 10⁶; the broken twin leaves the last group half empty."""
    mechanism = HeavyHitters(epsilon=1, length=4, first=2, step=1)
    assert mechanism.lengths == (2, 3, 4)
    rows = Client(mechanism).report_many(["ab"] * 30_000).rows
    groups = np.bincount((rows // mechanism.sketch.reports).astype(np.int64), minlength=3)
    assert counts_misfit(groups, [1 / 3] * 3) > FALSE_ALARM
    assert counts_misfit(groups, [0.4, 0.4, 0.2]) < FALSE_ALARM


def test_a_report_has_the_likelihood_ratio_of_its_sketch() -> None:
    """Group, row and coordinate are drawn without regard to the word; one bit has odds ≤ e^ε."""
    mechanism = HeavyHitters(epsilon=Fraction(3, 2), length=4)
    assert mechanism.epsilon == mechanism.sketch.epsilon == Fraction(3, 2)
    assert mechanism.counters == len(mechanism.lengths) * mechanism.sketch.counters


def test_one_malicious_report_moves_no_count_by_more_than_stated() -> None:
    mechanism = HeavyHitters(epsilon=8, length=2, first=1, step=1, hashes=4, width=64)
    server = server_of(mechanism, ["ab"] * 3000)
    before = server.estimate().counts[0]
    for row in np.split(Client(mechanism).report_many(["xy"] * 40).rows, 40):
        moved = Server.from_bytes(mechanism, bytes(server))
        moved.add(Reports(mechanism, row))
        assert abs(moved.estimate().counts[0] - before) <= heavy_influence(server.tally)


@pytest.mark.parametrize("word", ["toolongword", "Capital", "a b", 5, None, "a\0"])
def test_what_is_no_word_of_the_alphabet_is_refused_and_not_shown(word: Any) -> None:
    with pytest.raises(ParameterError, match="cut them on the device") as caught:
        Client(HeavyHitters(epsilon=1)).report(word)
    assert "given" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("epsilon", 0),
        ("alphabet", "aa"),
        ("alphabet", "a"),
        ("length", 0),
        ("first", 9),
        ("first", 5),
        ("step", 0),
        ("width", 3),
    ],
)
def test_bad_parameters_are_refused_by_name(name: str, value: Any) -> None:
    stated: dict[str, Any] = {"epsilon": 1} | {name: value}
    with pytest.raises(ParameterError, match=name):
        HeavyHitters(**stated)


def test_malformed_reports_are_refused() -> None:
    mechanism = HeavyHitters(epsilon=1, hashes=100)
    good = Client(mechanism).report("abc")
    for bad in (good[:-1], good + b"\0", good[:8] + b"\xff" * (len(good) - 8), b""):
        with pytest.raises(ReportError):
            Server(mechanism).add(bad)
