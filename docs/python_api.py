"""Write docs/reference/python-api.md from the signatures and docstrings of public names."""

import importlib
import inspect
import re
from collections.abc import Iterator
from enum import Enum
from types import ModuleType

import discreet
from discreet.account import Account
from discreet.answer import Answer, ResultColumn
from discreet.answer.series_table import SeriesStatus, SeriesTable
from discreet.curator import Curator
from discreet.explanation import Coverage, Explanation
from discreet.explanation.series import SeriesExplanation
from discreet.series import Series, SeriesReader

HEAD = """# Python API

This page is generated from the signatures and docstrings of the public names.
[Stability](stability.md) says which names are public and how they are deprecated. Start with
[`discreet.open`](#discreetopen); it returns a [`Curator`](#curator).

`Real` is any real number: `int`, `float`, `Fraction`, `Decimal` or a NumPy number. A float means
the decimal that it prints as: 0.1 is one tenth. `Value` is a value of a column: a boolean, a
number, a text, a date, a time or None.

"""

MAIN = (
    *(Curator, Account, Answer, ResultColumn, Explanation, Coverage),
    *(Series, SeriesReader, SeriesStatus, SeriesTable, SeriesExplanation),
)

PACKAGES = (
    "catalog",
    "ledger",
    "mechanisms",
    "accounting",
    "local",
    "streams",
    "utility",
    "attacks",
    "audit",
    "dbapi",
)

WIDTH = 100

OLD_NAME = re.compile(r"(?:old|deprecated) (?:name|spelling)")

ALIASES = {
    "int | float | Fraction | Decimal | integer[Any] | floating[Any]": "Real",
    "bool | int | float | Fraction | Decimal | str | date | datetime | None": "Value",
}
"""Unions that have a name of their own in the code."""


def python_api_page() -> str:
    """Return docs/reference/python-api.md."""
    lines = [
        "## discreet.open\n",
        *_function("discreet.open", discreet.open),
        *(line for each in MAIN for line in _main_class(each)),
        *(line for each in PACKAGES for line in _package(f"discreet.{each}")),
    ]
    return HEAD + "\n".join(lines).rstrip() + "\n"


def _main_class(found: type) -> Iterator[str]:
    yield f"## {found.__name__}\n"
    yield f"{_documented(found)}\n"
    for name, member in _members(found):
        if inspect.isfunction(member):
            yield f"### {found.__name__}.{name}\n"
            yield from _function(name, member)
    attributes = [name for name, member in _members(found) if not inspect.isfunction(member)]
    if attributes:
        yield f"### Attributes of {found.__name__}\n"
        yield "| attribute | meaning |"
        yield "|---|---|"
        yield from (f"| `{name}` | {_first_line(getattr(found, name))} |" for name in attributes)
        yield ""


def _package(path: str) -> Iterator[str]:
    module = importlib.import_module(path)
    yield f"## {path}\n"
    yield f"{_documented(module)}\n"
    for name in module.__all__:
        yield from _named(module, name)


def _named(module: ModuleType, name: str) -> Iterator[str]:
    thing = getattr(module, name)
    yield f"### {module.__name__.removeprefix('discreet.')}.{name}\n"
    if isinstance(thing, type) and issubclass(thing, Enum):
        yield f"{_documented(thing)}\n"
        yield "Values: " + ", ".join(f"`{each.value!r}`" for each in thing) + ".\n"
    elif isinstance(thing, type):
        yield from _function(name, thing)
        shown = [each for each, member in _members(thing) if _is_documented(member)]
        yield from (f"- `{each}`: {_first_line(getattr(thing, each))}" for each in shown)
        yield ""
    elif callable(thing):
        yield from _function(name, thing)
    else:
        names = ", ".join(f"`{each!r}`" for each in thing) if isinstance(thing, dict) else ""
        value = f"`{_plain(repr(thing))[:WIDTH]}`"
        yield f"A table of: {names}.\n" if names else f"A value: {value}.\n"


def _function(name: str, function: object) -> Iterator[str]:
    signature = _signature(name, function)
    if signature:
        yield f"```python\n{signature}\n```\n"
    yield f"{_documented(function)}\n"


def _signature(name: str, function: object) -> str:
    """Return how something is called, a parameter a line if it is long."""
    try:
        found = inspect.signature(function)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return ""
    parameters = [each for each in found.parameters.values() if each.name not in ("self", "cls")]
    short = f"{name}{found.replace(parameters=parameters)}"
    if len(_plain(short)) <= WIDTH:
        return _plain(short)
    returned = found.return_annotation
    arrow = "" if returned is found.empty else f" -> {inspect.formatannotation(returned)}"
    return _plain(f"{name}(\n{''.join(_lines_of(parameters))}){arrow}")


def _lines_of(parameters: list[inspect.Parameter]) -> Iterator[str]:
    for place, each in enumerate(parameters):
        before = parameters[place - 1].kind if place else None
        if each.kind is each.KEYWORD_ONLY and before not in (
            each.KEYWORD_ONLY,
            each.VAR_POSITIONAL,
        ):
            yield "    *,\n"
        yield f"    {each},\n"


def _members(found: type) -> Iterator[tuple[str, object]]:
    """Yield the public members that a class defines, or takes from a class of ours."""
    for name in dir(found):
        if not name.startswith("_"):
            owner = next(each for each in found.__mro__ if name in vars(each))
            member = inspect.getattr_static(found, name)
            if owner.__module__.startswith("discreet") and not _is_old_name(member):
                yield name, member


def _is_old_name(member: object) -> bool:
    """Return whether a member only gives a warning and what replaces it."""
    about = inspect.getdoc(member) or ""
    return type(member).__module__ == "discreet.deprecated" or bool(OLD_NAME.search(about))


def _is_documented(member: object) -> bool:
    inner = getattr(member, "__func__", getattr(member, "fget", member))
    return bool(inspect.isfunction(inner) and inner.__doc__)


def _documented(thing: object) -> str:
    return inspect.getdoc(thing) or ""


def _first_line(thing: object) -> str:
    own = isinstance(thing, property) or callable(thing)
    return (_documented(thing).splitlines() or [""])[0].replace("|", "\\|") if own else ""


def _plain(text: str) -> str:
    """Return a signature without modules, and without what differs from run to run."""
    text = re.sub(r"<([\w.]+) object at 0x[0-9a-f]+>", r"\1()", text)
    text = re.sub(r"<function ([\w.<>]+) at 0x[0-9a-f]+>", r"\1", text)
    text = re.sub(r"<([\w.]+): ([^>]+)>", r"\1", text)
    text = re.sub(r"\b[a-z_]\w*(?:\.[a-z_]\w*)*\.(?=[A-Za-z_])", "", text)
    text = re.sub(r"(: |-> )'([^'\n]+)'", r"\1\2", text)
    for union, name in ALIASES.items():
        text = text.replace(union, name)
    return text
