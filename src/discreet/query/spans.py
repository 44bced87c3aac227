"""Where in a query a node of its tree stands."""

from collections import defaultdict, deque

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


def with_spans(tree: exp.Query, text: str, before: exp.Query, old: str) -> exp.Query:
    """Return the tree of a translated text with places in the text before: the same words, in turn.

    What has no such word has no place.
    """
    places: defaultdict[str, deque[tuple[int, int]]] = defaultdict(deque)
    for span in sorted({each for node in before.walk() if (each := _own(node))}):
        places[_word(old, span)].append(span)
    nodes = [(each, node) for node in tree.walk() if (each := _own(node))]
    given: dict[tuple[int, int], tuple[int, int] | None] = {}
    for span in sorted({each for each, _ in nodes}):
        waiting = places[_word(text, span)]
        given[span] = waiting.popleft() if waiting else None
    for span, node in nodes:
        place = given[span]
        if place is None:
            del node.meta["start"], node.meta["end"]
        else:
            node.meta.update(start=place[0], end=place[1] - 1)
    return tree


def _word(text: str, span: tuple[int, int]) -> str:
    """Return what stands at a place, without quotes; of `project.dataset.table` the table."""
    return text[slice(*span)].strip("\"`'").rpartition(".")[2].casefold()
