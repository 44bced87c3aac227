"""`discreet design`: mechanisms for one count, side by side. `discreet price`: cost of releases."""
# ruff: noqa: PLR0913 - each argument is an option

import json
import re
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import NamedTuple

from discreet.accounting import compose
from discreet.accounting.events import (
    ConcentratedEvent,
    DiscreteLaplaceEvent,
    Event,
    ExponentialEvent,
    GaussianEvent,
    LaplaceEvent,
    PureEvent,
)
from discreet.cli.console import remark, say, show, show_table, waiting
from discreet.cli.ledger import cost_text, epsilon_text
from discreet.errors import ParameterError
from discreet.plots import check_format
from discreet.utility import Belief, Design, Prior, binomial, empirical, gain_over, threshold_gain
from discreet.utility import design as compare
from discreet.utility.priors import Gain

ANSWERS_MOST = 300
"""A linear program of more answers takes minutes."""

CAUTIOUS_MOST = 100
"""The same for the worst answer."""

GHOSH = "Ghosh, Roughgarden, Sundararajan 2009"

EPSILON_LEAST, EPSILON_MOST = Fraction(1, 1000), Fraction(50)

KINDS: dict[str, Callable[[Fraction], Event]] = {
    "geometric": lambda epsilon: DiscreteLaplaceEvent(sensitivity=1, scale=1 / epsilon),
    "laplace": lambda epsilon: LaplaceEvent(sensitivity=Fraction(1), scale=1 / epsilon),
    "exponential": lambda epsilon: ExponentialEvent(epsilon=epsilon),
    "pure": lambda epsilon: PureEvent(epsilon=epsilon),
    "gaussian": lambda multiplier: GaussianEvent(noise_multiplier=multiplier),
    "zcdp": lambda rho: ConcentratedEvent(rho=rho),
}
"""Each kind of release, made from the one number that people know it by."""

RELEASE = re.compile(
    r"(?:(\d{1,15})\s*[x×*]\s*)?([a-z]+)\s+([0-9./]{1,30}(?:e[+-]?\d{1,2})?)", re.I
)
"""A count of up to 15 digits, a kind, and a number of up to 30 with a power of ten below 100."""


# --------------------------------------------------------------------------- price


def price(*, releases: list[str], delta: float) -> None:
    """Print the best proved cost of the releases together, and what other methods prove."""
    composed = compose([_event(text) for text in releases], delta=delta)
    found = sorted(composed.alternatives.items(), key=lambda item: item[1])
    best = composed.accountant
    show_table(
        {
            "accounting method": [name + " ← best" * (name == best) for name, _ in found],
            "ε": [epsilon_text(epsilon) for _, epsilon in found],
        },
        right={"ε"},
    )
    show(f"Total cost: {cost_text(composed)}")


def _event(text: str) -> Event:
    """Return the event that "100 x laplace 0.1" means."""
    match = RELEASE.fullmatch(text.strip())
    kind = KINDS.get(match[2].lower()) if match else None
    if match is None or kind is None:
        example = f"must look like '100 x laplace 0.1', with one of {', '.join(KINDS)}"
        raise ParameterError("release", text, example)
    return kind(_positive(match[3])) * int(match[1] or 1)


def _positive(text: str) -> Fraction:
    try:
        number = Fraction(text)
    except (ValueError, ZeroDivisionError):
        raise ParameterError("number", text, "must be a decimal or a fraction, like 0.1") from None
    if number <= 0:
        raise ParameterError("number", text, "must be more than 0")
    return number


# --------------------------------------------------------------------------- design


class DesignOptions(NamedTuple):
    """What was typed."""

    range: tuple[int, int]
    epsilon: Fraction
    prior: str
    gain: str
    sensitivity: int


def design(
    *,
    range_: tuple[int, int],
    epsilon: Fraction,
    prior: str,
    gain: str,
    sensitivity: int,
    is_json: bool,
    plot: Path,
) -> None:
    """Print the utility of each mechanism, and save a chart of them."""
    check_format("plot", plot)
    found = _design(DesignOptions(range_, epsilon, prior, gain, sensitivity))
    saved = found.plot().save(plot)
    if is_json:
        show(json.dumps(_content(found)))
    else:
        _show(found)
    remark(f"Chart: {saved}")


