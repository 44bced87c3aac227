"""The declared groups of a query: those that follow from the query and the catalog."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from itertools import chain, product
from math import prod

from sqlglot import exp

from discreet.catalog.schema import Kind, PublicTable, Value, time_from_number
from discreet.errors import UnsupportedError
from discreet.query.check.aggregates import is_aggregate, same_level
from discreet.query.check.relations import Names, PublicReader, TableRef, public_of, quoted
from discreet.query.expressions.narrowing import with_facts
from discreet.query.expressions.rejections import unhandled
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
from discreet.query.tree import Call, ColumnOf, Expression, Facts, Literal, columns_in

MOST_KEYS = 100_000
"""No more groups are answered one by one."""

MOST_VALUES = 100_000
"""No longer list of values is made of bounds."""


ONE_GROUPING = (
    "Write GROUP BY with plain columns. To add up groups, use an outer query, which costs nothing"
)

GROUPINGS = {exp.Rollup: "ROLLUP", exp.Cube: "CUBE", exp.GroupingSets: "GROUPING SETS"}


def key_nodes(
    node: exp.Select, group: exp.Group, names: Names, aliases: dict[str, exp.Expr]
) -> list[exp.Expr]:
    """Return what GROUP BY groups rows by: numbers and aliases stand for columns of SELECT."""
    for name, value in group.args.items():
        if value and name not in ("expressions", "all"):
            raise unhandled(f"GROUP BY {name.upper().replace('_', ' ')}", group, ONE_GROUPING)
    if group.args.get("all"):
        return [
            each.unalias()
            for each in node.expressions
            if not any(is_aggregate(part) for part in same_level(each))
        ]
    return [_key_node(each, node.expressions, names, aliases) for each in group.expressions]


def _key_node(
    node: exp.Expr, columns: list[exp.Expr], names: Names, aliases: dict[str, exp.Expr]
) -> exp.Expr:
    if isinstance(node, exp.Rollup | exp.Cube | exp.GroupingSets | exp.Tuple):
        fix = ONE_GROUPING if type(node) in GROUPINGS else "Write the columns without brackets"
        raise unhandled(f"GROUP BY {GROUPINGS.get(type(node), '(...)')}", node, fix)
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """The values of one key, or of several that come from the same public table together."""

    places: tuple[int, ...]
    rows: tuple[tuple[Value, ...], ...]


def groups_of(
    keys: tuple[Expression, ...],
    names: Names,
    public: PublicReader,
    where: Expression | None = None,
) -> Groups:
    """Return every combination of keys that can occur, if that is known and not too many."""
    if not keys:
        return DeclaredGroups(rows=((),), why=NoKeys())
    parts = _parts(keys, names, public, where)
    if isinstance(parts, NotDeclared):
        return UndeclaredGroups(why=parts)
    number = prod(len(each.rows) for each in parts)
    if number > MOST_KEYS:
        return UndeclaredGroups(why=TooManyKeys(number=number, most=MOST_KEYS))
    places = [place for each in parts for place in each.places]
    rows = tuple(
        _ordered(places, _joined(combination))
        for combination in product(*(each.rows for each in parts))
    )
    return DeclaredGroups(rows=rows, why=_why(keys, names))


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
        if _public_source(key, names) is not None or _stated(key, where) is not None:
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
    return out is not None and (out.facts.domain is not None or _listed(out.facts) is not None)


def _bounds(key: Expression, names: Names) -> tuple[Value, Value] | None:
    """Return the declared bounds of a column that has no list of values."""
    out = names.out(key) if isinstance(key, ColumnOf) else None
    if out is None or out.facts.domain is not None:
        return None
    ends = _ends(out.facts)
    return (
        None
        if ends is None
        else (_whole_value(ends[0], out.facts), _whole_value(ends[1], out.facts))
    )


def _joined(combination: Iterable[tuple[Value, ...]]) -> tuple[Value, ...]:
    return tuple(value for each in combination for value in each)


def _ordered(places: list[int], values: tuple[Value, ...]) -> tuple[Value, ...]:
    by_place = dict(zip(places, values, strict=True))
    return tuple(by_place[place] for place in range(len(places)))


def _parts(
    keys: tuple[Expression, ...], names: Names, public: PublicReader, where: Expression | None
) -> list[Part] | NotDeclared:
    """Return the values key by key; or which key has values that only the data know."""
    from_public: dict[str, list[int]] = {}
    parts = _joint_parts(keys, names, public)
    joint = {place for each in parts for place in each.places}
    for place, key in enumerate(keys):
        if place in joint:
            continue
        source = _public_source(key, names)
        if source is not None and isinstance(key, ColumnOf) and key.facts.domain is None:
            from_public.setdefault(source.name, []).append(place)
            continue
        values = _stated(key, where) or _values(key, names, public)
        if values is None:
            return NotDeclared(columns=_column_names(key))
        parts.append(Part(places=(place,), rows=tuple((each,) for each in values)))
    for name, places in from_public.items():
        source = next(each for each in names.sources if each.name == name)
        columns = [key.name for place in places if isinstance(key := keys[place], ColumnOf)]
        parts.append(Part(places=tuple(places), rows=_public_rows(source, columns, public)))
    return sorted(parts, key=lambda each: each.places)


def _joint_parts(keys: tuple[Expression, ...], names: Names, public: PublicReader) -> list[Part]:
    """Return the values of keys that are computed from the same columns: region, upper(region)."""
    parts = []
    for places in _sharing(keys):
        plains = tuple(_with_plain_columns(keys[place], names) for place in places)
        columns = dict.fromkeys(column for each in plains for column in columns_in(each))
        domains = {
            (each.source, each.name): domain
            for each in columns
            if (domain := _column_domain(each, names, public)) is not None
        }
        if len(domains) == len(columns) and prod(map(len, domains.values())) <= MOST_VALUES:
            parts.append(Part(places=places, rows=tuple(public.together(plains, domains))))
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


def _public_source(key: Expression, names: Names) -> TableRef | None:
    found = {each.source for each in columns_in(key)}
    sources = [each for each in names.sources if each.name in found]
    if len(sources) == 1 and isinstance(sources[0].relation, PublicTable):
        return sources[0]
    return None


def _public_rows(
    source: TableRef, columns: list[str], public: PublicReader
) -> tuple[tuple[Value, ...], ...]:
    listed = ", ".join(quoted(_original(source, each)) for each in columns)
    table = quoted(public_of(source).name)
    rows = public.values(f"SELECT DISTINCT {listed} FROM {table} ORDER BY ALL")  # noqa: S608
    if any(map(_is_wide, chain.from_iterable(rows))):
        raise UnsupportedError(
            f"{' and '.join(columns)} of {public_of(source).name} contains integers of more than "
            "64 bits, which cannot be group keys",
            "Ask the data owner to store them as text in the public table",
        )
    missing = tuple(None for _ in columns)
    if source.is_optional and missing not in rows:
        rows = [*rows, missing]
    return tuple(rows)


def _is_wide(value: Value) -> bool:
    """Return whether it is an integer of more than 64 bits; reals are floating point here."""
    return isinstance(value, int | Decimal) and not -(2**63) <= value < 2**63


def _original(source: TableRef, name: str) -> str:
    """Return a column's name in the public table itself."""
    place = next(i for i, each in enumerate(source.columns) if each.name == name)
    return public_of(source).columns[place].name


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


