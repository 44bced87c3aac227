"""The place of a part of a query in its text."""

from sqlglot import exp


def span_of(node: exp.Expr) -> tuple[int, int] | None:
    """Return the offset of a node's first character and that after its last, if they are known.

    An operator has no place itself. It extends from its first operand to its last.
    """
    found = [_own(each) for each in node.walk()]
    spans = [each for each in found if each is not None]
    if not spans:
        return None
    return min(start for start, _ in spans), max(end for _, end in spans)


def _own(node: exp.Expr) -> tuple[int, int] | None:
    start, end = node.meta.get("start"), node.meta.get("end")
    return None if start is None or end is None else (start, end + 1)
