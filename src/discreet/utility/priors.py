"""What someone believes before any answer: exact chances of answers or of databases."""

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
    """What may be believed of any range."""

    UNIFORM = "uniform"
    """All answers are as likely."""
    WORST = "worst"
    """Nothing: what counts is the answer with which a mechanism is worth least."""


@dataclass(frozen=True, slots=True, init=False, repr=False)
class Prior:
    """Chances that add up to 1, one for each label; weights are scaled until they do."""

    labels: tuple[Label, ...]
    chances: tuple[Fraction, ...]

    def __init__(self, chances: Mapping[Label, Real] | Sequence[Real]) -> None:
        """Take a chance for each label, or for 0, 1, 2, … if they come without names."""
        pairs = chances if isinstance(chances, Mapping) else dict(enumerate(chances))
        weights = [rational("prior", each, least=0) for each in pairs.values()]
        total = sum(weights, Fraction(0))
        if total == 0:
            raise ParameterError("prior", "no chance above 0", "must have one above 0")
        settle(self, labels=labels("prior", pairs), chances=tuple(w / total for w in weights))

    def __repr__(self) -> str:
        return f"Prior({len(self.labels)} labels)"

    def __getitem__(self, label: Label) -> Fraction:
        """Return the chance of a label; one that was not named has none."""
        return self.chances[self.labels.index(label)] if label in self.labels else Fraction(0)

    def items(self) -> Iterator[tuple[Label, Fraction]]:
        """Yield every label with its chance."""
        return zip(self.labels, self.chances, strict=True)

    def chance(self, holds: Callable[..., bool]) -> Fraction:
        """Return the chance that a label is one for which something holds."""
        return sum((p for label, p in self.items() if holds(label)), Fraction(0))

    def mapped(self, answer: Callable[..., Label]) -> "Prior":
        """Return the belief about a function of the label: from databases to answers."""
        found: dict[Label, Fraction] = {}
        for label, p in self.items():
            found[answer(label)] = found.get(answer(label), Fraction(0)) + p
        return Prior(found)

    @property
    def weights(self) -> tuple[int, ...]:
        """Whole numbers in the proportions of the chances."""
        common = lcm(*(each.denominator for each in self.chances))
        return tuple(int(each * common) for each in self.chances)


def uniform(low: int, high: int) -> Prior:
    """Return the belief that every whole number from low to high is as likely as any other."""
    return Prior(dict.fromkeys(wholes(low, high), 1))


def binomial(people: int, chance: Real) -> Prior:
    """Return the belief about a count of people who each belong to it with the same chance."""
    n = whole("people", people, least=1)
    p = rational("chance", chance, least=0, most=1)
    return Prior([comb(n, k) * p**k * (1 - p) ** (n - k) for k in wholes(0, n)])


def empirical(public: Iterable[int], low: int, high: int, *, besides: Real = 1) -> Prior:
    """Return the belief that public numbers give: how often each was seen, and `besides` more.

    Numbers outside the range count for its ends. With `besides` 0, what was never seen has no
    chance, and no answer will change that.
    """
    nodes = wholes(low, high)
    seen: dict[Label, Fraction] = dict.fromkeys(nodes, rational("besides", besides, least=0))
    for each in public:
        seen[min(max(whole("public", each), nodes[0]), nodes[-1])] += 1
    return Prior(seen)


def independent(*chances: Real) -> Prior:
    """Return the belief about people who each have something (1) or not (0), independently."""
    own = [rational("chances", each, least=0, most=1) for each in chances]
    found: dict[Label, Fraction] = {}
    for database in product((0, 1), repeat=len(own)):
        p = Fraction(1)
        for bit, each in zip(database, own, strict=True):
            p *= each if bit else 1 - each
        found[database] = p
    return Prior(found)
