"""What an attack achieved: how often it was right, against how much it had asked."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """After so many questions, so many guesses of so many were right."""

    queries: int
    right: int
    guesses: int

    @property
    def success(self) -> float:
        """The share of guesses that were right."""
        return self.right / self.guesses


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """The success of an attack as it went on.

    `chance` is what guessing without asking achieves; `allowed` is what the target's promise lets
    the best attacker achieve, whatever it does, or None where nothing is promised.
    """

    attack: str
    against: str
    steps: tuple[Step, ...]
    chance: float
    allowed: float | None = None
    refused_after: int | None = None
    """The number of questions after which the target answered no more, if it did."""
