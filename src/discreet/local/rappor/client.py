"""RAPPOR on a person's device: permanent bits are drawn once and kept, reports are drawn anew."""

from collections.abc import Sequence
from fractions import Fraction
from typing import Self, cast

import numpy as np

from discreet.local.base import Rows, check_mechanism
from discreet.local.draws import coins
from discreet.local.rappor.mechanism import Rappor
from discreet.local.reports import Reports
from discreet.local.sketches.count_mean import PIECE
from discreet.local.sketches.hashing import keys_of
from discreet.local.states import state_from_json, state_to_json
from discreet.noise import SYSTEM, Entropy, uniform_integers
from discreet.noise.uniform import BoolArray, IntArray
from discreet.parameters import whole


class RapporClient:
    """One person's half: a cohort for life, and permanent bits for each text that was reported.

    The state must be kept (`to_json`) and must stay on the device: it tells the texts to those who
    guess them, and a client that forgets it pays for the permanent bits anew. Which rounds hold the
    same text shows as far as the fresh noise does not hide it (`Rappor.epsilon_of_any`).
    """

    def __init__(
        self, mechanism: Rappor, *, cohort: int | None = None, entropy: Entropy = SYSTEM
    ) -> None:
        check_mechanism(mechanism, "cohorts", "filters", rule="must be a Rappor")
        self.mechanism = mechanism
        drawn = uniform_integers(mechanism.cohorts, entropy=entropy) if cohort is None else cohort
        self.cohort = whole("cohort", drawn, least=0, most=mechanism.cohorts - 1)
        self._permanent: dict[int, BoolArray] = {}

    def __repr__(self) -> str:
        return f"RapporClient({self.mechanism!r})"

    def report(self, text: str, *, entropy: Entropy = SYSTEM) -> bytes:
        """Return a report of the text, ready to be sent."""
        key, cohort = int(keys_of([text])[0]), np.array([self.cohort])
        if key not in self._permanent:
            filters = self.mechanism.filters(np.array([key], np.uint64), cohort)
            self._permanent[key] = permanent_bits(self.mechanism, filters, entropy)
        rows = instant_rows(self.mechanism, self._permanent[key], cohort, entropy)
        return bytes(Reports(self.mechanism, rows))

    def report_many(self, texts: Sequence[str], *, entropy: Entropy = SYSTEM) -> Reports:
        """Return the first report of each of many people, with cohorts of their own."""
        return Reports(self.mechanism, first_rows(self.mechanism, texts, entropy))

    @property
    def price(self) -> Fraction:
        """What all that was reported costs at most: the permanent price for each text.

        It holds for two histories that hold equal texts in the same rounds, however many rounds.
        """
        return self.mechanism.permanent * len(self._permanent)

    def to_json(self) -> str:
        """Return the state, for the device to keep."""
        kept = {f"{key:016x}": _hex(bits) for key, bits in self._permanent.items()}
        return state_to_json(self.mechanism, {"cohort": self.cohort, "permanent": kept})

    @classmethod
    def from_json(cls, mechanism: Rappor, state: str) -> Self:
        """Return the client whose state this is, or refuse it."""
        with state_from_json(mechanism, state) as told:
            client = cls(mechanism, cohort=cast("int", told["cohort"]))
            for key, bits in cast("dict[str, str]", told["permanent"]).items():
                found = np.frombuffer(bytes.fromhex(bits), np.uint8)
                unpacked = np.unpackbits(found, bitorder="little").astype(np.bool_)
                client._permanent[int(key, 16)] = unpacked.reshape(1, mechanism.bits)
        return client


def permanent_bits(mechanism: Rappor, filters: BoolArray, entropy: Entropy) -> BoolArray:
    """Replace each bit by a fair coin with chance f: flip it with chance f / 2."""
    flips = coins(mechanism.f / 2, filters.size, entropy)
    return np.asarray(filters ^ flips.reshape(filters.shape))


def instant_rows(
    mechanism: Rappor, permanent: BoolArray, cohorts: IntArray, entropy: Entropy
) -> Rows:
    """Return a report of each row of permanent bits, with fresh noise."""
    ones = coins(mechanism.q, permanent.size, entropy).reshape(permanent.shape)
    zeros = coins(mechanism.p, permanent.size, entropy).reshape(permanent.shape)
    sent = np.packbits(np.where(permanent, ones, zeros), axis=1, bitorder="little")
    named = cohorts.astype("<u2").view(np.uint8).reshape(len(cohorts), 2)
    return np.concatenate([named, sent], axis=1)


def first_rows(mechanism: Rappor, texts: Sequence[str], entropy: Entropy) -> Rows:
    """Return the first report of each of many people."""
    keys = keys_of(texts)
    rows = mechanism.row.empty(len(keys))
    piece = max(1, PIECE // mechanism.bits)
    for start in range(0, len(keys), piece):
        part = keys[start : start + piece]
        cohorts = uniform_integers(mechanism.cohorts, len(part), entropy=entropy)
        permanent = permanent_bits(mechanism, mechanism.filters(part, cohorts), entropy)
        rows[start : start + piece] = instant_rows(mechanism, permanent, cohorts, entropy)
    return rows


def _hex(bits: BoolArray) -> str:
    return np.packbits(bits, bitorder="little").tobytes().hex()
