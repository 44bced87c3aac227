"""Which declared groups WHERE leaves: those that some values of keys and public tables allow.

Conditions on keys and on public columns alone are evaluated on the declared values and on the rows
of public tables. A group for which none of them satisfies all conditions has no rows, whatever the
data, and is not shown. What is dropped follows from the query, the catalog and public tables.
Conditions that read other columns are not looked at here.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from math import prod
from typing import NamedTuple

from discreet.catalog.schema import Kind, Value
from discreet.query.check.fan_outs import most_alike
from discreet.query.check.key_space import KeySpace, ListedKeys, PublicRows
from discreet.query.check.relations import (
    ConstantTable,
    Names,
    PrivateRows,
    PublicReader,
    TableRef,
    is_listed,
    public_of,
    quoted,
)
from discreet.query.tree import (
    Call,
    Case,
    ColumnOf,
    Expression,
    InReleasedRows,
    JoinKind,
    ReleasedScalar,
    Select,
    UnitSemiJoin,
    Window,
    columns_in,
    map_columns,
    parts_of,
)

MOST_COMBINATIONS = 1_000_000
"""Conditions that join more rows than these are not looked at."""


def conjuncts_of(condition: Expression | None) -> Iterator[Expression]:
    """Yield the conditions that all must be true."""
    if isinstance(condition, Call) and condition.function == "and":
        for each in condition.arguments:
            yield from conjuncts_of(each)
    elif condition is not None:
        yield condition


def conditions_on(rows: Select, names: Names, keys: Iterable[Expression]) -> tuple[Expression, ...]:
    """Return the conditions that hold in every row: of WHERE, of ON, and of queries in FROM."""
    found = list(conjuncts_of(rows.where))
    for join in rows.joins:
        if join.kind is JoinKind.INNER:
            found += conjuncts_of(join.on)
    for source in names.sources:
        if isinstance(source.relation, PrivateRows) and not source.is_optional:
            found += _inner_conditions(source, source.relation)
    found = list(filter(_is_of_row, found))
    publics = {each.name for each in names.sources if is_listed(each)}
    read = {column for each in (*keys, *found) for column in columns_in(each)}
    of_keys = {column for each in keys for column in columns_in(each)}
    known = {each for each in read if each in of_keys or each.source in publics}
    return tuple(dict.fromkeys([*found, *_by_equalities(found, known)]))


def _by_equalities(conditions: list[Expression], known: set[ColumnOf]) -> Iterator[Expression]:
    """Yield conditions with known columns in place of others that they must be equal to."""
    instead: dict[ColumnOf, ColumnOf] = {}
    for each in conditions:
        match each:
            case Call(function="equal", arguments=(ColumnOf() as left, ColumnOf() as right)):
                for mine, other in ((left, right), (right, left)):
                    if mine not in known and other in known:
                        instead.setdefault(mine, other)
    if instead:
        yield from (map_columns(each, lambda c: instead.get(c, c)) for each in conditions)


def _is_of_row(condition: Expression) -> bool:
    """Return whether a condition reads nothing but columns of a row that values can be tried in."""
    return not any(
        isinstance(each, ReleasedScalar | InReleasedRows | UnitSemiJoin | Window)
        or (isinstance(each, ColumnOf) and each.facts.kind in (Kind.OTHER, Kind.INTERVAL))
        for each in parts_of(condition)
    )


def _inner_conditions(source: TableRef, private: PrivateRows) -> Iterator[Expression]:
    """Yield what WHERE of a query in FROM says of the columns that it shows."""
    inner = private.rows
    if not isinstance(inner, Select):
        return
    shown: dict[Expression, ColumnOf] = {}
    for column, out in zip(inner.columns, source.columns, strict=False):
        outer = ColumnOf(source=source.name, name=out.name, facts=out.facts)
        shown.setdefault(column.expression, outer)
    for each in conjuncts_of(inner.where):
        found = replaced(each, shown)
        if set(columns_in(found)) <= set(shown.values()):
            yield found


def replaced(expression: Expression, shown: Mapping[Expression, ColumnOf]) -> Expression:
    """Return an expression in which others have names."""
    if expression in shown:
        return shown[expression]
    match expression:
        case Call(arguments=arguments):
            return replace(expression, arguments=tuple(replaced(each, shown) for each in arguments))
        case Case(branches=branches, otherwise=otherwise):
            pairs = tuple((replaced(a, shown), replaced(b, shown)) for a, b in branches)
            return replace(expression, branches=pairs, otherwise=replaced(otherwise, shown))
        case _:
            return expression


# --------------------------------------------------------------------------- keys


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """The values of one key, or of several that come from the same public table together."""

    places: tuple[int, ...]
    rows: tuple[tuple[Value, ...], ...]


@dataclass(frozen=True, kw_only=True)
class KeyConditions:
    """Declared groups, and the conditions that rows of a group satisfy."""

    keys: tuple[Expression, ...]
    parts: Sequence[Part]
    domains: Mapping[ColumnOf, tuple[Value, ...]]
    """The values that columns of keys can have, NULL among them if they can be NULL."""
    names: Names
    public: PublicReader
    conditions: tuple[Expression, ...]

    def blocks(self) -> list["Block"]:
        """Return which rows of the parts are left; parts that depend on each other together."""
        usable = [each for each in map(self._named, self.conditions) if self._is_known(each)]
        if any(not self._holds(each) for each in usable if not any(columns_in(each))):
            return [Block(parts=(n,), rows=()) for n in range(len(self.parts))]
        return list(self._blocks(range(len(self.parts)), usable, level=0))

    # ----------------------------------------------------------------------- what is known

    @cached_property
    def _publics(self) -> dict[str, TableRef]:
        sources = self.names.sources
        return {each.name: each for each in sources if is_listed(each)}

    @cached_property
    def _lists(self) -> list[ListedKeys]:
        found = []
        for number, part in enumerate(self.parts):
            expressions = tuple(self.keys[place] for place in part.places)
            found.append(
                ListedKeys(
                    name=f"{LIST}{number}",
                    rows=part.rows,
                    expressions=expressions,
                    is_whole=any(self._relations(each) is None for each in expressions),
                )
            )
        return found

    def _relations(self, expression: Expression) -> frozenset[str] | None:
        """Return what an expression is evaluated on; None if that is what only the data know."""
        if not _is_of_row(expression):
            return None
        found = set()
        for each in columns_in(expression):
            if each.source in self._publics or each.source.startswith(LIST):
                found.add(each.source)
            elif each in self.domains:
                found.add(_domain_name(each))
            else:
                return None
        return frozenset(found)

    def _named(self, condition: Expression) -> Expression:
        """Return a condition in which the keys that are known as a whole have names."""
        shown = {
            expression: ColumnOf(source=each.name, name=f"v{n}", facts=expression.facts)
            for each in self._lists
            if each.is_whole
            for n, expression in enumerate(each.expressions)
        }
        return replaced(condition, shown)

    def _is_known(self, condition: Expression) -> bool:
        return self._relations(condition) is not None

    def _holds(self, condition: Expression) -> bool:
        return self.public.evaluate(condition, {}) == (True,)

    # ----------------------------------------------------------------------- blocks

    def _blocks(
        self, numbers: Iterable[int], conditions: list[Expression], *, level: int
    ) -> Iterator["Block"]:
        for each in self._components(numbers, conditions):
            left = None
            if each.conditions and self._size(each) <= MOST_COMBINATIONS:
                left = self._left(each)
            if left is not None:
                yield Block(parts=each.parts, rows=left)
            elif each.conditions:
                fewer = list(self._fewer(each, level))
                yield from self._blocks(each.parts, fewer, level=level + 1)
            else:
                yield from (Block(parts=(number,), rows=None) for number in each.parts)

    def _components(
        self, numbers: Iterable[int], conditions: list[Expression]
    ) -> list["Component"]:
        """Return parts that depend on each other, with the conditions on what they depend on."""
        begun = [Component((n,), self._of_part(n), ()) for n in numbers]
        begun += [Component((), self._relations(x) or frozenset(), (x,)) for x in conditions]
        found: list[Component] = []
        for each in begun:
            near = [other for other in found if other.relations & each.relations]
            found = [other for other in found if not other.relations & each.relations]
            found.append(Component.of([*near, each]))
        return [each for each in found if each.parts]

    def _of_part(self, number: int) -> frozenset[str]:
        """Return what a part depends on, itself included."""
        listed = self._lists[number]
        itself = frozenset({listed.name})
        if listed.is_whole:
            return itself
        return itself.union(*(self._relations(each) or () for each in listed.expressions))

    def _fewer(self, whole: "Component", level: int) -> Iterator[Expression]:
        """Yield conditions that are easier: on keys' tables, then on one each, then none."""
        mine = frozenset[str]().union(*map(self._of_part, whole.parts))
        for each in whole.conditions:
            relations = self._relations(each) or frozenset()
            if (level == 0 and relations <= mine) or (level == 1 and len(relations) == 1):
                yield each

    def _left(self, whole: "Component") -> tuple[tuple[int, ...], ...] | None:
        lists = tuple(self._lists[n] for n in whole.parts)
        found = self.public.possible(
            KeySpace(
                lists=lists,
                domains={
                    each: values
                    for each, values in self.domains.items()
                    if _domain_name(each) in whole.relations
                },
                publics=tuple(
                    _rows_of(self._publics[each], self._read(each, lists, whole.conditions))
                    for each in sorted(whole.relations & self._publics.keys())
                ),
                conditions=whole.conditions,
            )
        )
        return None if found is None else tuple(sorted(found))

    def _read(
        self, source: str, lists: Iterable[ListedKeys], conditions: Iterable[Expression]
    ) -> list[str]:
        keys = [each for listed in lists if not listed.is_whole for each in listed.expressions]
        read = (column for each in (*keys, *conditions) for column in columns_in(each))
        return sorted({each.name for each in read if each.source == source})

    # ----------------------------------------------------------------------- size

    def _size(self, whole: "Component") -> int:
        """Return how many rows the relations have at most, joined by the conditions."""
        relations, conditions = whole.relations, whole.conditions
        sizes = {_domain_name(each): len(values) for each, values in self.domains.items()}
        sizes |= {each.name: len(each.rows) for each in self._lists if each.is_whole}
        sizes |= {name: self._rows_in(name) for name in relations & self._publics.keys()}
        waiting = {each for each in relations if each in sizes}
        total, seen = 1, set[str]()
        while waiting and total <= MOST_COMBINATIONS:
            factors = {each: self._factor(each, seen, sizes, conditions) for each in waiting}
            chosen = min(sorted(waiting), key=lambda each: factors[each])
            total *= max(1, factors[chosen])
            seen.add(chosen)
            waiting.remove(chosen)
        return total

    def _factor(
        self, name: str, seen: set[str], sizes: Mapping[str, int], conditions: Iterable[Expression]
    ) -> int:
        """Return how many rows of a relation one of those seen before can meet."""
        found = [sizes[name]]
        for each in conditions:
            match each:
                case Call(function="equal", arguments=(ColumnOf() as left, ColumnOf() as right)):
                    for mine, other in ((left, right), (right, left)):
                        if self._relation_of(mine) == name and self._relation_of(other) in seen:
                            found.append(self._most_alike(mine))
                case _:
                    continue
        return min(found)

    def _relation_of(self, column: ColumnOf) -> str:
        is_public = column.source in self._publics or column.source.startswith(LIST)
        return column.source if is_public else _domain_name(column)

    def _rows_in(self, source: str) -> int:
        relation = self._publics[source].relation
        if isinstance(relation, ConstantTable):
            return len(relation.rows) + 1
        table = quoted(public_of(self._publics[source]).name)
        ((number,),) = self.public.values(f"SELECT count(*) FROM {table}")  # noqa: S608
        return int(number or 0) + 1  # type: ignore[arg-type]

    def _most_alike(self, column: ColumnOf) -> int:
        if column.source not in self._publics:
            return 1
        source = self._publics[column.source]
        if isinstance(source.relation, ConstantTable):
            return most_alike(source.relation, [column.name])
        table, name = quoted(public_of(source).name), quoted(original_name(source, column.name))
        counted = f"SELECT count(*) AS n FROM {table} GROUP BY {name}"  # noqa: S608
        ((most,),) = self.public.values(f"SELECT max(n) FROM ({counted})")  # noqa: S608
        return int(most or 0)  # type: ignore[arg-type]


