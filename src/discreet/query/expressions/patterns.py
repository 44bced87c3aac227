"""REGEXP_MATCHES and its like: regular expressions of the subset that `regular` reads."""

from sqlglot import exp

from discreet.errors import QuestionSizeError, UnsupportedError
from discreet.query.expressions.coercion import coerce
from discreet.query.expressions.dispatch import NameScope, NodeRule, check_parts, translate
from discreet.query.expressions.facts import literal
from discreet.query.expressions.literals import LONGEST_PATTERN
from discreet.query.expressions.regular import Pattern, PatternError, is_empty
from discreet.query.expressions.regular_check import read_pattern
from discreet.query.expressions.regular_text import pattern_text, replacement_pieces
from discreet.query.parse import span_of
from discreet.query.tree import Expression

LONGEST_REPLACEMENT = 100


def _constant(node: exp.Expr | None, what: str, whole: exp.Expr) -> str:
    while isinstance(node, exp.Paren):
        node = node.this
    if isinstance(node, exp.RawString) or (isinstance(node, exp.Literal) and node.is_string):
        return str(node.this)
    raise UnsupportedError(
        f"The {what} must be a constant text", "Write it in quotes", span=span_of(whole)
    )


def _read(
    node: exp.Expr, pattern: exp.Expr | None, *, ignores_case: bool, is_condition: bool
) -> Pattern:
    text = _constant(pattern, "regular expression", node)
    if len(text) > LONGEST_PATTERN:
        raise QuestionSizeError(
            "This regular expression is too long",
            f"Use at most {LONGEST_PATTERN} characters",
            span=span_of(node),
        )
    try:
        return read_pattern(text, ignores_case=ignores_case, is_condition=is_condition)
    except PatternError as error:
        raise UnsupportedError(
            f"This regular expression {error.what} (position {error.place})",
            error.fix,
            span=span_of(node),
        ) from None


def _options(node: exp.Expr | None, allowed: str, whole: exp.Expr) -> str:
    text = "" if node is None else _constant(node, "options of a regular expression", whole)
    if set(text) - set(allowed):
        raise UnsupportedError(
            f"The options {text} of a regular expression are not supported on private rows",
            f"Use {' or '.join(allowed)}",
            span=span_of(whole),
        )
    return text


def _like(*, ignores_case: bool) -> NodeRule:
    def found(node: exp.Expr, scope: NameScope) -> Expression:
        check_parts(node, ("this", "expression", "flag"))
        options = _options(node.args.get("flag"), "ci", node)
        in_any_case = ignores_case or "i" in options
        pattern = _read(node, node.expression, ignores_case=in_any_case, is_condition=True)
        return _matches(translate(node.this, scope), pattern, node)

    return found


def _matches(x: Expression, pattern: Pattern, node: exp.Expr) -> Expression:
    return coerce("regexp_matches", (x, literal(pattern_text(pattern))), node)


def _full_match(node: exp.Expr, scope: NameScope) -> Expression:
    check_parts(node, ("this", "expression", "options"))
    options = _options(node.args.get("options"), "ci", node)
    pattern = _read(node, node.expression, ignores_case="i" in options, is_condition=True)
    whole = Pattern(body=pattern.body, at_start=True, at_end=True, groups=0)
    return _matches(translate(node.this, scope), whole, node)


DIFFERENT = frozenset("%_.^$\\")
"""What DuckDB's SIMILAR TO takes for a regular expression, and standard SQL for something else."""


def _similar_to(node: exp.Expr, scope: NameScope) -> Expression:
    check_parts(node, ("this", "expression"))
    if DIFFERENT & set(_constant(node.expression, "pattern of SIMILAR TO", node)):
        raise UnsupportedError(
            "Databases read %, _, ., ^, $ and \\ in SIMILAR TO in different ways",
            "Use LIKE, or REGEXP_FULL_MATCH(x, '...')",
            span=span_of(node),
        )
    return _full_match(node, scope)


def _extract(node: exp.Expr, scope: NameScope) -> Expression:
    check_parts(node, ("this", "expression", "group", "null_if_pos_overflow"))
    pattern = _read(node, node.expression, ignores_case=False, is_condition=False)
    group = node.args.get("group")
    digits = "0" if group is None else group.name if isinstance(group, exp.Literal) else ""
    if not digits.isdigit() or len(digits) > 2 or int(digits) > pattern.groups:
        raise UnsupportedError(
            "The group of REGEXP_EXTRACT must be the number of a bracket in the regular expression",
            "Write 0 for all that is matched, 1 for the first (...)",
            span=span_of(node),
        )
    text = literal(pattern_text(pattern))
    return coerce("regexp_extract", (translate(node.this, scope), text, literal(int(digits))), node)


def _replace(node: exp.Expr, scope: NameScope) -> Expression:
    parts = ("this", "expression", "replacement", "modifiers", "single_replace")
    check_parts(node, parts)
    options = _options(node.args.get("modifiers"), "gci", node)
    pattern = _read(node, node.expression, ignores_case="i" in options, is_condition=False)
    new = _constant(node.args.get("replacement"), "replacement of REGEXP_REPLACE", node)
    if is_empty(pattern.body):
        raise UnsupportedError(
            "A regular expression that is replaced must not match an empty text",
            "Write + instead of *",
            span=span_of(node),
        )
    if len(new) > LONGEST_REPLACEMENT or replacement_pieces(new, pattern.groups) is None:
        raise UnsupportedError(
            "The replacement of REGEXP_REPLACE cannot be read",
            f"Use plain text of at most {LONGEST_REPLACEMENT} characters, \\1 for the first (...), "
            "and \\\\ for a backslash",
            span=span_of(node),
        )
    name = "regexp_replace_all" if "g" in options else "regexp_replace"
    texts = (literal(pattern_text(pattern)), literal(new))
    return coerce(name, (translate(node.this, scope), *texts), node)


PATTERN_RULES: dict[type[exp.Expr], NodeRule] = {
    exp.RegexpLike: _like(ignores_case=False),
    exp.RegexpILike: _like(ignores_case=True),
    exp.RegexpFullMatch: _full_match,
    exp.SimilarTo: _similar_to,
    exp.RegexpExtract: _extract,
    exp.RegexpReplace: _replace,
}
