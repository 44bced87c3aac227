"""An answer as people see it: cells of text, lines of a screen, and a table for a page."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from html import escape
from itertools import chain
from unicodedata import category

from rich.cells import get_character_cell_size

from discreet.amounts import error_text, number_text
from discreet.answer.columns import AnswerColumn, Role, Sort, is_midnight
from discreet.parameters import integer

# --------------------------------------------------------------------------- cells


ELLIPSIS = "…"

PART = " · "
"""Between parts of one line."""

JOINERS = "\u200c\u200d"
"""Formatting characters that Persian, Hindi and many emoji are not written right without."""

_SHORT = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}
_UNSEEN = {"Cc", "Cf", "Cs", "Zl", "Zp", "Cn", "Co"}


def visible(text: str) -> str:
    """Return the text with control, direction and line-breaking characters written as escapes."""
    return "".join(map(_visible, text))


def quoted(text: str) -> str:
    """Return the text as it is, in quotes where it would be taken for something else."""
    shown = visible(text)
    return f"'{shown}'" if shown in ("", "NULL") or shown != shown.strip() else shown


def width_of(text: str) -> int:
    """Return how many columns of a screen the text takes."""
    return sum(map(get_character_cell_size, text))


def clipped(text: str, most: int) -> str:
    """Return the text, cut with an ellipsis if it is wider than allowed."""
    if width_of(text) <= most:
        return text
    taken = 0
    for i, character in enumerate(text):
        taken += get_character_cell_size(character)
        if taken > most - 1:
            return text[:i] + ELLIPSIS
    return text


def folded(text: str, width: int, *, indent: str = "  ") -> Iterator[str]:
    """Yield the text on lines of a width, the second and later ones indented.

    So what a name says cannot begin a line and pass for one of ours.
    """
    line, is_begun = "", False
    for word in text.split(" "):
        rest = word
        if is_begun and width_of(line) + 1 + width_of(rest) > width:
            yield line.rstrip()
            line, is_begun = indent, False
        line, is_begun = (f"{line} {rest}" if is_begun else line + rest), True
        while width_of(line) > width:
            yield (start := _fitting(line, width))
            line = indent + line[len(start) :]
    yield line.rstrip()


def joined_parts(parts: Sequence[str], width: int) -> Iterator[str]:
    """Yield the parts on as few lines of a width as they fit on; none is broken."""
    line = ""
    for part in parts:
        if line and width_of(line) + len(PART) + width_of(part) > width:
            yield line
            line = f"  {part}"
        else:
            line = f"{line}{PART}{part}" if line else part
    yield line


def _fitting(text: str, width: int) -> str:
    """Return as much of the text as fits, and one character at least."""
    taken = 0
    for i, character in enumerate(text):
        taken += get_character_cell_size(character)
        if taken > width and i:
            return text[:i]
    return text


def padded(text: str, width: int, *, is_right: bool) -> str:
    """Return the text filled with spaces up to a width."""
    space = " " * (width - width_of(text))
    return space + text if is_right else text + space


def _visible(character: str) -> str:
    if character in JOINERS or character.isprintable():
        return character
    if category(character) not in _UNSEEN:
        return character
    code = ord(character)
    if code < 0x100:
        return _SHORT.get(character, f"\\x{code:02x}")
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


# --------------------------------------------------------------------------- columns of text


WIDEST_CELL = 40
"""Wider texts are cut with an ellipsis."""

WIDEST_LIST = 100
"""Wider lists are."""

NULL = "NULL"


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownColumn:
    """A column of texts."""

    header: str
    cells: tuple[str, ...]
    is_right: bool
    is_key: bool = False
    is_error: bool = False


ShownGroup = tuple[ShownColumn, ...]
"""A column and the column of its error bars, which are never parted."""


def shown_groups(columns: Sequence[AnswerColumn]) -> tuple[ShownGroup, ...]:
    """Return each column as text, its margins beside each number that has one."""
    return tuple(map(_shown, columns))


def value_text(value: object, error: float | None = None, *, is_day: bool = False) -> str:
    """Return one value on one line, unable to pass for anything else."""
    match value:
        case None:
            return NULL
        case bool():
            return "true" if value else "false"
        case int() | float() | Decimal():
            return number_text(value, error)
        case str():
            return clipped(quoted(value), WIDEST_CELL)
        case date():
            return _time_text(value, is_day=is_day)
        case _:
            return _other_text(value)


def _other_text(value: object) -> str:
    if isinstance(value, list):
        return clipped(f"[{', '.join(map(_listed_text, value))}]", WIDEST_LIST)
    text = f"0x{value.hex()}" if isinstance(value, bytes) else str(value)
    return clipped(visible(text), WIDEST_CELL)


def _listed_text(value: object) -> str:
    """Return a value of a list; numbers without commas, which stand between values."""
    is_number = isinstance(value, int | float | Decimal) and not isinstance(value, bool)
    return f"{value:.6g}" if is_number else value_text(value)


def _time_text(value: date, *, is_day: bool) -> str:
    if not isinstance(value, datetime):
        return value.isoformat()
    return value.date().isoformat() if is_day else value.isoformat(sep=" ")


def value_texts(column: AnswerColumn) -> tuple[str, ...]:
    """Return the column's values as text; timestamps that are all at midnight as days."""
    errors = column.errors or (None,) * len(column.values)
    is_day = column.sort is Sort.TIME and all(
        value is None or is_midnight(value) for value in column.values
    )
    if column.role is Role.KEY and column.sort is Sort.WHOLE:
        return tuple(NULL if value is None else str(value) for value in column.values)
    return tuple(
        value_text(value, error, is_day=is_day)
        for value, error in zip(column.values, errors, strict=True)
    )


