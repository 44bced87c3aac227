"""Ticks of a series are saved, each once, and read again."""

import json
from collections.abc import Iterator
from contextlib import AbstractContextManager
from hashlib import sha256

from discreet.errors import HIDDEN, LedgerError, ParameterError
from discreet.ledger.base import Receipt
from discreet.ledger.inputs import check_answer, check_name, check_receipt
from discreet.ledger.state import ALTERED, NewEntry
from discreet.ledger.storage import Mode, Turn
from discreet.ledger.tick_entries import tick_name
from discreet.parameters import integer


class TickKeeper:
    """The part of a ledger that saves ticks."""

    def _turn(self, mode: Mode) -> AbstractContextManager[Turn]:
        raise NotImplementedError

    def keep_tick(self, receipt: Receipt, tick: int, answer: bytes) -> bytes:
        """Return what is kept for a tick, the first answer handed in; durable when it returns."""
        answer, tick = check_answer(answer), integer("tick", tick, least=1)
        if _last(answer) < tick:
            rule = 'must be JSON that says in "last" up to which tick it goes'
            raise ParameterError("answer", HIDDEN, rule)
        name = tick_name(check_receipt(receipt).question, tick)
        with self._turn("write") as turn:
            paid = turn.charge_of(receipt.question)
            if paid is None or paid.number != receipt.number:
                raise ParameterError("receipt", HIDDEN, "must come from this ledger")
            kept = turn.answer_of(name)
            if kept is None:
                about = {"sha256": sha256(answer).hexdigest(), "tick": str(tick)}
                line = NewEntry(kind="answer", question=name, account=paid.account, about=about)
                turn.append(line, answer)
        return answer if kept is None else kept

    def ticks(self, question: str, first: int = 1) -> Iterator[bytes]:
        """Yield what was saved for the ticks of a series, from the tick `first` on.

        What is saved for a tick is JSON, and says in "last" up to which tick it goes.
        """
        question, tick = check_name("question", question), integer("first", first, least=1)
        while True:
            with self._turn("read") as turn:
                found = turn.answer_of(tick_name(question, tick))
            if found is None:
                return
            if _last(found) < tick:
                raise LedgerError(*ALTERED)
            tick = 1 + _last(found)
            yield found


def _last(answer: bytes) -> int:
    """Return up to which tick saved numbers go; 0 if they do not say."""
    try:
        last = json.loads(answer)["last"]
    except (KeyError, TypeError, ValueError):
        return 0
    return last if type(last) is int else 0
