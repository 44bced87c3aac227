"""What stands in FROM, and what names mean there; renamed rows."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Protocol

from sqlglot import exp

from discreet.catalog.schema import Column, Kind, PublicTable, Value
from discreet.errors import QuestionError, UnknownNameError
from discreet.query.check.key_space import KeySpace
from discreet.query.expressions.facts import facts_from_column
from discreet.query.expressions.rejections import unknown_column, unknown_table
from discreet.query.parse import span_of
from discreet.query.questions import (
    Aggregation,
    ColumnOrigin,
    LeftOut,
    LimitReason,
    OriginKind,
)
from discreet.query.tree import (
    ColumnOf,
    Expression,
    Facts,
    NamedExpression,
    Relation,
    Select,
)

RELEASED = "released_"
"""What released tables are called, with their number."""


class PublicReader(Protocol):
    """Public tables can be read while a query is checked; nothing else can."""

    def values(self, sql: str) -> list[tuple[Value, ...]]:
        """Return the rows of SQL over public tables, made by our own code."""
        ...

    def evaluate(
        self, expression: Expression, domains: Mapping[tuple[str, str], tuple[Value, ...]]
    ) -> tuple[Value, ...]:
        """Return the different values of an expression over all combinations of its columns'."""
        ...

    def together(
        self,
        expressions: tuple[Expression, ...],
        domains: Mapping[tuple[str, str], tuple[Value, ...]],
    ) -> list[tuple[Value, ...]]:
        """Return the different rows of several expressions, likewise."""
        ...

    def possible(self, space: KeySpace) -> list[tuple[int, ...]] | None:
        """Return which rows of its lists occur together; None if that could not be computed."""
        ...

    def kinds(self, sql: str, releases: Sequence[Aggregation]) -> tuple[Kind, ...]:
        """Return what the columns of SQL over public and released tables are; runs nothing."""
        ...

    def rows(self, sql: str, kinds: Sequence[Kind], most: int) -> list[tuple[Value, ...]]:
        """Return the first rows of SQL over public tables, columns as values of these kinds."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputColumn:
    """A column that private rows show to the query around them."""

    name: str
    facts: Facts
    is_unit: bool = False
    has_nulls: bool = False
    """Whether NULL is known to occur: declared, or from an outer join."""
    origin: tuple[str, str] | None = None
    """The table and column it is taken from unchanged, in lower case."""
    leads_to: frozenset[tuple[str, str]] = frozenset()
    """The keys, by table and column, whose row it names: its own, or that on the path to a unit."""
    is_row_number: bool = False
    """Whether it numbers the rows of a unit, no two of them alike."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PrivateRows:
    """Private rows, with what is known about them."""

    rows: Relation
    columns: tuple[OutputColumn, ...]
    unit_kind: Kind | None
    """None if the row itself is the unit."""
    contribution_limit: int
    """No more rows of a unit are counted."""
    reason: LimitReason
    """Where the limit comes from."""
    one_row_per_unit: bool = False
    """Whether a unit has at most one row, whatever the data."""
    left_out: tuple[LeftOut, ...] = ()
    """Which rows are not used."""
    is_per_unit: bool = False
    """Whether these are groups by unit, for what a error says."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PostQuery:
    """SQL over released and public tables: anyone may see what it gives."""

    tree: exp.Query
    columns: tuple[str, ...]
    spreads: Mapping[str, str] = field(default_factory=dict)
    """For columns that have one: the column of half widths beside it."""
    rough: frozenset[str] = frozenset()
    """Columns whose half width holds only to first order in the noise."""
    noisy: frozenset[str] = frozenset()
    """Columns that are computed from noisy numbers."""
    ends: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    """For selected values with an interval, unchanged: the columns of its ends beside it."""
    origins: Mapping[str, ColumnOrigin] = field(default_factory=dict)
    """For columns taken from a release unchanged: which column of which release."""
    reads: Mapping[str, frozenset[ColumnOrigin]] = field(default_factory=dict)
    """For columns computed row by row with a half width: the released numbers they come from."""
    is_public: bool = True
    """Whether no release is behind it."""
    is_chosen: bool = False
    """Whether noisy numbers decide which of its rows or values are there."""
    is_single: bool = False
    """Whether it has one row at most, whatever was released."""
    groups_of: int | None = None
    """The release whose groups its rows are, each at most once, if they are."""
    row_key: frozenset[str] | None = None
    """Columns in which no two of its rows agree, if any are known besides keys of a release."""
    entry: exp.CTE | None = None
    """Where WITH gives it a name, if it does."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConstantTable:
    """Rows that the query states or public tables give, read while the query is checked."""

    columns: tuple[OutputColumn, ...]
    rows: tuple[tuple[Value, ...], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleasedTable:
    """Rows of SQL over released tables, known when these are: before the next release is made."""

    number: int
    columns: tuple[OutputColumn, ...]
    key: tuple[str, ...] | None
    """Columns in which no two rows agree; None if that is not known, () if there is one row."""
    groups: tuple[tuple[Value, ...], ...] | None = None
    """Where each row is of another declared group: all groups."""
    places: Mapping[str, int] = field(default_factory=dict)
    """Which columns are keys of these groups, and at which place."""


CommonTables = dict[str, PrivateRows | PostQuery]
"""Queries that WITH gives a name, by that name in lower case."""


@dataclass(frozen=True, kw_only=True)
class TableRef:
    """A relation in FROM, by the name that the query gives it."""

    name: str
    relation: PrivateRows | PublicTable | PostQuery | ConstantTable | ReleasedTable
    renamed: tuple[str, ...] = ()
    """Names of its columns, if the query gives any."""
    is_optional: bool = False
    """Whether it may have no partner: the right side of a LEFT JOIN."""

    @cached_property
    def columns(self) -> tuple[OutputColumn, ...]:
        match self.relation:
            case PrivateRows(columns=outs) | ConstantTable(columns=outs):
                found = outs
            case ReleasedTable(columns=outs):
                found = outs
            case PublicTable(columns=columns):
                found = tuple(map(output_from_column, columns))
            case PostQuery(columns=names):
                found = tuple(
                    OutputColumn(name=each, facts=Facts(kind=Kind.OTHER)) for each in names
                )
        if self.is_optional:
            found = tuple(map(_optional, found))
        if not self.renamed:
            return found
        names = (*self.renamed, *(each.name for each in found[len(self.renamed) :]))
        return tuple(replace(each, name=name) for each, name in zip(found, names, strict=True))


def quoted(name: str) -> str:
    """Return a name as SQL can hold it, whatever it is."""
    return '"' + name.replace('"', '""') + '"'


def private_of(source: TableRef) -> PrivateRows:
    """Return a source's private rows; only for sources that are known to have them."""
    if not isinstance(source.relation, PrivateRows):
        raise TypeError(source.name)
    return source.relation


def public_of(source: TableRef) -> PublicTable:
    """Return a source's public table; only for sources that are known to be one."""
    if not isinstance(source.relation, PublicTable):
        raise TypeError(source.name)
    return source.relation


def is_listed(source: TableRef) -> bool:
    """Return whether the rows of a source can be read while the query is checked."""
    return isinstance(source.relation, PublicTable | ConstantTable)


def _is_list(source: TableRef) -> bool:
    return is_listed(source) and not source.is_optional


def _optional(out: OutputColumn) -> OutputColumn:
    domain = out.facts.domain
    with_null = domain if domain is None or None in domain else (*domain, None)
    facts = replace(out.facts, nullable=True, domain=with_null)
    return replace(out, facts=facts, has_nulls=True, is_unit=False)


def output_from_column(
    column: Column,
    *,
    is_unit: bool = False,
    table: str | None = None,
    leads_to: frozenset[tuple[str, str]] = frozenset(),
) -> OutputColumn:
    """Return a column of a table as the query sees it."""
    return OutputColumn(
        name=column.name,
        facts=facts_from_column(column),
        is_unit=is_unit,
        has_nulls=column.nulls is True,
        origin=None if table is None else (table.casefold(), column.name.casefold()),
        leads_to=leads_to,
    )


def origins_of(
    release: int, keys: Sequence[str], aggregates: Sequence[str]
) -> dict[str, ColumnOrigin]:
    """Return which column of a release each of these names is, keys first."""
    return {
        name: ColumnOrigin(release=release, kind=kind, index=i)
        for kind, names in ((OriginKind.KEY, keys), (OriginKind.AGGREGATE, aggregates))
        for i, name in enumerate(names)
    }


class Names:
    """The columns that can be read at one place of a query."""

    def __init__(
        self,
        sources: tuple[TableRef, ...],
        *,
        parent: "Names | None" = None,
        shared: frozenset[str] = frozenset(),
    ) -> None:
        self.sources = sources
        self.parent = parent
        self.shared = shared
        """Columns of USING: the first source's stands for all."""

    def find(self, node: exp.Column) -> tuple[TableRef, OutputColumn]:
        """Return what a column's name means here, or reject it with the nearest name."""
        found = self._candidates(node)
        if not found and self.parent is not None:
            return self.parent.find(node)
        if not found:
            raise self._unknown(node)
        if len(found) > 1 and node.name.casefold() not in self.shared:
            one, other = (source.name for source, _ in found[:2])
            raise UnknownNameError(
                f"Column {node.name} is ambiguous: both {one} and {other} have it",
                f"Write {one}.{node.name} or {other}.{node.name}",
                span=span_of(node),
            )
        # Where both columns of USING are equal, a public one tells more.
        return next((each for each in found if _is_list(each[0])), found[0])

    def has(self, node: exp.Column) -> bool:
        """Return whether the name means a column here."""
        return bool(self._candidates(node)) or (self.parent is not None and self.parent.has(node))

    def column(self, node: exp.Column) -> Expression:
        """Return the column as an expression."""
        source, out = self.find(node)
        return ColumnOf(source=source.name, name=out.name, facts=out.facts)

    def out(self, column: ColumnOf) -> OutputColumn | None:
        """Return what is known of a column that was found here."""
        names = {each.name: each for each in self.sources}
        if column.source not in names:
            return None if self.parent is None else self.parent.out(column)
        return next(each for each in names[column.source].columns if each.name == column.name)

    def is_unit(self, expression: Expression) -> bool:
        """Return whether an expression is a column that says whose row it is."""
        if not isinstance(expression, ColumnOf):
            return False
        out = self.out(expression)
        return out is not None and out.is_unit

    def is_of_one_unit(self, expression: Expression) -> bool:
        """Return whether equal values are of one unit: its own column, or the key of a path.

        NULL is a value of its own that many units may have.
        """
        out = self.out(expression) if isinstance(expression, ColumnOf) else None
        if out is None:
            return False
        return out.is_unit or (bool(out.leads_to) and not out.has_nulls)

    def all(self, table: str | None = None) -> Iterator[tuple[TableRef, OutputColumn]]:
        """Yield the columns that a star stands for."""
        seen: set[str] = set()
        for source in self.sources:
            if table is not None and source.name.casefold() != table.casefold():
                continue
            if source.name.startswith(TIED):
                continue
            for out in source.columns:
                folded = out.name.casefold()
                if folded in self.shared and folded in seen:
                    continue
                seen.add(folded)
                yield source, out

    def _candidates(self, node: exp.Column) -> list[tuple[TableRef, OutputColumn]]:
        table, name = node.table.casefold(), node.name.casefold()
        return [
            (source, out)
            for source in self.sources
            if source.name.casefold() == table or not (table or source.name.startswith(TIED))
            for out in source.columns
            if out.name.casefold() == name
        ]

    def _unknown(self, node: exp.Column) -> QuestionError:
        tables = {each.name.casefold(): each for each in self.sources}
        table = node.table.casefold()
        if table and table not in tables:
            known = [each.name for each in self.sources]
            return unknown_table(f"FROM has no table {node.table}", node.table, known, node)
        known = [out.name for source in self.sources for out in source.columns]
        if table:
            known = [out.name for out in tables[table].columns]
            what = f"{tables[table].name} has no column {node.name}"
        elif len(self.sources) == 1:
            what = f"{self.sources[0].name} has no column {node.name}"
        else:
            where = " or ".join(each.name for each in self.sources) or "a query without FROM"
            what = f"There is no column {node.name} in {where}"
        return unknown_column(what, node.name, known, node)


TIED = "__tied_"
"""What queries are called that stand for subqueries of an outer row, with their number."""


NAMED = "__named"
"""What rows are called while their columns get other names."""


def renamed_rows(private: PrivateRows, names: tuple[str, ...]) -> PrivateRows:
    """Return private rows whose first columns have these names."""
    if not names:
        return private
    given = (*names, *(each.name for each in private.columns[len(names) :]))
    columns = tuple(
        NamedExpression(
            name=name, expression=ColumnOf(source=NAMED, name=out.name, facts=out.facts)
        )
        for name, out in zip(given, private.columns, strict=True)
    )
    return replace(
        private,
        rows=Select(source=private.rows, name=NAMED, columns=columns),
        columns=tuple(
            replace(out, name=name) for name, out in zip(given, private.columns, strict=True)
        ),
    )
