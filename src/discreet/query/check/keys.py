"""The declared groups of a query: those that follow from the query and the catalog."""

import re
from collections.abc import Iterable, Iterator

from sqlglot import exp

from discreet.catalog.schema import Kind, PublicTable, Value
from discreet.errors import UnsupportedError
from discreet.query.check.aggregates import is_aggregate, same_level
from discreet.query.check.column_domains import (
    MOST_VALUES,
    ColumnDomains,
    listed_values,
    of_calendar,
    public_rows,
    public_source,
    whole_ends,
    whole_value,
    with_plain_columns,
)
from discreet.query.check.key_conditions import (
    KeyConditions,
    Part,
    conditions_on,
    number_left,
    rows_left,
)
from discreet.query.check.relations import Names, PublicReader, ReleasedTable, public_of
from discreet.query.expressions.rejections import unhandled
from discreet.query.expressions.time_functions import covers_all_parts
from discreet.query.parse import span_of
from discreet.query.questions import (
    DeclaredGroups,
    DeclaredReason,
    FromPublicTables,
    Groups,
    LeftOut,
    ListedByCatalog,
    NoKeys,
    NotDeclared,
    TooManyKeys,
    UndeclaredGroups,
    UnlistedKeys,
)
from discreet.query.tree import (
    Call,
    ColumnOf,
    Expression,
    Literal,
    Select,
    columns_in,
)

MOST_KEYS = 100_000
"""No more groups are answered one by one."""


def key_nodes(
    node: exp.Select, group: exp.Group, names: Names, aliases: dict[str, exp.Expr]
) -> list[exp.Expr]:
    """Return what GROUP BY groups rows by: numbers and aliases stand for columns of SELECT."""
    for name, value in group.args.items():
        if value and name not in ("expressions", "all"):
            what = f"GROUP BY ... WITH {name.upper().replace('_', ' ')}"
            raise unhandled(what, group, "Write GROUP BY ROLLUP (...) with the columns")
    if group.args.get("all"):
        return [
            each.unalias()
            for each in node.expressions
            if not any(is_aggregate(part) for part in same_level(each))
        ]
    return [key_node(each, node.expressions, names, aliases) for each in group.expressions]


def key_node(
    node: exp.Expr, columns: list[exp.Expr], names: Names, aliases: dict[str, exp.Expr]
) -> exp.Expr:
    """Return what one part of GROUP BY stands for."""
    if isinstance(node, exp.Rollup | exp.Cube | exp.GroupingSets | exp.Tuple):
        raise unhandled("GROUP BY (...)", node, "Write the columns without brackets")
    if isinstance(node, exp.Literal) and not node.is_string:
        place = int(node.this) if re.fullmatch("[0-9]{1,9}", node.this) else 0
        if not 1 <= place <= len(columns):
            width = len(columns)
            raise UnsupportedError(
                f"GROUP BY {node.this} is out of range: the SELECT list has {width} "
                f"column{'' if width == 1 else 's'}",
                "Write the number or the name of one of them",
                span=span_of(node),
            )
        return columns[place - 1].unalias()
    if isinstance(node, exp.Column) and not node.table and not names.has(node):
        return aliases.get(node.name.casefold(), node)
    return node


def groups_of(
    keys: tuple[Expression, ...], names: Names, public: PublicReader, rows: Select
) -> Groups:
    """Return every combination of keys that rows can have, if that is known and not too many."""
    if not keys:
        return DeclaredGroups(rows=((),), why=NoKeys())
    domains = ColumnDomains(keys, names, public, conditions_on(rows, names, keys))
    parts = _parts(keys, domains, rows.where)
    if isinstance(parts, NotDeclared):
        return UndeclaredGroups(why=parts)
    known, conditions = domains.for_conditions()
    blocks = KeyConditions(
        keys=keys, parts=parts, domains=known, names=names, public=public, conditions=conditions
    ).blocks()
    number = number_left(parts, blocks)
    if number > MOST_KEYS:
        return UndeclaredGroups(why=TooManyKeys(number=number, most=MOST_KEYS))
    return DeclaredGroups(rows=tuple(rows_left(parts, blocks)), why=_why(keys, names))


def unlisted(
    keys: tuple[Expression, ...],
    texts: Iterable[str],
    known: Groups,
    names: Names,
    where: Expression | None,
) -> tuple[LeftOut, ...]:
    """Return which rows are in none of the groups, though WHERE lets them pass."""
    if not isinstance(known, DeclaredGroups):
        return ()
    found = []
    for place, (key, text) in enumerate(zip(keys, texts, strict=True)):
        if public_source(key, names) is not None or _stated(key, where) is not None:
            continue
        has_null = key.facts.nullable and all(row[place] is not None for row in known.rows)
        has_undeclared = _strays(key, names)
        if has_null or has_undeclared:
            found.append(
                UnlistedKeys(
                    text=text,
                    has_null=has_null,
                    has_undeclared=has_undeclared,
                    bounds=_bounds(key, names),
                )
            )
    return tuple(found)


