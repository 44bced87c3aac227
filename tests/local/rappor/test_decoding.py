"""Decoding RAPPOR: counts without bias, errors that hold, nothing that is not there, discovery."""

import numpy as np
import pytest

from discreet.errors import ParameterError
from discreet.local.rappor import Discovery, DiscoveryClient, Rappor, RapporClient
from discreet.local.rappor.decoding import decode
from discreet.local.rappor.finding import discover
from discreet.local.reports import Reports
from discreet.local.sketches.hashing import keys_of
from discreet.local.tallies import Tally

STRONG = Rappor(bits=32, hashes=2, cohorts=16, f=0.25, p=0.25, q=0.75)
TRUE = {"apple": 6000, "pear": 4000, "fig": 2500, "plum": 0, "kiwi": 0}


def tally_of(mechanism: Rappor, true: dict[str, int]) -> Tally[Rappor]:
    tally = Tally(mechanism)
    texts = [text for text, count in true.items() for _ in range(count)]
    tally.add(bytes(RapporClient(mechanism).report_many(texts)))
    return tally


def test_counts_have_no_bias_and_the_stated_errors() -> None:
    """A fresh seed cries wolf about once in 10⁶ for each of two claims.

    The broken twin decodes with the chances of another f.
    """
    mechanism = Rappor(bits=16, hashes=1, cohorts=4, f=0.25, p=0.25, q=0.75)
    true = {"apple": 600, "pear": 400, "fig": 200, "nobody": 0}
    trials = 100
    z = []
    for _ in range(trials):
        found = decode(tally_of(mechanism, true), list(true))
        z.append((found.counts - list(true.values())) / found.standard_errors)
    assert np.abs(np.mean(z, axis=0)).max() < 5.2 / np.sqrt(trials)
    # The dispersion is at least 1, and cohorts differ in who is in them.
    assert np.abs(np.std(z, axis=0) - 1).max() < 5.2 / np.sqrt(2 * trials)
    twin = Rappor(bits=16, hashes=1, cohorts=4, f=0.75, p=0.25, q=0.75)
    wrong = Tally(twin)
    wrong.cells += tally_of(mechanism, true).cells
    wrong.people = 1200
    misread = decode(wrong, list(true))
    assert misread.counts[0] - 600 > 5.2 * misread.standard_errors[0]


@pytest.mark.parametrize("correction", ["bonferroni", "benjamini-hochberg"])
def test_what_is_held_stands_out_and_what_is_not_does_not(correction: str) -> None:
    """A fresh seed selects something that nobody holds once in 10⁶ runs, as asked for."""
    found = decode(tally_of(STRONG, TRUE), list(TRUE), level=1e-6, correction=correction)
    assert found.selected.tolist() == [True, True, True, False, False]
    assert found.p_values[:3].max() < 1e-6 < found.p_values[3:].min()


def test_more_texts_than_bits_are_decoded_by_non_negative_least_squares() -> None:
    """A fresh seed selects something that nobody holds about once in 10⁶ runs."""
    texts = [*TRUE, *(f"other{i}" for i in range(600))]
    found = decode(tally_of(STRONG, TRUE), texts, level=1e-6)
    assert {texts[i] for i in np.flatnonzero(found.selected)} == {"apple", "pear", "fig"}
    assert np.isinf(found.standard_errors).any()
    assert abs(found.counts[0] - 6000) < 4.9 * found.standard_errors[0]


def test_texts_that_were_not_listed_do_not_bend_the_counts() -> None:
    unlisted = {f"unlisted{i}": 10 for i in range(500)}
    found = decode(tally_of(STRONG, TRUE | unlisted), list(TRUE))
    assert (np.abs(found.counts - list(TRUE.values())) < 4.9 * found.standard_errors).all()


def test_one_malicious_report_moves_each_count_by_about_its_influence_at_most() -> None:
    tally = tally_of(STRONG, TRUE)
    before = decode(tally, list(TRUE))
    most = np.zeros(len(TRUE))
    for cohort in range(0, STRONG.cohorts, 5):
        filters = STRONG.filters(keys_of(list(TRUE)), np.full(len(TRUE), cohort))
        for bits in (*filters, *~filters):
            row = np.concatenate([[cohort, 0], np.packbits(bits, bitorder="little")])
            moved = Tally.from_bytes(STRONG, bytes(tally))
            moved.add(Reports(STRONG, row.astype(np.uint8)[np.newaxis]))
            most = np.maximum(most, np.abs(decode(moved, list(TRUE)).counts - before.counts))
    assert (most <= 1.1 * before.influence).all()
    assert (most > 0.3 * before.influence).all()


def test_of_nobody_nothing_stands_out() -> None:
    found = decode(Tally(STRONG), ["apple", "pear"])
    assert not found.selected.any()


@pytest.mark.parametrize("texts", [[], ["a", "a"], [str(i) for i in range(20_001)]])
def test_bad_lists_of_texts_are_refused(texts: list[str]) -> None:
    with pytest.raises(ParameterError, match="texts must be 1 to"):
        decode(Tally(STRONG), texts)


def test_bad_levels_are_refused() -> None:
    for level in (0, 1, "low"):
        with pytest.raises(ParameterError, match="level"):
            decode(Tally(STRONG), ["a"], level=level)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="correction"):
        decode(Tally(STRONG), ["a"], correction="holm")


def test_texts_that_nobody_listed_are_discovered() -> None:
    """A fresh seed misses one, or finds one that nobody holds, about once in 10⁴ runs."""
    mechanism = Discovery(STRONG, alphabet="abcdef", length=4)
    texts = ["abcd"] * 20_000 + ["fed"] * 15_000 + ["beef"] * 12_000
    tally = Tally(mechanism)
    tally.add(bytes(DiscoveryClient(mechanism).report_many(texts)))
    found = discover(tally, level=1e-5)
    assert found is not None
    selected = {found.texts[i] for i in np.flatnonzero(found.selected)}
    assert selected == {"abcd", "fed", "beef"}
    assert mechanism.epsilon == STRONG.epsilon
    assert discover(Tally(mechanism)) is None


def test_a_discovery_refuses_what_it_cannot_try() -> None:
    with pytest.raises(ParameterError, match="size"):
        Discovery(STRONG, size=4)
    with pytest.raises(ParameterError, match="alphabet"):
        Discovery(STRONG, alphabet="aab")
    with pytest.raises(ParameterError, match="cut them on the device"):
        DiscoveryClient(Discovery(STRONG)).report("Capital")
    with pytest.raises(ParameterError, match="length"):
        Discovery(STRONG, length=1)
