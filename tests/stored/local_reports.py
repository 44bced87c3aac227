"""What devices send and keep under each local mechanism, with randomness that is replayed."""

import json
from hashlib import sha256
from typing import Any

from discreet.local import (
    BitFlips,
    Client,
    CountMeanSketch,
    Discovery,
    Duchi,
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
    Tally,
    UnaryEncoding,
    fingerprint,
    mechanism_from_json,
    mechanism_to_json,
)
from tests.replay import ReplayableEntropy

RAPPOR = Rappor(bits=32, hashes=2, cohorts=4, f=0.5, p=0.25, q=0.75)

NUMBERS = [0, 3, 6, 3]
REALS = [-1.0, 0.0, 0.25, 2.0]
TEXTS = ["one", "two", "", "three"]
WORDS = ["one", "two", "one", "ten"]

CASES: dict[str, tuple[Any, list[Any]]] = {
    "k-ary": (KaryResponse(epsilon=1, categories=7), NUMBERS),
    "symmetric": (UnaryEncoding.symmetric(epsilon=1, categories=7), NUMBERS),
    "optimised": (UnaryEncoding(epsilon=1, categories=7, form="optimised"), NUMBERS),
    "subset": (SubsetSelection(epsilon=1, categories=7), NUMBERS),
    "hashing": (LocalHashing(epsilon=1, categories=7), NUMBERS),
    "hadamard": (HadamardResponse(epsilon=1, categories=7), NUMBERS),
    "duchi": (Duchi(epsilon=1, bounds=(-1, 2)), REALS),
    "piecewise": (Piecewise(epsilon=1, bounds=(-1, 2)), REALS),
    "hybrid": (Hybrid(epsilon=1, bounds=(-1, 2)), REALS),
    "square wave": (SquareWave(epsilon=1, bounds=(-1, 2), buckets=16), REALS),
    "count mean sketch": (CountMeanSketch(epsilon=1, hashes=4, width=16), TEXTS),
    "hadamard sketch": (HadamardSketch(epsilon=1, hashes=4, width=16), TEXTS),
    "heavy hitters": (HeavyHitters(epsilon=1, alphabet="enotw", length=3), WORDS),
    "rappor": (RAPPOR, TEXTS),
    "discovery": (Discovery(rappor=RAPPOR, alphabet="enotw", length=4), WORDS),
    "bit flips": (BitFlips(epsilon=1, buckets=7, asked=3), NUMBERS),
}
"""Each mechanism, and values that four people hold."""

STATEFUL = ("rappor", "bit flips")
"""Clients that draw something for life and keep their answers."""


def client_of(name: str) -> Any:
    """Return a client; what it draws for life is replayed."""
    return Client(CASES[name][0], entropy=ReplayableEntropy("life"))


def reports(name: str) -> dict[str, Any]:
    """Return all that is sent and kept under a mechanism."""
    mechanism, values = CASES[name]
    entropy = ReplayableEntropy(name)
    client = client_of(name)
    sent = [client.report(each, entropy=entropy) for each in values]
    found: dict[str, Any] = {
        "json": json.loads(mechanism_to_json(mechanism)),
        "fingerprint": fingerprint(mechanism).hex(),
        "reports": [each.hex() for each in sent],
        "tally": tally_of(mechanism, sent),
    }
    keeping = client if name in STATEFUL else Client(Memoized(mechanism))
    if keeping is not client:
        for each in values:
            keeping.report(each, entropy=ReplayableEntropy(f"{name} {each}"))
    return found | {"state": json.loads(keeping.to_json())}


def tally_of(mechanism: Any, sent: list[bytes]) -> str:
    """Return what a server keeps of the reports, as a digest."""
    tally = Tally(mechanism)
    tally.add(b"".join([sent[0], *(each[8:] for each in sent[1:])]))
    return sha256(bytes(tally)).hexdigest()[:32]


def reread(stored: dict[str, Any]) -> Any:
    """Return the mechanism that was stored."""
    return mechanism_from_json(json.dumps(stored["json"]))
