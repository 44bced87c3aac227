"""The commands and their options. What they do is loaded when they are run."""
# ruff: noqa: PLR0402 - modules stand by their whole names, which the tests of imports read
# ruff: noqa: PLR0913, PLR0917 - each argument is an option

from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from discreet import __version__
from discreet.cli.attack_command import attack
from discreet.cli.audit_command import audit
from discreet.cli.given import Terms, distances, exact, form_of, payer_of, question
from discreet.cli.later import Later
from discreet.cli.local_commands import commands as local_commands

if TYPE_CHECKING:
    import discreet.cli.analysts as analysts
    import discreet.cli.asking as asking
    import discreet.cli.books as books
    import discreet.cli.copies as copies
    import discreet.cli.designing as designing
    import discreet.cli.drafting as drafting
    import discreet.cli.exporting as exporting
    import discreet.cli.failing as failing
    import discreet.cli.mechanisms as mechanisms
    import discreet.cli.prices as prices
    import discreet.cli.shell as shells
    import discreet.cli.tour as tour
else:
    analysts = Later("discreet.cli.analysts")
    asking = Later("discreet.cli.asking")
    books = Later("discreet.cli.books")
    copies = Later("discreet.cli.copies")
    designing = Later("discreet.cli.designing")
    drafting = Later("discreet.cli.drafting")
    exporting = Later("discreet.cli.exporting")
    failing = Later("discreet.cli.failing")
    mechanisms = Later("discreet.cli.mechanisms")
    prices = Later("discreet.cli.prices")
    shells = Later("discreet.cli.shell")
    tour = Later("discreet.cli.tour")

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
ledgers = typer.Typer(no_args_is_help=True, help="Read the book of charges, or check it.")
app.add_typer(ledgers, name="ledger", rich_help_panel="Keep the books")
accounts = typer.Typer(no_args_is_help=True, help="Declare who may ask, and how much each.")
app.add_typer(accounts, name="analyst", rich_help_panel="Keep the books")
app.add_typer(local_commands, name="local", rich_help_panel="Trust nobody")
app.command(rich_help_panel="See what goes wrong")(attack)
app.command(rich_help_panel="See what goes wrong")(audit)

Catalog: TypeAlias = Annotated[
    Path,
    typer.Option("--catalog", "-c", envvar="DISCREET_CATALOG", help="What the owner declares."),
]
Question: TypeAlias = Annotated[
    str | None, typer.Argument(metavar="SQL", help="The question; - reads standard input.")
]
File: TypeAlias = Annotated[
    Path | None, typer.Option("--file", "-f", help="Read the question from a file.")
]
Epsilon: TypeAlias = Annotated[
    Fraction | None,
    typer.Option("--epsilon", "-e", parser=exact, metavar="E", help="What it may cost."),
]
Delta: TypeAlias = Annotated[
    Fraction | None,
    typer.Option(parser=exact, metavar="D", help="And of delta, where one is needed."),
]
Within: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--within", "-w", metavar="N", help="How far off it may be; pays the least. Or: column=N."
    ),
]
Confidence: TypeAlias = Annotated[
    Fraction,
    typer.Option(parser=exact, metavar="P", show_default="0.95", help="How often error bars hold."),
]
Bounding: TypeAlias = Annotated[
    str | None,
    typer.Option(
        metavar="WHEN", help="When rows of a unit are chosen: prepared (faster) or per-query."
    ),
]
Dialect: TypeAlias = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="Show SQL of bigquery, databricks, snowflake or trino."),
]
As: TypeAlias = Annotated[
    str | None, typer.Option("--as", metavar="NAME", help="Charge it to this analyst's account.")
]
Token: TypeAlias = Annotated[
    str | None,
    typer.Option(envvar="DISCREET_TOKEN", help="The same, by the token that the analyst holds."),
]
AsJson: TypeAlias = Annotated[bool, typer.Option("--json", help="Print everything as JSON.")]
AsCsv: TypeAlias = Annotated[bool, typer.Option("--csv", help="Print rows and errors as CSV.")]

HERE = Path("discreet.toml")
USUAL = Fraction(95, 100)


@app.command(rich_help_panel="Begin")
def demo(
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Folder for the made-up files and pictures.")
    ] = Path("discreet-demo"),
    is_mechanisms: Annotated[
        bool, typer.Option("--mechanisms", help="Show single mechanisms instead of SQL.")
    ] = False,
) -> None:
    """Take the tour: ask a made-up group of clinics, and see what is refused."""
    if is_mechanisms:
        mechanisms.show_tour(output)
    else:
        tour.show_tour(output)


