"""`discreet ask` and `discreet explain`."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import typer

from discreet.answer import Answer
from discreet.cli.books import balance_of
from discreet.cli.copies import remark_outdated
from discreet.cli.given import Form, Payer, Terms
from discreet.cli.screen import answers, remark, show, waiting, width_of
from discreet.curator import Account, Curator
from discreet.errors import ParameterError
from discreet.explanation import Explanation
from discreet.opening import open_catalog, open_unplugged
from discreet.plots import check_format


def ask(  # noqa: PLR0913 - each is an option
    sql: str, catalog: Path, terms: Terms, payer: Payer, *, form: Form, picture: Path | None
) -> None:
    """Pay for the question and print its answer; asked again, it is free."""
    if picture is not None:
        check_picture(picture)
    with opened(catalog, payer) as account:
        answer = asked(account, sql, terms)
    show_answer(answer, form)
    if picture is not None:
        draw(answer, picture)


def explain(sql: str, catalog: Path, terms: Terms, payer: Payer, *, form: Form) -> None:
    """Print what the question would cost; reads the catalog and the ledger, no private data."""
    with waiting("reading the catalog"):
        curator = open_unplugged(catalog)
    with curator:
        explanation = explained(curator, sql, terms)
    told = replace(explanation, remaining=balance_of(catalog, payer))
    if form is Form.JSON:
        show(told.to_json(indent=2))
    else:
        show(told.to_text(width=width_of(answers()), sql=terms.dialect is not None))


@contextmanager
def opened(catalog: Path, payer: Payer) -> Iterator[Curator | Account]:
    """Open what a catalog declares, as who pays has it, and close it afterwards."""
    remark_outdated(catalog)
    with waiting("reading the data"):
        curator = open_catalog(catalog)
    with curator:
        if payer.token is not None:
            yield curator.as_analyst(payer.token)
        elif payer.name is not None:
            yield curator.on_account(payer.name)
        else:
            yield curator


def asked(curator: Curator | Account, sql: str, terms: Terms) -> Answer:
    """Return the answer, or say which option is missing."""
    with _needs_terms(terms), waiting("asking"):
        return curator.ask(
            sql,
            epsilon=terms.epsilon,
            delta=terms.delta,
            within=terms.within,
            confidence=terms.confidence,
            row_choice=terms.bounding,
        )


def explained(curator: Curator | Account, sql: str, terms: Terms) -> Explanation:
    """Return what asking would do, or say which option is missing."""
    with _needs_terms(terms), waiting("planning"):
        return curator.explain(
            sql,
            epsilon=terms.epsilon,
            delta=terms.delta,
            within=terms.within,
            confidence=terms.confidence,
            row_choice=terms.bounding,
            dialect=terms.dialect,
        )


@contextmanager
def _needs_terms(terms: Terms) -> Iterator[None]:
    """Say it as options where the curator needs a price and there is none."""
    try:
        yield
    except ParameterError as error:
        if not (terms.is_empty and error.name == "epsilon"):
            raise
        raise typer.BadParameter(
            "say what the question may cost, --epsilon 0.5, or how good its answer must be, "
            "--within 20."
        ) from None


def show_answer(answer: Answer, form: Form = Form.TEXT) -> None:
    """Print an answer; where its form has no room for the price, that is a remark."""
    shown: dict[Form, Callable[[], str]] = {
        Form.TEXT: lambda: answer.to_text(width=width_of(answers())),
        Form.JSON: lambda: answer.to_json(indent=2),
        Form.CSV: lambda: str(answer.to_csv()).removesuffix("\n"),
    }
    if form is Form.TEXT:
        show(shown[form]())
        return
    typer.echo(shown[form]())
    if form is Form.CSV:
        remark(f"paid {answer.charged} · left {answer.remaining}")


def check_picture(path: Path) -> None:
    """Refuse a picture that could not be saved, before anything is paid."""
    check_format("plot", path)


def draw(answer: Answer, path: Path) -> None:
    """Save a picture of an answer and say where."""
    remark(f"picture: {answer.plot().save(path)}")
