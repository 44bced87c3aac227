"""Attacks on systems that answer questions about people: what goes wrong, and what holds.

| file | holds |
|---|---|
| `people.py`, `secret.py`, `alike.py`, `columns.py` | made-up people and their secrets |
| `targets.py`, `defences.py`, `answering.py`, `suppression.py` | what is attacked |
| `trials.py`, `outcome.py` | an attack tried many times, and what came of it |
| `averaging.py`, `differencing.py`, `edges.py`, `reconstruction.py` | secrets, from counts |
| `membership.py`, `groups.py`, `keys.py` | who is there at all |
| `floating_point.py`, `reachable.py`, `oracles.py`, `watching.py` | beside the numbers' meaning |
| `arsenal.py` | all attacks and defences by name |
"""

from discreet.attacks.alike import made_up_like, maker_like
from discreet.attacks.arsenal import ATTACKS, DEFENCES, Attack, Terms
from discreet.attacks.averaging import Reading, averaging
from discreet.attacks.defences import (
    Bounded,
    Cached,
    Discreet,
    FloatLaplace,
    FreshLaplace,
    Raw,
    Rounded,
)
from discreet.attacks.differencing import Way, differencing
from discreet.attacks.floating_point import floating_point
from discreet.attacks.groups import groups
from discreet.attacks.keys import keys
from discreet.attacks.membership import membership
from discreet.attacks.oracles import errors, timing
from discreet.attacks.outcome import Outcome, Step, most_success, plot_outcomes
from discreet.attacks.people import People, Scheme, made_up
from discreet.attacks.reconstruction import Solver, reconstruction
from discreet.attacks.suppression import Suppressed
from discreet.attacks.targets import Defence, KnownDefence, Target

__all__ = [
    "ATTACKS",
    "DEFENCES",
    "Attack",
    "Bounded",
    "Cached",
    "Defence",
    "Discreet",
    "FloatLaplace",
    "FreshLaplace",
    "KnownDefence",
    "Outcome",
    "People",
    "Raw",
    "Reading",
    "Rounded",
    "Scheme",
    "Solver",
    "Step",
    "Suppressed",
    "Target",
    "Terms",
    "Way",
    "averaging",
    "differencing",
    "errors",
    "floating_point",
    "groups",
    "keys",
    "made_up",
    "made_up_like",
    "maker_like",
    "membership",
    "most_success",
    "plot_outcomes",
    "reconstruction",
    "timing",
]
