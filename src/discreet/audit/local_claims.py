"""Every local randomizer as a subject: the reports of a device, for two values it may hold.

Sketches and filters are small, so every possible report occurs often. The hash functions are
public, so an attacker sees no more than the audit does.
"""

from collections.abc import Iterator
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from discreet.audit.subjects import AuditCase, Outputs, Subject, SubjectKind, subjects_of
from discreet.local import (
    BitFlips,
    Client,
    CountMeanSketch,
    Discovery,
    Duchi,
    FrequencyOracle,
    HadamardResponse,
    HadamardSketch,
    HeavyHitters,
    Hybrid,
    KaryResponse,
    LocalHashing,
    Memoized,
    Piecewise,
    Rappor,
    SquareWave,
    SubsetSelection,
    UnaryEncoding,
    shuffled_epsilon,
)
from discreet.local.sketches import columns, keys_of, seeds

EPSILONS = (Fraction(1), Fraction(3))


DELTA = Fraction(1, 50)


CATEGORIES = 6


ROUNDS = 3


MANY, FEW = 50_000, 4_000


def subjects() -> tuple[Subject, ...]:
    """Return every local randomizer as a subject."""
    return subjects_of(cases(), SubjectKind.LOCAL)


def cases() -> Iterator[AuditCase]:
    """Yield every local randomizer with two values that a person may hold."""
    for epsilon in EPSILONS:
        yield from _oracles(epsilon)
        yield from _sketches(epsilon)
        yield from _numbers(epsilon)
        yield from _over_time(epsilon)
    yield from _filters()
    yield from _shuffled()


def _oracles(epsilon: Fraction) -> Iterator[AuditCase]:
    add = partial(AuditCase, here=0, there=1, draw=_supported, runs=MANY)
    for make in (KaryResponse, SubsetSelection, LocalHashing, HadamardResponse):
        mechanism: Any = make(epsilon=epsilon, categories=CATEGORIES)
        yield add(mechanism=mechanism)
    symmetric = UnaryEncoding.symmetric(epsilon=epsilon, categories=CATEGORIES)
    optimised = UnaryEncoding.optimized(epsilon=epsilon, categories=CATEGORIES)
    yield add(mechanism=symmetric, what="symmetric")
    yield add(mechanism=optimised, what="optimised")


def _sketches(epsilon: Fraction) -> Iterator[AuditCase]:
    here, there = _apart(8)
    bits = CountMeanSketch(epsilon=epsilon, hashes=1, width=8)
    signs = HadamardSketch(epsilon=epsilon, hashes=1, width=8)
    words = HeavyHitters(
        epsilon=epsilon, alphabet="ab", length=2, first=2, step=1, hashes=1, width=8
    )
    yield AuditCase(mechanism=bits, here=here, there=there, draw=_sketched, runs=MANY)
    yield AuditCase(mechanism=signs, here=here, there=there, draw=_sketched, runs=MANY)
    yield AuditCase(mechanism=words, here="aa", there="bb", draw=_heavy, runs=MANY)


def _numbers(epsilon: Fraction) -> Iterator[AuditCase]:
    for make in (Duchi, Piecewise, Hybrid):
        mechanism: Any = make(epsilon=epsilon)
        yield AuditCase(mechanism=mechanism, here=-1.0, there=1.0, draw=_numeric, runs=MANY)
    wave = SquareWave(epsilon=epsilon, buckets=16)
    yield AuditCase(mechanism=wave, here=0.0, there=1.0, draw=_wave, runs=MANY)


def _over_time(epsilon: Fraction) -> Iterator[AuditCase]:
    """Yield cases in which several rounds of one value cost as much as one: reports are reused."""
    flips = BitFlips(epsilon=epsilon, buckets=4, asked=2)
    kary = KaryResponse(epsilon=epsilon, categories=CATEGORIES)
    rounds = f"{ROUNDS} rounds"
    yield AuditCase(mechanism=flips, here=0, there=1, draw=_flips, runs=MANY)
    yield AuditCase(
        mechanism=flips,
        here=(0,) * ROUNDS,
        there=(1,) * ROUNDS,
        draw=kept_flips,
        runs=FEW,
        what=rounds,
    )
    yield AuditCase(
        mechanism=kary,
        here=(0,) * ROUNDS,
        there=(1,) * ROUNDS,
        draw=kept_answers,
        runs=FEW,
        what=f"answers kept, {rounds}",
    )
    yield from _returning(epsilon)


def _returning(epsilon: Fraction) -> Iterator[AuditCase]:
    """Yield cases with values that return: they cost as much as the number of different values."""
    kary = KaryResponse(epsilon=epsilon / 2, categories=CATEGORIES)
    flips = BitFlips(epsilon=epsilon / 2, buckets=3, asked=3)
    add = partial(AuditCase, epsilon=epsilon, here=(0, 1, 0), runs=FEW)
    yield add(mechanism=kary, there=(2, 3, 2), draw=kept_answers, what="a value returns")
    yield add(mechanism=flips, there=(1, 2, 1), draw=kept_flips, what="a state returns")