LIST = "__list "
"""How lists of keys are called, with their number."""


CONSTANTS = "__constants "
"""How lists of constants are called, with the name that the query gives them."""


class Component(NamedTuple):
    """Parts by their numbers, what they depend on, and the conditions on that."""

    parts: tuple[int, ...]
    relations: frozenset[str]
    conditions: tuple[Expression, ...]

    @staticmethod
    def of(components: Sequence["Component"]) -> "Component":
        """Return all of them as one."""
        return Component(
            tuple(sorted(n for each in components for n in each.parts)),
            frozenset[str]().union(*(each.relations for each in components)),
            tuple(one for each in components for one in each.conditions),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """Parts by their numbers, and which of their rows occur together; None if all do."""

    parts: tuple[int, ...]
    rows: tuple[tuple[int, ...], ...] | None


def _domain_name(column: ColumnOf) -> str:
    return f"{column.source}\0{column.name}"


def original_name(source: TableRef, name: str) -> str:
    """Return a column's name in the public table itself."""
    place = next(i for i, each in enumerate(source.columns) if each.name == name)
    return public_of(source).columns[place].name


def _rows_of(source: TableRef, columns: list[str]) -> PublicRows:
    if isinstance(source.relation, ConstantTable):
        return PublicRows(
            source=source.name,
            table=f"{CONSTANTS}{source.name}",
            columns={each: each for each in columns},
            is_optional=source.is_optional,
            listed=values_by_column(source.relation, columns),
        )
    return PublicRows(
        source=source.name,
        table=public_of(source).name,
        columns={each: original_name(source, each) for each in columns},
        is_optional=source.is_optional,
    )


def values_by_column(
    table: ConstantTable, columns: Sequence[str]
) -> dict[str, tuple[Kind, tuple[Value, ...]]]:
    """Return the values of some columns of a list of constants, row by row."""
    return {
        each.name: (each.facts.kind, tuple(row[place] for row in table.rows))
        for place, each in enumerate(table.columns)
        if each.name in columns
    }


def rows_left(parts: Sequence[Part], blocks: Sequence[Block]) -> list[tuple[Value, ...]]:
    """Return the groups, in the order of the parts' rows."""
    order = [number for each in blocks for number in each.parts]
    chosen = (
        each.rows
        if each.rows is not None
        else [(n,) for n in range(len(parts[each.parts[0]].rows))]
        for each in blocks
    )
    found = []
    for combination in product(*chosen):
        numbers = (number for each in combination for number in each)
        by_part = dict(zip(order, numbers, strict=True))
        found.append(tuple(by_part[n] for n in range(len(parts))))
    places = [place for each in parts for place in each.places]
    return [
        ordered(
            places, [value for part, n in zip(parts, row, strict=True) for value in part.rows[n]]
        )
        for row in sorted(found)
    ]


def number_left(parts: Sequence[Part], blocks: Sequence[Block]) -> int:
    """Return how many groups are left."""
    sizes = (
        len(each.rows) if each.rows is not None else len(parts[each.parts[0]].rows)
        for each in blocks
    )
    return prod(sizes)


def ordered(places: Sequence[int], values: Sequence[Value]) -> tuple[Value, ...]:
    """Return the values in the order of the keys that they are of."""
    by_place = dict(zip(places, values, strict=True))
    return tuple(by_place[place] for place in range(len(places)))
