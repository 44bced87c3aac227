"""The options of commands that run queries, manage the budget and set Discreet up.

A signature without a body: `runs` loads the module that has the body when the command runs, so help
loads no database.
"""
# ruff: noqa: PLR0913, PLR0917 - each argument is an option

from fractions import Fraction
from pathlib import Path
from typing import Annotated

import typer

from discreet.cli.app import make_group, runs
from discreet.cli.help import PlainCommand
from discreet.cli.options import (
    DEFAULT_CATALOG,
    DEFAULT_CONFIDENCE,
    As,
    AsCsv,
    AsJson,
    Catalog,
    Chart,
    Confidence,
    Delta,
    Dialect,
    Epsilon,
    File,
    GroupsPerUnit,
    LedgerArgument,
    Parameter,
    PreviewAs,
    PreviewToken,
    RowChoice,
    Server,
    ShowSql,
    Sql,
    SqlFor,
    Token,
    Within,
    Yes,
    exact,
)

ledger = make_group()


# --------------------------------------------------------------------------- get started


@runs("tour")
def demo(
    output: Annotated[
        Path,
        typer.Option(
            "--output", "-o", metavar="FOLDER", help="Folder for the synthetic data and the chart."
        ),
    ] = Path("discreet-demo"),
) -> None:
    """Write the synthetic clinics, query them, and say how to go on with the same files."""


@runs("init")
def init(
    data: Annotated[
        list[str],
        typer.Argument(
            metavar="DATA",
            help="Data files: CSV, Parquet or DuckDB. Or the address of a PostgreSQL or Spark "
            "server (postgresql://reader@host/db, spark://host:7077, env:NAME), then its tables.",
        ),
    ],
    unit: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            help='Column that identifies the person to protect, or "row" to protect each row '
            "separately.",
        ),
    ] = None,
    public: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TABLE", help="A table that anyone may see. Repeat it for several tables."
        ),
    ] = None,
    epsilon: Annotated[
        Fraction | None,
        typer.Option(parser=exact, metavar="E", help="Total privacy budget (ε)."),
    ] = None,
    delta: Annotated[
        Fraction | None, typer.Option(parser=exact, metavar="D", help="Total δ; 0 for none.")
    ] = None,
    find_bounds: Annotated[
        Fraction | None,
        typer.Option(
            "--spend",
            "--find-bounds",
            parser=exact,
            metavar="E",
            help="Spend this much ε to find rows_per_unit, bounds and value lists privately.",
        ),
    ] = None,
    columns: Annotated[
        str | None,
        typer.Option(
            metavar="A,B",
            help="With --spend: columns to find bounds or values of. Default: all that may be "
            "summed or grouped by.",
        ),
    ] = None,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FILE", help="Catalog file to write.")
    ] = DEFAULT_CATALOG,
    force: Annotated[bool, typer.Option("--force", help="Overwrite an existing catalog.")] = False,
) -> None:
    """Draft a catalog of data files and say what to do next."""


# --------------------------------------------------------------------------- run queries


@runs("ask")
def explain(
    sql: Sql = None,
    epsilon: Epsilon = None,
    within: Within = None,
    show_sql: ShowSql = False,
    file: File = None,
    catalog: Catalog = DEFAULT_CATALOG,
    is_json: AsJson = False,
    confidence: Confidence = DEFAULT_CONFIDENCE,
    delta: Delta = None,
    groups_per_unit: GroupsPerUnit = None,
    row_choice: RowChoice = None,
    parameter: Parameter = None,
    dialect: Dialect = None,
    sql_for: SqlFor = None,
    account: PreviewAs = None,
    token: PreviewToken = None,
    server: Server = None,
) -> None:
    """Print the cost and margins of a query; reads the catalog and the ledger, no private data."""


@runs("ask")
def ask(
    sql: Sql = None,
    epsilon: Epsilon = None,
    within: Within = None,
    plot: Chart = None,
    file: File = None,
    catalog: Catalog = DEFAULT_CATALOG,
    is_json: AsJson = False,
    is_csv: AsCsv = False,
    yes: Yes = False,
    confidence: Confidence = DEFAULT_CONFIDENCE,
    delta: Delta = None,
    groups_per_unit: GroupsPerUnit = None,
    row_choice: RowChoice = None,
    parameter: Parameter = None,
    dialect: Dialect = None,
    account: As = None,
    token: Token = None,
    server: Server = None,
) -> None:
    """Run a query and print its answer."""


