"""The words of an explanation: how wide, which groups, why."""

from fractions import Fraction

from discreet.amounts import error_text, number_text
from discreet.estimators import ExpectedMargin, MarginPerCount, RankMargin
from discreet.query.plan.planned import PlannedSelection

EXAMPLES = (1_000, 10_000)
"""Sizes of a group at which a spread that depends on it is told."""


def spread_text(expected: ExpectedMargin, *, is_whole: bool) -> str:
    """Return how far noise moves a number: ±41, ±4 300/n with examples, or rank ±37 rows."""
    match expected:
        case None:
            return "no error bar"
        case RankMargin(rows=rows):
            return f"rank {error_text(rows, is_whole=True)} rows"
        case MarginPerCount():
            return _per_count(expected)
        case _:
            return error_text(expected, is_whole=is_whole)


def threshold_sentence(
    selection: PlannedSelection, why: str, confidence: Fraction, *, is_told: bool
) -> str:
    """Return when a group that only the data know is shown, and how large it must be for that.

    If the number that selects is told as well, its ± near the threshold is said, too.
    """
    of, mechanism = selection.selecting.of, selection.mechanism
    half, most = (number_text(mechanism.smallest_seen(share)) for share in (0.5, 0.99))
    least = number_text(mechanism.threshold)
    near = (
        f" Numbers up to {number_text(mechanism.clear(confidence))} may be shown because their "
        f"noise is large: they are told with ±{least}, whatever ± was asked for."
    )
    return (
        f"Only the data know which groups there are: {why}. A group is shown if its number of "
        f"{of}, counted with noise, is more than {least}: it takes "
        f"{half} {of} to be seen with a chance of 50 %, {most} with 99 %.{near if is_told else ''}"
    )


def brief(scale: Fraction | float) -> str:
    """Return a scale with three digits."""
    return number_text(float(f"{float(scale):.3g}"))


def sentence(words: str) -> str:
    """Return words as a sentence: a capital first, a full stop last."""
    text = words.strip()
    return text[:1].upper() + text[1:] + ("" if text.endswith(".") else ".")


def listed(words: list[str]) -> str:
    """Return a, b and c."""
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def _per_count(spread: MarginPerCount) -> str:
    few, many = EXAMPLES
    at_few, at_many = (error_text(spread.at(n), is_whole=False) for n in EXAMPLES)
    divisor = "n" if spread.power == 1 else "√n" if spread.power * 2 == 1 else f"n^{spread.power}"
    whole = error_text(spread.numerator, is_whole=False)
    return (
        f"{whole}/{divisor}: {at_few} at n = {number_text(few)}, {at_many} at {number_text(many)}"
    )
