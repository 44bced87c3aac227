"""`discreet ask` and `discreet explain`."""
# ruff: noqa: PLR0913 - each argument is an option

from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias
from warnings import catch_warnings, simplefilter

import typer

from discreet.account import Account
from discreet.answer import Answer
from discreet.catalog.resolve import read
from discreet.cli.console import answers, is_interactive, remark, show, waiting, width_of
from discreet.cli.init import remark_outdated
from discreet.cli.ledger import ledger_to_read
from discreet.cli.options import (
    NO_COST,
    AccountOptions,
    OutputFormat,
    QuestionOptions,
    account_options,
    output_format,
    query_text,
    question_options,
)
from discreet.cli.remote import connected
from discreet.curator import Curator
from discreet.errors import DiscreetError, ParameterError
from discreet.explanation import Explanation
from discreet.explanation.thresholds import GroupThresholdWarning
from discreet.known_releases import DataVersion
from discreet.opening import open_catalog, open_unplugged
from discreet.plots import check_format

if TYPE_CHECKING:
    from discreet.client import Remote


def ask(
    *,
    sql: str | None,
    epsilon: Fraction | None,
    within: list[str] | None,
    plot: Path | None,
    file: Path | None,
    catalog: Path,
    is_json: bool,
    is_csv: bool,
    yes: bool,
    confidence: Fraction,
    delta: Fraction | None,
    groups_per_unit: int | None,
    row_choice: str | None,
    parameter: list[str] | None,
    dialect: str | None,
    account: str | None,
    token: str | None,
    server: str | None,
) -> None:
    """Run a query and print its answer."""
    query = query_text(sql, file)
    options = question_options(
        epsilon,
        delta,
        within,
        confidence,
        row_choice,
        groups_per_unit=groups_per_unit,
        parameter=parameter,
        dialect=dialect,
    )
    charged = account_options(account, token, server)
    form = output_format(is_json=is_json, is_csv=is_csv)
    if plot is not None:
        check_chart(plot)
    with opened(catalog, charged) as curator:
        answer = answered(curator, query, options, is_confirmed=yes)
    show_answer(answer, form)
    if plot is not None:
        save_chart(answer, plot)


def explain(
    *,
    sql: str | None,
    epsilon: Fraction | None,
    within: list[str] | None,
    show_sql: bool,
    file: Path | None,
    catalog: Path,
    is_json: bool,
    confidence: Fraction,
    delta: Fraction | None,
    groups_per_unit: int | None,
    row_choice: str | None,
    parameter: list[str] | None,
    dialect: str | None,
    sql_for: str | None,
    account: str | None,
    token: str | None,
    server: str | None,
) -> None:
    """Print the cost and margins of a query; reads the catalog and the ledger.

    Of private files only the bytes are read, to recognize answers that are saved for them.
    """
    query = query_text(sql, file)
    options = question_options(
        epsilon,
        delta,
        within,
        confidence,
        row_choice,
        sql_for,
        groups_per_unit=groups_per_unit,
        parameter=parameter,
        dialect=dialect,
    )
    with previewing(catalog, account_options(account, token, server)) as curator:
        shown = explained(curator, query, options)
    if is_json:
        show(shown.to_json(indent=2))
        return
    show(shown.to_text(width=width_of(answers()), sql=show_sql or None))


Asked: TypeAlias = "Curator | Account | Remote"
"""What answers: the data are here, or on a server."""


@contextmanager
def previewing(catalog: Path, account: AccountOptions) -> Iterator[Asked]:
    """Open a catalog without its data, to explain queries, or a server that has it."""
    if account.server is not None:
        with connected(catalog, account) as remote:
            yield remote
        return
    with waiting("reading the catalog") as advance:
        declared = read(catalog)
        ledger = ledger_to_read(catalog, declared, account)
        curator = open_unplugged(catalog, declared=declared, ledger=ledger, progress=advance)
    with curator:
        yield _on_account(curator, account)


@contextmanager
def without_data(catalog: Path, account: AccountOptions) -> Iterator[Asked]:
    """Open a catalog and its ledger, or a server that has it; private files are not read."""
    if account.server is not None:
        with connected(catalog, account) as remote:
            yield remote
        return
    declared = read(catalog)
    ledger = ledger_to_read(catalog, declared, account)
    version = DataVersion()
    with open_unplugged(catalog, declared=declared, ledger=ledger, version=version) as curator:
        yield _on_account(curator, account)


@contextmanager
def opened(catalog: Path, account: AccountOptions) -> Iterator[Asked]:
    """Open the data of a catalog for an account, here or on a server; close it afterwards."""
    if account.server is not None:
        with connected(catalog, account) as remote:
            yield remote
        return
    declared = read(catalog)
    remark_outdated(catalog, declared)
    with waiting("reading the data") as advance:
        curator = open_catalog(catalog, declared=declared, progress=advance)
    with curator:
        yield _on_account(curator, account)


def _on_account(curator: Curator, account: AccountOptions) -> Curator | Account:
    if account.token is not None:
        return curator.as_analyst(account.token)
    return curator if account.name is None else curator.on_account(account.name)


def answered(
    curator: Asked, sql: str, options: QuestionOptions, *, is_confirmed: bool = False
) -> Answer:
    """Return the answer of a query, or say which option is missing.

    Before it is charged for groups of which none is likely to be shown, someone at a terminal is
    asked whether to go on. A script goes on with a warning on standard error.
    """
    try:
        return _asked(curator, sql, options, "ignore" if is_confirmed else "error")
    except GroupThresholdWarning as warning:  # nothing is charged yet
        remark(f"Warning: {warning}")
        if is_interactive() and not typer.confirm("Run the query anyway?", err=True):
            raise DiscreetError("The query was not run, and nothing was spent") from None
    return _asked(curator, sql, options, "ignore")


def _asked(
    curator: Asked,
    sql: str,
    options: QuestionOptions,
    action: Literal["error", "ignore"],
) -> Answer:
    with _needs_cost_or_margin(options), waiting("running the query"), catch_warnings():
        simplefilter(action, GroupThresholdWarning)
        return curator.ask(sql, **options.terms)


def explained(curator: Asked, sql: str, options: QuestionOptions) -> Explanation:
    """Return the preview of a query, or say which option is missing."""
    with _needs_cost_or_margin(options), waiting("planning"):
        return curator.explain(sql, **options.terms, sql_for=options.sql_for)


@contextmanager
def _needs_cost_or_margin(options: QuestionOptions) -> Iterator[None]:
    """Name the command's options where the curator misses epsilon or within."""
    try:
        yield
    except ParameterError as error:
        if not (options.is_empty and error.name == "epsilon"):
            raise
        raise typer.BadParameter(NO_COST) from None


def show_answer(answer: Answer, form: OutputFormat = OutputFormat.TEXT) -> None:
    """Print an answer; beside CSV, which has no room for it, its cost goes to standard error."""
    match form:
        case OutputFormat.TEXT:
            show(answer.to_text(width=width_of(answers())))
        case OutputFormat.JSON:
            typer.echo(answer.to_json(indent=2))
        case OutputFormat.CSV:
            typer.echo(str(answer.to_csv()).removesuffix("\n"))
            remark(f"Spent {answer.charged} · Remaining: {answer.remaining}")


def check_chart(path: Path) -> None:
    """Reject a chart that could not be saved, before anything is spent."""
    check_format("plot", path)


def save_chart(answer: Answer, path: Path) -> None:
    """Save a chart of an answer and say where."""
    remark(f"Chart: {answer.plot().save(path)}")
