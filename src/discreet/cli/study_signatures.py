"""The options of commands that study and test; see `signatures`."""
# ruff: noqa: PLR0913, PLR0917 - each argument is an option

from fractions import Fraction
from pathlib import Path
from typing import Annotated

import typer

from discreet.cli.app import make_group, runs
from discreet.cli.help import PlainCommand
from discreet.cli.options import DEFAULT_CONFIDENCE, AsJson, Chart, Confidence, exact

COLLECTION = Path("collection.db")

local = make_group()


@runs("attack")
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
            help="What is attacked: raw, rounded, suppressed, bounded, sticky, float-laplace, "
            "fresh-laplace or discreet.",
        ),
    ] = "discreet",
    epsilon: Annotated[
        Fraction | None,
        typer.Option(
            "--epsilon",
            "-e",
            parser=exact,
            metavar="E",
            help="Total ε of Discreet (default: 1). For other defences that add noise: ε per "
            "query.",
        ),
    ] = None,
    epsilon_per_query: Annotated[
        Fraction | None,
        typer.Option(
            parser=exact,
            metavar="E",
            help="ε of each query. Default: a tenth of the total budget.",
        ),
    ] = None,
    queries: Annotated[
        int | None, typer.Option(metavar="N", help="Maximum number of queries.")
    ] = None,
    people: Annotated[
        int | None, typer.Option(metavar="N", help="Number of synthetic people.")
    ] = None,
    trials: Annotated[
        int | None, typer.Option(metavar="N", help="Number of synthetic databases to attack.")
    ] = None,
    method: Annotated[
        str | None,
        typer.Option(
            metavar="METHOD",
            help="averaging: mean or belief; differencing: repeated, reworded or edge; "
            "reconstruction: least-squares or linear-program.",
        ),
    ] = None,
    catalog: Annotated[
        Path | None,
        typer.Option(
            "--catalog",
            "-c",
            metavar="FILE",
            help="Generate synthetic people for this catalog; no data is read.",
        ),
    ] = None,
    secret: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="Column that the attack tries to learn.")
    ] = None,
    plot: Annotated[
        Path, typer.Option("--plot", "-p", metavar="FILE", help="Where to save the chart.")
    ] = Path("attack.png"),
    is_json: AsJson = False,
) -> None:
    """Run an attack on synthetic people, print its verdict, and save a chart of it."""


@runs("audit")
def audit(
    quick: Annotated[
        bool, typer.Option("--quick", help="Run a tenth of the trials: takes a few minutes.")
    ] = False,
    only: Annotated[
        str | None,
        typer.Option(
            "--only",
            metavar="PATTERN",
            help="Test only claims and planted bugs whose name contains this; * matches anything.",
        ),
    ] = None,
    is_json: AsJson = False,
    plot: Chart = None,
) -> None:
    """Print the findings; exit with 1 if a claim is violated or a planted bug is not caught."""


@runs("design")
def design(
    range_: Annotated[
        tuple[int, int],
        typer.Option("--range", metavar="LOW HIGH", help="Smallest and largest possible answer."),
    ],
    epsilon: Annotated[
        Fraction,
        typer.Option("--epsilon", "-e", parser=exact, metavar="E", help="ε of each mechanism."),
    ],
    prior: Annotated[
        str,
        typer.Option(
            metavar="PRIOR",
            help="Prior belief about the answer: uniform, worst, binomial=0.3, or a file "
            "of numbers.",
        ),
    ] = "uniform",
    gain: Annotated[
        str,
        typer.Option(
            metavar="GAIN",
            help="How guesses are scored: identity, absolute, squared, parity or threshold=2.",
        ),
    ] = "absolute",
    sensitivity: Annotated[
        int,
        typer.Option(metavar="N", help="The most that one privacy unit can change the answer."),
    ] = 1,
    is_json: AsJson = False,
    plot: Annotated[
        Path,
        typer.Option(
            "--plot", "-p", metavar="FILE", help="Where to save the chart of the mechanisms."
        ),
    ] = Path("design.png"),
) -> None:
    """Print the utility of each mechanism, and save a chart of them."""


@local.command(
    "simulate", cls=PlainCommand, help="Generate synthetic reports and print the true counts."
)
@runs("local")
def simulate(
    epsilon: Annotated[
        Fraction,
        typer.Option("--epsilon", "-e", parser=exact, metavar="E", help="ε of each report."),
    ],
    mechanism: Annotated[
        str,
        typer.Option(
            "--mechanism",
            "-m",
            metavar="NAME",
            help="best, kary, symmetric, unary, subset, hashing, hadamard, duchi, piecewise, "
            "hybrid or square-wave.",
        ),
    ] = "best",
    categories: Annotated[
        int,
        typer.Option("--categories", "-k", metavar="K", help="Number of values, or of buckets."),
    ] = 10,
    people: Annotated[
        int, typer.Option("--people", "-n", metavar="N", help="Number of synthetic people.")
    ] = 10_000,
    values: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="File with one value per line, instead of synthetic people."
        ),
    ] = None,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FILE", help="File of reports to write.")
    ] = Path("reports.txt"),
) -> None:
    """Write the reports of synthetic or given people, and print the truth about them."""


@local.command(
    "collect",
    cls=PlainCommand,
    help="Count reports. Duplicates are ignored, and reports are not stored.",
)
@runs("local")
def collect(
    reports: Annotated[list[Path], typer.Argument(metavar="REPORTS", help="Files of reports.")],
    into: Annotated[
        Path, typer.Option("--into", metavar="FILE", help="File to store counts in.")
    ] = COLLECTION,
    min_people: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="Fewest people whose counts may be shown; set when the file is created. "
            "Default: 100.",
        ),
    ] = None,
) -> None:
    """Count the reports of several files, each id once."""


@local.command(
    "estimate",
    cls=PlainCommand,
    help="Estimate the true counts from the reports, with margins of error.",
)
@runs("local")
def estimate(
    collection: Annotated[
        Path, typer.Argument(metavar="COLLECTION", help="The file that counts are stored in.")
    ] = COLLECTION,
    confidence: Confidence = DEFAULT_CONFIDENCE,
    is_json: AsJson = False,
    plot: Chart = None,
) -> None:
    """Print the estimates, and save a chart if one is wanted."""
