"""An answer as a small table for notebooks and pages: no scripts, no links, styles inline."""

from collections.abc import Iterable, Sequence
from html import escape
from itertools import chain

from discreet.answer.layout import NULL, ShownColumn, ShownGroup

QUIET = "opacity:.65"
"""Grey on any background, as a notebook may be dark."""

LINE = "border-bottom:1px solid rgba(128,128,128,.35)"
FIGURES = "font-variant-numeric:tabular-nums;white-space:nowrap"


def html_table(
    groups: Sequence[ShownGroup],
    *,
    gap: tuple[int, int] | None,
    notes: Iterable[str],
    footer: str,
) -> str:
    """Return the table with its notes and its price; every text is escaped."""
    columns = list(chain.from_iterable(groups))
    rows = len(columns[0].cells) if columns else 0
    body = [_row(columns, i) for i in range(rows)]
    if gap is not None:
        body.insert(gap[0], _wide_row(len(columns), f"… {gap[1]:,} more rows …".replace(",", " ")))
    if not rows:
        body = [_wide_row(len(columns), "no rows")]
    head = "".join(_cell("th", column, column.header) for column in columns)
    said = "".join(paragraph(note) for note in notes)
    return (
        f'<div style="display:inline-block;max-width:100%;overflow-x:auto;line-height:1.45">'
        f'<table style="border-collapse:collapse;border:none;margin:0;{FIGURES}">'
        f'<thead><tr style="background:none">{head}</tr></thead>'
        f"<tbody>{''.join(body)}</tbody></table>{said}{paragraph(footer)}</div>"
    )


def paragraph(sentence: str) -> str:
    """Return a quiet line below a table."""
    return f'<div style="{QUIET};font-size:.9em;padding:.3em .6em 0">{escape(sentence)}</div>'


def _row(columns: Sequence[ShownColumn], i: int) -> str:
    cells = "".join(_cell("td", column, column.cells[i]) for column in columns)
    return f'<tr style="background:none">{cells}</tr>'


def _wide_row(columns: int, text: str) -> str:
    style = f"text-align:center;padding:.25em .6em;{QUIET}"
    return f'<tr style="background:none"><td colspan="{columns}" style="{style}">{text}</td></tr>'


def _cell(tag: str, column: ShownColumn, text: str) -> str:
    left = "0" if column.is_error else ".6em"
    style = [
        f"text-align:{'right' if column.is_right else 'left'}",
        f"padding:.25em .6em .25em {left}",
        "border:none",
    ]
    if tag == "th":
        style += [LINE, "font-weight:600"]
    if column.is_error or text == NULL:
        style += [QUIET, "font-weight:400"]
    return f'<{tag} style="{";".join(style)}">{_figures(column, text)}</{tag}>'


def _figures(column: ShownColumn, text: str) -> str:
    """Return a number whose thousands do not part, and whose point stands below the others'."""
    if not column.is_right:
        return escape(text)
    number = text.rstrip(" ")
    behind = len(text) - len(number)
    # A space as wide as a point, then spaces as wide as figures.
    ending = (
        ""
        if not behind
        else ("\u2007" * behind if "." in number else "\u2008" + "\u2007" * (behind - 1))
    )
    return escape(number).replace(" ", "\u202f") + ending
