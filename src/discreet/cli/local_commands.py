"""The commands of `discreet local`. What they do is loaded when they are run."""
# ruff: noqa: PLR0402 - modules stand by their whole names, which the tests of imports read
# ruff: noqa: PLR0913, PLR0917 - each argument is an option

from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from discreet.cli.given import exact
from discreet.cli.later import Later

if TYPE_CHECKING:
    import discreet.cli.local as local
else:
    local = Later("discreet.cli.local")

commands = typer.Typer(
    no_args_is_help=True, help="Collect statistics when nobody is trusted with the data."
)

AsJson: TypeAlias = Annotated[bool, typer.Option("--json", help="Print everything as JSON.")]
Collection: TypeAlias = Annotated[
    Path, typer.Argument(metavar="COLLECTION", help="The file that counts are kept in.")
]


@commands.command("simulate")
def simulate(
    epsilon: Annotated[
        Fraction,
        typer.Option("--epsilon", "-e", parser=exact, metavar="E", help="What each report costs."),
    ],
    mechanism: Annotated[
        str, typer.Option("--mechanism", "-m", metavar="NAME", help="How to report; or: best.")
    ] = "best",
    categories: Annotated[
        int, typer.Option("--categories", "-k", help="How many values, or buckets, there are.")
    ] = 10,
    people: Annotated[int, typer.Option("--people", "-n", help="How many people are made up.")] = (
        10_000
    ),
    values: Annotated[
        Path | None, typer.Option(help="A file with a value a line, instead of made-up people.")
    ] = None,
    output: Annotated[Path, typer.Option("--output", "-o", help="The reports to write.")] = Path(
        "reports.txt"
    ),
) -> None:
    """Make up people, write the reports that their devices would send, and print the truth."""
    local.simulate(local.Survey(mechanism, epsilon, categories, people), values, output)


@commands.command("collect")
def collect(
    reports: Annotated[list[Path], typer.Argument(metavar="REPORTS...", help="Files of reports.")],
    into: Annotated[Path, typer.Option("--into", help="The file to keep counts in.")] = Path(
        "collection.db"
    ),
    least_people: Annotated[
        int | None,
        typer.Option(
            show_default="100", help="Counts of fewer people are not given out; for a new file."
        ),
    ] = None,
) -> None:
    """Count reports, each once however often it is sent; no report is kept."""
    local.collect(reports, into, least_people=least_people)


@commands.command("estimate")
def estimate(
    collection: Collection = Path("collection.db"),
    confidence: Annotated[
        Fraction,
        typer.Option(parser=exact, metavar="P", show_default="0.95", help="How often ± holds."),
    ] = Fraction(95, 100),
    is_json: AsJson = False,
    plot: Annotated[
        Path | None, typer.Option("--plot", "-p", help="Save a picture: .png, .svg or .pdf.")
    ] = None,
) -> None:
    """Estimate what people hold from the counts, with errors."""
    local.estimate(collection, confidence, is_json=is_json, picture=plot)
