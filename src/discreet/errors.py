"""What can go wrong, each with the one sentence that says what, where and how to fix it."""

from fractions import Fraction

HIDDEN = object()
"""Stands for a value that must not be shown, because it may come from the data."""


class DiscreetError(Exception):
    """Anything that Discreet refuses or cannot do."""


class ParameterError(DiscreetError, ValueError):
    """A parameter is outside what the theorem behind the function allows."""

    def __init__(self, name: str, value: object, rule: str) -> None:
        given = "" if value is HIDDEN else f"; {shown(value)} was given"
        super().__init__(f"{name} {rule}{given}.")
        self.name = name


class EntropyError(DiscreetError):
    """The operating system's random generator failed: nothing is released without it."""

    def __init__(self) -> None:
        super().__init__(
            "the system's random generator failed, so nothing was released; "
            "check the machine's entropy source and ask again."
        )


class ArithmeticDriftError(DiscreetError):
    """NumPy's exp or log on this machine is less accurate than the samplers' proof assumes."""

    def __init__(self, function: str) -> None:
        super().__init__(
            f"{function} on this machine is less accurate than exact sampling needs; "
            "install NumPy from its official wheels."
        )


class StoppedError(DiscreetError):
    """A sparse-vector run has given all the answers it paid for."""

    def __init__(self, limit: int) -> None:
        positive = "its positive answer" if limit == 1 else f"its {limit} positive answers"
        super().__init__(
            f"this run has given {positive} and stopped; start a new one, which is charged anew."
        )


class SealedError(DiscreetError):
    """Something that must exist once only was about to be copied."""

    def __init__(self, what: str) -> None:
        super().__init__(
            f"{what} cannot be copied or stored: a copy could be asked again for free."
        )


class UnsupportedEventError(DiscreetError):
    """No theorem prices this event under this accountant."""

    def __init__(self, event: object, *, accountant: str, instead: str) -> None:
        super().__init__(
            f"the {accountant} accountant has no proved price for {type(event).__name__}; "
            f"{instead}."
        )


class BudgetError(DiscreetError):
    """The budget does not allow this charge; nothing was charged.

    Each bound that could have allowed it is given as (requested, remaining).
    """

    requested: dict[str, Fraction]
    remaining: dict[str, Fraction]

    def __init__(self, **bounds: tuple[Fraction, Fraction]) -> None:
        self.requested = {name: requested for name, (requested, _) in bounds.items()}
        self.remaining = {name: remaining for name, (_, remaining) in bounds.items()}
        told = [
            f"requested {name} = {_brief(requested)}, remaining {name} = {_brief(remaining)}, "
            f"difference {_brief(requested - remaining)}"
            for name, (requested, remaining) in bounds.items()
        ]
        instead = (
            "ask for a release without a delta, or set more aside in a new budget"
            if "delta" in bounds
            else "ask for less accuracy or stop here"
        )
        super().__init__(f"the budget does not allow this: {', and '.join(told)}; {instead}.")


def _brief(amount: Fraction) -> str:
    try:
        return f"{float(amount):.6g}"
    except OverflowError:
        return "more than 1e308"


class MissingExtraError(DiscreetError, ImportError):
    """An optional part of Discreet is not installed."""

    def __init__(self, what: str, *, extra: str) -> None:
        super().__init__(f"{what} needs an optional part: pip install 'discreet[{extra}]'.")


def shown(value: object) -> str:
    """Return a value as an error shows it: short, on one line, fractions as people write them."""
    try:
        text = readable(value) if isinstance(value, Fraction) else repr(value)
    except (OverflowError, ValueError):
        return "a number too long to show"
    text = " ".join(text.split())
    return text if len(text) <= 60 else text[:57] + "..."


def readable(value: Fraction) -> str:
    """Return a fraction as a decimal if a short one is exact, else as p/q or rounded."""
    if Fraction(decimal := f"{float(value):.12g}") == value:
        return decimal
    return str(value) if len(str(value)) <= 20 else f"about {decimal}"
