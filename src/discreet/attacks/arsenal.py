"""The attacks by name, and what each can be told."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

from discreet.attacks.averaging import Reading, averaging
from discreet.attacks.differencing import Way, differencing
from discreet.attacks.floating_point import floating_point
from discreet.attacks.groups import groups
from discreet.attacks.keys import keys
from discreet.attacks.membership import membership
from discreet.attacks.oracles import errors, timing
from discreet.attacks.outcome import Outcome
from discreet.attacks.reconstruction import Solver, reconstruction


@dataclass(frozen=True, slots=True, kw_only=True)
class Attack:
    """An attack as the command offers it.

    `run` takes a defence, and by name people, queries, trials and progress; it has defaults for
    all of them.
    """

    run: Callable[..., Outcome]
    about: str
    """What it does, in a few words."""
    ways: type[Enum] | None = None
    """What `by` can be, if the attack has several ways to go about it."""
    takes_catalogs: bool = False
    """Whether it can `make` people of a catalog's own tables."""


ATTACKS: dict[str, Attack] = {
    "averaging": Attack(
        run=averaging,
        about="one count asked again and again",
        ways=Reading,
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
        about="everybody's secret from counts of random groups",
        ways=Solver,
        takes_catalogs=True,
    ),
    "membership": Attack(run=membership, about="who is in a group, from counts of many attributes"),
    "groups": Attack(run=groups, about="families, which are more than one person"),
    "keys": Attack(run=keys, about="people who are alone in a group, from its name"),
    "floating-point": Attack(run=floating_point, about="exact counts, from the last bits of noise"),
    "errors": Attack(run=errors, about="a secret from questions that fail"),
    "timing": Attack(run=timing, about="a secret from questions that take long"),
}
"""What may stand after `discreet attack`."""
