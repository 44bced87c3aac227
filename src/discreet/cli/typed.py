"""What is typed into the shell: statements and commands, whole ones apart from those begun."""

import re
from collections.abc import Iterable, Iterator

PART = re.compile(
    r"""'(?:[^']|'')*('|$)      # text
    | "(?:[^"]|"")*("|$)        # a quoted name
    | --[^\n]*                  # a comment to the line's end
    | /\*.*?(\*/|$)             # a comment
    | ;""",
    re.VERBOSE | re.DOTALL,
)
"""Where a semicolon is no end, and where it is one."""


def parted(text: str) -> tuple[list[str], str]:
    """Return the statements that are complete, each up to its semicolon, and what is left."""
    statements, begin = [], 0
    for found in PART.finditer(text):
        if found[0] == ";":
            statements.append(text[begin : found.start()].strip())
            begin = found.end()
    return [each for each in statements if each], text[begin:]


def is_command(text: str) -> bool:
    """Return whether this is a command of the shell, which ends with its line."""
    return text.lstrip().startswith("\\")


def is_whole(text: str) -> bool:
    """Return whether there is nothing more to wait for: a command, a statement, or nothing."""
    return is_command(text) or not parted(text)[1].strip()


def inputs(lines: Iterable[str]) -> Iterator[str]:
    """Yield statements and commands from lines; what is begun when they end is one, too."""
    begun = ""
    for line in lines:
        if not begun.strip() and is_command(line):
            yield line.strip()
            continue
        statements, begun = parted(begun + line)
        yield from statements
    if begun.strip():
        yield begun.strip()
