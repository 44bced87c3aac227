"""The success of an attack: how often it guessed correctly, by number of queries."""

from dataclasses import dataclass, replace
from math import exp, expm1

from discreet.binomial import probability_at_least, probability_at_most
from discreet.plots import Plot, Success, plot_success

CONFIDENCE = 0.95


def most_success(epsilon: float, *, delta: float = 0.0, distance: int = 1) -> float:
    """Return the highest probability with which any attacker can tell two databases apart.

    Both databases are equally likely, and `distance` steps between neighbours lie between them. By
    group privacy the output is (E, D)-differentially private for the two, with E = distance ·
    epsilon and D = delta (e^E - 1) / (e^epsilon - 1). The best guess is then right with probability
    at most (e^E + D) / (1 + e^E) (Kairouz, Oh, Viswanath 2015, Theorem 2.1: no two such
    distributions are farther apart than those of randomized response that reveals its input with
    probability D).

    To guess one person's bit, with everything else known, the distance is 2 for add-remove
    neighbours and 1 for replace neighbours. To guess membership under add-remove, it is 1.
    """
    group = min(distance * epsilon, 700.0)
    grown = delta * (expm1(group) / expm1(min(epsilon, 700.0)) if epsilon > 0 else distance)
    return min(1.0, (1.0 + grown * exp(-group)) / (1.0 + exp(-group)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Axis:
    """The horizontal axis of a plot of success."""

    label: str
    one: str
    many: str

    def phrase(self, number: int) -> str:
        """Return this number as part of a sentence."""
        return self.one if number == 1 else self.many.format(f"{number:,}")


QUESTIONS = Axis(label="queries", one="after 1 query", many="after {} queries")
TOGETHER = Axis(label="people in the group", one="for 1 person", many="for {} people together")


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """How many guesses were right after a number of queries.

    `allowed` is set where the highest success that epsilon allows differs between steps.
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
        """The 95% confidence interval of the share of right guesses (Clopper, Pearson 1934).

        It assumes that guesses are independent.
        """
        tail = (1 - CONFIDENCE) / 2
        low = probability_at_least(self.right, self.guesses, tail)
        return low, probability_at_most(self.right, self.guesses, tail)


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """The success of an attack after each number of queries.

    `chance` is the success of random guessing. `allowed` is the highest success that the target's
    guarantee allows any attacker, or None if the target guarantees nothing.
    """

    attack: str
    against: str
    steps: tuple[Step, ...]
    chance: float
    allowed: float | None = None
    refused_after: int | None = None
    """The number of queries after which the target stopped answering, or None if it did not."""
    epsilon: float | None = None
    """The epsilon that the target guarantees, or None if it guarantees nothing."""
    axis: Axis = QUESTIONS
    """The quantity that the steps count."""

    @property
    def answered(self) -> tuple[Step, ...]:
        """The steps up to the last answer. Queries after it were not answered."""
        if self.refused_after is None or self.steps[-1].queries <= self.refused_after:
            return self.steps
        before = [each for each in self.steps if each.queries < self.refused_after]
        return (*before, replace(self.steps[len(before)], queries=self.refused_after))

    @property
    def last(self) -> Step:
        """The last step."""
        return self.answered[-1]

    @property
    def verdict(self) -> str:
        """Sentences that compare the success with random guessing and with what ε allows."""
        last = self.last
        low, high = last.interval
        reached = self.axis.phrase(last.queries)
        stopped = "" if self.refused_after is None else "the target stopped answering "
        after = f"{stopped}{reached}. The" if stopped else f"{reached}, the"
        return (
            f"{self.attack[:1].upper()}{self.attack[1:]} against {self.against}: {after} attack "
            f"guessed {_percent(last.success)} of {last.guesses:,} secrets correctly "
            f"(95% interval {_percent(low)} to {_percent(high)}). "
            f"Random guessing gives {_percent(self.chance)}; {self._promise()}."
        )

    def _promise(self) -> str:
        if self.allowed is None:
            return f"{self.against} guarantees nothing"
        promised = "its guarantee" if self.epsilon is None else f"ε = {self.epsilon:g}"
        return f"{promised} allows at most {_percent(self.allowed)}"

    def to_dict(self) -> dict[str, object]:
        """Return the outcome as plain values, for JSON."""
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
        """Plot success by number of queries, with random guessing and the limit by epsilon."""
        return plot_outcomes([self])


def plot_outcomes(
    outcomes: "list[Outcome] | tuple[Outcome, ...]",
    *,
    title: str | None = None,
) -> Plot:
    """Plot the outcomes of one attack against several targets, or of several attacks."""
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
    return f"{100 * share:.3g}%"
