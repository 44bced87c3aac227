"""Suppression of small counts, as statistical offices do it. Differencing undoes it."""

from dataclasses import dataclass
from math import inf

from discreet.attacks.answering import AlteredTarget, ExactTarget
from discreet.attacks.people import People
from discreet.attacks.targets import Target
from discreet.parameters import whole


@dataclass(frozen=True, slots=True, kw_only=True)
class Suppressed:
    """Answers with exact counts, and with 0 in place of counts below `least`."""

    least: int = 5
    name: str = "suppressed"
    epsilon: float | None = None
    spread: float = 0.0
    is_fixed: bool = True

    def __post_init__(self) -> None:
        whole("least", self.least, least=1)

    def guard(self, people: People) -> Target:
        return AlteredTarget(ExactTarget(people), lambda _, exact: self._shown(exact))

    def surprise(self, answer: float, exact: int) -> float:
        return 0.0 if answer == self._shown(exact) else inf

    def _shown(self, exact: float) -> float:
        return exact if exact >= self.least else 0.0
