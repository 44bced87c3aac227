"""An answer as lines of text."""

from collections.abc import Iterator, Sequence
from itertools import chain

from discreet.answer.cells import padded, width_of
from discreet.answer.layout import ShownColumn, ShownGroup
from discreet.parameters import whole

BETWEEN = "   "
"""Parts columns, as thousands are parted by one space."""


def line_width(width: int) -> int:
    """Return how many columns a line may have, or refuse it."""
    return whole("width", width, least=1, most=100_000)


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
            yield f"… {gap[1]:,} more rows …".replace(",", " ")
        yield _line(block, widths, [column.cells[i] for column in block])


def _one_row_lines(groups: Sequence[ShownGroup]) -> Iterator[str]:
    """Yield one line for each column: name, value, error bar."""
    names = max(width_of(group[0].header) for group in groups)
    values = max(width_of(group[0].cells[0].rstrip()) for group in groups)
    for group in groups:
        name = padded(group[0].header, names, is_right=False)
        value = padded(group[0].cells[0].rstrip(), values, is_right=True)
        error = [f"{group[1].cells[0]} ({group[1].header[2:]})"] if len(group) > 1 else []
        yield BETWEEN.join([name, value, *error]).rstrip()


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
