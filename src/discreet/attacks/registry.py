"""All attacks and defences by name, with their options."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction

from discreet.attacks.averaging import Inference, averaging
from discreet.attacks.defences import (
    Bounded,
    Discreet,
    FloatLaplace,
    FreshLaplace,
    Raw,
    Rounded,
    Sticky,
    Suppressed,
)
from discreet.attacks.differencing import Way, differencing
from discreet.attacks.floating_point import floating_point
from discreet.attacks.membership import groups, membership
from discreet.attacks.reconstruction import Solver, reconstruction
from discreet.attacks.side_channels import errors, keys, timing
from discreet.attacks.targets import KnownDefence
from discreet.attacks.trials import Outcome
from discreet.parameters import rational


@dataclass(frozen=True, slots=True, kw_only=True)
class Attack:
    """An attack as the command line offers it.

    `run` takes a defence, and the keywords people, queries, trials and progress. All keywords have
    defaults.
    """

    run: Callable[..., Outcome]
    about: str
    """What it does, in a few words."""
    ways: type[Enum] | None = None
    """The values of `by`, if the attack has several variants."""
    takes_catalogs: bool = False
    """Whether it can `make` synthetic people for the tables of a catalog."""


ATTACKS: dict[str, Attack] = {
    "averaging": Attack(
        run=averaging,
        about="one count asked again and again",
        ways=Inference,
        takes_catalogs=True,
    ),
    "differencing": Attack(
        run=differencing,
        about="counts with and without one person",
        ways=Way,
        takes_catalogs=True,
    ),
    "reconstruction": Attack(
        run=reconstruction,
        about="everyone's secret, from counts of random groups",
        ways=Solver,
        takes_catalogs=True,
    ),
    "membership": Attack(run=membership, about="who is in a group, from counts of many attributes"),
    "groups": Attack(run=groups, about="whether a family is in the data, from counts"),
    "keys": Attack(run=keys, about="people who are alone in a group, from its name"),
    "floating-point": Attack(run=floating_point, about="exact counts, from the last bits of noise"),
    "errors": Attack(run=errors, about="a secret, from queries that fail"),
    "timing": Attack(run=timing, about="a secret, from queries that take long"),
}
"""The attacks of the command `discreet attack`, by name."""


EPSILON_LEAST, EPSILON_MOST = Fraction(1, 10**9), Fraction(256)
"""Below this range nothing is revealed, above it everything, and noise is not drawn exactly."""


QUESTIONS = 10
"""The number of queries that Discreet answers, unless `each` gives the cost of one query."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DefenceOptions:
    """The parameters of a defence: total epsilon, and the epsilon that each query costs."""

    epsilon: Fraction = Fraction(1)
    each: Fraction | None = None

    def __post_init__(self) -> None:
        for name, given in (("epsilon", self.epsilon), ("each", self.each)):
            if given is not None:
                rational(name, given, above=0, least=EPSILON_LEAST, most=EPSILON_MOST)

    @property
    def noise(self) -> Fraction:
        """The epsilon of each query, for a defence without a budget."""
        return self.epsilon if self.each is None else self.each

    @property
    def share(self) -> Fraction:
        """The epsilon that each query costs, for a defence with a budget."""
        return self.epsilon / QUESTIONS if self.each is None else self.each


DEFENCES: dict[str, Callable[[DefenceOptions], KnownDefence]] = {
    "raw": lambda _: Raw(),
    "rounded": lambda _: Rounded(),
    "suppressed": lambda _: Suppressed(),
    "bounded": lambda _: Bounded(),
    "sticky": lambda terms: Sticky(each=terms.noise),
    "float-laplace": lambda terms: FloatLaplace(each=terms.noise),
    "fresh-laplace": lambda terms: FreshLaplace(each=terms.noise),
    "discreet": lambda terms: Discreet(epsilon=float(terms.epsilon), each=terms.share),
}
"""The defences of the option `--against`, by name."""
