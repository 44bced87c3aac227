"""`discreet shell`: one query after another, typed or from a pipe."""

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

from discreet.account import Account
from discreet.answer import Answer
from discreet.catalog.shown import declared_text, tables_text, unit_text
from discreet.cli import clear_interrupt
from discreet.cli.ask import (
    Asked,
    answered,
    check_chart,
    explained,
    opened,
    save_chart,
    show_answer,
)
from discreet.cli.console import answers, complain, remark, sentence_of, show, show_table, width_of
from discreet.cli.ledger import budget
from discreet.cli.options import (
    AccountOptions,
    QuestionOptions,
    account_options,
    exact,
    margins,
)
from discreet.cli.shell_input import Words, inputs, is_command, is_complete, statements_and_rest
from discreet.curator import Curator
from discreet.errors import HIDDEN, BudgetError, DiscreetError, ParameterError, readable
from discreet.parameters import nearest_name

PROMPT, CONTINUED = "discreet> ", "     ...> "

OWNER = AccountOptions()

STOPPED = "Stopped. If the query had already been charged, repeating it is free."


class Quit(Exception):  # noqa: N818 - nothing went wrong
    """The shell is to end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShellCommand:
    """A command of the shell: how it is written, its help, and what it does."""

    usage: str
    help: str
    run: Callable[["Shell", str], None]


class Shell:
    """Runs what it is given and shows the answers; goes on after a rejected query."""

    def __init__(self, curator: Asked, catalog: Path, options: QuestionOptions) -> None:
        self.curator, self.catalog, self.options = curator, catalog, options
        self.last: Answer | None = None
        self.code = 0
        """The exit code of the first failure."""

    def run(self, text: str) -> None:
        """Do one thing: a command, or one statement or several."""
        try:
            if is_command(text):
                self._command(text.strip())
                return
            statements, rest = statements_and_rest(text)
            for sql in [*statements, rest.strip()]:
                if sql:
                    self._ask(sql)
        except DiscreetError as error:
            self._failed(str(error), 3 if isinstance(error, BudgetError) else 1)
        except typer.BadParameter as error:
            self._failed(error.message, 1)
        except OSError as error:
            self._failed(sentence_of(error), 1)
        except KeyboardInterrupt:
            clear_interrupt()
            self._failed(STOPPED, 1)

    def _failed(self, sentence: str, code: int) -> None:
        complain(sentence)
        self.code = self.code or code

    def _ask(self, sql: str) -> None:
        self.last = answered(self.curator, sql, self.options)
        show_answer(self.last)

    def _command(self, text: str) -> None:
        name, _, rest = text.partition(" ")
        command = COMMANDS.get(name)
        if command is None:
            near = nearest_name(name, list(COMMANDS))
            hint = f"Did you mean {near}?" if near else "Use \\help to list the commands."
            raise typer.BadParameter(f"There is no command {name}. {hint}")
        command.run(self, rest.strip().rstrip(";").strip())

    # ----------------------------------------------------------------------- commands

    def explain(self, sql: str) -> None:
        """Preview a query."""
        _needed("explain", sql, "a query: \\explain SELECT COUNT(*) FROM visits")
        preview = explained(self.curator, sql, self.options)
        show(preview.to_text(width=width_of(answers())))

    def budget(self, _: str) -> None:
        """Show the remaining budget and past queries."""
        if isinstance(self.curator, Curator | Account):
            budget(self.catalog)
        else:
            show(f"Remaining: {self.curator.remaining}")

    def tables(self, _: str) -> None:
        """List the tables."""
        show(tables_text(self.curator.catalog.tables, width=width_of(answers())))

    def describe(self, name: str) -> None:
        """Show a table's columns and what the catalog declares for them; all tables for no name."""
        if not name:
            self.tables(name)
            return
        table = self.curator.catalog.table(name)
        if table is None:
            names = [each.name for each in self.curator.catalog.tables]
            near = nearest_name(name, names)
            hint = f"Did you mean {near}?" if near else f"Available tables: {', '.join(names)}."
            raise typer.BadParameter(f"There is no table {name}. {hint}")
        show(f"{table.name}: {unit_text(table)}")
        columns = {
            "column": [each.name for each in table.columns],
            "type": [each.kind.value for each in table.columns],
            "declared": [declared_text(each) for each in table.columns],
        }
        show_table(columns, folds=True)

    def epsilon(self, text: str) -> None:
        """Show or set the ε of each query."""
        if text:
            self.options = replace(
                self.options, epsilon=_positive("epsilon", exact(text)), within=None
            )
        remark(self.cost)

    def within(self, text: str) -> None:
        """Show or set the margin of error of each query."""
        if text:
            self.options = replace(self.options, epsilon=None, within=margins(text.split()))
        remark(self.cost)

    def plot(self, text: str) -> None:
        """Save a chart of the last answer."""
        _needed("plot", text, "a file: \\plot visits.png")
        if self.last is None:
            raise ParameterError("\\plot", HIDDEN, "needs an answer: run a query first")
        path = Path(text).expanduser()
        check_chart(path)
        save_chart(self.last, path)

    def help(self, _: str) -> None:
        """List the commands."""
        remark("End each query with a semicolon: SELECT COUNT(*) FROM visits;")
        for each in COMMANDS.values():
            remark(f"  {each.usage:<18}{each.help}")

    def quit(self, _: str) -> None:
        """End the shell."""
        raise Quit

    @property
    def cost(self) -> str:
        """What each query costs, in words."""
        if self.options.epsilon is not None:
            return f"Each query costs ε = {readable(self.options.epsilon)}"
        return "Each query costs the smallest ε for the margin of error set by \\within"


