"""Decoding RAPPOR: counts without bias, errors that hold, no false finds, discovery."""

from fractions import Fraction

import numpy as np
import pytest

from discreet.errors import ParameterError
from discreet.local import Client, Discovery, Rappor, Reports, Server
from discreet.local.sketches import keys_of

STRONG = Rappor(bits=32, hashes=2, cohorts=16, f=0.25, p=0.25, q=0.75)
TRUE = {"apple": 6000, "pear": 4000, "fig": 2500, "plum": 0, "kiwi": 0}


def server_of(mechanism: Rappor, true: dict[str, int]) -> Server[Rappor]:
    server = Server(mechanism)
    texts = [text for text, count in true.items() for _ in range(count)]
    server.add(bytes(Client(mechanism).report_many(texts)))
    return server


def test_counts_have_no_bias_and_the_stated_errors() -> None:
    """A fresh seed cries wolf about once in 10⁶ for each of two claims.

    The broken twin decodes with the chances of another f.
    """
    mechanism = Rappor(bits=16, hashes=1, cohorts=4, f=0.25, p=0.25, q=0.75)
    true = {"apple": 600, "pear": 400, "fig": 200, "nobody": 0}
    trials = 100
    z = []
    for _ in range(trials):
        found = server_of(mechanism, true).estimate(texts=list(true))
        z.append((found.counts - list(true.values())) / found.standard_errors)
    assert np.abs(np.mean(z, axis=0)).max() < 5.2 / np.sqrt(trials)
    # The dispersion is at least 1, and cohorts differ in who is in them.
    assert np.abs(np.std(z, axis=0) - 1).max() < 5.2 / np.sqrt(2 * trials)
    twin = Rappor(bits=16, hashes=1, cohorts=4, f=0.75, p=0.25, q=0.75)
    wrong = Server(twin)
    wrong.tally.counters += server_of(mechanism, true).tally.counters
    wrong.tally.people = 1200
    misread = wrong.estimate(texts=list(true))
    assert misread.counts[0] - 600 > 5.2 * misread.standard_errors[0]


@pytest.mark.parametrize("correction", ["bonferroni", "benjamini-hochberg"])
def test_what_is_held_stands_out_and_what_is_not_does_not(correction: str) -> None:
    """A fresh seed selects something that nobody holds once in 10⁶ runs, as asked for."""
    found = server_of(STRONG, TRUE).estimate(
        texts=list(TRUE), confidence=1 - Fraction(1, 10**6), correction=correction
    )
    assert found.selected.tolist() == [True, True, True, False, False]
    assert found.p_values[:3].max() < 1e-6 < found.p_values[3:].min()


def test_more_texts_than_bits_are_decoded_by_non_negative_least_squares() -> None:
    """A fresh seed selects something that nobody holds about once in 10⁶ runs."""
    texts = [*TRUE, *(f"other{i}" for i in range(600))]
    found = server_of(STRONG, TRUE).estimate(texts=texts, confidence=1 - Fraction(1, 10**6))
    assert {texts[i] for i in np.flatnonzero(found.selected)} == {"apple", "pear", "fig"}
    assert np.isinf(found.standard_errors).any()
    assert abs(found.counts[0] - 6000) < 4.9 * found.standard_errors[0]


def test_texts_that_were_not_listed_do_not_bend_the_counts() -> None:
    unlisted = {f"unlisted{i}": 10 for i in range(500)}
    found = server_of(STRONG, TRUE | unlisted).estimate(texts=list(TRUE))
    assert (np.abs(found.counts - list(TRUE.values())) < 4.9 * found.standard_errors).all()


def test_one_malicious_report_moves_each_count_by_about_its_influence_at_most() -> None:
    server = server_of(STRONG, TRUE)
    before = server.estimate(texts=list(TRUE))
    most = np.zeros(len(TRUE))
    for cohort in range(0, STRONG.cohorts, 5):
        filters = STRONG.filters(keys_of(list(TRUE)), np.full(len(TRUE), cohort))
        for bits in (*filters, *~filters):
            row = np.concatenate([[cohort, 0], np.packbits(bits, bitorder="little")])
            moved = Server.from_bytes(STRONG, bytes(server))
            moved.add(Reports(STRONG, row.astype(np.uint8)[np.newaxis]))
            most = np.maximum(most, np.abs(moved.estimate(texts=list(TRUE)).counts - before.counts))
    assert (most <= 1.1 * before.influence).all()
    assert (most > 0.3 * before.influence).all()


def test_of_nobody_nothing_stands_out() -> None:
    found = Server(STRONG).estimate(texts=["apple", "pear"])
    assert not found.selected.any()


@pytest.mark.parametrize("texts", [[], ["a", "a"], [str(i) for i in range(20_001)]])
def test_bad_lists_of_texts_are_refused(texts: list[str]) -> None:
    with pytest.raises(ParameterError, match="texts must be 1 to"):
        Server(STRONG).estimate(texts=texts)


def test_bad_confidences_are_refused() -> None:
    for confidence in (0, 1, "low"):
        with pytest.raises(ParameterError, match="confidence"):
            Server(STRONG).estimate(texts=["a"], confidence=confidence)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="correction"):
        Server(STRONG).estimate(texts=["a"], correction="holm")


def test_texts_that_nobody_listed_are_discovered() -> None:
    """A fresh seed misses one, or finds one that nobody holds, about once in 10⁴ runs."""
    mechanism = Discovery(STRONG, alphabet="abcdef", length=4)
    texts = ["abcd"] * 20_000 + ["fed"] * 15_000 + ["beef"] * 12_000
    server = Server(mechanism)
    server.add(bytes(Client(mechanism).report_many(texts)))
    found = server.estimate(confidence=1 - Fraction(1, 10**5))
    assert found is not None
    selected = {found.texts[i] for i in np.flatnonzero(found.selected)}
    assert selected == {"abcd", "fed", "beef"}
    assert mechanism.epsilon == STRONG.epsilon
    assert Server(mechanism).estimate() is None


def test_a_discovery_refuses_what_it_cannot_try() -> None:
    with pytest.raises(ParameterError, match="size"):
        Discovery(STRONG, size=4)
    with pytest.raises(ParameterError, match="alphabet"):
        Discovery(STRONG, alphabet="aab")
    with pytest.raises(ParameterError, match="cut them on the device"):
        Client(Discovery(STRONG)).report("Capital")
    with pytest.raises(ParameterError, match="length"):
        Discovery(STRONG, length=1)
