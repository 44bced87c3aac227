"""Checks the items of a charge and turns them into entries of the ledger."""

from collections.abc import Iterable

from discreet.errors import HIDDEN, ParameterError
from discreet.ledger.base import Item
from discreet.ledger.book import Line
from discreet.ledger.checks import a_name, notes, one_or_more
from discreet.ledger.scopes import a_scope


def lines_of(items: object, account: object) -> list[Line]:
    """Return what an account is to be charged for, or reject what is not several Items."""
    if not isinstance(items, Iterable):
        raise ParameterError("items", HIDDEN, "must be Items, in a list")
    return [a_line(each, account) for each in items]


def a_line(item: object, account: object) -> Line:
    """Return what an account is to be charged for, or reject what cannot be stored."""
    if not isinstance(item, Item):
        raise ParameterError("items", HIDDEN, "must be Items")
    return Line(
        kind="charge",
        question=a_name("question", item.question),
        account=a_name("account", account),
        events=one_or_more(item.events),
        scope=a_scope(item.scope),
        about=notes(item.about),
    )