@app.command(rich_help_panel="Begin")
def init(
    data: Annotated[
        list[str], typer.Argument(metavar="DATA...", help="Files: CSV, Parquet or DuckDB.")
    ],
    unit: Annotated[
        str | None, typer.Option(help="The column that says whose row it is; or: row.")
    ] = None,
    epsilon: Annotated[
        Fraction | None,
        typer.Option(parser=exact, metavar="E", help="How much may be revealed in all."),
    ] = None,
    delta: Annotated[
        Fraction | None, typer.Option(parser=exact, metavar="D", help="And of delta; 0 for none.")
    ] = None,
    spend: Annotated[
        Fraction | None,
        typer.Option(
            parser=exact, metavar="E", help="Find bounds and values privately, for this epsilon."
        ),
    ] = None,
    output: Annotated[Path, typer.Option("--output", "-o", help="The catalog to write.")] = HERE,
    force: Annotated[bool, typer.Option("--force", help="Replace a catalog.")] = False,
) -> None:
    """Draft a catalog for data files; shows names and types of columns, never a value."""
    stated = drafting.Stated(unit=unit, epsilon=epsilon, delta=delta, spend=spend)
    drafting.init(data, output, stated, may_replace=force)


@app.command(rich_help_panel="Begin")
def prepare(catalog: Catalog = HERE) -> None:
    """Copy private tables once into a form that is quick to open and to ask."""
    copies.prepare(catalog)


@app.command(rich_help_panel="Begin")
def forget(catalog: Catalog = HERE) -> None:
    """Remove the copy that prepare made."""
    copies.forget(catalog)


@app.command(rich_help_panel="Ask")
def ask(
    sql: Question = None,
    catalog: Catalog = HERE,
    epsilon: Epsilon = None,
    within: Within = None,
    delta: Delta = None,
    confidence: Confidence = USUAL,
    bounding: Bounding = None,
    file: File = None,
    is_json: AsJson = False,
    is_csv: AsCsv = False,
    plot: Annotated[
        Path | None, typer.Option("--plot", "-p", help="Save a picture: .png, .svg or .pdf.")
    ] = None,
    account: As = None,
    token: Token = None,
) -> None:
    """Ask a question in SQL and pay for it; asked again, it is free."""
    asking.ask(
        question(sql, file),
        catalog,
        _terms(epsilon, delta, within, confidence, bounding),
        payer_of(account, token),
        form=form_of(is_json=is_json, is_csv=is_csv),
        picture=plot,
    )


@app.command(rich_help_panel="Ask")
def explain(
    sql: Question = None,
    catalog: Catalog = HERE,
    epsilon: Epsilon = None,
    within: Within = None,
    delta: Delta = None,
    confidence: Confidence = USUAL,
    bounding: Bounding = None,
    dialect: Dialect = None,
    file: File = None,
    is_json: AsJson = False,
    account: As = None,
    token: Token = None,
) -> None:
    """Say what a question would cost and how good its answer would be; needs no private data."""
    asking.explain(
        question(sql, file),
        catalog,
        replace(_terms(epsilon, delta, within, confidence, bounding), dialect=dialect),
        payer_of(account, token),
        form=form_of(is_json=is_json, is_csv=False),
    )


@app.command(rich_help_panel="Ask")
def shell(
    catalog: Catalog = HERE,
    epsilon: Annotated[
        Fraction,
        typer.Option(
            "--epsilon",
            "-e",
            parser=exact,
            metavar="E",
            show_default="0.1",
            help="What each question costs.",
        ),
    ] = Fraction(1, 10),
    account: As = None,
    token: Token = None,
) -> None:
    """Ask one question after another, with history and completion."""
    code = shells.run_shell(catalog, Terms(epsilon=epsilon), payer_of(account, token))
    raise typer.Exit(code)


@app.command(rich_help_panel="Keep the books")
def budget(catalog: Catalog = HERE, is_json: AsJson = False) -> None:
    """Show what is left and what was asked; needs no private data."""
    books.show_budget(catalog, is_json=is_json)


@app.command(rich_help_panel="Keep the books")
def price(
    releases: Annotated[
        list[str], typer.Argument(help="Releases, such as '100 x laplace 0.1' 'gaussian 5'.")
    ],
    delta: Annotated[float, typer.Option(help="The delta to price them at.")] = 0.0,
) -> None:
    """Price releases that are fixed in advance, by every accountant that has a theorem for them."""
    prices.show_price(releases, delta)


