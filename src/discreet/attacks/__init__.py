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
from discreet.attacks.people import People, Scheme, synthetic_people
from discreet.attacks.reconstruction import Solver, reconstruction
from discreet.attacks.registry import ATTACKS, DEFENCES, Attack, DefenceOptions
from discreet.attacks.side_channels import errors, keys, timing
from discreet.attacks.synthetic_people import synthesizer_like, synthetic_like
from discreet.attacks.targets import AttackedSystem, Defence, KnownDefence, most_success
from discreet.attacks.trials import Outcome, Step, plot_outcomes

__all__ = [
    "ATTACKS",
    "DEFENCES",
    "Attack",
    "AttackedSystem",
    "Bounded",
    "Defence",
    "DefenceOptions",
    "Discreet",
    "FloatLaplace",
    "FreshLaplace",
    "Inference",
    "KnownDefence",
    "Outcome",
    "People",
    "Raw",
    "Rounded",
    "Scheme",
    "Solver",
    "Step",
    "Sticky",
    "Suppressed",
    "Way",
    "averaging",
    "differencing",
    "errors",
    "floating_point",
    "groups",
    "keys",
    "membership",
    "most_success",
    "plot_outcomes",
    "reconstruction",
    "synthesizer_like",
    "synthetic_like",
    "synthetic_people",
    "timing",
]
