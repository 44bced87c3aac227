"""Checks the arguments of calls to a ledger."""

from collections.abc import Mapping

from discreet.accounting import Event
from discreet.accounting.events import some_events
from discreet.errors import HIDDEN, ParameterError
from discreet.ledger.base import Receipt
from discreet.ledger.scopes import NOTE

MOST_NAME, MOST_ABOUT, MOST_ANSWER = 1000, 2**20, 2**28
"""Longer queries, accounts, notes (in characters) and answers (in bytes) are rejected."""


def a_name(name: str, value: object) -> str:
    """Return text that can stand for a query or an account, or reject it by name."""
    rule = f"must be text of 1 to {MOST_NAME} characters"
    if not isinstance(value, str) or not 1 <= len(value) <= MOST_NAME:
        raise ParameterError(name, value, rule)
    if not value.isascii() and any(0xD800 <= ord(each) <= 0xDFFF for each in value):
        raise ParameterError(name, value, "must not contain lone surrogates")
    return value


def a_prefix(value: object) -> str:
    """Return the beginning of queries' names, or reject what stores may sort differently."""
    text = a_name("prefix", value)
    if not text.isascii():
        raise ParameterError("prefix", value, "must be ASCII")
    return text


def one_or_more(events: object) -> tuple[Event, ...]:
    """Return the events as a tuple, or reject an empty list, which is a mistake."""
    checked = some_events("events", events)
    if not checked:
        raise ParameterError(
            "events", HIDDEN, "must be at least one, because a query without a cost needs no ledger"
        )
    return checked


def notes(about: object) -> dict[str, str]:
    """Return what the caller notes of a query, or reject what is not text."""
    rule = f"must map text to text, {MOST_ABOUT} characters or fewer in total"
    if not isinstance(about, Mapping):
        raise ParameterError("about", HIDDEN, rule)
    texts = [each for item in about.items() for each in item]
    if not all(isinstance(each, str) for each in texts) or sum(map(len, texts)) > MOST_ABOUT:
        raise ParameterError("about", HIDDEN, rule)
    if NOTE in about:
        raise ParameterError(
            "about", HIDDEN, f"must not use {NOTE!r}, which the ledger writes itself"
        )
    return dict(about)


def a_head(head: object) -> str:
    """Return the digest of an entry as it was noted, or reject what is not text."""
    if not isinstance(head, str):
        raise ParameterError("head", head, "must be the text that head() returned, or None")
    return head


def an_answer(answer: object) -> bytes:
    """Return an answer as it can be kept, or reject it without showing it."""
    if not isinstance(answer, bytes) or len(answer) > MOST_ANSWER:
        raise ParameterError("answer", HIDDEN, f"must be bytes, {MOST_ANSWER} or fewer")
    return answer


def a_receipt(receipt: object) -> Receipt:
    """Return a receipt, or reject anything else."""
    if not isinstance(receipt, Receipt):
        raise ParameterError("receipt", HIDDEN, "must be a Receipt")
    return receipt
