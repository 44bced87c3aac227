"""The options of `discreet analyst`; see `signatures`."""
# ruff: noqa: PLR0913, PLR0917 - each argument is an option

from fractions import Fraction
from typing import Annotated, TypeAlias

import typer

from discreet.cli.app import make_group, runs
from discreet.cli.help import PlainCommand
from discreet.cli.options import DEFAULT_CATALOG, AsJson, Catalog, LedgerOption, exact

analyst = make_group()

Name: TypeAlias = Annotated[str, typer.Argument(metavar="NAME", help="The analyst's name.")]
Number: TypeAlias = Annotated[
    int,
    typer.Argument(metavar="NUMBER", help="Number of the request: see discreet analyst requests."),
]

PerQuery: TypeAlias = Annotated[
    str | None, typer.Option(metavar="E", help="The most ε that one query may cost.")
]
PerDay: TypeAlias = Annotated[
    str | None, typer.Option(metavar="E", help="The most ε that may be spent in a day, by UTC.")
]
DefaultEpsilon: TypeAlias = Annotated[
    str | None,
    typer.Option(metavar="E", help="ε of a query from a SQL client that states none."),
]
ConfirmAbove: TypeAlias = Annotated[
    str | None,
    typer.Option(metavar="E", help="An agent's query above this ε needs a person's confirmation."),
]


@analyst.command(
    "add",
    cls=PlainCommand,
    help="Add an analyst, or change a cap or a role. Prints a new token once. Any earlier token "
    "stops working. Limits that are not given are removed.",
)
@runs("analyst")
def add_analyst(
    name: Name,
    epsilon: Annotated[
        Fraction | None,
        typer.Option(
            "--epsilon", "-e", parser=exact, metavar="E", help="The analyst's cap: total ε."
        ),
    ] = None,
    delta: Annotated[
        Fraction | None,
        typer.Option(parser=exact, metavar="D", help="Cap of δ. Default: no separate cap."),
    ] = None,
    role: Annotated[
        str,
        typer.Option(
            metavar="ROLE",
            help="analyst; reader, who may read saved answers and spends nothing; or owner, who "
            "administers. Only an analyst needs a cap.",
        ),
    ] = "analyst",
    per_query: PerQuery = None,
    per_day: PerDay = None,
    default_epsilon: DefaultEpsilon = None,
    confirm_above: ConfirmAbove = None,
    place: LedgerOption = None,
    catalog: Catalog = DEFAULT_CATALOG,
) -> None:
    """Declare an analyst, in place of an earlier declaration, and print a new token once."""


@analyst.command(
    "limit",
    cls=PlainCommand,
    help='Change limits of an account within its cap. The token stays. Write "none" to remove one.',
)
@runs("analyst")
def limit_analyst(
    name: Name,
    per_query: PerQuery = None,
    per_day: PerDay = None,
    default_epsilon: DefaultEpsilon = None,
    confirm_above: ConfirmAbove = None,
    place: LedgerOption = None,
    catalog: Catalog = DEFAULT_CATALOG,
) -> None:
    """Put limits of an account in force."""


@analyst.command(
    "list",
    cls=PlainCommand,
    help="Show the analysts, their roles, caps and limits, and what remains.",
)
@runs("analyst")
def list_analysts(
    place: LedgerOption = None, catalog: Catalog = DEFAULT_CATALOG, is_json: AsJson = False
) -> None:
    """Print the analysts as a table."""


@analyst.command(
    "disable",
    cls=PlainCommand,
    help="Revoke an analyst's access. What the analyst has spent stays spent.",
)
@runs("analyst")
def disable_analyst(
    name: Name, place: LedgerOption = None, catalog: Catalog = DEFAULT_CATALOG
) -> None:
    """Declare an analyst again, disabled."""


@analyst.command(
    "resume",
    cls=PlainCommand,
    help="Let an account run queries again after a failure suspended it.",
)
@runs("analyst")
def resume_account(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help='The account: an analyst\'s name, or "owner".')
    ],
    place: LedgerOption = None,
    catalog: Catalog = DEFAULT_CATALOG,
) -> None:
    """Note in the ledger that the owner has looked at an account's incidents."""


# --------------------------------------------------------------------------- requests


@analyst.command(
    "request",
    cls=PlainCommand,
    help="Ask the data owner to raise an analyst's cap. Changes nothing until it is granted.",
)
@runs("analyst")
def request_cap(
    name: Name,
    epsilon: Annotated[
        Fraction,
        typer.Option(
            "--epsilon",
            "-e",
            parser=exact,
            metavar="E",
            help="The new cap: total ε, not the increase.",
        ),
    ],
    reason: Annotated[str, typer.Option(metavar="TEXT", help="What it is needed for.")],
    delta: Annotated[
        Fraction | None,
        typer.Option(parser=exact, metavar="D", help="The new cap of δ. Default: unchanged."),
    ] = None,
    place: LedgerOption = None,
    catalog: Catalog = DEFAULT_CATALOG,
) -> None:
    """Write a request for a new cap to the ledger, and print its number."""


@analyst.command(
    "requests", cls=PlainCommand, help="Show what analysts asked for, and what was decided."
)
@runs("analyst")
def list_requests(
    place: LedgerOption = None, catalog: Catalog = DEFAULT_CATALOG, is_json: AsJson = False
) -> None:
    """Print all requests with their states, the open ones included."""


@analyst.command(
    "grant",
    cls=PlainCommand,
    help="Grant a request. A cap applies at once; --epsilon and --delta grant another one.",
)
@runs("analyst")
def grant_request(
    number: Number,
    epsilon: Annotated[
        Fraction | None,
        typer.Option(
            "--epsilon",
            "-e",
            parser=exact,
            metavar="E",
            help="Cap to grant: total ε. Default: as requested.",
        ),
    ] = None,
    delta: Annotated[
        Fraction | None,
        typer.Option(parser=exact, metavar="D", help="Cap of δ to grant. Default: as requested."),
    ] = None,
    reason: Annotated[str, typer.Option(metavar="TEXT", help="Why; the analyst sees it.")] = "",
    place: LedgerOption = None,
    catalog: Catalog = DEFAULT_CATALOG,
) -> None:
    """Note that a request is granted, and put its cap in force."""


@analyst.command("decline", cls=PlainCommand, help="Decline a request, with a reason.")
@runs("analyst")
def decline_request(
    number: Number,
    reason: Annotated[str, typer.Option(metavar="TEXT", help="Why; the analyst sees it.")],
    place: LedgerOption = None,
    catalog: Catalog = DEFAULT_CATALOG,
) -> None:
    """Note that a request is declined."""
