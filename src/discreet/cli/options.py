"""Options and arguments that commands share, and how their values are read."""

import json
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer

from discreet.errors import ParameterError
from discreet.written import Parameters

if TYPE_CHECKING:
    from discreet.terms import Terms

NUMBER = re.compile(
    r"[+-]?(\d{1,30}(\.\d{0,30})?|\.\d{1,30})(e[+-]?\d{1,3})?|\d{1,30}/0*[1-9]\d{0,30}", re.I | re.A
)
"""A decimal or a quotient, short enough to be computed with at once."""

STANDARD_INPUT = "-"

DEFAULT_CATALOG = Path("discreet.toml")
DEFAULT_CONFIDENCE = Fraction(95, 100)

NO_COST = "Give the amount to spend (--epsilon 0.5) or the margin of error you need (--within 20)."

ROW_CHOICES = {"once": "once", "prepared": "once", "per-query": "per-query"}
"""Values of `--row-choice`, and what the curator calls them; "prepared" is the old spelling."""


# --------------------------------------------------------------------------- values


class OutputFormat(Enum):
    """The format an answer is printed in."""

    TEXT = "text"
    JSON = "json"
    CSV = "csv"


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionOptions:
    """How much a query may cost, or how small its margins of error must be."""

    epsilon: Fraction | None = None
    delta: Fraction | None = None
    within: Fraction | Mapping[str, Fraction] | None = None
    confidence: Fraction = DEFAULT_CONFIDENCE
    row_choice: str | None = None
    groups_per_unit: int | None = None
    sql_for: str | None = None
    """The database for which an explanation shows the generated SQL."""
    dialect: str | None = None
    """The dialect in which the query is written."""
    parameters: Parameters = None

    @property
    def is_empty(self) -> bool:
        return self.epsilon is None and self.within is None

    @property
    def terms(self) -> "Terms":
        """The options as a curator takes them, for a query or its preview."""
        choice = None if self.row_choice is None else ROW_CHOICES[self.row_choice]
        return {
            "epsilon": self.epsilon,
            "delta": self.delta,
            "within": self.within,
            "confidence": self.confidence,
            "row_choice": choice,
            "groups_per_unit": self.groups_per_unit,
            "parameters": self.parameters,
            "dialect": self.dialect,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountOptions:
    """The account that is charged: an analyst's, by name or by token, else the owner's."""

    name: str | None = None
    token: str | None = field(default=None, repr=False)
    server: str | None = None
    """The address of a server that holds the data; None if they are here."""


def exact(text: str | Fraction) -> Fraction:
    """Return the number that is written: 0.1 is one tenth, 1/3 a third. A default stays."""
    if isinstance(text, Fraction):
        return text
    if not NUMBER.fullmatch(text.strip()):
        raise typer.BadParameter(f"{text!r} is not a number. Write one like 0.5 or 1/3.")
    return Fraction(text.strip())


def margins(texts: Sequence[str]) -> Fraction | Mapping[str, Fraction] | None:
    """Return one margin of error for all columns, `20`, or one for each, `visits=20 age=0.5`."""
    if not texts:
        return None
    if len(texts) == 1 and "=" not in texts[0]:
        return exact(texts[0])
    parts = [text.rpartition("=") for text in texts]
    if not all(name for name, _, _ in parts):
        raise typer.BadParameter(
            "Give one margin for all columns (--within 20), or one for each by name "
            "(--within visits=20 --within age=0.5)."
        )
    return {name: exact(number) for name, _, number in parts}


def question_options(  # noqa: PLR0913, PLR0917 - each is an option
    epsilon: Fraction | None,
    delta: Fraction | None,
    within: list[str] | None,
    confidence: Fraction,
    row_choice: str | None,
    sql_for: str | None = None,
    *,
    groups_per_unit: int | None = None,
    parameter: list[str] | None = None,
    dialect: str | None = None,
) -> QuestionOptions:
    """Return the options of `ask` and `explain`, checked."""
    if row_choice is not None and row_choice not in ROW_CHOICES:
        raise ParameterError("row-choice", row_choice, "must be 'once' or 'per-query'")
    return QuestionOptions(
        epsilon=epsilon,
        delta=delta,
        within=margins(within or ()),
        confidence=confidence,
        row_choice=row_choice,
        groups_per_unit=groups_per_unit,
        sql_for=sql_for,
        dialect=dialect,
        parameters=parameters(parameter or ()),
    )


def parameters(texts: Sequence[str]) -> Parameters:
    """Return the values of placeholders: `age=30` for :age, `1=30` for the first of ? or $1."""
    if not texts:
        return None
    parts = [text.partition("=") for text in texts]
    named = {name.strip().lstrip(":$"): _value(value) for name, _, value in parts}
    if len(named) < len(texts) or not all(equals and name for name, equals, _ in parts):
        raise typer.BadParameter(
            "Write each parameter once, with its name (--parameter age=30) or its number "
            "(--parameter 1=30)."
        )
    numbers = [str(number + 1) for number in range(len(named))]
    return [named[each] for each in numbers] if set(named) == set(numbers) else named


def _value(text: str) -> Any:
    """Return what a text says as JSON, or the text itself."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return text if isinstance(value, Mapping) else value


def account_options(
    name: str | None, token: str | None, server: str | None = None
) -> AccountOptions:
    """Return the account to charge. A name beside a token might be somebody else's."""
    if name is not None and token is not None:
        raise typer.BadParameter("Use either --as or --token (or DISCREET_TOKEN), not both.")
    if name is not None and server is not None:
        raise typer.BadParameter("A server knows you by your token: leave out --as.")
    return AccountOptions(name=name, token=token, server=server)


def output_format(*, is_json: bool, is_csv: bool) -> OutputFormat:
    """Return the format that was chosen; text by default."""
    if is_json and is_csv:
        raise typer.BadParameter("Use either --json or --csv, not both.")
    if is_json:
        return OutputFormat.JSON
    return OutputFormat.CSV if is_csv else OutputFormat.TEXT


def query_text(sql: str | None, file: Path | None) -> str:
    """Return the query: as it is, from a file, or from standard input for `-`."""
    if (sql is None) == (file is None):
        raise typer.BadParameter(
            "Write the query in quotes, - to read it from standard input, or --file FILE."
        )
    if file is not None:
        return _decoded(file.read_bytes())
    if sql == STANDARD_INPUT:
        return _decoded(sys.stdin.buffer.read())
    # Bytes that are not text arrive as halves of characters, which nothing can store.
    return _decoded((sql or "").encode("utf-8", "surrogateescape"))


def _decoded(given: bytes) -> str:
    try:
        return given.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise typer.BadParameter("The query is not UTF-8 text. Convert it to UTF-8.") from None


# --------------------------------------------------------------------------- options

Catalog: TypeAlias = Annotated[
    Path,
    typer.Option(
        "--catalog", "-c", envvar="DISCREET_CATALOG", metavar="FILE", help="Catalog file."
    ),
]
Sql: TypeAlias = Annotated[
    str | None,
    typer.Argument(metavar="SQL", help="The query, in quotes; - reads it from standard input."),
]
File: TypeAlias = Annotated[
    Path | None, typer.Option("--file", "-f", metavar="FILE", help="Read the query from a file.")
]
Epsilon: TypeAlias = Annotated[
    Fraction | None,
    typer.Option("--epsilon", "-e", parser=exact, metavar="E", help="ε to spend on this query."),
]
Delta: TypeAlias = Annotated[
    Fraction | None,
    typer.Option(
        parser=exact,
        metavar="D",
        help="δ for this query, if it has undeclared groups or Gaussian noise. Default: 1% of the "
        "catalog's δ.",
    ),
]
Within: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--within",
        "-w",
        metavar="N",
        help="Margin of error you need; Discreet finds the smallest ε that gives it, and spends no "
        "more than --epsilon if you give both. Examples: 20, or visits=20.",
    ),
]
Confidence: TypeAlias = Annotated[
    Fraction,
    typer.Option(
        parser=exact,
        metavar="P",
        show_default=False,
        help="Confidence level of the margins of error. Default: 0.95.",
    ),
]
RowChoice: TypeAlias = Annotated[
    str | None,
    typer.Option(
        metavar="WHEN",
        help="When to choose the rows within the contribution limit: once, before WHERE (faster), "
        "or per-query, among the matching rows.",
    ),
]
GroupsPerUnit: TypeAlias = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        min=1,
        help="The most groups of GROUP BY that a privacy unit is counted in, where that lowers the "
        "noise.",
    ),
]
SqlFor: TypeAlias = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="Show the generated SQL for bigquery, databricks, snowflake or trino.",
    ),
]
Dialect: TypeAlias = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="Dialect of the query: duckdb, postgres or bigquery. Default: duckdb.",
    ),
]
Parameter: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--parameter",
        "-P",
        metavar="NAME=VALUE",
        help="Value of a placeholder: age=30 for :age, 1=30 for the first ? or $1.",
    ),
]
Yes: TypeAlias = Annotated[
    bool,
    typer.Option("--yes", "-y", help="Do not ask before an answer that is likely to be empty."),
]
ShowSql: TypeAlias = Annotated[bool, typer.Option("--sql", help="Show the generated SQL.")]
As: TypeAlias = Annotated[
    str | None,
    typer.Option("--as", metavar="NAME", help="Spend from this analyst's cap (owners only)."),
]
Token: TypeAlias = Annotated[
    str | None,
    typer.Option(
        envvar="DISCREET_TOKEN",
        metavar="TOKEN",
        help="Analyst's access token; spends from that analyst's cap.",
    ),
]
PreviewAs: TypeAlias = Annotated[
    str | None,
    typer.Option("--as", metavar="NAME", help="Preview as this analyst (owners only)."),
]
PreviewToken: TypeAlias = Annotated[
    str | None,
    typer.Option(
        envvar="DISCREET_TOKEN",
        metavar="TOKEN",
        help="Analyst's access token; previews as that analyst.",
    ),
]
Server: TypeAlias = Annotated[
    str | None,
    typer.Option(
        envvar="DISCREET_SERVER",
        metavar="URL",
        help="Ask a server, which holds the data; --catalog then names one of its catalogs.",
    ),
]
AsJson: TypeAlias = Annotated[bool, typer.Option("--json", help="Print everything as JSON.")]
AsCsv: TypeAlias = Annotated[
    bool, typer.Option("--csv", help="Print results and margins of error as CSV.")
]
Chart: TypeAlias = Annotated[
    Path | None,
    typer.Option("--plot", "-p", metavar="FILE", help="Save a chart as .png, .svg or .pdf."),
]
LedgerArgument: TypeAlias = Annotated[
    str | None,
    typer.Argument(metavar="LEDGER", help="Ledger file or address. Default: the catalog's."),
]
LedgerOption: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--ledger", metavar="LEDGER", help="Ledger file or address. Default: the catalog's."
    ),
]
