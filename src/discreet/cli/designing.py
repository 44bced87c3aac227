"""`discreet design`: mechanisms for one count, side by side."""

import json
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import NamedTuple

from discreet.cli.screen import remark, show, waiting
from discreet.errors import ParameterError
from discreet.plots import check_format
from discreet.utility import (
    Belief,
    Design,
    Prior,
    binomial,
    design,
    empirical,
    gain_over,
    threshold_gain,
)
from discreet.utility.gains import Gain

ANSWERS_MOST = 300
"""A linear program of more answers takes minutes."""

CAUTIOUS_MOST = 100
"""The same for the worst answer."""

GHOSH = "Ghosh, Roughgarden, Sundararajan 2009"

EPSILON_LEAST, EPSILON_MOST = Fraction(1, 1000), Fraction(50)


class Asked(NamedTuple):
    """What was typed."""

    range: tuple[int, int]
    epsilon: Fraction
    prior: str
    gain: str
    sensitivity: int


def show_design(asked: Asked, *, is_json: bool, picture: Path) -> None:
    """Print what each mechanism is worth, and save a picture of them."""
    check_format("plot", picture)
    found = _design(asked)
    saved = found.plot().save(picture)
    if is_json:
        show(json.dumps(_content(found)))
    else:
        show("\n".join(_lines(found)))
        for sentence in _remarks(found):
            remark(sentence)
    remark(f"Picture: {saved}")


def _design(asked: Asked) -> Design:
    low, high = asked.range
    if not low < high <= low + ANSWERS_MOST:
        rule = f"must go up, over {ANSWERS_MOST} answers at most"
        raise ParameterError("range", asked.range, rule)
    if not EPSILON_LEAST <= asked.epsilon <= EPSILON_MOST:
        raise ParameterError("epsilon", asked.epsilon, "must lie between 0.001 and 50")
    prior = _prior(asked.prior, low, high)
    if prior is Belief.WORST and high > low + CAUTIOUS_MOST:
        rule = f"must hold {CAUTIOUS_MOST} answers at most without a prior"
        raise ParameterError("range", asked.range, rule)
    with waiting("looking for the best mechanism"):
        return design(
            low,
            high,
            asked.epsilon,
            prior=prior,
            gain=_gain(asked.gain, low, high),
            sensitivity=asked.sensitivity,
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
    rule = "must be uniform, worst, binomial=0.3, or a file with a public number a line"
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
        raise ParameterError("prior", str(path), "must hold one whole number a line") from None


def _lines(found: Design) -> Iterator[str]:
    width = max(len(each.name) for each in found.candidates)
    yield f"{'mechanism':{width}}  {'utility':>12}  {'lost to noise':>13}  {'ε':>8}"
    for each in found.candidates:
        lost = found.truth - each.utility
        yield (
            f"{each.name:{width}}  {float(each.utility):12.7g}  {float(lost):13.7g}  "
            f"{float(each.epsilon):8.6f}"
        )
    best = found.optimum
    yield f"no mechanism of ε = {float(found.epsilon):g} is worth more than {_up(best.bound)}"


def _remarks(found: Design) -> Iterator[str]:
    when = "with the worst answer for them" if found.prior is None else "on average"
    yield (
        f"Utility is what outputs, taken as guesses, gain {when}; exact answers gain "
        f"{float(found.truth):g}."
    )
    if found.is_universal:
        whose = "Gupte, Sundararajan 2010" if found.prior is None else GHOSH
        yield (
            "For a count and a gain that falls with the distance, the geometric mechanism with "
            f"the best remap is optimal ({whose}); the bound is proved without that theorem."
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
