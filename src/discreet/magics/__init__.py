"""`%load_ext discreet`: queries in cells of a notebook, with the options of the command line.

| file | holds |
|---|---|
| `__init__.py` | the magics, and how they are loaded |
| `options.py` | their options: one table for reading, help and completion |
| `choice.py` | who is asked |
| `completion.py` | completion inside of the cells |
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from warnings import catch_warnings, simplefilter

import typer
from IPython.core.error import UsageError
from IPython.core.interactiveshell import InteractiveShell
from IPython.core.magic import (
    Magics,
    line_cell_magic,
    line_magic,
    magics_class,
    no_var_expand,
)
from IPython.utils.text import DollarFormatter

from discreet.amounts import Balance
from discreet.answer import Answer
from discreet.asked import Answers, is_answering
from discreet.cli.options import NO_COST, QuestionOptions
from discreet.errors import DiscreetError, ParameterError
from discreet.explanation import Explanation
from discreet.explanation.thresholds import GroupThresholdWarning
from discreet.extras import matplotlib_module
from discreet.magics.choice import Choice
from discreet.magics.completion import CellCompletion
from discreet.magics.options import Given, options_from, read_cell, read_line, with_options
from discreet.query.parse import names_in
from discreet.terms import ExplainTerms
from discreet.written import written

STOPPED = "Stopped. If the query had already been charged, repeating it is free."

NO_CHART = (
    "A chart cannot be shown here. Leave out --plot, and save the chart of the answer: "
    'name.plot().save("chart.png").'
)


@magics_class
class NotebookMagics(Magics):
    """`%%ask`, `%%explain`, `%budget`, and `%discreet` to choose who is asked."""

    shell: InteractiveShell

    def __init__(self, shell: InteractiveShell) -> None:
        super().__init__(shell)
        self._choice = Choice(shell)
        self.completion = CellCompletion(self._choice)

    @no_var_expand
    @line_cell_magic
    @with_options
    def ask(self, line: str, cell: str | None = None) -> Answer | None:
        """Run a query, show its answer, and store it under a name if there is one.

        %%ask --epsilon 0.5 visits
        SELECT region, COUNT(*) AS visits FROM visits GROUP BY region

        answer = %ask --epsilon 0.5 SELECT COUNT(*) AS n FROM visits
        """
        with _in_one_sentence():
            given, name, sql = self._read("ask", line, cell)
            options = self._options(given, sql)
            if "--plot" in given:
                self._check_chart()
            answer = self._asked(sql, options, is_confirmed="--yes" in given)
            self._store(name, answer)
            if "--plot" in given:
                self._draw(answer)
        return None if "--quiet" in given else answer

    @no_var_expand
    @line_cell_magic
    @with_options
    def explain(self, line: str, cell: str | None = None) -> Explanation | None:
        """Show what a query would do and cost, and how good its answer would be. It is free.

        %%explain --epsilon 0.5
        SELECT region, COUNT(*) AS visits FROM visits GROUP BY region
        """
        with _in_one_sentence():
            given, name, sql = self._read("explain", line, cell)
            options = self._options(given, sql)
            with _needs_cost(options):
                terms: ExplainTerms = {**options.terms, "sql_for": options.sql_for}
                explanation = self._choice.answers().explain(sql, **terms)
            self._store(name, explanation)
            if "--sql" in given and "--quiet" not in given:
                self._show_text(explanation.to_text(sql=True))
                return None
        return None if "--quiet" in given else explanation

    @line_magic
    def budget(self, line: str) -> Balance:
        """Show what remains of the budget."""
        if line.strip():
            raise UsageError("%budget takes no options. Choose who is asked with %discreet NAME.")
        with _in_one_sentence():
            return self._choice.answers().remaining

    @no_var_expand
    @line_magic
    def discreet(self, line: str) -> Answers:
        """Choose what %%ask, %%explain and %budget ask: a variable, or any expression.

        %discreet clinic
        %discreet discreet.connect("https://clinic.example.com")

        Alone, it shows what was chosen. Without a choice, the notebook's only curator, account or
        client is asked.
        """
        with _in_one_sentence():
            if line.strip():
                self._choice.make(line.strip())
            return self._choice.answers()

    # ----------------------------------------------------------------------- what is asked

    def _read(self, magic: str, line: str, cell: str | None) -> tuple[Given, str | None, str]:
        """Return the options, the name for the result, and the query."""
        name: str | None = None
        if cell is None:
            given, sql = read_line(magic, line)
        else:
            given, name = read_cell(magic, line)
            sql = cell
        if not sql.strip():
            raise UsageError(f"Write a query after %{magic} and its options.")
        if "--quiet" in given and name is None:
            raise UsageError("--quiet needs a name for the result: %%ask --quiet name.")
        if name is not None and is_answering(self._choice.variables.get(name)):
            raise UsageError(
                f"{name} is the data that are asked. Give the result another name, and use "
                f"%discreet {name} to choose these data."
            )
        if name is not None and name in self.shell.user_ns_hidden:
            raise UsageError(f"{name} is a name of IPython. Give the result another name.")
        return {key: [*map(self._expanded, each)] for key, each in given.items()}, name, sql

    def _expanded(self, text: str) -> str:
        """Return an option's value with $name and {expression} replaced, as IPython does."""
        try:
            return DollarFormatter().vformat(text, (), self._choice.variables)
        except Exception:  # noqa: BLE001 - an expression may raise anything; IPython keeps the text
            return text

    def _options(self, given: Given, sql: str) -> QuestionOptions:
        """Return the options, with variables of the notebook for placeholders that lack a value."""
        options = options_from(given)
        stated = {} if options.parameters is None else options.parameters
        if not isinstance(stated, Mapping):
            return options
        names = names_in(written(sql, dialect=options.dialect))
        missing = [each for each in names if each not in stated]
        for each in missing:
            if each not in self._choice.variables:
                raise UsageError(
                    f"There is no variable {each} in this notebook for :{each}. Set it, or add "
                    f"--parameter {each}=30."
                )
        found = {each: self._choice.variables[each] for each in missing}
        return replace(options, parameters={**stated, **found} or None)

    def _asked(self, sql: str, options: QuestionOptions, *, is_confirmed: bool) -> Answer:
        with _needs_cost(options), catch_warnings():
            simplefilter("ignore" if is_confirmed else "error", GroupThresholdWarning)
            try:
                return self._choice.answers().ask(sql, **options.terms)
            except GroupThresholdWarning as warning:  # nothing is charged yet
                raise UsageError(
                    f"{warning} Nothing was spent. To run it anyway, add --yes."
                ) from None

    def _store(self, name: str | None, result: Answer | Explanation) -> None:
        if name is not None:
            self.shell.push({name: result})  # type: ignore[no-untyped-call]

    def _draw(self, answer: Answer) -> None:
        """Show the chart; an answer that has none is not lost."""
        try:
            chart = answer.plot()
        except DiscreetError as error:
            self._show_text(f"No chart: {error}")
            return
        formatter = self.shell.display_formatter
        if formatter is not None:
            self.shell.display_pub.publish(*formatter.format(chart))  # type: ignore[no-untyped-call]

    def _show_text(self, text: str) -> None:
        self.shell.display_pub.publish({"text/plain": text})

    def _check_chart(self) -> None:
        """Reject a chart that could not be shown, before anything is spent."""
        formatter = self.shell.display_formatter
        if formatter is None or "image/png" not in formatter.active_types:
            raise UsageError(NO_CHART)
        matplotlib_module()


