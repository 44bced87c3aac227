"""`discreet shell`: one question after another, for people and for pipes."""

import os
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path

import typer
from prompt_toolkit import PromptSession
from prompt_toolkit.application import get_app
from prompt_toolkit.filters import Condition
from prompt_toolkit.history import FileHistory, History, InMemoryHistory
from prompt_toolkit.input import Input
from prompt_toolkit.output import Output

from discreet.answer import Answer
from discreet.answer.rendering import ShownColumn, table_lines, value_text, visible
from discreet.catalog import (
    Auto,
    Bounds,
    Column,
    ColumnUnit,
    PathUnit,
    PrivateTable,
    PublicTable,
    Table,
)
from discreet.catalog.policy import nearest
from discreet.catalog.schema import time_from_number
from discreet.cli.asking import (
    asked,
    check_picture,
    draw,
    explained,
    opened,
    show_answer,
)
from discreet.cli.books import show_budget
from discreet.cli.completion import Words
from discreet.cli.given import Payer, Terms, distances, exact
from discreet.cli.interrupts import forget
from discreet.cli.screen import (
    answers,
    complain,
    remark,
    sentence_of,
    show,
    width_of,
)
from discreet.cli.typed import inputs, is_command, is_whole, parted
from discreet.curator import Account, Curator
from discreet.errors import HIDDEN, BudgetError, DiscreetError, ParameterError, readable

PROMPT, CONTINUED = "discreet> ", "     ...> "

OWNER = Payer()

STOPPED = "stopped; what was charged stays charged, and asking again runs it without a new charge."


class End(Exception):  # noqa: N818 - nothing went wrong
    """The shell was asked to end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """A command of the shell: what it is called with, and what it does."""

    usage: str
    help: str
    run: Callable[["Shell", str], None]


class Shell:
    """Asks what it is given and shows the answers; a refusal is shown and forgotten."""

    def __init__(self, curator: Curator | Account, catalog: Path, terms: Terms) -> None:
        self.curator, self.catalog, self.terms = curator, catalog, terms
        self.last: Answer | None = None
        self.code = 0
        """The exit code of the first thing that was refused."""

    def run(self, text: str) -> None:
        """Do one thing: a command, or one statement or several."""
        try:
            if is_command(text):
                self._command(text.strip())
                return
            statements, rest = parted(text)
            for sql in [*statements, rest.strip()]:
                if sql:
                    self._ask(sql)
        except DiscreetError as error:
            self._refused(str(error), 3 if isinstance(error, BudgetError) else 1)
        except typer.BadParameter as error:
            self._refused(error.message, 1)
        except OSError as error:
            self._refused(sentence_of(error), 1)
        except KeyboardInterrupt:
            forget()
            self._refused(STOPPED, 1)

    def _refused(self, sentence: str, code: int) -> None:
        complain(sentence)
        self.code = self.code or code

    def _ask(self, sql: str) -> None:
        self.last = asked(self.curator, sql, self.terms)
        show_answer(self.last)

    def _command(self, text: str) -> None:
        name, _, rest = text.partition(" ")
        command = COMMANDS.get(name)
        if command is None:
            near = nearest(name, list(COMMANDS))
            hint = f"perhaps {near}" if near else "\\help lists them all"
            raise ParameterError("command", HIDDEN, f"{name} is not known: {hint}")
        command.run(self, rest.strip().rstrip(";").strip())

    # ----------------------------------------------------------------------- commands

    def explain(self, sql: str) -> None:
        """Show what a question would cost."""
        _needed("explain", sql, "a question: \\explain SELECT COUNT(*) FROM visits")
        told = explained(self.curator, sql, self.terms)
        show(told.to_text(width=width_of(answers())))

    def budget(self, _: str) -> None:
        """Show what is left and what was asked."""
        show_budget(self.catalog, is_json=False)

    def tables(self, _: str) -> None:
        """List the tables."""
        tables = self.curator.catalog.tables
        columns = {
            "table": [each.name for each in tables],
            "protects": [_unit(each) for each in tables],
            "columns": [", ".join(column.name for column in each.columns) for each in tables],
        }
        _show_table(columns)

    def describe(self, name: str) -> None:
        """Show a table's columns and what is declared about them; all tables for no name."""
        if not name:
            self.tables(name)
            return
        table = self.curator.catalog.table(name)
        if table is None:
            names = [each.name for each in self.curator.catalog.tables]
            near = nearest(name, names)
            hint = f"perhaps {near!r}" if near else f"there are {', '.join(names)}"
            raise ParameterError("table", HIDDEN, f"{name!r} is not known: {hint}")
        show(f"{table.name}: {_unit(table)}")
        columns = {
            "column": [each.name for each in table.columns],
            "type": [each.kind.value for each in table.columns],
            "declared": [_declared(each) for each in table.columns],
        }
        _show_table(columns)

    def epsilon(self, text: str) -> None:
        """Show or set what each question costs."""
        if text:
            self.terms = replace(self.terms, epsilon=_positive("epsilon", exact(text)), within=None)
        remark(self.price)

    def within(self, text: str) -> None:
        """Show or set how far off each answer may be."""
        if text:
            self.terms = replace(self.terms, epsilon=None, within=distances(text.split()))
        remark(self.price)

    def plot(self, text: str) -> None:
        """Save a picture of the last answer."""
        _needed("plot", text, "a file: \\plot visits.png")
        if self.last is None:
            raise ParameterError("\\plot", HIDDEN, "needs an answer: ask something first")
        path = Path(text).expanduser()
        check_picture(path)
        draw(self.last, path)

    def help(self, _: str) -> None:
        """List the commands."""
        remark("A question ends with a semicolon:  SELECT COUNT(*) FROM visits;")
        for each in COMMANDS.values():
            remark(f"  {each.usage:<18}{each.help}")

    def quit(self, _: str) -> None:
        """End the shell."""
        raise End

    @property
    def price(self) -> str:
        """What each question costs, in words."""
        if self.terms.epsilon is not None:
            return f"each question costs ε = {readable(self.terms.epsilon)}"
        return "each question costs the least ε for the accuracy that \\within has set"


