"""Checks a parsed query: separates private rows from post-processing of released numbers."""

from discreet.query.check.checker import Checker, check

__all__ = ["Checker", "check"]