@app.command(rich_help_panel="Choose a mechanism")
def design(
    range_: Annotated[
        tuple[int, int], typer.Option("--range", metavar="LOW HIGH", help="What answers can be.")
    ],
    epsilon: Annotated[
        Fraction, typer.Option("--epsilon", "-e", parser=exact, metavar="E", help="Its price.")
    ],
    prior: Annotated[
        str,
        typer.Option(metavar="PRIOR", help="uniform, worst, binomial=0.3, or a file of numbers."),
    ] = "uniform",
    gain: Annotated[
        str,
        typer.Option(metavar="GAIN", help="identity, absolute, squared, parity or threshold=2."),
    ] = "absolute",
    sensitivity: Annotated[
        int, typer.Option(metavar="N", help="How far one unit moves the answer, at most.")
    ] = 1,
    is_json: AsJson = False,
    plot: Annotated[
        Path, typer.Option("--plot", "-p", help="Where to save the picture of the channels.")
    ] = Path("design.png"),
) -> None:
    """Compare mechanisms for a count: Laplace, geometric, with best guesses, and the optimum."""
    asked = designing.Asked(range_, epsilon, prior, gain, sensitivity)
    designing.show_design(asked, is_json=is_json, picture=plot)


Place: TypeAlias = Annotated[
    str | None,
    typer.Argument(metavar="LEDGER", help="The ledger's file or address, if not the catalog's."),
]
At: TypeAlias = Annotated[
    str | None,
    typer.Option("--ledger", help="The ledger's file or address, if not the catalog's."),
]
Name: TypeAlias = Annotated[str, typer.Argument(metavar="NAME", help="The analyst's name.")]


@ledgers.command("show")
def ledger_show(place: Place = None, catalog: Catalog = HERE) -> None:
    """Show every entry."""
    books.show_ledger(books.place_of(place, catalog))


@ledgers.command("verify")
def ledger_verify(
    place: Place = None,
    catalog: Catalog = HERE,
    head: Annotated[
        str | None, typer.Option(help="A digest noted earlier, which must be there.")
    ] = None,
) -> None:
    """Check that every entry is as it was written."""
    books.verify_ledger(books.place_of(place, catalog), head)


@ledgers.command("incidents")
def ledger_incidents(place: Place = None, catalog: Catalog = HERE, is_json: AsJson = False) -> None:
    """Show what failed after its charge, who is suspended for it, and the bits told at most."""
    failing.show_incidents(books.place_of(place, catalog), is_json=is_json)


@ledgers.command("export")
def ledger_export(place: Place = None, catalog: Catalog = HERE) -> None:
    """Print every entry as one line of JSON; answers and tokens stay in the ledger."""
    exporting.export_ledger(books.place_of(place, catalog))


@accounts.command("add")
def analyst_add(
    name: Name,
    epsilon: Annotated[
        Fraction, typer.Option("--epsilon", "-e", parser=exact, metavar="E", help="The cap.")
    ],
    delta: Annotated[
        Fraction | None,
        typer.Option(parser=exact, metavar="D", help="The cap of delta; that of all if not given."),
    ] = None,
    place: At = None,
    catalog: Catalog = HERE,
) -> None:
    """Let an analyst ask up to a cap, or change the cap, and print a new token once."""
    analysts.add(catalog, place, name, epsilon, delta)


@accounts.command("list")
def analyst_list(place: At = None, catalog: Catalog = HERE) -> None:
    """Show the analysts, their caps and what is left of each."""
    analysts.show_all(catalog, place)


@accounts.command("disable")
def analyst_disable(name: Name, place: At = None, catalog: Catalog = HERE) -> None:
    """Let an analyst ask nothing more; what was charged stays charged."""
    analysts.disable(catalog, place, name)


@accounts.command("resume")
def analyst_resume(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="The account's name; owner for your own.")
    ],
    place: At = None,
    catalog: Catalog = HERE,
) -> None:
    """Let an account ask again that a failure has suspended; the ledger records it."""
    failing.resume(books.place_of(place, catalog), name)


def _terms(
    epsilon: Fraction | None,
    delta: Fraction | None,
    within: list[str] | None,
    confidence: Fraction,
    bounding: str | None,
) -> Terms:
    return Terms(
        epsilon=epsilon,
        delta=delta,
        within=distances(within or ()),
        confidence=confidence,
        bounding=bounding,
    )


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