@runs("coverage")
def coverage(
    table: Annotated[str, typer.Argument(metavar="TABLE", help="A private table.")],
    catalog: Catalog = DEFAULT_CATALOG,
    epsilon: Annotated[
        Fraction | None,
        typer.Option(
            "--epsilon",
            "-e",
            parser=exact,
            metavar="E",
            help="Amount to spend (ε). Default: a twentieth of the total.",
        ),
    ] = None,
    columns: Annotated[
        str | None,
        typer.Option(
            metavar="A,B", help="Columns with bounds to measure. Default: all of the table."
        ),
    ] = None,
    write: Annotated[
        bool,
        typer.Option(
            "--write", help="Write the rows_per_unit of least expected error into the catalog."
        ),
    ] = False,
    query_epsilon: Annotated[
        Fraction | None,
        typer.Option(
            parser=exact,
            metavar="E",
            help="With --write: ε of a typical query. Default: a tenth of the total.",
        ),
    ] = None,
    is_json: AsJson = False,
    account: As = None,
    token: Token = None,
    server: Server = None,
) -> None:
    """Measure a table's coverage and print it."""


@runs("shell")
def shell(
    epsilon: Annotated[
        Fraction,
        typer.Option(
            "--epsilon",
            "-e",
            parser=exact,
            metavar="E",
            show_default=False,
            help="ε to spend on each query. Default: 0.1.",
        ),
    ] = Fraction(1, 10),
    catalog: Catalog = DEFAULT_CATALOG,
    account: As = None,
    token: Token = None,
    server: Server = None,
) -> None:
    """Run the shell; in a pipe, exit with the code of the first failure."""


# --------------------------------------------------------------------------- budget


@runs("ledger")
def budget(
    catalog: Catalog = DEFAULT_CATALOG,
    is_json: AsJson = False,
    token: Token = None,
    server: Server = None,
) -> None:
    """Print what remains, what was asked and by whom; reads no data."""


@ledger.command("show", cls=PlainCommand, help="Show every entry.")
@runs("ledger")
def show_ledger(place: LedgerArgument = None, catalog: Catalog = DEFAULT_CATALOG) -> None:
    """Print every entry of a ledger as a table."""


@ledger.command(
    "verify",
    cls=PlainCommand,
    help="Check the hash chain of the ledger. With --head, also check that the entry you "
    "noted is still in it.",
)
@runs("ledger")
def verify_ledger(
    place: LedgerArgument = None,
    catalog: Catalog = DEFAULT_CATALOG,
    head: Annotated[
        str | None,
        typer.Option(
            metavar="DIGEST",
            help="Digest that you noted earlier. Fails if no entry has it.",
        ),
    ] = None,
) -> None:
    """Print the ledger's head if no entry was changed, else raise LedgerError."""


@ledger.command(
    "incidents",
    cls=PlainCommand,
    help="Show queries that failed after they were charged, and suspended accounts.",
)
@runs("ledger")
def show_incidents(
    place: LedgerArgument = None, catalog: Catalog = DEFAULT_CATALOG, is_json: AsJson = False
) -> None:
    """Print incidents, suspended accounts, and how many bits were revealed at most."""


@ledger.command(
    "export",
    cls=PlainCommand,
    help="Print every entry as one line of JSON, without answers or tokens.",
)
@runs("ledger")
def export_ledger(place: LedgerArgument = None, catalog: Catalog = DEFAULT_CATALOG) -> None:
    """Print the entries for programs; answers and hashes of tokens stay in the ledger."""


@ledger.command(
    "backup",
    cls=PlainCommand,
    help="Copy a ledger file, its key and a server's records to new files, even while in use.",
)
@runs("ledger")
def back_up_ledger(
    target: Annotated[
        Path, typer.Argument(metavar="FILE", help="The copy, which must be a new file.")
    ],
    place: LedgerArgument = None,
    catalog: Catalog = DEFAULT_CATALOG,
) -> None:
    """Copy a ledger that may be in use, and print the digest of the copy's last entry."""


@runs("design")
def price(
    releases: Annotated[
        list[str],
        typer.Argument(
            metavar="RELEASES", help="Releases, such as '100 x laplace 0.1' 'gaussian 5'."
        ),
    ],
    delta: Annotated[
        float, typer.Option(metavar="D", help="The δ at which to compute the total ε.")
    ] = 0.0,
) -> None:
    """Print the best proved cost of the releases together, and what other methods prove."""


# --------------------------------------------------------------------------- large tables


@runs("init")
def prepare(
    catalog: Catalog = DEFAULT_CATALOG,
    remove: Annotated[
        bool,
        typer.Option(
            "--remove",
            help="Delete the prepared copy. The data and the ledger are not touched.",
        ),
    ] = False,
) -> None:
    """Make the prepared copy, add new rows to it, or remove it; continues if interrupted."""