def _strays(key: Expression, names: Names) -> bool:
    """Return whether a key can have a value that is not listed: if declared columns list them."""
    if key.facts.kind is Kind.BOOLEAN:
        return False
    if not isinstance(key, ColumnOf):
        return key.facts.domain is None
    out = names.out(key)
    is_released = any(
        each.name == key.source and isinstance(each.relation, ReleasedTable)
        for each in names.sources
    )
    if is_released:  # its rows have no other values
        return False
    return out is not None and (
        out.facts.domain is not None or listed_values(out.facts) is not None
    )


def _bounds(key: Expression, names: Names) -> tuple[Value, Value] | None:
    """Return the declared bounds of a column that has no list of values."""
    out = names.out(key) if isinstance(key, ColumnOf) else None
    if out is None or out.facts.domain is not None:
        return None
    ends = whole_ends(out.facts)
    return (
        None if ends is None else (whole_value(ends[0], out.facts), whole_value(ends[1], out.facts))
    )


def _parts(
    keys: tuple[Expression, ...], domains: ColumnDomains, where: Expression | None
) -> list[Part] | NotDeclared:
    """Return the values key by key; or which key has values that only the data know."""
    names = domains.names
    from_public: dict[str, list[int]] = {}
    parts = _joint_parts(keys, domains)
    joint = {place for each in parts for place in each.places}
    for place, key in enumerate(keys):
        if place in joint:
            continue
        source = public_source(key, names)
        if source is not None and isinstance(key, ColumnOf) and key.facts.domain is None:
            from_public.setdefault(source.name, []).append(place)
            continue
        values = _stated(key, where) or _values(key, domains)
        if values is None:
            return NotDeclared(columns=_column_names(key))
        parts.append(Part(places=(place,), rows=tuple((each,) for each in values)))
    for name, places in from_public.items():
        source = next(each for each in names.sources if each.name == name)
        columns = [key.name for place in places if isinstance(key := keys[place], ColumnOf)]
        rows = public_rows(source, columns, domains.public)
        parts.append(Part(places=tuple(places), rows=rows))
    return sorted(parts, key=lambda each: each.places)


def _joint_parts(keys: tuple[Expression, ...], domains: ColumnDomains) -> list[Part]:
    """Return the values of keys that are computed from the same columns: region, upper(region)."""
    parts = []
    for places in _sharing(keys):
        plains = tuple(with_plain_columns(keys[place], domains.names) for place in places)
        found = domains.together(plains)
        if found is not None:
            rows = tuple(domains.public.together(plains, found))
            parts.append(Part(places=places, rows=rows))
    return parts


def _sharing(keys: tuple[Expression, ...]) -> list[tuple[int, ...]]:
    """Return which keys, at least two of them, read columns of each other."""
    groups: list[tuple[set[ColumnOf], tuple[int, ...]]] = []
    for place, key in enumerate(keys):
        columns = set(columns_in(key))
        places: tuple[int, ...] = (place,)
        apart = []
        for others, theirs in groups:
            if others & columns:
                columns, places = columns | others, (*theirs, *places)
            else:
                apart.append((others, theirs))
        groups = [*apart, (columns, places)]
    return [tuple(sorted(places)) for _, places in groups if len(places) > 1]


def _stated(key: Expression, where: Expression | None) -> tuple[Value, ...] | None:
    """Return the values that WHERE lets a computed key have: WHERE hour(t) IN (8, 9)."""
    if isinstance(key, ColumnOf):  # its facts say so already
        return None
    for each in _conditions(where):
        if each.function in ("in", "equal") and each.arguments[0] == key:
            listed = each.arguments[1:]
            values = [one.value for one in listed if isinstance(one, Literal)]
            kinds = {one.facts.kind for one in listed}
            if len(values) == len(listed) and kinds == {key.facts.kind}:
                return tuple(dict.fromkeys(each for each in values if each is not None))
    return None


def _conditions(where: Expression | None) -> Iterator[Call]:
    """Yield the conditions that all must be true."""
    if not isinstance(where, Call):
        return
    if where.function == "and":
        for each in where.arguments:
            yield from _conditions(each)
    else:
        yield where


def _values(key: Expression, domains: ColumnDomains) -> tuple[Value, ...] | None:
    """Return all values of an expression, NULL only where it is known to occur."""
    plain = with_plain_columns(key, domains.names)
    if plain.facts.domain is not None:
        return plain.facts.domain
    if isinstance(plain, ColumnOf):
        return listed_values(plain.facts)
    if covers_all_parts(plain):
        return of_calendar(plain, domains.public)
    found = domains.together((plain,))
    if found is None:
        return of_calendar(plain, domains.public)
    if not found:
        return None
    values = domains.public.evaluate(plain, found)
    return values if len(values) <= MOST_VALUES else None


def _column_names(key: Expression) -> tuple[str, ...]:
    return tuple(dict.fromkeys(each.name for each in columns_in(key)))


def _why(keys: tuple[Expression, ...], names: Names) -> DeclaredReason:
    publics = {
        public_of(source).name
        for each in keys
        if (source := public_source(each, names)) is not None
        and isinstance(source.relation, PublicTable)
    }
    return FromPublicTables(tables=tuple(sorted(publics))) if publics else ListedByCatalog()
