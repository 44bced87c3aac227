"""The command `discreet audit`. What it does is loaded when it is run."""
# ruff: noqa: PLR0402 - modules stand by their whole names, which the tests of imports read

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from discreet.cli.later import Later

if TYPE_CHECKING:
    import discreet.cli.auditing as auditing
else:
    auditing = Later("discreet.cli.auditing")


def audit(
    quick: Annotated[
        bool, typer.Option("--quick", help="A tenth of the runs: some minutes instead of many.")
    ] = False,
    only: Annotated[
        str | None,
        typer.Option("--only", metavar="PATTERN", help="Only what has this in its name; * is any."),
    ] = None,
    is_json: Annotated[bool, typer.Option("--json", help="Print everything as JSON.")] = False,
    plot: Annotated[
        Path | None, typer.Option("--plot", "-p", help="Save a picture: .png, .svg or .pdf.")
    ] = None,
) -> None:
    """Attack all that we claim, and mistakes made on purpose; print what is given away at least."""
    auditing.show_audit(auditing.Asked(quick, only, is_json, plot))
