"""Parses patterns of LIKE. Databases receive them in one form that cannot fail.

Engines check an escape character row by row, after they have changed letters' case, or count its
bytes. Whether such a check fails can depend on the data, so none is left to them.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sqlglot import exp

from discreet.errors import QuestionSizeError, UnsupportedError
from discreet.query.places import span_of
from discreet.query.tree import Expression, Literal

LONGEST_PATTERN = 200
MOST_WILDCARDS = 8

ESCAPE = "!"
"""What engines are told to escape with, whatever the query does: ASCII, and of no case."""


UNSETTLED = (
    *(*range(0x10570, 0x105C0), *range(0x10D50, 0x10D86), *range(0x16EA0, 0x16ED4)),
    *(*range(0xA7CB, 0xA7DD), 0xA7C0, 0xA7C1, 0x2C2F, 0x2C5F, 0x1C89, 0x1C8A, 0x019B, 0x0264),
)
"""Letters that got another case in Unicode 14 or later: engines differ in how new theirs is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sign:
    """A part of a pattern: a character that is itself, or any one (_), or any number of any (%)."""

    letter: str
    is_wild: bool

    @property
    def is_escaped(self) -> bool:
        """Whether the character is itself but would mean another thing if written as it is."""
        return not self.is_wild and self.letter in "%_"


Place = tuple[int, int] | None
"""Where in the query something stands."""


def signs_of(pattern: str, escape: str | None = None, *, span: Place = None) -> tuple[Sign, ...]:
    """Return what a pattern is made of; without an escape every % and _ is wild.

    As in standard SQL, the escape character stands before %, _ or itself, and nowhere else.
    """
    if escape is not None and len(escape) != 1:
        raise UnsupportedError(
            f"The text after ESCAPE has {len(escape)} characters",
            "Write one character, or remove ESCAPE",
            span=span,
        )
    return tuple(_signs(pattern, escape, span))


def _signs(pattern: str, escape: str | None, span: Place) -> Iterator[Sign]:
    letters = iter(enumerate(pattern, start=1))
    for place, letter in letters:
        if letter == escape:
            _, itself = next(letters, (0, ""))
            if itself not in ("%", "_", escape):
                raise UnsupportedError(
                    f"The escape character at position {place} of this pattern is not followed by "
                    "%, _ or itself",
                    "Write it twice to match the character itself, or choose another escape "
                    "character",
                    span=span,
                )
            yield Sign(letter=itself, is_wild=False)
        else:
            yield Sign(letter=letter, is_wild=letter in "%_")


def canonical(signs: Sequence[Sign]) -> tuple[str, bool]:
    """Return the one form of a pattern, and whether `ESCAPE` escapes in it."""
    is_escaping = any(each.is_escaped for each in signs)
    return escaped(signs) if is_escaping else "".join(each.letter for each in signs), is_escaping


def escaped(signs: Sequence[Sign], escape: str = ESCAPE) -> str:
    """Return a pattern in which a character escapes."""
    return "".join(
        escape + each.letter
        if each.is_escaped or (each.letter == escape and not each.is_wild)
        else each.letter
        for each in signs
    )


def check_pattern(texts: Sequence[Expression], node: exp.Expr) -> None:
    """Reject a pattern, with its escape character if there is one, that cannot be read."""
    values = [each.value if isinstance(each, Literal) else None for each in texts]
    words = [each for each in values if isinstance(each, str)]
    if len(words) < len(values):
        raise UnsupportedError(
            "The pattern of LIKE and its escape character must be constants",
            "Write the pattern in quotes, or use CONTAINS(a, b)",
            span=span_of(node),
        )
    if len(words[0]) > LONGEST_PATTERN or words[0].count("%") > MOST_WILDCARDS:
        raise QuestionSizeError(
            "This pattern is too long",
            f"Use at most {LONGEST_PATTERN:,} characters, and % at most {MOST_WILDCARDS} times",
            span=span_of(node),
        )
    signs = signs_of(*words, span=span_of(node))
    if isinstance(node, exp.ILike):
        _check_case(signs, node)


def _check_case(signs: Sequence[Sign], node: exp.Expr) -> None:
    """Reject letters that ILIKE would not match alike on all engines."""
    for each in signs:
        if ord(each.letter) in UNSETTLED:
            raise UnsupportedError(
                f"Databases disagree about the upper and lower case of U+{ord(each.letter):04X}",
                "Use LIKE, or _ in place of this letter",
                span=span_of(node),
            )


def settle_escape(node: exp.Escape) -> None:
    """Write a pattern of SQL after the noise in the one form, or reject it.

    One that escapes with an ASCII character of no case cannot fail, and stays as it is.
    """
    like, texts = node.this, [node.this.expression, node.expression]
    if not all(isinstance(each, exp.Literal) and each.is_string for each in texts):
        raise UnsupportedError(
            "A pattern with ESCAPE and its escape character must be constants",
            "Write both in quotes",
            span=span_of(node),
        )
    pattern, escape = (str(each.this) for each in texts)
    signs = signs_of(pattern, escape, span=span_of(node))
    if not escape.isascii() or (isinstance(like, exp.ILike) and escape.isalpha()):
        like.set("expression", exp.Literal.string(escaped(signs)))
        node.set("expression", exp.Literal.string(ESCAPE))
