"""What a list of releases costs, by every accountant that has a theorem for it."""

import re
from collections.abc import Callable, Sequence
from fractions import Fraction

from rich.console import Console
from rich.table import Table

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
from discreet.errors import ParameterError

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


def event_from_text(text: str) -> Event:
    """Return the event that "100 x laplace 0.1" means."""
    match = RELEASE.fullmatch(text.strip())
    kind = KINDS.get(match[2].lower()) if match else None
    if match is None or kind is None:
        example = f"must look like '100 x laplace 0.1', with one of {', '.join(KINDS)}"
        raise ParameterError("release", text, example)
    return kind(_number(match[3])) * int(match[1] or 1)


def show_price(releases: Sequence[str], delta: float) -> None:
    """Print the best proved price of the releases together, and what the others say."""
    price = compose([event_from_text(text) for text in releases], delta=delta)
    table = Table("accountant", "ε")
    for accountant, epsilon in sorted(price.alternatives.items(), key=lambda item: item[1]):
        mark = " ← best" if accountant == price.accountant else ""
        table.add_row(accountant + mark, f"{float(epsilon):.6g}")
    console = Console()
    console.print(table)
    console.print(str(price), markup=False, highlight=False)


def _number(text: str) -> Fraction:
    try:
        number = Fraction(text)
    except (ValueError, ZeroDivisionError):
        raise ParameterError("number", text, "must be a decimal or a fraction, like 0.1") from None
    if number <= 0:
        raise ParameterError("number", text, "must be more than 0")
    return number