def _design(options: DesignOptions) -> Design:
    low, high = options.range
    if not low < high <= low + ANSWERS_MOST:
        rule = f"must go up, over at most {ANSWERS_MOST} answers"
        raise ParameterError("range", options.range, rule)
    if not EPSILON_LEAST <= options.epsilon <= EPSILON_MOST:
        raise ParameterError("epsilon", options.epsilon, "must be between 0.001 and 50")
    prior = _prior(options.prior, low, high)
    if prior is Belief.WORST and high > low + CAUTIOUS_MOST:
        rule = f"must have at most {CAUTIOUS_MOST} answers with --prior worst"
        raise ParameterError("range", options.range, rule)
    with waiting("looking for the best mechanism"):
        return compare(
            low,
            high,
            options.epsilon,
            prior=prior,
            gain=_gain(options.gain, low, high),
            sensitivity=options.sensitivity,
        )


def _prior(text: str, low: int, high: int) -> Prior | Belief:
    name, _, number = text.partition("=")
    if text in {each.value for each in Belief}:
        return Belief(text)
    if name == "binomial" and number:
        shifted = binomial(high - low, _number("prior", number))
        return shifted.mapped(lambda k: k + low)
    if Path(text).is_file():
        return empirical(_numbers(Path(text)), low, high)
    rule = "must be uniform, worst, binomial=0.3, or a file with one public number per line"
    raise ParameterError("prior", text, rule)


def _gain(text: str, low: int, high: int) -> Gain:
    name, _, number = text.partition("=")
    answers = range(low, high + 1)
    if name == "threshold" and number:
        return threshold_gain(int(_number("gain", number)), answers)
    return gain_over(text, answers)


def _number(name: str, text: str) -> Fraction:
    try:
        return Fraction(text[:30])
    except (ValueError, ZeroDivisionError):
        raise ParameterError(name, text, "must end in a number, like 0.3") from None


def _numbers(path: Path) -> list[int]:
    try:
        return [int(line) for line in path.read_text(encoding="utf-8").split()]
    except ValueError:
        raise ParameterError("prior", str(path), "must contain one integer per line") from None


def _show(found: Design) -> None:
    candidates = found.candidates
    columns = {
        "mechanism": [each.name for each in candidates],
        "utility": [f"{float(each.utility):.7g}" for each in candidates],
        "lost to noise": [f"{float(found.truth - each.utility):.7g}" for each in candidates],
        "ε": [f"{float(each.epsilon):.6f}" for each in candidates],
    }
    show_table(columns, right={"utility", "lost to noise", "ε"})
    say(
        f"No mechanism with ε = {float(found.epsilon):g} has a utility above "
        f"{_up(found.optimum.bound)}."
    )
    for sentence in _remarks(found):
        remark(sentence)


def _remarks(found: Design) -> Iterator[str]:
    when = "for the worst answer" if found.prior is None else "on average"
    yield (
        f"Utility is the gain {when} if the output is taken as a guess. The exact answer gains "
        f"{float(found.truth):g}."
    )
    if found.is_universal:
        whose = "Gupte, Sundararajan 2010" if found.prior is None else GHOSH
        yield (
            "For a count and a gain that falls with distance, the geometric mechanism with the "
            f"best remapping is optimal ({whose}). The bound is proved without that theorem."
        )


def _up(number: Fraction) -> str:
    """Return a number with seven digits, the last rounded up."""
    text = f"{float(number):.7g}"
    if Fraction(text) >= number or "e" in text:
        return text
    digits = len(text.partition(".")[2])
    return f"{float(Fraction(text) + Fraction(1, 10**digits)):.{digits}f}"


def _content(found: Design) -> dict[str, object]:
    return {
        "epsilon": float(found.epsilon),
        "mechanisms": [
            {
                "name": each.name,
                "utility": float(each.utility),
                "lost": float(found.truth - each.utility),
                "epsilon": float(each.epsilon),
            }
            for each in found.candidates
        ],
        "truth": float(found.truth),
        "bound": float(found.optimum.bound),
        "gap": float(found.optimum.gap),
        "method": found.optimum.method.value,
        "why": found.optimum.why,
        "is_universal": found.is_universal,
    }