def _values(key: Expression, names: Names, public: PublicReader) -> tuple[Value, ...] | None:
    """Return all values of an expression, NULL only where it is known to occur."""
    plain = _with_plain_columns(key, names)
    if plain.facts.domain is not None:
        return plain.facts.domain
    if isinstance(plain, ColumnOf):
        return _listed(plain.facts)
    domains = {}
    for each in columns_in(plain):
        domain = _column_domain(each, names, public)
        if domain is None:
            return _of_calendar(plain)
        domains[each.source, each.name] = domain
    if not domains or prod(map(len, domains.values())) > MOST_VALUES:
        return None
    return public.evaluate(plain, domains)


def _with_plain_columns(key: Expression, names: Names) -> Expression:
    columns = {(each.source, each.name): _plain(each, names) for each in columns_in(key)}
    return with_facts(key, columns)


def _plain(column: ColumnOf, names: Names) -> Facts:
    """Return a column's facts, with NULL only if it is declared or comes from an outer join."""
    out = names.out(column)
    has_nulls = out is not None and out.has_nulls
    domain = column.facts.domain
    if domain is not None and not has_nulls:
        domain = tuple(each for each in domain if each is not None)
    return replace(column.facts, nullable=has_nulls, domain=domain)


def _column_domain(
    column: ColumnOf, names: Names, public: PublicReader
) -> tuple[Value, ...] | None:
    listed = column.facts.domain or _listed(column.facts)
    if listed is not None:
        return listed
    source = _public_source(column, names)
    if source is None:
        return None
    return tuple(value for (value,) in _public_rows(source, [column.name], public))


def _of_calendar(key: Expression) -> tuple[Value, ...] | None:
    """Return the hours, days of the week and the like that a moment can have at all."""
    is_part = isinstance(key, Call) and key.function == "date_part"
    return _listed(key.facts) if is_part else None


def _listed(facts: Facts) -> tuple[Value, ...] | None:
    """Return the integers or days between bounds, if there are not too many."""
    ends = _ends(facts)
    if ends is None:
        return None
    values = tuple(_whole_value(each, facts) for each in range(ends[0], ends[1] + 1))
    return (*values, None) if facts.nullable else values


def _ends(facts: Facts) -> tuple[int, int] | None:
    """Return the first and the last integer or day between bounds, if few are between."""
    low, high = facts.interval.low, facts.interval.high
    if facts.kind not in (Kind.INTEGER, Kind.DATE) or low is None or high is None:
        return None
    first, last = -(-low.numerator // low.denominator), high.numerator // high.denominator
    return (first, last) if 0 <= last - first < MOST_VALUES else None


def _whole_value(number: int, facts: Facts) -> Value:
    is_day = facts.kind is Kind.DATE
    return time_from_number(Fraction(number), Kind.DATE) if is_day else number


def _column_names(key: Expression) -> tuple[str, ...]:
    return tuple(dict.fromkeys(each.name for each in columns_in(key)))


def _why(keys: tuple[Expression, ...], names: Names) -> DeclaredReason:
    publics = {
        public_of(source).name
        for each in keys
        if (source := _public_source(each, names)) is not None
    }
    return FromPublicTables(tables=tuple(sorted(publics))) if publics else ListedByCatalog()
