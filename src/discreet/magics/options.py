"""The options of the magics: one table for reading, for help and for completion."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from inspect import cleandoc
from keyword import iskeyword
from shlex import split
from typing import Any, TypeAlias, TypeVar

from IPython.core.error import UsageError

from discreet.cli.options import DEFAULT_CONFIDENCE, QuestionOptions, exact, question_options
from discreet.parameters import did_you_mean, integer
from discreet.written import SqlDialect

F = TypeVar("F", bound=Callable[..., Any])

TOKEN = re.compile(r"""\s*((?:[^\s'"{]|'[^']*'|"[^"]*"|\{[^}]*\})+)""")
"""The next word of a line; quotes and braces keep spaces inside it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MagicOption:
    """An option of a magic: its names, what its value is called, and what it does."""

    names: tuple[str, ...]
    help: str
    value: str = ""
    """Empty for an option without a value."""
    choices: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        """The name under which its values are found."""
        return self.names[0]


COMMON = (
    MagicOption(names=("--epsilon", "-e"), value="E", help="ε to spend on this query"),
    MagicOption(
        names=("--within", "-w"),
        value="N",
        help="margin of error you need: 20, or visits=20; spends the smallest ε that gives it",
    ),
    MagicOption(names=("--delta",), value="D", help="δ for this query, if it needs one"),
    MagicOption(names=("--confidence",), value="P", help="confidence of margins; default 0.95"),
    MagicOption(
        names=("--parameter", "--parameters", "-P", "-p"),
        value="NAME=VALUE",
        help="value of a placeholder; without it, :name is the notebook's variable of that name",
    ),
    MagicOption(
        names=("--dialect",),
        value="NAME",
        help="dialect of the query; default duckdb",
        choices=tuple(each.value for each in SqlDialect),
    ),
    MagicOption(
        names=("--row-choice",),
        value="WHEN",
        help="when to choose the rows within the contribution limit",
        choices=("once", "per-query"),
    ),
    MagicOption(
        names=("--groups-per-unit",),
        value="N",
        help="the most groups that a privacy unit is counted in, where that lowers the noise",
    ),
    MagicOption(names=("--quiet", "-q"), help="show nothing; the cell needs a name then"),
)

OPTIONS: Mapping[str, tuple[MagicOption, ...]] = {
    "explain": (
        *COMMON,
        MagicOption(names=("--sql",), help="show the generated SQL"),
        MagicOption(
            names=("--sql-for",),
            value="NAME",
            help="show the generated SQL for another database",
            choices=("bigquery", "databricks", "snowflake", "trino"),
        ),
    ),
    "ask": (
        *COMMON,
        MagicOption(names=("--plot",), help="draw a chart, too"),
        MagicOption(names=("--yes", "-y"), help="run a query whose answer is likely to be empty"),
    ),
}
"""The options of each magic."""


def with_options(magic: F) -> F:
    """Add the options of a magic to its help."""
    lines = [
        f"    {', '.join(each.names)} {each.value}".rstrip() + f"\n        {each.help}"
        for each in OPTIONS[magic.__name__]
    ]
    magic.__doc__ = "\n".join([cleandoc(magic.__doc__ or ""), "", "Options:", *lines])
    return magic


Given: TypeAlias = dict[str, list[str]]
"""The values of each option that was given."""


def read_line(magic: str, line: str) -> tuple[Given, str]:
    """Return the options that a line begins with, and the rest of it as it was written."""
    known = {name: each for each in OPTIONS[magic] for name in each.names}
    given: Given = {}
    at = 0
    while (token := TOKEN.match(line, at)) and token[1].startswith("-"):
        name, equals, text = token[1].partition("=")
        at = token.end()
        if name not in known:
            raise UsageError(f"There is no option {name}. {_hint(magic, name)}")
        option = known[name]
        if equals and not option.value:
            raise UsageError(f"{name} takes no value. Write {name} alone.")
        if option.value and not equals:
            following = TOKEN.match(line, at)
            if following is None:
                raise UsageError(f"{name} needs a value: {name} {option.value}.")
            text, at = following[1], following.end()
        given.setdefault(option.key, []).append(text if "{" in text else _unquoted(text))
    return given, line[at:].strip()


def _unquoted(text: str) -> str:
    try:
        return "".join(split(text))
    except ValueError:  # it ends with a backslash
        raise UsageError(f"{text!r} is not a value. Write it without the backslash.") from None


def _hint(magic: str, name: str) -> str:
    """Return which option may be meant: one that begins so, or else the most similar."""
    long = [each.key for each in OPTIONS[magic]]
    begun = [each for each in long if each.startswith(name)]
    if begun:
        return f"Did you mean {begun[0]}?"
    return did_you_mean(name, long, otherwise=f"Use %{magic}? to list the options.")


def read_cell(magic: str, line: str) -> tuple[Given, str | None]:
    """Return the options of a cell's first line, and the name for the answer, in any order."""
    given, rest = read_line(magic, line)
    if not rest:
        return given, None
    token = TOKEN.match(rest)
    name = "" if token is None else token[1]
    more, after = read_line(magic, rest[len(name) :])
    if after or not name.isidentifier() or iskeyword(name):
        raise UsageError(
            f"{rest!r} is not a name for the answer. Write the options and one name after "
            f"%%{magic}, and the query in the next lines."
        )
    return {key: [*given.get(key, ()), *more.get(key, ())] for key in given | more}, name


def options_from(given: Given) -> QuestionOptions:
    """Return the options as the command line reads them."""

    def number(name: str) -> Any:
        return exact(given[name][-1]) if name in given else None

    def text(name: str) -> str | None:
        return given[name][-1] if name in given else None

    confidence, groups = number("--confidence"), number("--groups-per-unit")
    return question_options(
        number("--epsilon"),
        number("--delta"),
        given.get("--within"),
        DEFAULT_CONFIDENCE if confidence is None else confidence,
        text("--row-choice"),
        text("--sql-for"),
        groups_per_unit=None if groups is None else integer("groups-per-unit", groups, least=1),
        parameter=given.get("--parameter"),
        dialect=text("--dialect"),
    )


def completed_options(magic: str, before: str) -> tuple[str, Sequence[str]]:
    """Return the word that a line ends with, and the options or values that it can become."""
    found = re.search(r"(?:(?<=\s)(--?[\w-]+)[\s=]+)?(?<=[\s=])(-?[\w-]*)$", before)
    if found is None:
        return "", ()
    known = {name: each for each in OPTIONS[magic] for name in each.names}
    earlier = known.get(found[1] or "")
    word = found[2]
    if earlier is not None and earlier.value:
        return word, [each for each in earlier.choices if each.startswith(word)]
    long = [each.names[0] for each in OPTIONS[magic]]
    return word, [each for each in long if each.startswith(word)] if word.startswith("-") else ()
