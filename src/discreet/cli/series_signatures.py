"""The options of `discreet series`; see `signatures`."""
# ruff: noqa: PLR0913, PLR0917 - each argument is an option

from enum import Enum
from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from discreet.cli.app import make_group, runs
from discreet.cli.help import PlainCommand
from discreet.cli.options import (
    DEFAULT_CATALOG,
    DEFAULT_CONFIDENCE,
    AsCsv,
    AsJson,
    Catalog,
    Confidence,
    Server,
)

series = make_group()


class SeriesKind(Enum):
    """What is shown of a series."""

    RUNNING = "running"
    TICK = "tick"
    WINDOW = "window"


Name: TypeAlias = Annotated[
    str, typer.Argument(metavar="NAME", help="The series: see discreet series list.")
]
Token: TypeAlias = Annotated[
    str | None,
    typer.Option(envvar="DISCREET_TOKEN", metavar="TOKEN", help="Access token of an account."),
]
Shown: TypeAlias = Annotated[
    SeriesKind,
    typer.Option(
        metavar="KIND",
        help="running (totals since the first tick), tick (each tick alone) or window (the last "
        "ticks, with --window).",
        show_default=False,
    ),
]
Window: TypeAlias = Annotated[
    int | None,
    typer.Option(min=1, metavar="N", help="Ticks of a window, such as 7. Implies --kind window."),
]
Last: TypeAlias = Annotated[
    int | None, typer.Option(min=1, metavar="N", help="Only the last N ticks.")
]


@series.command(
    "list",
    cls=PlainCommand,
    help="Show all series: released ticks, the next tick, and the cost. Reads no private data.",
)
@runs("series")
def list_series(
    catalog: Catalog = DEFAULT_CATALOG,
    is_json: AsJson = False,
    token: Token = None,
    server: Server = None,
) -> None:
    """Print all series as a table."""


@series.command(
    "explain",
    cls=PlainCommand,
    help="Show what a series costs and its margins of error. Spends nothing and reads no private "
    "data.",
)
@runs("series")
def explain_series(
    name: Name,
    catalog: Catalog = DEFAULT_CATALOG,
    is_json: AsJson = False,
    confidence: Confidence = DEFAULT_CONFIDENCE,
    token: Token = None,
    server: Server = None,
) -> None:
    """Print what a series is like, before or after it is charged."""


@series.command(
    "tick",
    cls=PlainCommand,
    help="Release all ticks that are due. A series is charged once, with its first tick.",
)
@runs("series")
def tick_series(
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="NAME", help="Series. Default: all.", show_default=False),
    ] = None,
    until: Annotated[
        str | None,
        typer.Option(
            metavar="TIMESTAMP",
            help="Release as if it were this moment, UTC: fewer ticks. Example: 2026-07-01.",
        ),
    ] = None,
    yes: Annotated[
        bool, typer.Option("--yes", "-y", help="Do not ask before a series is charged.")
    ] = False,
    catalog: Catalog = DEFAULT_CATALOG,
    is_json: AsJson = False,
) -> None:
    """Release what is due, and print what was charged."""


@series.command(
    "show",
    cls=PlainCommand,
    help="Show released ticks with margins of error. Spends nothing and reads no private data.",
)
@runs("series")
def show_series(
    name: Name,
    kind: Shown = SeriesKind.RUNNING,
    window: Window = None,
    last: Last = None,
    catalog: Catalog = DEFAULT_CATALOG,
    is_json: AsJson = False,
    is_csv: AsCsv = False,
    confidence: Confidence = DEFAULT_CONFIDENCE,
    token: Token = None,
    server: Server = None,
) -> None:
    """Print released ticks; of a series that has none, what it will be like."""


@series.command(
    "plot",
    cls=PlainCommand,
    help="Draw released ticks as lines with bands of their margins of error.",
)
@runs("series")
def plot_series(
    name: Name,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FILE", help="A .png, .svg or .pdf file.")
    ],
    kind: Shown = SeriesKind.RUNNING,
    window: Window = None,
    last: Last = None,
    catalog: Catalog = DEFAULT_CATALOG,
    confidence: Confidence = DEFAULT_CONFIDENCE,
    token: Token = None,
    server: Server = None,
) -> None:
    """Save a chart of a series and say where."""
