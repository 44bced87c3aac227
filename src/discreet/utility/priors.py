"""Priors: exact probabilities of answers or databases before any release."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from itertools import product
from math import comb, lcm

from discreet.errors import ParameterError
from discreet.mechanisms.frozen import settle
from discreet.parameters import Real, rational, whole
from discreet.utility.graphs import Label, labels, wholes


class Belief(Enum):
    """Beliefs that apply to any range."""

    UNIFORM = "uniform"
    """All answers are equally likely."""
    WORST = "worst"
    """No prior: a mechanism is judged by its worst-case answer."""


@dataclass(frozen=True, slots=True, init=False, repr=False)
class Prior:
    """Probabilities that add up to 1, one for each label. Weights are scaled to add up to 1."""

    labels: tuple[Label, ...]
    chances: tuple[Fraction, ...]

    def __init__(self, chances: Mapping[Label, Real] | Sequence[Real]) -> None:
        """Take a probability for each label, or for 0, 1, 2, … if labels are not given."""
        pairs = chances if isinstance(chances, Mapping) else dict(enumerate(chances))
        weights = [rational("prior", each, least=0) for each in pairs.values()]
        total = sum(weights, Fraction(0))
        if total == 0:
            raise ParameterError("prior", "none", "must have a probability above 0")
        settle(self, labels=labels("prior", pairs), chances=tuple(w / total for w in weights))

    def __repr__(self) -> str:
        return f"Prior({len(self.labels)} labels)"

    def __getitem__(self, label: Label) -> Fraction:
        """Return the probability of a label, or 0 if it was not given."""
        return self.chances[self.labels.index(label)] if label in self.labels else Fraction(0)

    def items(self) -> Iterator[tuple[Label, Fraction]]:
        """Yield every label with its probability."""
        return zip(self.labels, self.chances, strict=True)

    def chance(self, holds: Callable[..., bool]) -> Fraction:
        """Return the probability that a condition is true of the label."""
        return sum((p for label, p in self.items() if holds(label)), Fraction(0))

    def mapped(self, answer: Callable[..., Label]) -> "Prior":
        """Return the prior of a function of the label, such as the answer of a database."""
        found: dict[Label, Fraction] = {}
        for label, p in self.items():
            found[answer(label)] = found.get(answer(label), Fraction(0)) + p
        return Prior(found)

    @property
    def weights(self) -> tuple[int, ...]:
        """Integers proportional to the probabilities."""
        common = lcm(*(each.denominator for each in self.chances))
        return tuple(int(each * common) for each in self.chances)


def uniform(low: int, high: int) -> Prior:
    """Return the prior in which all integers from low to high are equally likely."""
    return Prior(dict.fromkeys(wholes(low, high), 1))


def binomial(people: int, chance: Real) -> Prior:
    """Return the prior of a count of people who are each counted with the same probability."""
    n = whole("people", people, least=1)
    p = rational("chance", chance, least=0, most=1)
    return Prior([comb(n, k) * p**k * (1 - p) ** (n - k) for k in wholes(0, n)])


def empirical(public: Iterable[int], low: int, high: int, *, besides: Real = 1) -> Prior:
    """Return the prior from public numbers: the frequency of each, plus `besides`.

    Numbers outside the range are clamped to it. If `besides` is 0, a number that never occurred has
    probability 0, and no answer will change that.
    """
    nodes = wholes(low, high)
    seen: dict[Label, Fraction] = dict.fromkeys(nodes, rational("besides", besides, least=0))
    for each in public:
        seen[min(max(whole("public", each), nodes[0]), nodes[-1])] += 1
    return Prior(seen)


def independent(*chances: Real) -> Prior:
    """Return the prior of people who each have a property (1) or not (0), independently."""
    own = [rational("chances", each, least=0, most=1) for each in chances]
    found: dict[Label, Fraction] = {}
    for database in product((0, 1), repeat=len(own)):
        p = Fraction(1)
        for bit, each in zip(database, own, strict=True):
            p *= each if bit else 1 - each
        found[database] = p
    return Prior(found)
