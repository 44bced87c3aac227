"""GoogleSQL's WITH DIFFERENTIAL_PRIVACY OPTIONS (...): read from tokens, held to the catalog.

The clause weakens nothing: what the owner declares holds, and an option that says otherwise is
rejected.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from sqlglot import exp
from sqlglot.tokenizer_core import Token, TokenType

from discreet.catalog.catalog import Catalog
from discreet.catalog.schema import ColumnUnit, PathUnit, PrivateTable
from discreet.errors import SqlSyntaxError, UnsupportedError
from discreet.parameters import Real, rational
from discreet.query.spans import span_of

CLAUSES = {"DIFFERENTIAL_PRIVACY", "ANONYMIZATION"}

NUMBER = re.compile(r"(\d{1,30}(\.\d{0,30})?|\.\d{1,30})(e[+-]?\d{1,2})?", re.I | re.A)
"""Short enough to be computed with at once."""

OPTIONS = ("epsilon", "delta", "privacy_unit_column", "max_groups_contributed", "kappa")
LISTED = (*OPTIONS[:4], "max_rows_contributed")

RENAMED = {"ANON_COUNT": "COUNT", "ANON_SUM": "SUM"}
"""Aggregates that are the same number of rows and the same sum without noise."""

PER_UNIT = "clamps the sum of each privacy unit in a group, which the bounds of a column do not"


@dataclass(frozen=True, slots=True, kw_only=True)
class PrivacyOptions:
    """What the clause states."""

    span: tuple[int, int]
    epsilon: Fraction | None = None
    delta: Fraction | None = None
    unit: str | None = None
    groups_per_unit: int | None = None
    rows_per_unit: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StatedTerms:
    """Epsilon, delta and the groups of a unit, as the call or the clause states them."""

    epsilon: Real | None
    delta: Real | None
    groups_per_unit: int | None


# --------------------------------------------------------------------------- tokens


def without_clause(tokens: Sequence[Token]) -> tuple[list[Token], PrivacyOptions | None]:
    """Return the tokens without the clause, and what it states."""
    starts = [at for at in range(len(tokens) - 2) if _begins(tokens, at)]
    if not starts:
        return list(tokens), None
    at = starts[0]
    depth = sum(_depth(each) for each in tokens[:at])
    if len(starts) > 1 or depth:
        place = tokens[starts[-1] + 2]
        raise SqlSyntaxError(
            "WITH DIFFERENTIAL_PRIVACY stands in another than the outermost SELECT",
            "Write it once, after the first word of the outermost SELECT",
            span=(place.start, place.end + 1),
        )
    found, end = _options(tokens, at + 1)
    rest = [*tokens[: at + 1], *tokens[end:]]
    return [_plain(each, rest, i) for i, each in enumerate(rest)], found


def _begins(tokens: Sequence[Token], at: int) -> bool:
    first, second, third = tokens[at : at + 3]
    is_with = first.token_type is TokenType.SELECT and second.token_type is TokenType.WITH
    return is_with and third.text.upper() in CLAUSES


def _depth(token: Token) -> int:
    return (token.token_type is TokenType.L_PAREN) - (token.token_type is TokenType.R_PAREN)


def _options(tokens: Sequence[Token], at: int) -> tuple[PrivacyOptions, int]:
    """Return the options of a clause that begins here, and where what follows begins."""
    end = next(
        (i for i in range(at, len(tokens)) if tokens[i].token_type is TokenType.R_PAREN), None
    )
    words = [each.text.upper() for each in tokens[at + 2 : at + 4]]
    if end is None or words != ["OPTIONS", "("]:
        raise _unreadable(tokens[min(at + 2, len(tokens) - 1)])
    stated: dict[str, str] = {}
    for part in _split(tokens[at + 4 : end]):
        if len(part) < 3 or part[1].token_type is not TokenType.EQ:
            raise _unreadable(part[0] if part else tokens[end])
        name = part[0].text.lower()
        if name not in (*LISTED, "kappa"):
            raise UnsupportedError(
                f"The option {name} is not supported",
                f"Use {', '.join(LISTED)}",
                span=(part[0].start, part[0].end + 1),
            )
        stated[name] = "".join(each.text for each in part[2:])
    span = (tokens[at].start, tokens[end].end + 1)
    return _read(stated, span), end + 1


def _split(tokens: Sequence[Token]) -> list[list[Token]]:
    parts: list[list[Token]] = [[]]
    for each in tokens:
        if each.token_type is TokenType.COMMA:
            parts.append([])
        else:
            parts[-1].append(each)
    return parts


def _unreadable(token: Token) -> SqlSyntaxError:
    return SqlSyntaxError(
        "The options of WITH DIFFERENTIAL_PRIVACY cannot be read",
        "Write OPTIONS (epsilon = 1, privacy_unit_column = patient_id)",
        span=(token.start, token.end + 1),
    )


def _read(stated: dict[str, str], span: tuple[int, int]) -> PrivacyOptions:
    groups = stated.get("max_groups_contributed", stated.get("kappa"))
    return PrivacyOptions(
        span=span,
        epsilon=_number("epsilon", stated.get("epsilon"), span),
        delta=_number("delta", stated.get("delta"), span),
        unit=stated.get("privacy_unit_column", "").rpartition(".")[2] or None,
        groups_per_unit=_whole("max_groups_contributed", groups, span),
        rows_per_unit=_whole("max_rows_contributed", stated.get("max_rows_contributed"), span),
    )


def _number(name: str, text: str | None, span: tuple[int, int]) -> Fraction | None:
    if text is None:
        return None
    if not NUMBER.fullmatch(text):
        raise SqlSyntaxError(f"The option {name} is not a number", "Write 1 or 1e-6", span=span)
    return Fraction(text)


def _whole(name: str, text: str | None, span: tuple[int, int]) -> int | None:
    if text is None:
        return None
    if not (text.isascii() and text.isdigit() and len(text) <= 9 and int(text) > 0):
        what = f"The option {name} is not a whole number from 1"
        raise SqlSyntaxError(what, "Write a number such as 3, or leave it out", span=span)
    return int(text)


def _plain(token: Token, tokens: Sequence[Token], at: int) -> Token:
    """Return ANON_COUNT as COUNT, and reject bounds that mean another thing."""
    name, span = token.text.upper(), (token.start, token.end + 1)
    if token.token_type is not TokenType.VAR:
        return token
    following = tokens[at + 1].token_type if at + 1 < len(tokens) else None
    if name in RENAMED and following is TokenType.L_PAREN:
        place = (token.line, token.col, token.start, token.end)
        return Token(TokenType.VAR, RENAMED[name], *place, [])
    if (name == "CLAMPED" and following is TokenType.BETWEEN) or (
        name == "CONTRIBUTION_BOUNDS_PER_GROUP"
    ):
        fix = "Leave it out, or sum CLAMP(t, low, high) of a subquery with a total t per unit"
        raise UnsupportedError(f"{token.text} {PER_UNIT}", fix, span=span)
    if name == "CONTRIBUTION_BOUNDS_PER_ROW":
        fix = "Write CLAMP(x, low, high) in place of x"
        raise UnsupportedError(f"{token.text} is not supported", fix, span=span)
    if name.startswith("ANON_") and following is TokenType.L_PAREN:
        raise _other_aggregate(name, span)
    return token


# --------------------------------------------------------------------------- what must agree


def _other_aggregate(name: str, span: tuple[int, int] | None) -> UnsupportedError:
    return UnsupportedError(
        f"{name} WITH DIFFERENTIAL_PRIVACY takes a value of each privacy unit first",
        "Use COUNT and SUM, for a mean SUM(x) / COUNT(x), or leave the clause out",
        span=span,
    )


def check_aggregates(tree: exp.Query) -> None:
    """Reject aggregates of the outermost SELECT that are other numbers in GoogleSQL."""
    if not isinstance(tree, exp.Select):
        what = "WITH DIFFERENTIAL_PRIVACY stands in a part of a UNION"
        raise UnsupportedError(what, "Ask each part on its own", span=span_of(tree))
    for node in tree.find_all(exp.AggFunc):
        is_outer = node.find_ancestor(exp.Select) is tree
        if is_outer and not isinstance(node, exp.Count | exp.CountIf | exp.Sum):
            raise _other_aggregate(node.sql_name().upper(), span_of(node))


def check_catalog(options: PrivacyOptions, tree: exp.Query, catalog: Catalog) -> None:
    """Reject a unit or a limit of rows that is not the catalog's."""
    for node in tree.find_all(exp.Table):
        table = catalog.table(node.name)
        if not isinstance(table, PrivateTable):
            continue
        unit = _unit_column(table, catalog)
        if options.unit is not None and unit.casefold() != options.unit.casefold():
            raise UnsupportedError(
                f"privacy_unit_column is {options.unit}, and the privacy unit of {table.name} is "
                f"{unit or 'each row'}",
                f"Write privacy_unit_column = {unit}" if unit else "Leave the option out",
                span=options.span,
            )
        if options.rows_per_unit not in (None, table.rows_per_unit):
            raise UnsupportedError(
                f"max_rows_contributed is {options.rows_per_unit}, and the catalog has "
                f"{table.rows_per_unit} rows per unit of {table.name}",
                f"Write max_rows_contributed = {table.rows_per_unit}, or leave it out",
                span=options.span,
            )


