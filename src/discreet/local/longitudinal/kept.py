"""Permanent answers: the first report about a value is kept, and sent again whenever it is held."""

from fractions import Fraction
from hashlib import blake2b
from typing import Generic, Protocol, Self, TypeVar, cast

import numpy as np

from discreet.errors import ParameterError
from discreet.local.base import Mechanism
from discreet.local.histories import Histories, price_of_kept
from discreet.local.states import kept_report, state_from_json, state_to_json
from discreet.noise import SYSTEM, Entropy

Value_contra = TypeVar("Value_contra", contravariant=True)
Value = TypeVar("Value")


class OneReport(Protocol[Value_contra]):
    """A client that makes one person's report."""

    @property
    def mechanism(self) -> Mechanism:
        """What the reports are made by."""
        ...

    def report(self, value: Value_contra, /, *, entropy: Entropy = SYSTEM) -> bytes:
        """Return one person's report, ready to be sent."""
        ...


class KeptAnswers(Generic[Value]):
    """One person's client that answers the same value always the same.

    Two histories that hold equal values in the same rounds are told apart by epsilon for each
    different value, however many rounds. Other pairs are not protected: which rounds hold the same
    value shows, because they have the same answer. So a value that returns, as in 0, 1, 0, is told
    from one that is new, as in 0, 1, 2 (proof: `discreet.local.histories`).

    The state must be kept on the device (`to_json`) and must stay there: it tells the values to
    those who guess them, and a client that forgets it pays anew.
    """

    def __init__(self, client: OneReport[Value]) -> None:
        if not callable(getattr(client, "report", None)) or not hasattr(client, "mechanism"):
            raise ParameterError("client", client, "must be a client, such as Client(mechanism)")
        self.client = client
        self._kept: dict[str, bytes] = {}

    def __repr__(self) -> str:
        return f"KeptAnswers({self.client.mechanism!r})"

    def report(self, value: Value, *, entropy: Entropy = SYSTEM) -> bytes:
        """Return the report about this value: drawn the first time, the same ever after."""
        name = _name(value)
        if name not in self._kept:
            self._kept[name] = self.client.report(value, entropy=entropy)
        return self._kept[name]

    @property
    def price(self) -> Fraction:
        """What all rounds so far cost: epsilon for each different value.

        It holds for two histories that hold equal values in the same rounds (`price_for` any two).
        """
        return self.client.mechanism.epsilon * len(self._kept)

    def price_for(self, histories: Histories) -> Fraction | float:
        """Return what all rounds so far cost, for these pairs of histories of as many values."""
        return price_of_kept(self.client.mechanism.epsilon, len(self._kept), histories)

    def to_json(self) -> str:
        """Return the state, for the device to keep."""
        kept = {name: report.hex() for name, report in self._kept.items()}
        return state_to_json(self.client.mechanism, {"kept": kept})

    @classmethod
    def from_json(cls, client: OneReport[Value], state: str) -> Self:
        """Return the client whose state this is, or refuse it."""
        found = cls(client)
        with state_from_json(client.mechanism, state) as told:
            for name, report in cast("dict[str, str]", told["kept"]).items():
                found._kept[name] = kept_report(client.mechanism, report)
        return found


def _name(value: object) -> str:
    """Return a digest of a value; 7, 7.0 and np.int64(7) are one value, and True is 1."""
    plain = value.item() if isinstance(value, np.generic) else value
    if isinstance(plain, bool) or (isinstance(plain, float) and plain.is_integer()):
        plain = int(plain)
    return blake2b(f"{type(plain).__name__} {plain!r}".encode(), digest_size=16).hexdigest()
