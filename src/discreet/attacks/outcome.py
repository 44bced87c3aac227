"""What an attack achieved: how often it was right, against how much it had asked."""

from dataclasses import dataclass, replace
from math import exp, expm1

from discreet.binomial import probability_at_least, probability_at_most
from discreet.plots import Plot, Success, plot_success

CONFIDENCE = 0.95


def most_success(epsilon: float, *, delta: float = 0.0, distance: int = 1) -> float:
    """Return how often anyone, whatever they do, can guess which of two databases was asked.

    The databases are as likely as each other, and `distance` steps from neighbour to neighbour
    apart. By group privacy what is seen is (E, D)-private for the two, E = distance · epsilon and
    D = delta (e^E - 1) / (e^epsilon - 1), and then the best guess is right with chance
    (e^E + D) / (1 + e^E) at most (Kairouz, Oh, Viswanath 2015, Theorem 2.1: no two laws are farther
    apart than those of randomized response that gives itself away with chance D).

    For one person's bit, all else known, the distance is 2 where neighbours have one person more
    or less, and 1 where they replace one; for membership under the former it is 1.
    """
    group = min(distance * epsilon, 700.0)
    grown = delta * (expm1(group) / expm1(min(epsilon, 700.0)) if epsilon > 0 else distance)
    return min(1.0, (1.0 + grown * exp(-group)) / (1.0 + exp(-group)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Axis:
    """What success is shown against."""

    label: str
    one: str
    many: str

    def phrase(self, number: int) -> str:
        """Return how a sentence speaks of so many."""
        return self.one if number == 1 else self.many.format(f"{number:,}".replace(",", " "))


QUESTIONS = Axis(label="questions asked", one="after 1 question", many="after {} questions")
TOGETHER = Axis(label="people in the group", one="about 1 person", many="about {} people together")


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """After so many questions, so many guesses of so many were right.

    `allowed` is said where the promise is not the same for all steps.
    """

    queries: int
    right: int
    guesses: int
    allowed: float | None = None

    @property
    def success(self) -> float:
        """The share of guesses that were right."""
        return self.right / self.guesses

    @property
    def interval(self) -> tuple[float, float]:
        """The shares that 95 % of such tries are compatible with (Clopper, Pearson 1934).

        As if guesses were independent.
        """
        tail = (1 - CONFIDENCE) / 2
        low = probability_at_least(self.right, self.guesses, tail)
        return low, probability_at_most(self.right, self.guesses, tail)


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
    epsilon: float | None = None
    """What the target promised, if it did."""
    axis: Axis = QUESTIONS
    """What the steps count."""

    @property
    def answered(self) -> tuple[Step, ...]:
        """The steps up to the last answer; what was asked beyond it changed nothing."""
        if self.refused_after is None or self.steps[-1].queries <= self.refused_after:
            return self.steps
        before = [each for each in self.steps if each.queries < self.refused_after]
        return (*before, replace(self.steps[len(before)], queries=self.refused_after))

    @property
    def last(self) -> Step:
        """What was achieved in the end."""
        return self.answered[-1]

    @property
    def verdict(self) -> str:
        """One sentence: what was achieved with how many questions, against chance and promise."""
        last = self.last
        low, high = last.interval
        gone = "" if self.refused_after is None else ", when it answered no more"
        return (
            f"{self.attack} against {self.against}: {self.axis.phrase(last.queries)}{gone}, "
            f"{_percent(last.success)} of {last.guesses} guesses were right "
            f"(95 % interval {_percent(low)} to {_percent(high)}), "
            f"where chance gives {_percent(self.chance)} and {self._promise()}."
        )

    def _promise(self) -> str:
        if self.allowed is None:
            return "nothing is promised"
        promised = "its promise" if self.epsilon is None else f"ε = {self.epsilon:g}"
        return f"{promised} allows {_percent(self.allowed)} at most"

    def to_dict(self) -> dict[str, object]:
        """Return everything as plain values, for JSON."""
        return {
            "attack": self.attack,
            "against": self.against,
            "verdict": self.verdict,
            "success": self.last.success,
            "chance": self.chance,
            "allowed": self.allowed,
            "epsilon": self.epsilon,
            "refused_after": self.refused_after,
            "steps": [
                {
                    "queries": each.queries,
                    "right": each.right,
                    "guesses": each.guesses,
                    "success": each.success,
                    "interval": list(each.interval),
                }
                for each in self.steps
            ],
        }

    def plot(self) -> Plot:
        """Draw success against the number of questions, with chance and what is allowed."""
        return plot_outcomes([self])


def plot_outcomes(
    outcomes: "list[Outcome] | tuple[Outcome, ...]",
    *,
    title: str | None = None,
) -> Plot:
    """Draw outcomes of one attack against several targets, or of several attacks, as lines."""
    lines = [
        Success(
            name=each.against,
            places=tuple(step.queries for step in each.answered),
            shares=tuple(step.success for step in each.answered),
            intervals=tuple(step.interval for step in each.answered),
            allowed=each.allowed,
            limits=tuple(step.allowed for step in each.steps if step.allowed is not None),
            ends=each.refused_after is not None,
        )
        for each in outcomes
    ]
    first = outcomes[0]
    named = title or (first.attack if outcomes[1:] else f"{first.attack} against {first.against}")
    return plot_success(lines, chance=first.chance, title=named, at=first.axis.label)


def _percent(share: float) -> str:
    return f"{100 * share:.3g} %"