def _shown(column: AnswerColumn) -> ShownGroup:
    cells = value_texts(column)
    is_number = column.sort.is_number
    shown = ShownColumn(
        header=clipped(visible(column.name), WIDEST_CELL),
        cells=_points_aligned(cells) if is_number else cells,
        is_right=is_number,
        is_key=column.role is Role.KEY,
    )
    if column.ends is not None:
        cells = tuple(_interval_text(*ends) for ends in column.ends)
        return (shown, ShownColumn(header="interval", cells=cells, is_right=False, is_error=True))
    if column.errors is None:
        return (shown,)
    errors = tuple(
        "" if error is None or value is None else error_text(error, is_whole=_is_whole(value))
        for value, error in zip(column.values, column.errors, strict=True)
    )
    bars = ShownColumn(header="±", cells=_points_aligned(errors), is_right=True, is_error=True)
    return (shown, bars)


def _interval_text(low: object, high: object) -> str:
    """Return both ends of an interval, with as many digits as its width calls for."""
    if low is None or high is None:
        return ""
    width = None
    if isinstance(low, int | float) and isinstance(high, int | float) and low < high:
        width = (high - low) / 2
    return f"{value_text(low, width)} to {value_text(high, width)}"


def _is_whole(value: object) -> bool:
    return isinstance(value, int)


def _points_aligned(cells: tuple[str, ...]) -> tuple[str, ...]:
    """Return the numbers with spaces behind them, so that their points stand below each other."""
    behind = [len(cell) - cell.find(".") if _has_point(cell) else 0 for cell in cells]
    most = max(behind, default=0)
    return tuple(
        cell if not cell[-1:].isdigit() or "e" in cell else cell + " " * (most - own)
        for cell, own in zip(cells, behind, strict=True)
    )


def _has_point(cell: str) -> bool:
    return "." in cell and "e" not in cell


# --------------------------------------------------------------------------- lines of text


BETWEEN = "   "
"""Between columns."""


def line_width(width: int) -> int:
    """Return how many columns a line may have, or refuse it."""
    return integer("width", width, least=1, most=100_000)


def table_lines(
    groups: Sequence[ShownGroup], *, width: int, gap: tuple[int, int] | None
) -> Iterator[str]:
    """Yield the table's lines, folded to a width; a gap (after, count) tells of rows left out."""
    blocks = list(_blocks(groups, width))
    if len(blocks) > 1 and _rows(groups) == 1:
        yield from _one_row_lines(groups)
        return
    for i, block in enumerate(blocks):
        yield from [""] if i else []
        yield from _block_lines(block, gap)


def _blocks(groups: Sequence[ShownGroup], width: int) -> Iterator[list[ShownColumn]]:
    """Yield as many columns at a time as fit beside the keys, which every block repeats."""
    keys = [group for group in groups if group[0].is_key]
    rest = [group for group in groups if not group[0].is_key]
    if len(keys) == len(groups) or _total(keys) > width // 2 or _total(groups) <= width:
        keys, rest = [], list(groups)
    block = list(keys)
    for group in rest:
        if len(block) > len(keys) and _total([*block, group]) > width:
            yield list(chain.from_iterable(block))
            block = list(keys)
        block.append(group)
    yield list(chain.from_iterable(block))


def _block_lines(block: list[ShownColumn], gap: tuple[int, int] | None) -> Iterator[str]:
    widths = [_width(column) for column in block]
    yield _line(block, widths, [column.header for column in block])
    if not block or not block[0].cells:
        yield "(no rows)"
        return
    for i in range(len(block[0].cells)):
        if gap is not None and i == gap[0]:
            yield f"… {gap[1]:,} more rows …"
        yield _line(block, widths, [column.cells[i] for column in block])


def _one_row_lines(groups: Sequence[ShownGroup]) -> Iterator[str]:
    """Yield one line for each column: name, value, error bar."""
    names = max(width_of(group[0].header) for group in groups)
    values = max(width_of(group[0].cells[0].rstrip()) for group in groups)
    for group in groups:
        name = padded(group[0].header, names, is_right=False)
        value = padded(group[0].cells[0].rstrip(), values, is_right=True)
        yield BETWEEN.join([name, value, *(each.cells[0] for each in group[1:])]).rstrip()


def _line(block: list[ShownColumn], widths: list[int], cells: list[str]) -> str:
    return BETWEEN.join(
        padded(cell, width, is_right=column.is_right)
        for column, width, cell in zip(block, widths, cells, strict=True)
    ).rstrip()


def _rows(groups: Sequence[ShownGroup]) -> int:
    return len(groups[0][0].cells) if groups else 0


def _width(column: ShownColumn) -> int:
    return max(map(width_of, [column.header, *column.cells]))


def _total(groups: Sequence[ShownGroup]) -> int:
    columns = list(chain.from_iterable(groups))
    return sum(map(_width, columns)) + len(BETWEEN) * (len(columns) - 1)


# --------------------------------------------------------------------------- HTML


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
        body.insert(gap[0], _wide_row(len(columns), f"… {gap[1]:,} more rows …"))
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
    """Return a number whose point stands below the others'."""
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
    return escape(number) + ending
