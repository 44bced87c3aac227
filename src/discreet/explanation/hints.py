"""Hints of an explanation: where tighter bounds would give less noise."""

from collections.abc import Iterator
from fractions import Fraction

from discreet.explanation.sentences import end_text
from discreet.query.questions import Aggregate, Aggregation, Statistic
from discreet.query.tree import Call, Expression, columns_in, parts_of

WIDER = 10
"""An expression so many times as wide as its widest column is likely to have loose bounds."""

CURVED = {"divide", "integer_divide", "power", "exp"}
"""Functions of one column whose values are seldom near both ends of their bounds."""

BOUNDED = {
    *(Statistic.SUM, Statistic.SUM_DISTINCT, Statistic.AVG, Statistic.VAR_SAMP),
    *(Statistic.VAR_POP, Statistic.STDDEV_SAMP, Statistic.STDDEV_POP),
}
"""What gets noise in proportion to the bounds."""


def clamp_hints(release: Aggregation) -> Iterator[str]:
    """Yield where CLAMP would help: derived bounds much wider than those of the columns."""
    for each in release.aggregates:
        if each.statistic in BOUNDED and each.argument is not None and _is_loose(each.argument):
            yield _hint(each, each.argument)


def _is_loose(argument: Expression) -> bool:
    width = _width(argument)
    columns = list(columns_in(argument))
    widths = [found for each in columns if (found := _width(each)) is not None]
    if width is None or not widths or width < WIDER * max(widths):
        return False
    calls = [each for each in parts_of(argument) if isinstance(each, Call)]
    if calls and calls[0] is argument and argument.function == "clamp":
        return False
    return len(columns) > 1 or any(each.function in CURVED for each in calls)


def _width(expression: Expression) -> Fraction | None:
    interval = expression.facts.interval
    if interval.low is None or interval.high is None or not expression.facts.kind.is_number:
        return None
    return interval.high - interval.low


def _hint(aggregate: Aggregate, argument: Expression) -> str:
    interval, kind = argument.facts.interval, argument.facts.kind
    assert interval.low is not None  # noqa: S101 - it has a width
    assert interval.high is not None  # noqa: S101 - it has a width
    low, high = (end_text(each, kind) for each in (interval.low, interval.high))
    text = aggregate.argument_text
    return (
        f"The bounds of {text} are {low} to {high}. If you know tighter ones, write "
        f"CLAMP({text}, low, high): the noise is in proportion to them."
    )
