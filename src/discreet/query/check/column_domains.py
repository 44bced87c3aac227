"""The values of the columns that group keys read, as far as the query and the catalog tell them."""

from collections.abc import Iterable
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from itertools import chain
from math import prod

from discreet.catalog.schema import Kind, Value, time_from_number
from discreet.errors import UnsupportedError
from discreet.query.check.key_conditions import original_name, replaced
from discreet.query.check.relations import (
    ConstantTable,
    Names,
    PublicReader,
    TableRef,
    is_listed,
    public_of,
    quoted,
)
from discreet.query.expressions.cuts import MOST_CUTS, Cuts, cuts_of, values_around
from discreet.query.expressions.narrowing import with_facts
from discreet.query.expressions.time_functions import covers_all_parts
from discreet.query.tree import Call, ColumnOf, Expression, Facts, columns_in, parts_of

MOST_VALUES = 100_000
"""No longer list of values is made of bounds."""


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
        source = public_source(column, self.names)
        is_constant = source is not None and isinstance(source.relation, ConstantTable)
        listed = column.facts.domain or listed_values(column.facts)
        if listed is not None and not is_constant:
            return listed
        if source is None:
            return None
        return tuple(value for (value,) in public_rows(source, [column.name], self.public))

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
            if public_source(column, self.names) is not None:
                continue
            plain = replace(column, facts=plain_facts(column, self.names))
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


def public_source(key: Expression, names: Names) -> TableRef | None:
    """Return the public table that an expression reads, if it reads nothing else."""
    found = {each.source for each in columns_in(key)}
    sources = [each for each in names.sources if each.name in found]
    return sources[0] if len(sources) == 1 and is_listed(sources[0]) else None


def public_rows(
    source: TableRef, columns: list[str], public: PublicReader
) -> tuple[tuple[Value, ...], ...]:
    """Return the different rows of some columns of a public table, NULL for no partner included."""
    if isinstance(source.relation, ConstantTable):
        rows = _constant_rows(source.relation, columns)
    else:
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


def _constant_rows(table: ConstantTable, columns: list[str]) -> list[tuple[Value, ...]]:
    """Return the different rows of some columns of a list of constants, in its order."""
    places = [next(i for i, out in enumerate(table.columns) if out.name == x) for x in columns]
    return list(dict.fromkeys(tuple(row[place] for place in places) for row in table.rows))


def _is_wide(value: Value) -> bool:
    """Return whether it is an integer of more than 64 bits; reals are floating point here."""
    return isinstance(value, int | Decimal) and not -(2**63) <= value < 2**63


def with_plain_columns(key: Expression, names: Names) -> Expression:
    """Return a key that is NULL only where NULL is declared or comes from an outer join."""
    columns = {(each.source, each.name): plain_facts(each, names) for each in columns_in(key)}
    return with_facts(key, columns)


def plain_facts(column: ColumnOf, names: Names) -> Facts:
    """Return a column's facts, with NULL only if it is declared or comes from an outer join."""
    out = names.out(column)
    has_nulls = out is not None and out.has_nulls
    domain = column.facts.domain
    if domain is not None and not has_nulls:
        domain = tuple(each for each in domain if each is not None)
    return replace(column.facts, nullable=has_nulls, domain=domain)


def of_calendar(key: Expression, public: PublicReader) -> tuple[Value, ...] | None:
    """Return what a key can be that is made of an hour, a day of the week or the like."""
    parts = {
        each
        for each in parts_of(key)
        if isinstance(each, Call) and each.function == "date_part" and any(columns_in(each))
    }
    values = listed_values(next(iter(parts)).facts) if len(parts) == 1 else None
    if values is None or key in parts:
        return values
    part = ColumnOf(source="", name="part", facts=next(iter(parts)).facts)
    made = replaced(key, dict.fromkeys(parts, part))
    is_made_of_it = set(columns_in(made)) == {part}
    return public.evaluate(made, {("", "part"): values}) if is_made_of_it else None


def listed_values(facts: Facts) -> tuple[Value, ...] | None:
    """Return the integers or days between bounds, if there are not too many."""
    ends = whole_ends(facts)
    if ends is None:
        return None
    values = tuple(whole_value(each, facts) for each in range(ends[0], ends[1] + 1))
    return (*values, None) if facts.nullable else values


def whole_ends(facts: Facts) -> tuple[int, int] | None:
    """Return the first and the last integer or day between bounds, if few are between."""
    low, high = facts.interval.low, facts.interval.high
    if facts.kind not in (Kind.INTEGER, Kind.DATE) or low is None or high is None:
        return None
    first, last = -(-low.numerator // low.denominator), high.numerator // high.denominator
    is_wide = facts.kind is Kind.INTEGER and (_is_wide(first) or _is_wide(last))
    return (first, last) if 0 <= last - first < MOST_VALUES and not is_wide else None


def whole_value(number: int, facts: Facts) -> Value:
    """Return an integer, or the day of this number."""
    is_day = facts.kind is Kind.DATE
    return time_from_number(Fraction(number), Kind.DATE) if is_day else number