def _unit_column(table: PrivateTable, catalog: Catalog) -> str:
    """Return the column that names the unit of a table, or of the table that it refers to."""
    match table.unit:
        case ColumnUnit(column=column):
            return column
        case PathUnit(table=name):
            other = catalog.table(name)
            return _unit_column(other, catalog) if isinstance(other, PrivateTable) else ""
    return ""


def stated_terms(
    options: PrivacyOptions | None,
    epsilon: Real | None,
    delta: Real | None,
    groups_per_unit: int | None,
) -> StatedTerms:
    """Return the terms of a call with those of the clause, which must agree."""
    if options is None:
        return StatedTerms(epsilon=epsilon, delta=delta, groups_per_unit=groups_per_unit)
    _check_same("epsilon", epsilon, options.epsilon, options)
    _check_same("delta", delta, options.delta, options)
    _check_same("groups_per_unit", groups_per_unit, options.groups_per_unit, options)
    return StatedTerms(
        epsilon=options.epsilon if epsilon is None else epsilon,
        delta=options.delta if delta is None else delta,
        groups_per_unit=options.groups_per_unit if groups_per_unit is None else groups_per_unit,
    )


def _check_same(
    name: str, given: Real | None, stated: Fraction | int | None, options: PrivacyOptions
) -> None:
    if given is None or stated is None or rational(name, given) == stated:
        return
    raise UnsupportedError(
        f"The clause and the call have different values of {name}",
        "Leave one of them out, or give both the same value",
        span=options.span,
    )