COMMANDS: Mapping[str, ShellCommand] = {
    "\\explain": ShellCommand(
        usage="\\explain SQL", help="preview a query; spends nothing", run=Shell.explain
    ),
    "\\budget": ShellCommand(
        usage="\\budget", help="remaining budget and past queries", run=Shell.budget
    ),
    "\\tables": ShellCommand(usage="\\tables", help="list the tables", run=Shell.tables),
    "\\d": ShellCommand(
        usage="\\d TABLE",
        help="columns of a table, and what is declared for them",
        run=Shell.describe,
    ),
    "\\epsilon": ShellCommand(
        usage="\\epsilon E", help="set the ε of each query from now on", run=Shell.epsilon
    ),
    "\\within": ShellCommand(
        usage="\\within N", help="set the margin of error instead", run=Shell.within
    ),
    "\\plot": ShellCommand(
        usage="\\plot FILE", help="save a chart of the last answer", run=Shell.plot
    ),
    "\\help": ShellCommand(usage="\\help", help="show this list", run=Shell.help),
    "\\q": ShellCommand(usage="\\q", help="quit (or press Ctrl-D)", run=Shell.quit),
}


def shell(
    *,
    epsilon: Fraction,
    catalog: Path,
    account: str | None,
    token: str | None,
    server: str | None,
) -> None:
    """Run the shell; in a pipe, exit with the code of the first failure."""
    charged = account_options(account, token, server)
    code = run_shell(catalog, QuestionOptions(epsilon=epsilon), charged)
    raise typer.Exit(code)


def run_shell(
    catalog: Path,
    options: QuestionOptions,
    account: AccountOptions = OWNER,
    *,
    terminal: tuple[Input, Output] | None = None,
) -> int:
    """Run the shell until its input ends; return 0, or the code of a pipe's first failure."""
    if options.epsilon is not None:
        _positive("epsilon", options.epsilon)
    with opened(catalog, account) as curator:
        running = Shell(curator, catalog, options)
        if terminal is None and not sys.stdin.isatty():
            _run_all(running, inputs(sys.stdin))
            return running.code
        remark(f"{_status(running)} · \\help lists commands, \\q quits")
        _run_all(running, _typed(_session(running, terminal)))
        return 0


def _status(running: Shell) -> str:
    return f"{running.cost} · Remaining: {running.curator.remaining}"


def _run_all(running: Shell, texts: Iterator[str]) -> None:
    try:
        for text in texts:
            running.run(text)
    except Quit:
        return


def _typed(session: "PromptSession[str]") -> Iterator[str]:
    """Yield what is typed; Ctrl-C drops an unfinished query, Ctrl-D ends."""
    while True:
        try:
            text = session.prompt()
        except KeyboardInterrupt:
            clear_interrupt()
            continue
        except EOFError:
            return
        if text.strip():
            yield text


def _session(running: Shell, terminal: tuple[Input, Output] | None) -> "PromptSession[str]":
    given, shown = terminal if terminal is not None else (None, None)
    return PromptSession(
        PROMPT,
        multiline=Condition(lambda: not is_complete(get_app().current_buffer.text)),
        prompt_continuation=CONTINUED,
        completer=Words(running.curator.catalog, COMMANDS),
        complete_while_typing=False,
        history=_history(),
        bottom_toolbar=lambda: _status(running),
        enable_history_search=True,
        input=given,
        output=shown,
    )


def _history() -> History:
    """Return the history of all of this user's shells; of this one alone if it cannot be saved."""
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
