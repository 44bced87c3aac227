"""The command `discreet`."""

import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from discreet import __version__
from discreet.cli.prices import show_price
from discreet.cli.tour import show_tour
from discreet.errors import DiscreetError

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


def main() -> None:
    """Run the command; a user's mistake is one sentence and exit code 1, never a traceback."""
    try:
        app()
    except (DiscreetError, OSError) as error:
        _complain(str(error))
        sys.exit(1)
    except Exception as error:  # noqa: BLE001 - the outer edge: fixed words, no traceback
        _complain(f"an internal error ({type(error).__name__}); please report what you ran.")
        sys.exit(70)


def _complain(sentence: str) -> None:
    console = Console(stderr=True, soft_wrap=True)
    console.print(f"discreet: {sentence}", style="red", highlight=False, markup=False)


@app.command()
def demo(
    output: Annotated[Path, typer.Option(help="Folder that the pictures are saved in.")] = Path(
        "discreet-demo"
    ),
) -> None:
    """Take the tour: every mechanism on a small made-up table, with errors, prices and pictures."""
    show_tour(Console(), output)


@app.command()
def price(
    releases: Annotated[
        list[str], typer.Argument(help="Releases, such as '100 x laplace 0.1' 'gaussian 5'.")
    ],
    delta: Annotated[float, typer.Option(help="The delta to price them at.")] = 0.0,
) -> None:
    """Price releases that are fixed in advance, by every accountant that has a theorem for them."""
    show_price(Console(), releases, delta)


def _print_version(is_asked: bool) -> None:
    if is_asked:
        typer.echo(f"discreet {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print it.")
    ] = False,
) -> None:
    """Answer questions about sensitive data without giving anyone in it away."""
