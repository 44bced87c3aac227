"""`discreet prepare` and `discreet forget`: the prepared copy of a catalog's tables."""

from pathlib import Path

from discreet.cli.screen import progress, remark, show
from discreet.opening import copy_of, forget_catalog, is_copy_outdated, prepare_catalog


def prepare(catalog: Path) -> None:
    """Make the copy, with a bar for the parts that are done; interrupted, it goes on next time."""
    with progress("preparing") as told:
        is_new = prepare_catalog(catalog, told)
    copy = copy_of(catalog)
    if is_new:
        show(f"{copy} is made: {_size(copy)}, private rows that only you may read")
    else:
        show(f"{copy} is up to date")


def forget(catalog: Path) -> None:
    """Remove the copy; what was charged and answered stays in the ledger."""
    was_there = forget_catalog(catalog)
    copy = copy_of(catalog)
    show(f"{copy} is removed" if was_there else f"there is no {copy}")


def remark_outdated(catalog: Path) -> None:
    """Say that a copy is of no use any more, because the data or the catalog changed."""
    if is_copy_outdated(catalog):
        remark(
            f"{copy_of(catalog)} is of other data or another catalog, so the files are read: "
            "make it anew by discreet prepare"
        )


def _size(file: Path) -> str:
    return f"{file.stat().st_size / 1e6:.1f} MB"
