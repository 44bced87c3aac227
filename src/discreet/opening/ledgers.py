"""Where the charges of a catalog are kept."""

from collections.abc import Collection
from pathlib import Path

from discreet.books import budget_from
from discreet.catalog import read
from discreet.catalog.addresses import ENVIRONMENT
from discreet.catalog.declared import Declared
from discreet.ledger import Ledger, is_on_server, open_ledger
from discreet.opening.servers import from_environment

LEDGER_SUFFIX = ".ledger"
"""The ledger of discreet.toml is discreet.ledger, beside it."""


def ledger_place(path: str | Path, *, declared: Declared | None = None) -> str | Path:
    """Return where the charges of a catalog file are kept: where it says, else beside it.

    A path is a file's, text the address of a server.
    """
    return ledger_of(path, declared or read(path))


def open_books(
    path: str | Path, *, ledger: str | Path | None = None, declared: Declared | None = None
) -> Ledger:
    """Return the ledger of a catalog file, made if it is not there yet; reads no data."""
    declared = declared or read(path)
    place = ledger or ledger_of(path, declared)
    return ledger_at(place, declared)


def ledger_at(place: str | Path, declared: Declared, data: Collection[str] = ()) -> Ledger:
    """Return the ledger at a place, with the accounts that the catalog declares.

    What they were charged stays charged, their tokens stay good, and who is disabled stays so.
    """
    policy = declared.budget
    ledger = open_ledger(
        place,
        budget=budget_from(policy),
        neighbours=policy.neighbours.value,
        disjoint=declared.disjoint,
        data=data,
    )
    try:
        known = {each.name: (each.epsilon, each.delta) for each in ledger.analysts()}
        for each in declared.analysts:
            if known.get(each.name) != (each.epsilon, each.delta):
                ledger.declare_cap(each.name, epsilon=each.epsilon, delta=each.delta)
    except BaseException:
        ledger.close()
        raise
    return ledger


def ledger_of(path: str | Path, declared: Declared) -> str | Path:
    """Return where charges are kept: a path, or the address of a server."""
    named = declared.ledger
    if named is None:
        return Path(path).with_suffix(LEDGER_SUFFIX)
    if named.startswith(ENVIRONMENT):
        named = from_environment("ledger", named, path)
    return named if is_on_server(named) else Path(path).absolute().parent / named
