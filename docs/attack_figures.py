"""Draw the pictures of docs/attacks.md, by minutes of attacks: `python -m docs.attack_figures`."""

import sys
from pathlib import Path

from discreet.attacks import (
    Bounded,
    Discreet,
    FloatLaplace,
    FreshLaplace,
    Outcome,
    Raw,
    Rounded,
    Sticky,
    Suppressed,
    Way,
    averaging,
    differencing,
    errors,
    floating_point,
    groups,
    keys,
    membership,
    plot_outcomes,
    reconstruction,
    timing,
)

FIGURES = Path(__file__).parent / "figures"


def averaging_outcomes() -> list[Outcome]:
    """Return one count asked up to 64 times, of those who draw noise anew and those who do not."""
    cheap = (FreshLaplace(each=0.5), Bounded(), Rounded(), Sticky(each=0.5))
    return [
        *(averaging(each, queries=64, trials=300) for each in cheap),
        averaging(Discreet(epsilon=0.5, each=0.5), queries=16, trials=120),
    ]


def differencing_outcomes() -> list[Outcome]:
    """Return pairs of counts, asked again in the way that each defence is weak against."""
    return [
        differencing(Raw(), queries=128, trials=60),
        differencing(Rounded(), queries=128, trials=60),
        differencing(Bounded(), queries=256, trials=200, by=Way.REPEATED),
        differencing(Sticky(), queries=128, trials=80),
        differencing(Discreet(), queries=16, trials=80),
    ]


def reconstruction_outcomes() -> list[Outcome]:
    """Return counts of random halves of 200 people."""
    lax = (Raw(), Rounded(), Bounded(), Sticky(each=0.5))
    return [
        *(reconstruction(each, queries=1024) for each in lax),
        reconstruction(Discreet(), queries=16, trials=5),
    ]


def membership_outcomes() -> list[Outcome]:
    """Return counts of letters of genomes, about 25 people and perhaps one more."""
    lax = (Raw(), Rounded(), FreshLaplace())
    return [
        *(membership(each, trials=60) for each in lax),
        membership(Discreet(), queries=16, trials=80),
    ]


def groups_outcomes() -> list[Outcome]:
    """Return counts of households of 1 to 16 people."""
    lax = (Raw(), Suppressed())
    return [
        *(groups(each, trials=80) for each in lax),
        groups(Discreet(each=0.2), trials=120),
    ]


def keys_outcomes() -> list[Outcome]:
    """Return lists of villages, and counts of a village together with four known people."""
    lax = (Raw(), Suppressed())
    return [*(keys(each, trials=80) for each in lax), keys(Discreet(delta=1e-6), trials=80)]


def floating_point_outcomes() -> list[Outcome]:
    """Return one count of 0 or 1, asked up to 8 times at a tenth each."""
    loose = (FloatLaplace(each=0.1), FreshLaplace(each=0.1))
    return [
        *(floating_point(each, trials=200) for each in loose),
        floating_point(Discreet(epsilon=0.8, each=0.1), trials=100),
    ]


def errors_outcomes() -> list[Outcome]:
    """Return questions that fail at one row, if it has the secret."""
    return [errors(FloatLaplace(), trials=80), errors(Discreet(), trials=80)]


def timing_outcomes() -> list[Outcome]:
    """Return questions that work hard at one row, if it has the secret; on this machine's clock."""
    return [timing(Raw(), trials=80), timing(Discreet(), trials=200)]


def draw(name: str, outcomes: list[Outcome]) -> None:
    """Draw outcomes of one attack in one picture."""
    plot_outcomes(outcomes, title=name.replace("_", " ")).save(FIGURES / f"attack_{name}.png")


OUTCOMES = {
    "averaging": averaging_outcomes,
    "differencing": differencing_outcomes,
    "reconstruction": reconstruction_outcomes,
    "membership": membership_outcomes,
    "groups": groups_outcomes,
    "keys": keys_outcomes,
    "floating_point": floating_point_outcomes,
    "errors": errors_outcomes,
    "timing": timing_outcomes,
}

if __name__ == "__main__":
    for name in sys.argv[1:] or OUTCOMES:
        draw(name, OUTCOMES[name]())
