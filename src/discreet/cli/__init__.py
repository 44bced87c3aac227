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
    help="Answer questions about sensitive data without giving anyone in it away.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


def main() -> None:
    """Run the command; a user's mistake is one sentence and exit code 1, never a traceback."""
    try:
        app()
    except (DiscreetError, OSError) as error:
        console = Console(stderr=True, soft_wrap=True)
        console.print(f"discreet: {error}", style="red", highlight=False, markup=False)
        sys.exit(1)


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


@app.command()
def version() -> None:
    """Print the version."""
    typer.echo(f"discreet {__version__}")
