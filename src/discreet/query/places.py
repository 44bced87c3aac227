"""Where in the question's text a part of it stands."""

from sqlglot import exp


def span_of(node: exp.Expr) -> tuple[int, int] | None:
    """Return the offsets of a node's first character and past its last, if its words are known.

    Operators have no place of their own: they reach from their first operand to their last.
    """
    found = [_own(each) for each in node.walk()]
    spans = [each for each in found if each is not None]
    if not spans:
        return None
    return min(start for start, _ in spans), max(end for _, end in spans)


def _own(node: exp.Expr) -> tuple[int, int] | None:
    start, end = node.meta.get("start"), node.meta.get("end")
    return None if start is None or end is None else (start, end + 1)
