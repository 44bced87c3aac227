"""Checks a parsed query: separates private rows from post-processing of released numbers."""

from discreet.query.check.selects import Checker, check

__all__ = ["Checker", "check"]
