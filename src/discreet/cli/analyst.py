"""`discreet analyst`: who may run queries, and up to which cap."""

from contextlib import closing
from dataclasses import asdict
from fractions import Fraction
from pathlib import Path

from discreet.amounts import Price, amount_up
from discreet.cli.console import remark, show, show_table
from discreet.cli.ledger import ledger_location, left_text
from discreet.cli.ledger_entries import status_text
from discreet.errors import AccountError
from discreet.ledger import existing_ledger
from discreet.ledger import make_token as new_token
from discreet.opening import open_books
from discreet.parameters import nearest_name


def add_analyst(
    *, name: str, epsilon: Fraction, delta: Fraction | None, place: str | None, catalog: Path
) -> None:
    """Declare an analyst, in place of an earlier declaration, and print a new token once."""
    token = new_token()
    with closing(open_books(catalog, ledger=place)) as found:
        found.declare_analyst(name, epsilon=epsilon, delta=delta, token_hash=token.hash)
    cap = str(Price(epsilon=epsilon, delta=delta or Fraction(0)))
    remark(
        f"Analyst {name} may spend {cap} in total. This is the access token, for --token or "
        "DISCREET_TOKEN. It is shown only once. Give it to the analyst over a secure channel:"
    )
    show(token.text)


def list_analysts(*, place: str | None, catalog: Path) -> None:
    """Print the analysts as a table."""
    with closing(open_books(catalog, ledger=place)) as found:
        analysts, suspended = found.analysts(), found.suspended()
        lefts = [left_text(found.remaining(each.name)) for each in analysts]
    if not analysts:
        show("No analysts are declared.")
        return
    everybody = any(suspended.values())
    show_table(
        {
            "analyst": [each.name for each in analysts],
            "cap ε": [amount_up(each.epsilon) for each in analysts],
            "remaining ε": lefts,
            "cap δ": [
                "no separate cap" if each.delta is None else amount_up(each.delta)
                for each in analysts
            ],
            "status": [
                status_text(each.enabled, everybody or each.name in suspended) for each in analysts
            ],
        }
    )


def disable_analyst(*, name: str, place: str | None, catalog: Path) -> None:
    """Declare an analyst again, disabled."""
    with closing(open_books(catalog, ledger=place)) as found:
        known = {each.name: each for each in found.analysts()}
        if name not in known:
            near = nearest_name(name, known)
            hint = "see discreet analyst list" if near is None else f"the nearest is {near!r}"
            raise AccountError("There is no analyst with this name", hint)
        found.declare_analyst(**{**asdict(known[name]), "enabled": False})


def resume_account(*, name: str, place: str | None, catalog: Path) -> None:
    """Note in the ledger that the owner has looked at an account's incidents."""
    with closing(existing_ledger(ledger_location(place, catalog))) as found:
        found.resume(name)
    show(f"{name} can run queries again")
