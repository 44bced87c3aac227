"""The table of commands.

A command's options are loaded when it is called, and the module that has its body when it runs.
"""

from collections.abc import Callable
from functools import wraps
from importlib import import_module
from types import ModuleType
from typing import Annotated, Any, NamedTuple

import typer
from typer.core import TyperCommand, TyperGroup

from discreet import __version__
from discreet.cli.help import PlainCommand, PlainGroup


class Command(NamedTuple):
    """A command: its name, its panel, its help in one line, and the module of its signature."""

    name: str
    panel: str
    help: str
    module: str = "signatures"


START, QUERIES, BUDGET = "Get started", "Run queries", "Budget"
SERVER, LARGE, STUDY = "Server", "Large tables", "Study and test"

TABLE = (
    Command("demo", START, "Run a guided tour on synthetic clinic data."),
    Command(
        "init",
        START,
        "Draft a catalog from data files. Shows column names and types, never values.",
    ),
    Command(
        "explain",
        QUERIES,
        "Preview a query's cost and margins of error. Spends nothing and reads no private data.",
    ),
    Command("ask", QUERIES, "Run a query and spend budget on it. Repeating a query costs nothing."),
    Command("shell", QUERIES, "Run queries interactively, with history and completion."),
    Command(
        "coverage",
        QUERIES,
        "Measure the share of a table's rows and values that answers count. Spends budget, once.",
    ),
    Command(
        "series",
        QUERIES,
        "Release and read series: charts that go on for years on one payment.",
        "series_signatures",
    ),
    Command(
        "budget",
        BUDGET,
        "Show the remaining budget and past queries. Reads no private data.",
    ),
    Command("analyst", BUDGET, "Manage analysts, their caps and requests.", "analyst_signatures"),
    Command("ledger", BUDGET, "Show, verify, copy or export the ledger."),
    Command(
        "price",
        BUDGET,
        "Compute the total cost of several releases by every accounting method that applies.",
    ),
    Command(
        "serve",
        SERVER,
        "Serve catalogs over HTTP: analysts ask and never touch the data.",
        "server_signatures",
    ),
    Command(
        "mcp",
        SERVER,
        "Let an AI agent ask over the Model Context Protocol, on an account of its own.",
        "server_signatures",
    ),
    Command("login", SERVER, "Keep the token of a server, for --server.", "server_signatures"),
    Command(
        "prepare",
        LARGE,
        "Make prepared copies of private tables, which are faster to open and query.",
    ),
    Command(
        "attack",
        STUDY,
        "Run a known attack on synthetic data and measure how often it succeeds.",
        "study_signatures",
    ),
    Command(
        "audit",
        STUDY,
        "Test every privacy claim by measuring a lower bound on ε. Includes planted bugs that "
        "must be caught.",
        "study_signatures",
    ),
    Command(
        "design",
        STUDY,
        "Compare mechanisms for a count: Laplace, geometric, and the optimum.",
        "study_signatures",
    ),
    Command(
        "local",
        STUDY,
        "Collect statistics with local differential privacy (noise is added on each device).",
        "study_signatures",
    ),
)

OLD_COMMANDS = {"forget": ("prepare", "--remove")}

OLD_OPTIONS = {
    "ask": {"--bounding": "--row-choice"},
    "explain": {"--bounding": "--row-choice"},
    "attack": {"--each": "--epsilon-per-query", "--by": "--method"},
    "local": {"--least-people": "--min-people"},
}
"""Old spellings that still work, with a warning."""


class LazyGroup(PlainGroup):
    """The group of all commands: lists them by the table, and loads one when it is called."""

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        self.commands = {
            each.name: TyperCommand(each.name, help=each.help, rich_help_panel=each.panel)
            for each in TABLE
        }

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        """Return the command that is called, loaded, and its arguments in today's spelling."""
        name, found, rest = super().resolve_command(ctx, _today(args))
        return name, None if found is None or name is None else load(name), rest


def module(name: str) -> ModuleType:
    """Return a module of this package, loaded now if it was not before."""
    return import_module(f"discreet.cli.{name}")


def load(name: str) -> TyperCommand | TyperGroup:
    """Return a command of the table with its options, or a group of commands."""
    (entry,) = (each for each in TABLE if each.name == name)
    found = getattr(module(entry.module), name)
    if not isinstance(found, typer.Typer):
        single = typer.Typer(add_completion=False)
        single.command(name, cls=PlainCommand)(found)
        found = single
    command: Any = typer.main.get_command(found)
    command.name, command.help = name, entry.help
    return command  # type: ignore[no-any-return]


def make_group() -> typer.Typer:
    """Return an empty group of commands, such as `discreet ledger`."""
    return typer.Typer(cls=PlainGroup, no_args_is_help=True, add_completion=False)


def runs(body: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Make a command of a signature: run the function of the same name in a module, loaded then."""

    def command_of(signature: Callable[..., None]) -> Callable[..., None]:
        @wraps(signature)
        def run(**options: object) -> None:
            getattr(module(body), signature.__name__)(**options)

        return run

    return command_of


def _today(args: list[str]) -> list[str]:
    """Return the arguments with old commands and options replaced, and warn of each."""
    if args[0] in OLD_COMMANDS:
        new = OLD_COMMANDS[args[0]]
        _warn_old(args[0], f"discreet {' '.join(new)}")
        args = [*new, *args[1:]]
    names = OLD_OPTIONS.get(args[0], {})
    end = args.index("--") if "--" in args else len(args)
    return [_option_today(each, names) for each in args[:end]] + args[end:]


def _option_today(argument: str, names: dict[str, str]) -> str:
    option, equals, value = argument.partition("=")
    if option not in names:
        return argument
    _warn_old(option, names[option])
    return f"{names[option]}{equals}{value}"


def _warn_old(old: str, new: str) -> None:
    typer.echo(f"discreet: {old} is deprecated. Use {new}.", err=True)


commands = typer.Typer(
    cls=LazyGroup,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(is_asked: bool) -> None:
    if is_asked:
        typer.echo(f"discreet {__version__}")
        raise typer.Exit


@commands.callback()
def discreet(
    version: Annotated[
        bool,
        typer.Option(
            "--version",
            callback=_print_version,
            is_eager=True,
            help="Show the version and exit.",
        ),
    ] = False,
) -> None:
    """Query sensitive data with differential privacy."""
