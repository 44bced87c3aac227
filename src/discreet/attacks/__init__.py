"""Attacks on systems that answer queries about people, run on synthetic data.

| file | contents |
|---|---|
| `people.py`, `synthesizer.py` | synthetic people and their secrets; those of a catalog |
| `targets.py`, `defences.py` | the systems under attack |
| `trials.py` | many runs of one attack, and its success |
| `averaging.py`, `differencing.py`, `reconstruction.py` | infer secrets from counts |
| `membership.py` | infers who is in the data |
| `floating_point.py`, `side_channels.py` | use floats, errors, time and the names of groups |
| `registry.py` | all attacks and defences by name |
"""

from typing import TYPE_CHECKING

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
from discreet.attacks.synthesizer import synthesizer_like, synthetic_like
from discreet.attacks.targets import AttackedSystem, Defence, KnownDefence, most_success
from discreet.attacks.trials import Outcome, Step, plot_outcomes
from discreet.deprecated import deprecated_modules, deprecated_names

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

if not TYPE_CHECKING:
    __getattr__ = deprecated_names(
        __name__,
        {
            "Cached": "discreet.attacks.Sticky",
            "Reading": "discreet.attacks.Inference",
            "Target": "discreet.attacks.AttackedSystem",
            "Terms": "discreet.attacks.DefenceOptions",
            "made_up": "discreet.attacks.synthetic_people",
            "made_up_like": "discreet.attacks.synthetic_like",
            "maker_like": "discreet.attacks.synthesizer_like",
        },
    )

deprecated_modules(
    {
        "discreet.attacks.reachable": {
            "*": "discreet.attacks.floating_point",
        },
    }
)
