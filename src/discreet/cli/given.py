"""What people type on a command line: numbers, accuracies, questions."""

import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from fractions import Fraction
from pathlib import Path

import typer

NUMBER = re.compile(
    r"[+-]?(\d{1,30}(\.\d{0,30})?|\.\d{1,30})(e[+-]?\d{1,3})?|\d{1,30}/0*[1-9]\d{0,30}", re.I | re.A
)
"""A decimal or a quotient, short enough to be computed with at once."""

STANDARD_INPUT = "-"


class Form(Enum):
    """What an answer is printed as."""

    TEXT = "text"
    JSON = "json"
    CSV = "csv"


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """What a question may cost, or how good its answer must be."""

    epsilon: Fraction | None = None
    delta: Fraction | None = None
    within: Fraction | Mapping[str, Fraction] | None = None
    confidence: Fraction = Fraction(95, 100)
    bounding: str | None = None
    dialect: str | None = None
    """In whose words an explanation has what would be run."""

    @property
    def is_empty(self) -> bool:
        return self.epsilon is None and self.within is None


@dataclass(frozen=True, slots=True, kw_only=True)
class Payer:
    """Whose account is charged: an analyst by name or by token, else the owner's."""

    name: str | None = None
    token: str | None = field(default=None, repr=False)


def payer_of(name: str | None, token: str | None) -> Payer:
    """Return who pays; a token is worth nothing beside a name that it may not belong to."""
    if name is not None and token is not None:
        raise typer.BadParameter("choose one of --as and --token (or DISCREET_TOKEN).")
    return Payer(name=name, token=token)


def exact(text: str | Fraction) -> Fraction:
    """Return the number that is written: 0.1 is one tenth, 1/3 a third; a default stays."""
    if isinstance(text, Fraction):
        return text
    if not NUMBER.fullmatch(text.strip()):
        raise typer.BadParameter(f"{text!r} is not a number; write one like 0.5 or 1/3.")
    return Fraction(text.strip())


def distances(texts: Sequence[str]) -> Fraction | Mapping[str, Fraction] | None:
    """Return one distance for all columns, `20`, or one for each, `visits=20 age=0.5`."""
    if not texts:
        return None
    if len(texts) == 1 and "=" not in texts[0]:
        return exact(texts[0])
    parts = [text.rpartition("=") for text in texts]
    if not all(name for name, _, _ in parts):
        raise typer.BadParameter(
            "write one number for all columns, --within 20, or one for each by its name, "
            "--within visits=20 --within age=0.5."
        )
    return {name: exact(number) for name, _, number in parts}


def form_of(*, is_json: bool, is_csv: bool) -> Form:
    """Return the form that was asked for; text if none was."""
    if is_json and is_csv:
        raise typer.BadParameter("choose one of --json and --csv.")
    if is_json:
        return Form.JSON
    return Form.CSV if is_csv else Form.TEXT


def question(sql: str | None, file: Path | None) -> str:
    """Return the question: as it is, from a file, or from standard input for `-`."""
    if (sql is None) == (file is None):
        raise typer.BadParameter(
            "write the question in quotes, - to read it from standard input, or --file FILE."
        )
    if file is not None:
        return _text(file.read_bytes())
    if sql == STANDARD_INPUT:
        return _text(sys.stdin.buffer.read())
    # Bytes that are no text arrive as halves of characters, which nothing can store.
    return _text((sql or "").encode("utf-8", "surrogateescape"))


def _text(given: bytes) -> str:
    try:
        return given.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise typer.BadParameter("the question is not UTF-8 text; convert it.") from None
