"""Exact queries that are run without being bound first."""

from discreet.engines.base import SCALAR, Statement
from discreet.query.tree import ExactQuery


def unbound(query: ExactQuery) -> Statement:
    """Return a statement that no engine has checked: its SQL is written when it runs."""
    return Statement(query=query, sql=SCALAR)
