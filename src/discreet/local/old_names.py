"""Classes and functions of version 0.1 whose arguments differ from those of today.

They are loaded by their old names only, with a DeprecationWarning (`discreet.deprecated`).
"""

from collections.abc import Sequence
from typing import Any, Protocol, Self, TypeVar, cast

from discreet.errors import ParameterError
from discreet.local.bit_flips import BitFlipEstimates, BitFlips
from discreet.local.client import Client, SavedAnswers, state_from_json
from discreet.local.estimates import Correction, RapporEstimates
from discreet.local.heavy_hitters import FoundWords, HeavyHitters, Sketch, SketchEstimates
from discreet.local.means import MeanEstimate, MeanMechanism
from discreet.local.mechanism import Mechanism, check_mechanism
from discreet.local.rappor import Discovery, PermanentBits, Rappor
from discreet.local.reports import Tally
from discreet.local.server import Server
from discreet.local.sketches import Word
from discreet.local.square_wave import Histogram, SquareWave
from discreet.noise import SYSTEM, Entropy
from discreet.parameters import Real, rational

Kind = TypeVar("Kind", bound=Mechanism)

INSTEAD = {
    "KeptAnswers": "discreet.local.Client(discreet.local.Memoized(mechanism))",
    "RapporClient": "discreet.local.Client(mechanism)",
    **dict.fromkeys(
        (
            "decode",
            "discover",
            "estimate_buckets",
            "estimate_mean",
            "estimate_words",
            "find_words",
            "reconstruct",
        ),
        "discreet.local.Server(mechanism).estimate",
    ),
}
"""What to write in place of each."""


class OneReport(Protocol):
    """A client of one person."""

    @property
    def mechanism(self) -> Mechanism:
        """The mechanism of its reports."""
        ...

    def report(self, value: Any, /, *, entropy: Entropy = SYSTEM) -> bytes:
        """Return one report."""
        ...


class KeptAnswers(Client[Mechanism]):
    """`Client(Memoized(mechanism))`, made from a client."""

    __slots__ = ("client",)

    def __init__(self, client: OneReport) -> None:
        if not callable(getattr(client, "report", None)) or not hasattr(client, "mechanism"):
            raise ParameterError("client", client, "must be a client, such as Client(mechanism)")
        self.client = client
        self.mechanism = client.mechanism
        self.memory = _AnswersOfClient(client)

    @classmethod
    def from_json(cls, client: Any, text: str) -> Self:
        """Return the client with a saved state, or reject the state."""
        found = cls(client)
        with state_from_json(client.mechanism, text) as state:
            found.memory.read(state)
        return found


class _AnswersOfClient(SavedAnswers):
    def __init__(self, client: OneReport) -> None:
        super().__init__(client.mechanism)
        self.client = client

    def first_report(self, value: object, entropy: Entropy) -> bytes:
        """Return a report of the client that was given."""
        return self.client.report(value, entropy=entropy)


class RapporClient(Client[Rappor]):
    """`Client(Rappor(…))` that can be given its cohort."""

    __slots__ = ()

    def __init__(
        self, mechanism: Rappor, *, cohort: int | None = None, entropy: Entropy = SYSTEM
    ) -> None:
        check_mechanism(mechanism, "cohorts", "filters", rule="must be a Rappor")
        super().__init__(mechanism, entropy=entropy)
        if cohort is not None:
            self.memory = PermanentBits(mechanism, cohort=cohort)

    @property
    def cohort(self) -> int:
        """The cohort of this device."""
        return cast("PermanentBits", self.memory).cohort


def _server(tally: Tally[Kind]) -> Server[Kind]:
    server = Server(tally.mechanism)
    server.tally = tally
    return server


def estimate_mean(tally: Tally[MeanMechanism], *, confidence: Real = 0.95) -> MeanEstimate:
    """`Server.estimate` of a mean."""
    return _server(tally).estimate(confidence=confidence)


def reconstruct(
    tally: Tally[SquareWave],
    *,
    smooth: bool | None = None,
    resamples: int = 0,
    entropy: Entropy = SYSTEM,
) -> Histogram:
    """`Server.estimate` of a square wave."""
    server = _server(tally)
    return server.estimate(smooth=smooth, resamples=resamples, entropy=entropy)


def estimate_words(
    tally: Tally[Sketch], words: Sequence[Word], *, confidence: Real = 0.95
) -> SketchEstimates:
    """`Server.estimate` of a sketch."""
    return _server(tally).estimate(words=words, confidence=confidence)


def find_words(
    tally: Tally[HeavyHitters], *, confidence: Real = 0.95, most: int = 64
) -> FoundWords:
    """`Server.estimate` of heavy hitters."""
    return _server(tally).estimate(confidence=confidence, most=most)


def estimate_buckets(tally: Tally[BitFlips], *, confidence: Real = 0.95) -> BitFlipEstimates:
    """`Server.estimate` of bit flips."""
    return _server(tally).estimate(confidence=confidence)


def decode(
    tally: Tally[Rappor],
    texts: Sequence[str],
    *,
    level: Real = 0.05,
    correction: Correction | str = Correction.BONFERRONI,
) -> RapporEstimates:
    """`Server.estimate` of RAPPOR; level is 1 - confidence."""
    confidence = 1 - rational("level", level, above=0, below=1)
    return _server(tally).estimate(texts=texts, confidence=confidence, correction=correction)


def discover(
    tally: Tally[Discovery], *, level: Real = 0.05, candidates: int = 2_000
) -> RapporEstimates | None:
    """`Server.estimate` of a discovery; level is 1 - confidence."""
    confidence = 1 - rational("level", level, above=0, below=1)
    return _server(tally).estimate(confidence=confidence, candidates=candidates)
