"""Shelves of accounts: saved queries and boards, and the list of saved answers.

They are in the database of the records. Nothing in them was not released or written by a caller.
"""

# ruff: noqa: S608 - all SQL is of constants

import json
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

from discreet.server.records import Database, Records, SavedReply, now


class ShelfKind(Enum):
    """What is on a shelf, and how many of each an account may have."""

    QUERY = ("query", 200)
    BOARD = ("board", 50)

    @property
    def most(self) -> int:
        """The most of one account."""
        return self.value[1]


@dataclass(frozen=True, slots=True, kw_only=True)
class ShelfItem:
    """Something that an account has put on its shelf under a name."""

    name: str
    content: Mapping[str, Any]
    written: str

    def to_json(self) -> dict[str, object]:
        """Return it for a reply."""
        return {"name": self.name, **self.content, "written": self.written}


class Shelf:
    """What accounts have saved under names. Every method may be called from several threads."""

    def __init__(self, records: Records) -> None:
        self._database: Database = records.database

    def items(self, account: str, kind: ShelfKind) -> list[ShelfItem]:
        """Return all of one kind, the newest first."""
        found = self._database.run(
            "SELECT name, content, written FROM {schema}shelf WHERE account = ? AND kind = ?"
            " ORDER BY written DESC, name",
            (account, kind.value[0]),
        )
        return [
            ShelfItem(name=name, content=json.loads(content), written=written)
            for name, content, written in found
        ]

    def put(
        self, account: str, kind: ShelfKind, name: str, content: Mapping[str, Any]
    ) -> ShelfItem | None:
        """Save something, in place of what had this name; None if the shelf is full."""
        item = ShelfItem(name=name, content=content, written=now())
        place = (account, kind.value[0], name)
        saved = self._database.run(
            "INSERT INTO {schema}shelf (account, kind, name, content, written)"
            " SELECT ?, ?, ?, ?, ? WHERE (SELECT COUNT(*) FROM {schema}shelf"
            " WHERE account = ? AND kind = ? AND name <> ?) < ?"
            " ON CONFLICT (account, kind, name)"
            " DO UPDATE SET content = excluded.content, written = excluded.written"
            " RETURNING name",
            (*place, json.dumps(content), item.written, *place, kind.most),
        )
        return item if saved else None

    def remove(self, account: str, kind: ShelfKind, name: str) -> bool:
        """Remove something; return whether it was there."""
        found = self._database.run(
            "DELETE FROM {schema}shelf WHERE account = ? AND kind = ? AND name = ? RETURNING name",
            (account, kind.value[0], name),
        )
        return bool(found)

    def replies(
        self, account: str | None, *, before: SavedReply | None, most: int
    ) -> list[SavedReply]:
        """Return saved answers of an account, or of all, without bodies, the newest first."""
        asked = ["account = ?"] if account is not None else []
        asked += ["(written, id) < (?, ?)"] if before is not None else []
        where = f" WHERE {' AND '.join(asked)}" if asked else ""
        values = [] if account is None else [account]
        values += [] if before is None else [before.written, before.id]
        found = self._database.run(
            "SELECT id, account, written, question, terms FROM {schema}answers"
            + where
            + " ORDER BY written DESC, id DESC LIMIT ?",
            [*values, most],
        )
        return [
            SavedReply(
                id=id_, account=owner, written=written, question=question, terms=terms, body=b""
            )
            for id_, owner, written, question, terms in found
        ]

    def are_there(self, ids: frozenset[str], account: str | None) -> bool:
        """Return whether all ids are of saved answers, of an account if one is given."""
        if not ids:
            return True
        places = ", ".join("?" for _ in ids)
        own = "" if account is None else " AND account = ?"
        ((count,),) = self._database.run(
            f"SELECT COUNT(*) FROM {{schema}}answers WHERE id IN ({places}){own}",
            [*ids, *([] if account is None else [account])],
        )
        return bool(count == len(ids))
