"""Attacks on systems that answer queries about people, run on synthetic data.

| file | contents |
|---|---|
| `people.py`, `secret.py`, `alike.py`, `columns.py` | synthetic people and their secrets |
| `targets.py`, `defences.py`, `answering.py`, `suppression.py` | the systems under attack |
| `trials.py`, `outcome.py` | many runs of one attack, and its success |
| `averaging.py`, `differencing.py`, `edges.py`, `reconstruction.py` | infer secrets from counts |
| `membership.py`, `groups.py`, `keys.py` | infer who is in the data |
| `floating_point.py`, `reachable.py`, `oracles.py`, `watching.py` | use floats, errors and time |
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