COMMANDS: Mapping[str, Command] = {
    "\\explain": Command(
        usage="\\explain SQL", help="what a question would cost; free", run=Shell.explain
    ),
    "\\budget": Command(
        usage="\\budget", help="what is left, and what was asked", run=Shell.budget
    ),
    "\\tables": Command(usage="\\tables", help="the tables", run=Shell.tables),
    "\\d": Command(
        usage="\\d TABLE", help="a table's columns and what is declared", run=Shell.describe
    ),
    "\\epsilon": Command(
        usage="\\epsilon E", help="what each question costs from now on", run=Shell.epsilon
    ),
    "\\within": Command(
        usage="\\within N", help="or how far off each answer may be", run=Shell.within
    ),
    "\\plot": Command(
        usage="\\plot FILE", help="save a picture of the last answer", run=Shell.plot
    ),
    "\\help": Command(usage="\\help", help="this list", run=Shell.help),
    "\\q": Command(usage="\\q", help="end; Ctrl-D does, too", run=Shell.quit),
}


def run_shell(
    catalog: Path,
    terms: Terms,
    payer: Payer = OWNER,
    *,
    terminal: tuple[Input, Output] | None = None,
) -> int:
    """Run the shell until its input ends; return 0, or what went wrong first in a pipe."""
    if terms.epsilon is not None:
        _positive("epsilon", terms.epsilon)
    with opened(catalog, payer) as curator:
        shell = Shell(curator, catalog, terms)
        if terminal is None and not sys.stdin.isatty():
            _run_all(shell, inputs(sys.stdin))
            return shell.code
        remark(f"{shell.price} · left {curator.remaining} · \\help lists commands, \\q ends")
        _run_all(shell, _typed(_session(shell, terminal)))
        return 0


def _run_all(shell: Shell, texts: Iterator[str]) -> None:
    try:
        for text in texts:
            shell.run(text)
    except End:
        return


def _typed(session: "PromptSession[str]") -> Iterator[str]:
    """Yield what is typed; Ctrl-C drops what was begun, Ctrl-D ends."""
    while True:
        try:
            text = session.prompt()
        except KeyboardInterrupt:
            forget()
            continue
        except EOFError:
            return
        if text.strip():
            yield text


def _session(shell: Shell, terminal: tuple[Input, Output] | None) -> "PromptSession[str]":
    given, shown = terminal if terminal is not None else (None, None)
    return PromptSession(
        PROMPT,
        multiline=Condition(lambda: not is_whole(get_app().current_buffer.text)),
        prompt_continuation=CONTINUED,
        completer=Words(shell.curator.catalog, COMMANDS),
        complete_while_typing=False,
        history=_history(),
        bottom_toolbar=lambda: f"{shell.price} · left {shell.curator.remaining}",
        enable_history_search=True,
        input=given,
        output=shown,
    )


def _history() -> History:
    """Return the history of all shells of this user; of this one alone if it cannot be kept."""
    state = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    folder = Path(state) / "discreet"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        (folder / "history").touch(mode=0o600)
    except OSError:
        return InMemoryHistory()
    return FileHistory(str(folder / "history"))


def _needed(name: str, text: str, what: str) -> None:
    if not text:
        raise ParameterError(f"\\{name}", HIDDEN, f"needs {what}")


def _positive(name: str, number: Fraction) -> Fraction:
    if number <= 0:
        raise ParameterError(name, number, "must be more than 0")
    return number


def _unit(table: Table) -> str:
    match table:
        case PublicTable():
            return "nobody: it is public"
        case PrivateTable(unit=ColumnUnit(column=column)):
            return f"each {column}, with {_rows(table)}"
        case PrivateTable(unit=PathUnit(table=other)):
            return f"as {other} does, with {_rows(table)}"
        case _:
            return "each row"


def _rows(table: PrivateTable) -> str:
    return "one row" if table.rows_per_unit == 1 else f"up to {table.rows_per_unit} rows"


def _declared(column: Column) -> str:
    told = []
    match column.bounds:
        case Bounds(low=low, high=high):
            ends = [_end(column, each) for each in (low, high)]
            told.append(f"{ends[0]} to {ends[1]}")
        case Auto():
            told.append("bounds are found privately when they are first needed")
        case None:
            pass
    if column.step is not None:
        told.append(f"steps of {readable(column.step)}")
    if column.values is not None:
        told.append(", ".join(value_text(each) for each in column.values[:8]))
        told[-1] += ", …" if len(column.values) > 8 else ""
    return "; ".join(told)


def _end(column: Column, number: Fraction) -> str:
    moment = time_from_number(number, column.kind) if column.kind.is_time else None
    return readable(number) if moment is None else moment.isoformat()


def _show_table(columns: Mapping[str, list[str]]) -> None:
    first = next(iter(columns))
    shown = [
        (
            ShownColumn(
                header=header,
                cells=tuple(map(visible, cells)),
                is_right=False,
                is_key=header == first,
            ),
        )
        for header, cells in columns.items()
    ]
    show("\n".join(table_lines(shown, width=width_of(answers()), gap=None)))
