"""WINDOW w AS (...) over private rows: each window is written out where it is used."""

from collections.abc import Iterator, Mapping

from sqlglot import exp

from discreet.errors import UnsupportedError
from discreet.query.expressions.rejections import unknown_window
from discreet.query.parse import span_of

DEFINED = ("partition_by", "order", "spec")
"""The parts of a window's definition."""


def write_out_windows(node: exp.Select) -> None:
    """Put the definition of each named window of a SELECT in place of its name."""
    known: dict[str, exp.Window] = {}
    for each in node.args.get("windows") or ():
        _write_out(each, known)
        known[each.name.casefold()] = each
    for each in list(_windows(node)):
        _write_out(each, known)
    node.set("windows", None)


def _windows(node: exp.Select) -> Iterator[exp.Window]:
    """Yield the windows of a SELECT, those of inner queries left out."""
    clauses = (*node.expressions, *(node.args.get(name) for name in ("qualify", "order")))
    waiting = [each for each in clauses if each is not None]
    while waiting:
        each = waiting.pop()
        if isinstance(each, exp.Query):
            continue
        if isinstance(each, exp.Window):
            yield each
        waiting += each.iter_expressions()


def _write_out(window: exp.Window, known: Mapping[str, exp.Window]) -> None:
    name = window.args.get("alias")
    if name is None:
        return
    base = known.get(name.name.casefold())
    if base is None:
        raise unknown_window(name.name, list(known), window)
    has_more = {part for part in DEFINED if window.args.get(part)}
    if "partition_by" in has_more or any(base.args.get(part) for part in has_more):
        raise UnsupportedError(
            f"OVER ({name.name} ...) gives window {name.name} another definition",
            f"Write the whole definition in OVER (...), without {name.name}",
            span=span_of(window),
        )
    window.set("alias", None)
    for part in DEFINED:
        found = base.args.get(part)
        if found and part not in has_more:
            copied = [each.copy() for each in found] if isinstance(found, list) else found.copy()
            window.set(part, copied)