@contextmanager
def _in_one_sentence() -> Iterator[None]:
    """Show every failure as a sentence: IPython shows a UsageError without a traceback."""
    try:
        yield
    except typer.BadParameter as error:
        raise UsageError(error.message) from None
    except KeyboardInterrupt:
        raise UsageError(STOPPED) from None


@contextmanager
def _needs_cost(options: QuestionOptions) -> Iterator[None]:
    try:
        yield
    except ParameterError as error:
        if not (options.is_empty and error.name == "epsilon"):
            raise
        raise UsageError(NO_COST) from None


# --------------------------------------------------------------------------- loading


def load(shell: InteractiveShell) -> None:
    """Add the magics and their completion to a shell."""
    unload(shell)
    magics = NotebookMagics(shell)
    shell.register_magics(magics)
    shell.Completer.custom_matchers.append(magics.completion.match)


def unload(shell: InteractiveShell) -> None:
    """Take the magics and their completion away again."""
    known = shell.magics_manager.magics
    for kind in ("line", "cell"):
        ours = [name for name, each in known[kind].items() if _is_ours(each)]
        for name in ours:
            del known[kind][name]
    matchers = shell.Completer.custom_matchers
    matchers[:] = [each for each in matchers if not _is_ours(each)]


def _is_ours(function: object) -> bool:
    return isinstance(getattr(function, "__self__", None), NotebookMagics | CellCompletion)
