"""A ledger in one SQLite file, shared by the threads and processes of one machine."""

from collections.abc import Collection, Iterable
from contextlib import suppress
from os import PathLike
from pathlib import Path
from typing import Self
from warnings import warn

from discreet.accounting import Budget
from discreet.errors import DiscreetWarning, LedgerError, ParameterError
from discreet.ledger.book import Policy
from discreet.ledger.scopes import disjoint_from
from discreet.ledger.sqlite.storage import MISSING, SqliteStorage, make_file
from discreet.ledger.stored import StoredLedger


class SqliteLedger(StoredLedger):
    """The book of one data set's budget, in a file or, if path is ":memory:", for one process.

    What is charged is computed from the stored events, never read from a stored sum, and compared
    exactly within the transaction that writes: no two processes can overspend together. budget is
    the total in force; one that differs from the last is recorded as a new entry and holds for
    all who have the ledger open. neighbours, the filter and the part of delta set aside are for
    life.
    disjoint names groups of tables that have no unit in common: what is charged for one of them
    leaves what the others have. data stands for the data that it is about: it is noted when it
    changes, decides nothing here, and must be keyed, because entries can be read.

    A ledger that fails, or whose file is lost, answers nothing more until it is opened again.
    """

    def __init__(
        self,
        path: Path | str = ":memory:",
        *,
        budget: Budget,
        neighbours: str = "add-remove",
        disjoint: Iterable[Collection[str]] = (),
        data: Collection[str] = (),
    ) -> None:
        policy = Policy(
            total=budget,
            neighbours=neighbours,
            disjoint=disjoint_from(disjoint),
            data=frozenset(data),
        )
        place = _place(path)
        if place is not None and not place.exists():
            make_file(place)
        _warn_if_shared(place)
        super().__init__(SqliteStorage(place), policy)

    @classmethod
    def existing(cls, path: Path | str) -> Self:
        """Open a ledger under the policy that it records; none is made where there is none."""
        place = _place(path)
        if place is None or not place.exists():
            raise LedgerError(*MISSING)
        _warn_if_shared(place)
        ledger = cls.__new__(cls)
        StoredLedger.__init__(ledger, SqliteStorage(place), None)
        return ledger


def _warn_if_shared(place: Path | None) -> None:
    """Say that others may write a ledger: they could put back an old one, or lose it."""
    with suppress(OSError):
        if place is not None and place.stat().st_mode & 0o022:
            warn(
                f"Other users may write to the ledger {place}, and could replace it by an older "
                "one. Take this right from them with chmod go-w.",
                DiscreetWarning,
                stacklevel=3,
            )


def _place(path: object) -> Path | None:
    if not isinstance(path, str | PathLike) or "\0" in str(path) or not str(path):
        rule = "must be the path of a file without NUL characters, or ':memory:'"
        raise ParameterError("path", path, rule)
    return None if path == ":memory:" else Path(path).resolve()
