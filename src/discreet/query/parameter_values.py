"""The values of a query's placeholders, checked, and as literals of the tree."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from math import isfinite
from typing import Any

import numpy as np
from sqlglot import exp

from discreet.errors import PlaceholderError, QuestionSizeError, shown
from discreet.written import Parameters

MOST_BITS = 128
"""Of an integer: larger ones have more digits than any column."""

MOST_DIGITS = 60
"""Of a Decimal, before and after its point."""

NUMBERED = "__"
"""What the names begin with under which placeholders are parsed."""

NOT_READ = ("A placeholder cannot be read", "Write ?, $1 or :name, without a space inside")

MOST_VALUES = 10_000
"""Values of all placeholders together."""

FORMS = {
    "?": "parameters=[30, 'F'], in the order of the question marks",
    "$1": "parameters=[30, 'F']: $1 stands for the first",
    ":name": "parameters={'name': 30}",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Placeholder:
    """A placeholder in the text."""

    style: str
    key: str | int
    """Its name, or its number from 1."""
    span: tuple[int, int]

    @property
    def shown(self) -> str:
        """The placeholder as it is written, and which one it is."""
        if self.style == "?":
            return f"? number {self.key}"
        return f"${self.key}" if self.style == "$1" else f":{self.key}"


def values_of(found: Sequence[Placeholder], given: Parameters) -> Mapping[str | int, Any]:
    """Return the value of each placeholder, or reject what is missing, surplus or mixed."""
    if given is not None and (
        isinstance(given, str | bytes) or not isinstance(given, Mapping | Sequence)
    ):
        raise PlaceholderError(
            f"parameters must be a list or a mapping of values, but {shown(given)} was given",
            "Give a list for ? and $1, as in [30, 'F'], or a mapping for :name, as in {'age': 30}",
        )
    if len(given or ()) > MOST_VALUES:
        raise _too_many()
    if not found:
        if given:
            raise PlaceholderError(
                f"The query has no placeholder, and {_counted(len(given))} given",
                "Write ?, $1 or :name where a value shall stand, or leave parameters out",
            )
        return {}
    style = found[0].style
    for each in found:
        if each.style != style:
            raise PlaceholderError(
                f"The query has placeholders of two styles, {style} and {each.style}",
                f"Write all of them as {style}",
                span=each.span,
            )
    if given is None:
        raise PlaceholderError(
            f"There is no value for {found[0].shown}",
            f"Give {FORMS[style]}",
            span=found[0].span,
        )
    return _by_name(found, given) if style == ":name" else _by_number(found, given)


def _by_name(found: Sequence[Placeholder], given: Any) -> Mapping[str | int, Any]:
    if not isinstance(given, Mapping):
        raise PlaceholderError(
            f"{found[0].shown} takes its value by name, and parameters is a list",
            f"Give {FORMS[':name']}",
            span=found[0].span,
        )
    for each in found:
        if each.key not in given:
            raise PlaceholderError(
                f"There is no value for {each.shown}",
                f"Add {str(each.key)!r} to parameters",
                span=each.span,
            )
    names = {each.key for each in found}
    for name in given:
        if name not in names:
            raise PlaceholderError(
                f"The query has no placeholder for the parameter {shown(name)}",
                "Leave it out of parameters, or write its name with a colon in the query",
            )
    return given


def _by_number(found: Sequence[Placeholder], given: Any) -> Mapping[str | int, Any]:
    if isinstance(given, Mapping):
        raise PlaceholderError(
            f"{found[0].shown} takes its value by order, and parameters is a mapping",
            f"Give {FORMS[found[0].style]}",
            span=found[0].span,
        )
    for each in found:
        if not 1 <= int(each.key) <= len(given):
            raise PlaceholderError(
                f"There is no value for {each.shown}, as {_counted(len(given))} given",
                "Give a value for each placeholder; the first is $1"
                if each.style == "$1"
                else "Give a value for each question mark",
                span=each.span,
            )
    numbers = {each.key for each in found}
    for number in range(1, len(given) + 1):
        if number not in numbers:
            raise PlaceholderError(
                f"The query has no placeholder for parameter number {number}",
                "Leave it out, or write a placeholder for it",
            )
    return dict(enumerate(given, start=1))


def _counted(number: int) -> str:
    return "1 parameter was" if number == 1 else f"{number:,} parameters were"


def _too_many() -> QuestionSizeError:
    return QuestionSizeError(
        f"There are more than {MOST_VALUES:,} parameters", "Put long lists into a public table"
    )


def listed(value: Any, placeholder: Placeholder) -> Sequence[Any]:
    """Return the values of a list, or a single value as a list."""
    if not isinstance(value, list | tuple):
        return (value,)
    if len(value) > MOST_VALUES:
        raise _too_many()
    if not value:
        raise PlaceholderError(
            f"The list for {placeholder.shown} is empty",
            "Give at least one value",
            span=placeholder.span,
        )
    return value


def literal_of(value: Any, placeholder: Placeholder) -> exp.Expr:
    """Return a value as the tree has it when it is written in the query."""
    node = _node(value.item() if isinstance(value, np.generic) else value, placeholder)
    start, end = placeholder.span
    leaf = node.this if isinstance(node, exp.Neg | exp.Cast) else node
    leaf.meta.update(start=start, end=end - 1)
    return node


def _node(value: Any, placeholder: Placeholder) -> exp.Expr:
    match value:
        case None:
            return exp.Null()
        case bool():
            return exp.Boolean(this=value)
        case int() | float() | Decimal():
            return _number(_written_number(value, placeholder), is_negative=value < 0)
        case str():
            _check_text(value, placeholder)
            return exp.Literal.string(str(value))
        case date() if value == value:  # noqa: PLR0124 - pandas has a time that is none
            return _moment(value)
    raise PlaceholderError(
        f"The value for {placeholder.shown} has the type {type(value).__name__}",
        "Give a number, a text, a date, a datetime, True, False or None, or a list of these for IN",
        span=placeholder.span,
    )


def _written_number(value: float | Decimal, placeholder: Placeholder) -> str:
    """Return a number without its sign as it would be written."""
    if isinstance(value, int) and value.bit_length() <= MOST_BITS:
        return str(abs(value))
    if isinstance(value, float) and isfinite(value):
        return repr(abs(float(value)))
    if isinstance(value, Decimal) and value.is_finite() and _digits(value) <= MOST_DIGITS:
        return f"{abs(value):f}"
    raise PlaceholderError(
        f"The number for {placeholder.shown} is infinite, not a number, or too long",
        f"Give a finite number with at most {MOST_DIGITS // 2} digits",
        span=placeholder.span,
    )


def _digits(value: Decimal) -> int:
    exponent = value.as_tuple().exponent
    return len(value.as_tuple().digits) + abs(exponent if isinstance(exponent, int) else 0)


def _number(text: str, *, is_negative: bool) -> exp.Expr:
    literal = exp.Literal(this=text, is_string=False)
    return exp.Neg(this=literal) if is_negative else literal


def _moment(value: date) -> exp.Expr:
    if not isinstance(value, datetime):
        return _cast(date.isoformat(value), exp.DType.DATE)
    if value.tzinfo is None or value.utcoffset() is None:
        text = datetime.isoformat(value.replace(tzinfo=None), sep=" ")
        return _cast(text, exp.DType.TIMESTAMPNTZ)
    return _cast(datetime.isoformat(value, sep=" "), exp.DType.TIMESTAMPTZ)


def _cast(text: str, kind: exp.DType) -> exp.Expr:
    return exp.Cast(this=exp.Literal.string(text), to=exp.DataType(this=kind, nested=False))


def _check_text(value: str, placeholder: Placeholder) -> None:
    wrong = ""
    if "\x00" in value:
        wrong = "contains a NUL character"
    elif not value.isascii() and any("\ud800" <= each <= "\udfff" for each in value):
        wrong = "contains a lone surrogate, which is not text"
    if wrong:
        raise PlaceholderError(
            f"The text for {placeholder.shown} {wrong}", "Remove it", span=placeholder.span
        )


# --------------------------------------------------------------------------- places


def after_type(placeholder: Placeholder, kind: str) -> PlaceholderError:
    """Return the error for a placeholder after the name of a type, where only a text can stand."""
    written = "?" if placeholder.style == "?" else placeholder.shown
    return no_value(placeholder, "after the name of a type", f"Write CAST({written} AS {kind})")


def no_value(placeholder: Placeholder, where: str, fix: str) -> PlaceholderError:
    """Return the error for a placeholder where no value can stand."""
    return PlaceholderError(
        f"{placeholder.shown} stands {where}, and a placeholder stands for a value",
        fix,
        span=placeholder.span,
    )
