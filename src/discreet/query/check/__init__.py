"""From a tree to a checked question: where private rows end and released numbers begin."""

from discreet.query.check.selects import Checker, check

__all__ = ["Checker", "check"]
