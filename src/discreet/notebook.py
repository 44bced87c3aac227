"""How objects and errors look in a notebook. IPython finds these methods by their names."""

from collections.abc import Sequence
from html import escape
from typing import Protocol

QUIET = "opacity:.65"
"""Grey on any background, as a notebook may be dark."""

CELL = "text-align:left;vertical-align:top;padding:.25em .6em;border:none"
LINE = "border-bottom:1px solid rgba(128,128,128,.35);font-weight:600"


class Printer(Protocol):
    """What IPython hands to `_repr_pretty_`."""

    def text(self, obj: str) -> None:
        """Print a text."""
        ...


class OneSentence:
    """An error that a notebook shows as its sentence: whatever can be mended is in it.

    The traceback is still there for `%debug`, logs and `traceback.print_exception`.
    """

    def _render_traceback_(self) -> list[str]:
        return [f"{type(self).__name__}: {self}"]


def pretty_text(shown: object, printer: Printer, cycle: bool) -> None:  # noqa: ARG001
    """Show an object as its text, as `_repr_pretty_` of its own class: IPython looks there only."""
    printer.text(str(shown))


def html_of_rows(head: Sequence[str], rows: Sequence[Sequence[str]], *, below: str = "") -> str:
    """Return a table of texts, and a line below it. Every text is escaped."""
    names = "".join(f'<th style="{CELL};{LINE}">{escape(each)}</th>' for each in head)
    body = "".join(
        f'<tr style="background:none">'
        f"{''.join(f'<td style={CELL!r}>{escape(each)}</td>' for each in row)}</tr>"
        for row in rows
    )
    said = f'<div style="{QUIET};padding:.3em .6em 0">{escape(below)}</div>' if below else ""
    return (
        '<div style="display:inline-block;max-width:100%;overflow-x:auto;line-height:1.45">'
        '<table style="border-collapse:collapse;border:none;margin:0">'
        f'<thead><tr style="background:none">{names}</tr></thead><tbody>{body}</tbody></table>'
        f"{said}</div>"
    )
