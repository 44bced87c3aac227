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
)
from discreet.query.tree import (
    ColumnOf,
    Expression,
    Facts,
    Interval,
    Relation,
)

RELEASED = "released_"
"""What released tables are called, with their number."""

TIED = "__tied_"
"""What queries are called that stand for subqueries of an outer row, with their number."""


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
    table: str | None = None
    """Of a join in brackets: the table there by which it is found; empty for a column of both."""
    called: str | None = None
    """Of a join in brackets: its name in that table."""
    is_unit_or_null: bool = False
    """Whether it holds the unit wherever it is not NULL, as after an outer join in brackets."""

    @property
    def written(self) -> str:
        """How a query writes its name."""
        return self.name if self.called is None else self.called

    @property
    def is_merged(self) -> bool:
        """Whether it stands for the columns of both sides of FULL JOIN."""
        return self.table == ""


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
            found = tuple(map(optional, found))
        if not self.renamed:
            return found
        names = (*self.renamed, *(each.name for each in found[len(self.renamed) :]))
        return tuple(replace(each, name=name) for each, name in zip(found, names, strict=True))


def table_of(source: TableRef, out: OutputColumn) -> str:
    """Return the name of the table by which a query finds a column."""
    return source.name if out.table is None else out.table


def column_node(source: TableRef, out: OutputColumn, *, is_bare: bool = False) -> exp.Column:
    """Return how a query writes a column, without its table if it is bare."""
    table = "" if is_bare else table_of(source, out)
    return exp.column(
        exp.to_identifier(out.written, quoted=True),
        table=exp.to_identifier(table, quoted=True) if table else None,
    )


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


def _preference(found: tuple[TableRef, OutputColumn]) -> tuple[bool, bool, bool]:
    """Return what stands first of equal columns of USING: where both are there, a public one."""
    source, out = found
    is_list = is_listed(source) and not source.is_optional
    return not out.is_merged, not is_list, source.is_optional


def optional(out: OutputColumn) -> OutputColumn:
    """Return a column as it is on the optional side of a join."""
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


class Names:
    """The columns that can be read at one place of a query."""

    def __init__(
        self,
        sources: tuple[TableRef, ...],
        *,
        parent: "Names | None" = None,
        shared: frozenset[str] = frozenset(),
        is_open: bool = False,
    ) -> None:
        self.sources = sources
        self.parent = parent
        self.shared = shared
        """Columns of USING and NATURAL, which stand for those of both sides."""
        self.is_open = is_open
        """Whether another database finds what they stand for."""

    def find(self, node: exp.Column) -> tuple[TableRef, OutputColumn]:
        """Return what a column's name means here, or reject it with the nearest name."""
        found = self._candidates(node)
        if not found and self.parent is not None:
            return self.parent.find(node)
        if not found:
            raise self._unknown(node)
        if len(found) > 1 and node.name.casefold() not in self.shared:
            one, other = (table_of(*each) for each in found[:2])
            raise UnknownNameError(
                f"Column {node.name} is ambiguous: both {one} and {other} have it",
                f"Write {one}.{node.name} or {other}.{node.name}",
                span=span_of(node),
            )
        return min(found, key=_preference)

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
        """Return whether equal values, also NULL, are of one unit: its own or a path's key."""
        out = self.out(expression) if isinstance(expression, ColumnOf) else None
        if out is None:
            return False
        return out.is_unit or (bool(out.leads_to) and not out.has_nulls)

    def is_unit_or_null(self, expression: Expression) -> bool:
        """Return whether an expression is a column that says so wherever it is not NULL."""
        out = self.out(expression) if isinstance(expression, ColumnOf) else None
        return out is not None and (out.is_unit or out.is_unit_or_null)

    def all(self, table: str | None = None) -> Iterator[tuple[TableRef, OutputColumn]]:
        """Yield the columns that a star stands for."""
        seen: set[str] = set()
        for source in self.sources:
            if source.name.startswith(TIED):
                continue
            for out in source.columns:
                if table is not None and table_of(source, out).casefold() != table.casefold():
                    continue
                folded = out.written.casefold()
                if folded in self.shared and folded in seen:
                    continue
                seen.add(folded)
                yield source, out

    def is_coalesced(self, source: TableRef, out: OutputColumn) -> bool:
        """Return whether a shared column is that of this source only where it has a row."""
        is_shared = out.written.casefold() in self.shared
        return is_shared and (self.is_open or source.is_optional)

    def _candidates(self, node: exp.Column) -> list[tuple[TableRef, OutputColumn]]:
        table, name = node.table.casefold(), node.name.casefold()
        return [
            (source, out)
            for source in self.sources
            if table or not source.name.startswith(TIED)
            for out in source.columns
            if out.written.casefold() == name
            and (not table or table_of(source, out).casefold() == table)
        ]

    def _unknown(self, node: exp.Column) -> QuestionError:
        columns = [(table_of(*each), each[1].written) for each in self._columns()]
        tables = {each.casefold(): each for each in self.tables}
        table = node.table.casefold()
        if table and table not in tables:
            known = list(tables.values())
            return unknown_table(f"FROM has no table {node.table}", node.table, known, node)
        known = [name for place, name in columns if not table or place.casefold() == table]
        if table:
            what = f"{tables[table]} has no column {node.name}"
        elif len(tables) == 1:
            what = f"{self.tables[0]} has no column {node.name}"
        else:
            where = " or ".join(self.tables) or "a query without FROM"
            what = f"There is no column {node.name} in {where}"
        return unknown_column(what, node.name, known, node)

    @property
    def tables(self) -> list[str]:
        """What tables are called here, those of joins in brackets among them."""
        found = [
            name
            for source in self.sources
            for name in (
                dict.fromkeys(table_of(source, out) for out in source.columns) or (source.name,)
            )
        ]
        return [each for each in found if each]

    def _columns(self) -> Iterator[tuple[TableRef, OutputColumn]]:
        return ((source, out) for source in self.sources for out in source.columns)


def united_column(here: OutputColumn, there: OutputColumn) -> OutputColumn:
    """Return a column that has values of both."""
    a, b = here.facts, there.facts
    low = (
        None
        if a.interval.low is None or b.interval.low is None
        else min(a.interval.low, b.interval.low)
    )
    high = (
        None
        if a.interval.high is None or b.interval.high is None
        else max(a.interval.high, b.interval.high)
    )
    domain = (
        None
        if a.domain is None or b.domain is None
        else tuple(dict.fromkeys((*a.domain, *b.domain)))
    )
    facts = Facts(
        kind=a.kind if a.kind is b.kind else Kind.REAL,
        interval=Interval(low=low, high=high),
        step=a.step if a.step == b.step else None,
        domain=domain,
        nullable=a.nullable or b.nullable,
    )
    return OutputColumn(
        name=here.name,
        facts=facts,
        is_unit=here.is_unit and there.is_unit,
        has_nulls=here.has_nulls or there.has_nulls,
    )
