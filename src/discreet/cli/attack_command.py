"""The command `discreet attack` and its options. What it does is loaded when it is run."""
# ruff: noqa: PLR0402 - modules stand by their whole names, which the tests of imports read
# ruff: noqa: PLR0913, PLR0917 - each argument is an option

from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from discreet.cli.given import exact
from discreet.cli.later import Later

if TYPE_CHECKING:
    import discreet.cli.attacking as attacking
else:
    attacking = Later("discreet.cli.attacking")


def attack(
    name: Annotated[
        str,
        typer.Argument(
            metavar="ATTACK",
            help="averaging, differencing, reconstruction, membership, groups, keys, "
            "floating-point, errors or timing.",
        ),
    ],
    against: Annotated[
        str,
        typer.Option(
            metavar="DEFENCE",
            help="raw, rounded, suppressed, bounded, cached, float-laplace, fresh-laplace or "
            "discreet.",
        ),
    ] = "discreet",
    epsilon: Annotated[
        Fraction | None,
        typer.Option(
            "--epsilon",
            "-e",
            parser=exact,
            metavar="E",
            help="What Discreet allows in all (1); for other noise, what a question is worth.",
        ),
    ] = None,
    each: Annotated[
        Fraction | None,
        typer.Option(
            parser=exact, metavar="E", help="What each question pays; a tenth if not given."
        ),
    ] = None,
    queries: Annotated[
        int | None, typer.Option(metavar="N", help="How many questions are asked at most.")
    ] = None,
    people: Annotated[
        int | None, typer.Option(metavar="N", help="How many people are made up.")
    ] = None,
    trials: Annotated[
        int | None, typer.Option(metavar="N", help="On how many made-up databases it is tried.")
    ] = None,
    by: Annotated[
        str | None,
        typer.Option(
            metavar="WAY",
            help="averaging: mean or belief; differencing: repeated, reworded or edge; "
            "reconstruction: least-squares or linear-program.",
        ),
    ] = None,
    catalog: Annotated[
        Path | None,
        typer.Option("--catalog", "-c", help="Make up people of this catalog; no data is read."),
    ] = None,
    secret: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="The catalog's column to be after.")
    ] = None,
    plot: Annotated[Path, typer.Option("--plot", "-p", help="Where to save the picture.")] = Path(
        "attack.png"
    ),
    is_json: Annotated[bool, typer.Option("--json", help="Print everything as JSON.")] = False,
) -> None:
    """Attack made-up people behind a defence, and see how often their secrets are told."""
    asked = attacking.Asked(
        attack=name,
        against=against,
        epsilon=epsilon,
        each=each,
        queries=queries,
        people=people,
        trials=trials,
        by=by,
        catalog=catalog,
        secret=secret,
    )
    attacking.show_attack(asked, is_json=is_json, picture=plot)
