"""Stable codes of errors, and the errors that they stand for: a client raises what a server did."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from discreet.errors import BudgetError, DiscreetError, ParameterError, QuestionError
from discreet.parameters import fraction_from


def code_of(kind: type[Exception]) -> str:
    """Return the code of a class of errors: unknown_name for UnknownNameError."""
    name = kind.__name__.removesuffix("Error")
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()


def classes() -> Mapping[str, type[DiscreetError]]:
    """Return all classes of errors by their codes."""
    return {code_of(each): each for each in _below(DiscreetError)}


def _below(kind: type[DiscreetError]) -> Iterator[type[DiscreetError]]:
    for each in kind.__subclasses__():
        yield each
        yield from _below(each)


def content_of(error: DiscreetError) -> dict[str, object]:
    """Return the parts of an error, for JSON."""
    told: dict[str, object] = {
        "code": code_of(type(error)),
        "message": error.what,
        "remedy": error.fix,
        "place": None,
    }
    match error:
        case QuestionError(span=(start, end), text=str() as text):
            line = text.count("\n", 0, start) + 1
            column = start - text.rfind("\n", 0, start)
            told["place"] = {"line": line, "column": column, "start": start, "end": end}
        case ParameterError():
            told["name"] = error.name
        case BudgetError():
            told["requested"] = {name: str(each) for name, each in error.requested.items()}
            told["remaining"] = {name: str(each) for name, each in error.remaining.items()}
    return told


def error_from(content: Mapping[str, Any], text: str = "") -> DiscreetError:
    """Return the error that a server reported; `text` is the query."""
    kind = classes().get(str(content.get("code")), DiscreetError)
    error = kind.__new__(kind)
    what, fix = str(content.get("message", "")), str(content.get("remedy", ""))
    if isinstance(error, QuestionError):
        place = content.get("place")
        span = (int(place["start"]), int(place["end"])) if place else None
        QuestionError.__init__(error, what, fix, span=span)
        error.text = text
        return error
    DiscreetError.__init__(error, what, fix)
    if isinstance(error, BudgetError):
        for name in ("requested", "remaining"):
            amounts = {key: fraction_from(each) for key, each in content.get(name, {}).items()}
            setattr(error, name, amounts)
    if isinstance(error, ParameterError):
        error.name = str(content.get("name", ""))
    return error
