"""The declared groups of a query: those that follow from the query and the catalog."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from itertools import chain
from math import prod

from sqlglot import exp

from discreet.catalog.schema import Kind, PublicTable, Value, time_from_number
from discreet.errors import UnsupportedError
from discreet.query.check.aggregates import is_aggregate, same_level
from discreet.query.check.key_conditions import (
    KeyConditions,
    Part,
    conditions_on,
    number_left,
    original_name,
    rows_left,
)
from discreet.query.check.relations import Names, PublicReader, TableRef, public_of, quoted
from discreet.query.expressions.cuts import MOST_CUTS, Cuts, cuts_of, values_around
from discreet.query.expressions.narrowing import with_facts
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
from discreet.query.tree import Call, ColumnOf, Expression, Facts, Literal, Select, columns_in

MOST_KEYS = 100_000
"""No more groups are answered one by one."""

MOST_VALUES = 100_000
"""No longer list of values is made of bounds."""


GROUPINGS = {exp.Rollup: "ROLLUP", exp.Cube: "CUBE", exp.GroupingSets: "GROUPING SETS"}


def key_nodes(
    node: exp.Select, group: exp.Group, names: Names, aliases: dict[str, exp.Expr]
) -> list[exp.Expr]:
    """Return what GROUP BY groups rows by: numbers and aliases stand for columns of SELECT."""
    for name, value in group.args.items():
        if value and name not in ("expressions", "all"):
            raise unhandled(f"GROUP BY {name.upper().replace('_', ' ')}", group)
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
        raise unhandled(f"GROUP BY {GROUPINGS.get(type(node), '(...)')}", node)
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


def _parts(
    keys: tuple[Expression, ...], domains: "ColumnDomains", where: Expression | None
) -> list[Part] | NotDeclared:
    """Return the values key by key; or which key has values that only the data know."""
    names = domains.names
    from_public: dict[str, list[int]] = {}
    parts = _joint_parts(keys, domains)
    joint = {place for each in parts for place in each.places}
    for place, key in enumerate(keys):
        if place in joint:
            continue
        source = _public_source(key, names)
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
        rows = _public_rows(source, columns, domains.public)
        parts.append(Part(places=tuple(places), rows=rows))
    return sorted(parts, key=lambda each: each.places)


def _joint_parts(keys: tuple[Expression, ...], domains: "ColumnDomains") -> list[Part]:
    """Return the values of keys that are computed from the same columns: region, upper(region)."""
    parts = []
    for places in _sharing(keys):
        plains = tuple(_with_plain_columns(keys[place], domains.names) for place in places)
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


def _public_source(key: Expression, names: Names) -> TableRef | None:
    found = {each.source for each in columns_in(key)}
    sources = [each for each in names.sources if each.name in found]
    if len(sources) == 1 and isinstance(sources[0].relation, PublicTable):
        return sources[0]
    return None


def _public_rows(
    source: TableRef, columns: list[str], public: PublicReader
) -> tuple[tuple[Value, ...], ...]:
    listed = ", ".join(quoted(original_name(source, each)) for each in columns)
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


def _values(key: Expression, domains: "ColumnDomains") -> tuple[Value, ...] | None:
    """Return all values of an expression, NULL only where it is known to occur."""
    plain = _with_plain_columns(key, domains.names)
    if plain.facts.domain is not None:
        return plain.facts.domain
    if isinstance(plain, ColumnOf):
        return _listed(plain.facts)
    if covers_all_parts(plain):
        return _of_calendar(plain)
    found = domains.together((plain,))
    if found is None:
        return _of_calendar(plain)
    if not found:
        return None
    values = domains.public.evaluate(plain, found)
    return values if len(values) <= MOST_VALUES else None


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


class ColumnDomains:
    """The values of the columns that keys read, as far as they are known."""

    def __init__(
        self,
        keys: tuple[Expression, ...],
        names: Names,
        public: PublicReader,
        conditions: tuple[Expression, ...],
    ) -> None:
        self.keys, self.names, self.public, self.conditions = keys, names, public, conditions
        self._around: dict[ColumnOf, tuple[Value, ...] | None] = {}
        self._untried: set[Expression] = set()
        """Conditions that can change between two of the values."""

    def together(
        self, plains: tuple[Expression, ...]
    ) -> dict[tuple[str, str], tuple[Value, ...]] | None:
        """Return the values of all columns that expressions read; None if too many or not known."""
        found, most = {}, MOST_VALUES
        for each in dict.fromkeys(column for plain in plains for column in columns_in(plain)):
            values = self._declared(each)
            if values is None:
                values, most = self._values_around(each), MOST_TRIED
            if values is None:
                return None
            found[each.source, each.name] = values
        return found if prod(map(len, found.values())) <= most else None

    def _declared(self, column: ColumnOf) -> tuple[Value, ...] | None:
        listed = column.facts.domain or _listed(column.facts)
        if listed is not None:
            return listed
        source = _public_source(column, self.names)
        if source is None:
            return None
        return tuple(value for (value,) in _public_rows(source, [column.name], self.public))

    def _values_around(self, column: ColumnOf) -> tuple[Value, ...] | None:
        """Return values that stand for all others, if all keys are step functions of the column."""
        if column not in self._around:
            cuts = _all_cuts(column, self.keys)
            self._around[column] = None if cuts is None else self._with_conditions(column, cuts)
        return self._around[column]

    def _with_conditions(self, column: ColumnOf, cuts: Cuts) -> tuple[Value, ...] | None:
        for each in self.conditions:
            found = cuts_of(each, column)
            if found is None or len(cuts | found) > MOST_CUTS:
                self._untried.add(each)
            else:
                cuts |= found
        values = values_around(column.facts, cuts)
        if not values:
            return None
        return (*values, None) if column.facts.nullable else values

    def for_conditions(
        self,
    ) -> tuple[dict[ColumnOf, tuple[Value, ...]], tuple[Expression, ...]]:
        """Return the values of columns, NULL where it can be, and the conditions to try on them."""
        read = {column for each in self.conditions for column in columns_in(each)}
        whole = {c for key in self.keys if covers_all_parts(key) for c in columns_in(key)}
        found = {}
        for column in dict.fromkeys(column for key in self.keys for column in columns_in(key)):
            if _public_source(column, self.names) is not None:
                continue
            plain = replace(column, facts=_plain(column, self.names))
            values = self._declared(plain)
            if values is None and (plain in self._around or column in read - whole):
                values = self._values_around(plain)
            if values is not None:
                has_null = column.facts.nullable and None not in values
                found[column] = (*values, None) if has_null else values
        return found, tuple(each for each in self.conditions if each not in self._untried)


MOST_TRIED = 1_000_000
"""No more values that stand for others are tried."""


def _all_cuts(column: ColumnOf, keys: Iterable[Expression]) -> Cuts | None:
    cuts: Cuts = frozenset()
    for each in keys:
        found = cuts_of(each, column)
        if found is None or len(cuts | found) > MOST_CUTS:
            return None
        cuts |= found
    return cuts


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
