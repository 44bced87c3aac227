"""`discreet prepare` and `discreet forget`: the prepared copy of a catalog's tables."""

from pathlib import Path

from discreet.cli.screen import progress, remark, show
from discreet.opening import (
    copy_of,
    forget_catalog,
    is_copy_outdated,
    is_on_server,
    prepare_catalog,
)

FORM = "the prepared form on the server"


def prepare(catalog: Path) -> None:
    """Make the copy, with a bar for the parts that are done; interrupted, it goes on next time."""
    with progress("preparing") as told:
        is_new = prepare_catalog(catalog, told)
    if not is_new:
        show(f"{_called(catalog)} is up to date")
    elif is_on_server(catalog):
        show(f"{FORM} is made: private rows, in schemas that begin with discreet_")
    else:
        copy = copy_of(catalog)
        show(f"{copy} is made: {_size(copy)}, private rows that only you may read")


def forget(catalog: Path) -> None:
    """Remove the copy; what was charged and answered stays in the ledger."""
    was_there = forget_catalog(catalog)
    if was_there:
        show(f"{_called(catalog)} is removed")
    elif is_on_server(catalog):
        show("there is no prepared form on the server")
    else:
        show(f"there is no {copy_of(catalog)}")


def remark_outdated(catalog: Path) -> None:
    """Say that a copy is of no use any more, because the data or the catalog changed."""
    if is_copy_outdated(catalog):
        remark(
            f"{_called(catalog)} is of other data or another catalog, so it is not used: "
            "make it anew by discreet prepare"
        )


def _called(catalog: Path) -> str:
    return FORM if is_on_server(catalog) else str(copy_of(catalog))


def _size(copy: Path) -> str:
    files = [copy, *copy.rglob("*")]
    return f"{sum(each.stat().st_size for each in files if each.is_file()) / 1e6:.1f} MB"
