"""How tests judge attacks: by exact binomial tests of the number of right guesses."""

from scipy.stats import binom

from discreet.attacks.trials import Outcome, Step
from tests.statistics import FALSE_ALARM


def refutes(step: Step, allowed: float) -> bool:
    """Return whether so many right guesses refute that at most this share is right on average.

    If it is, this is said once in a million times.
    """
    return float(binom.sf(step.right - 1, step.guesses, allowed)) < FALSE_ALARM


def achieves(step: Step, share: float) -> bool:
    """Return whether guesses may be right as often as stated; if they are, it is hardly denied."""
    return float(binom.cdf(step.right, step.guesses, share)) > FALSE_ALARM


def breaks_its_promise(outcome: Outcome) -> bool:
    """Return whether some step refutes what is promised for it, each at one in a million."""
    promised = {step: step.allowed or outcome.allowed or 1.0 for step in outcome.steps}
    could_be = min(share**step.guesses for step, share in promised.items())
    assert could_be < FALSE_ALARM, "too few guesses: not even right ones only would refute it"
    return any(refutes(step, share) for step, share in promised.items())


def is_certain(step: Step) -> bool:
    """Return whether every guess was right."""
    return step.right == step.guesses