def _filters() -> Iterator[AuditCase]:
    here, there = _apart(8)
    for f in (Fraction(1, 4), Fraction(3, 4)):
        rappor = Rappor(bits=8, hashes=1, cohorts=1, f=f)
        found = Discovery(rappor, alphabet="ab", length=2, size=1)
        share = f"f = {float(f)}"
        later = rappor.epsilon_after(ROUNDS)
        add = partial(AuditCase, here=here, there=there)
        yield add(mechanism=rappor, draw=_filter, runs=MANY, what=share)
        yield add(
            mechanism=rappor,
            epsilon=later,
            draw=_filters_over_time,
            runs=FEW,
            what=f"{share}, {ROUNDS} rounds",
        )
        yield AuditCase(
            mechanism=found, here="aa", there="bb", draw=_discovered, runs=MANY, what=share
        )
    bare = Rappor(bits=8, hashes=1, cohorts=1, f=Fraction(3, 4), p=0, q=1)
    yield AuditCase(
        mechanism=bare,
        epsilon=2 * bare.permanent,
        here=(here, there, here),
        there=(there, here, there),
        draw=kept_filters,
        runs=FEW,
        what="a text returns",
    )


def _shuffled() -> Iterator[AuditCase]:
    """Yield cases of shuffled reports, in which only the number of ones is visible."""
    response = KaryResponse.binary(epsilon=3)
    for people in (10, 100):
        price = shuffled_epsilon(epsilon=3, delta=DELTA, people=people)
        yield AuditCase(
            mechanism=response,
            epsilon=Fraction(price),
            delta=DELTA,
            here=(0, people),
            there=(1, people),
            draw=ones_of_all,
            runs=MANY // 2,
            what=f"{people} people shuffled",
        )


def ones_of_all(mechanism: KaryResponse, held: tuple[int, int], count: int) -> Outputs:
    """Return how many people reported 1, if one person holds this value and all others hold 0."""
    value, people = held
    values = np.zeros((count, people), np.int64)
    values[:, 0] = value
    rows = Client(mechanism).report_many(values.reshape(-1)).rows
    ones: Outputs = rows.astype(np.int64).reshape(count, people).sum(axis=1)
    return ones


def _supported(mechanism: FrequencyOracle, value: int, count: int) -> Outputs:
    """Return the values that each report supports, and the report itself if it is one number."""
    rows = Client(mechanism).report_many(np.full(count, value)).rows
    supported = mechanism.supports(rows)[:, :CATEGORIES].astype(np.int64)
    if rows.ndim > 1:
        return supported
    return np.column_stack([supported, rows.astype(np.int64)])


def _sketched(mechanism: CountMeanSketch | HadamardSketch, text: str, count: int) -> Outputs:
    rows = Client(mechanism).report_many([text] * count).rows
    return rows if rows.ndim == 1 else np.unpackbits(rows[:, 2:].astype(np.uint8), axis=1)


def _heavy(mechanism: HeavyHitters, word: str, count: int) -> Outputs:
    return Client(mechanism).report_many([word] * count).rows


def _numeric(mechanism: Any, value: float, count: int) -> Outputs:
    return Client(mechanism).report_many(np.full(count, value)).rows


def _wave(mechanism: SquareWave, value: float, count: int) -> Outputs:
    return Client(mechanism).report_many(np.full(count, value)).rows


def _flips(mechanism: BitFlips, bucket: int, count: int) -> Outputs:
    return Client(mechanism).report_many(np.full(count, bucket)).rows


def kept_flips(mechanism: BitFlips, history: tuple[int, ...], count: int) -> Outputs:
    """Return the reports of devices that are in these buckets, round by round."""
    clients = (Client(mechanism) for _ in range(count))
    return [tuple(client.report(bucket) for bucket in history) for client in clients]


def kept_answers(mechanism: KaryResponse, history: tuple[int, ...], count: int) -> Outputs:
    """Return reports with memoization, of people who hold these values round by round."""
    clients = (Client(Memoized(mechanism)) for _ in range(count))
    return [tuple(client.report(value) for value in history) for client in clients]


def kept_filters(mechanism: Rappor, history: tuple[str, ...], count: int) -> Outputs:
    """Return eight bits of each round, and whether the last round equals each earlier one."""
    clients = (Client(mechanism) for _ in range(count))
    sent = b"".join(client.report(text)[-1:] for client in clients for text in history)
    rounds = np.frombuffer(sent, np.uint8).reshape(count, len(history))
    bits = np.unpackbits(rounds, axis=1)
    return np.column_stack([bits, rounds[:, :-1] == rounds[:, -1:]])


def _filter(mechanism: Rappor, text: str, count: int) -> Outputs:
    rows = Client(mechanism).report_many([text] * count).rows
    return np.unpackbits(rows[:, 2:].astype(np.uint8), axis=1)


def _filters_over_time(mechanism: Rappor, text: str, count: int) -> Outputs:
    """Return how often each bit was set, over all rounds of one person."""
    found = []
    for _ in range(count):
        client = Client(mechanism)
        sent = [client.report(text)[-1:] for _ in range(ROUNDS)]
        found.append(np.unpackbits(np.frombuffer(b"".join(sent), np.uint8).reshape(-1, 1), axis=1))
    times: Outputs = np.array(found).sum(axis=1)
    return times


def _discovered(mechanism: Discovery, text: str, count: int) -> Outputs:
    rows = Client(mechanism).report_many([text] * count).rows
    bits = np.unpackbits(rows[:, 3:].astype(np.uint8), axis=1)
    return np.column_stack([rows[:, 0].astype(np.int64), bits])


def _apart(width: int) -> tuple[str, str]:
    """Return two texts that the hash of the first family and row sends to different places."""
    texts = [chr(ord("a") + each) for each in range(26)]
    places = columns(keys_of(texts), seeds(0, 1)[np.zeros(26, np.int64)], width)
    other = int(np.flatnonzero(places != places[0])[0])
    return texts[0], texts[other]
