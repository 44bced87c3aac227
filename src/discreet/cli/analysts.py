"""`discreet analyst`: who may ask, and how much each."""

from contextlib import closing
from dataclasses import asdict
from fractions import Fraction
from pathlib import Path

from discreet.amounts import amount_up
from discreet.answer.rendering import ShownColumn, clipped, table_lines, visible
from discreet.catalog.policy import nearest
from discreet.cli.books import left_of, may_ask
from discreet.cli.screen import remark, show
from discreet.errors import AccountError
from discreet.ledger import Analyst, Ledger, make_token
from discreet.opening import open_books

NAME_WIDTH, WIDTH = 40, 200


def add(
    catalog: Path, place: str | None, name: str, epsilon: Fraction, delta: Fraction | None
) -> None:
    """Declare an analyst, in place of what was declared before, and print a new token once."""
    token = make_token()
    with closing(open_books(catalog, ledger=place)) as ledger:
        ledger.declare_analyst(name, epsilon=epsilon, delta=delta, token_hash=token.hash)
    remark("the token is shown this once; hand it to the analyst in secret:")
    show(token.text)


def disable(catalog: Path, place: str | None, name: str) -> None:
    """Let an analyst ask nothing more."""
    with closing(open_books(catalog, ledger=place)) as ledger:
        known = {each.name: each for each in ledger.analysts()}
        if name not in known:
            near = nearest(name, list(known))
            hint = "see discreet analyst list" if near is None else f"the nearest is {near!r}"
            raise AccountError("no analyst of this name is declared", hint)
        ledger.declare_analyst(**{**asdict(known[name]), "enabled": False})


def show_all(catalog: Path, place: str | None) -> None:
    """Print the analysts, their caps and what is left of each."""
    with closing(open_books(catalog, ledger=place)) as ledger:
        found = ledger.analysts()
        show("\n".join(_lines(ledger, found)) if found else "no analysts are declared")


def _lines(ledger: Ledger, analysts: tuple[Analyst, ...]) -> list[str]:
    suspended = ledger.suspended()
    waiting = {each.name for each in analysts} if any(suspended.values()) else set(suspended)
    columns = {
        "analyst": [each.name for each in analysts],
        "ε": [amount_up(each.epsilon) for each in analysts],
        "left": [left_of(ledger.remaining(each.name)) for each in analysts],
        "δ": ["as all" if each.delta is None else amount_up(each.delta) for each in analysts],
        "may ask": [may_ask(each.enabled, each.name in waiting) for each in analysts],
    }
    shown = [
        ShownColumn(
            header=header,
            cells=tuple(clipped(visible(cell), NAME_WIDTH) for cell in cells),
            is_right=False,
        )
        for header, cells in columns.items()
    ]
    return list(table_lines([(each,) for each in shown], width=WIDTH, gap=None))
