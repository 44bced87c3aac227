"""Query results beside private rows: constant tables, and released ones.

VALUES and queries over public tables are run while the query is checked, and their rows become
part of it. Queries over released tables give rows that are known when the next release is made.
What is planned does not depend on these: how many of them one row can meet follows from the query
and from declared groups alone. Proof: docs/proofs/sql_forms.md.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Protocol

from sqlglot import exp

from discreet.catalog.schema import Kind, Value
from discreet.errors import QuestionSizeError, UnsupportedError
from discreet.query.check.post_select import check_functions, whole, without_margins
from discreet.query.check.relations import (
    RELEASED,
    CommonTables,
    ConstantTable,
    OutputColumn,
    PostQuery,
    PublicReader,
    ReleasedTable,
    TableRef,
)
from discreet.query.expressions.coercion import coerce
from discreet.query.expressions.facts import number_of, step_of
from discreet.query.parse import DIALECT, span_of
from discreet.query.questions import (
    Aggregation,
    ColumnOrigin,
    DeclaredGroups,
    OriginKind,
    TableQuery,
)
from discreet.query.tree import (
    ANYWHERE,
    MOST_CONSTANT_LETTERS,
    MOST_CONSTANT_ROWS,
    Call,
    ColumnOf,
    ConstantColumn,
    Expression,
    Facts,
    InReleasedRows,
    Interval,
    ReleasedRows,
)

WIDEST = 2**63
"""Integers are of 64 bits."""

Row = tuple[Value, ...]


class TableWalk(Protocol):
    """The walk through the query, for what is joined with private rows."""

    public: PublicReader
    releases: list[Aggregation]
    tables: list[TableQuery]


def beside_private_rows(source: TableRef, named: CommonTables, walk: TableWalk) -> TableRef:
    """Return a source as it can be joined with private rows."""
    result = source.relation
    if not isinstance(result, PostQuery):
        return source
    names = (*source.renamed, *result.columns[len(source.renamed) :])
    if result.is_public:
        table: ConstantTable | ReleasedTable = _constants(source.name, names, result, named, walk)
    else:
        table = _released(source.name, names, result, named, walk)
    return replace(source, relation=table, renamed=())


def releases_in(tree: exp.Expr) -> tuple[int, ...]:
    """Return the numbers of the released tables that SQL reads."""
    tables = (each.name for each in tree.find_all(exp.Table))
    return tuple(
        sorted({int(each[len(RELEASED) :]) for each in tables if each.startswith(RELEASED)})
    )


def sql_of(result: PostQuery, named: CommonTables) -> exp.Query:
    """Return a query that gives its columns alone, and can be run by itself."""
    if result.entry is not None:  # by the names that WITH gives to its columns
        columns = [exp.column(exp.to_identifier(each, quoted=True)) for each in result.columns]
        table = exp.to_identifier(result.entry.alias, quoted=True)
        tree: exp.Query = exp.Select(
            expressions=columns, from_=exp.From(this=exp.Table(this=table))
        )
    else:
        tree = without_margins(replace(result, tree=result.tree.copy()))
    found = whole(tree, named)
    check_functions(found)
    return found


# --------------------------------------------------------------------------- constants


def _constants(
    name: str, names: Sequence[str], result: PostQuery, named: CommonTables, walk: TableWalk
) -> ConstantTable:
    sql = sql_of(result, named).sql(dialect=DIALECT, identify=True)
    kinds = _kinds(name, sql, (), walk.public)
    rows = constant_rows(name, sql, kinds, walk.public)
    columns = tuple(
        OutputColumn(
            name=each, facts=(facts := _known_facts(kind, values)), has_nulls=facts.nullable
        )
        for each, kind, values in zip(names, kinds, _turned(rows, len(names)), strict=True)
    )
    return ConstantTable(columns=columns, rows=rows)


def _kinds(
    name: str, sql: str, releases: Sequence[Aggregation], public: PublicReader
) -> tuple[Kind, ...]:
    """Return what the columns of a query are, or reject one that no database can run."""
    try:
        return public.kinds(sql, releases)
    except UnsupportedError:
        raise UnsupportedError(
            f"{name} is not a valid query", "Check the columns, types and functions in it"
        ) from None


def constant_rows(
    name: str, sql: str, kinds: Sequence[Kind], public: PublicReader
) -> tuple[Row, ...]:
    """Return the rows of SQL over public tables, or reject more than a query may hold."""
    try:
        found = public.rows(sql, kinds, MOST_CONSTANT_ROWS + 1)
    except UnsupportedError:  # in words about noisy results
        raise UnsupportedError(
            f"{name} could not be computed from public tables",
            "Check its values, or let it read fewer rows",
        ) from None
    texts = sum(len(each) for row in found for each in row if isinstance(each, str))
    if len(found) > MOST_CONSTANT_ROWS or texts > MOST_CONSTANT_LETTERS:
        what = (
            f"{MOST_CONSTANT_ROWS:,} rows"
            if len(found) > MOST_CONSTANT_ROWS
            else f"{MOST_CONSTANT_LETTERS:,} letters"
        )
        raise QuestionSizeError(
            f"{name} has more than {what}, and is joined to private rows",
            "Ask the data owner to make it a public table",
        )
    if any(isinstance(each, int) and not -WIDEST <= each < WIDEST for row in found for each in row):
        raise UnsupportedError(
            f"{name} contains integers of more than 64 bits",
            "Write them as DOUBLE or as text",
        )
    return tuple(found)


def _turned(rows: Sequence[Row], width: int) -> list[tuple[Value, ...]]:
    return list(zip(*rows, strict=True)) if rows else [()] * width


def _known_facts(kind: Kind, values: Iterable[Value]) -> Facts:
    """Return what is known of a column all of whose values are."""
    listed = list(values)
    present = [each for each in listed if each is not None]
    numbers = [found for each in present if (found := number_of(each)) is not None]
    return Facts(
        kind=kind,
        interval=Interval(low=min(numbers), high=max(numbers)) if numbers else ANYWHERE,
        step=step_of(kind),
        nullable=len(present) < len(listed),
    )


# --------------------------------------------------------------------------- released tables


def _released(
    name: str, names: Sequence[str], result: PostQuery, named: CommonTables, walk: TableWalk
) -> ReleasedTable:
    change = dict(zip(result.columns, names, strict=True))
    query = register_table(name, result, named, walk)
    known = (
        _released_facts(kind, result.origins.get(each), walk.releases)
        for each, kind in zip(result.columns, query.kinds, strict=True)
    )
    keys, groups = _keys_of(result), _groups_of(result, walk.releases)
    if groups is not None and len(groups) > MOST_CONSTANT_ROWS:
        raise QuestionSizeError(
            f"{name} has {len(groups):,} groups, and at most {MOST_CONSTANT_ROWS:,} can be joined "
            "to private rows",
            "Group by fewer columns, or by coarser values",
        )
    key = _key_of(result, keys, walk.releases)
    return ReleasedTable(
        number=query.number,
        columns=tuple(
            OutputColumn(name=change[each], facts=facts, has_nulls=_has_nulls(facts))
            for each, facts in zip(result.columns, known, strict=True)
        ),
        key=None if key is None else tuple(sorted(change[each] for each in key)),
        groups=groups,
        places={change[each]: place for each, place in keys.items()},
    )


def _groups_of(result: PostQuery, releases: Sequence[Aggregation]) -> tuple[Row, ...] | None:
    """Return all declared groups of which each row is another one, if that is so."""
    groups = None if result.groups_of is None else releases[result.groups_of].groups
    return groups.rows if isinstance(groups, DeclaredGroups) and not result.is_single else None


def _key_of(
    result: PostQuery, keys: Mapping[str, int], releases: Sequence[Aggregation]
) -> Iterable[str] | None:
    """Return columns in which no two rows agree, if any are known; none of them for one row."""
    if result.is_single:
        return ()
    number = result.groups_of
    if number is not None and len(set(keys.values())) == len(releases[number].keys):
        return keys
    return result.row_key


def register_table(
    name: str, result: PostQuery, named: CommonTables, walk: TableWalk
) -> TableQuery:
    """Return the query under whose number a later release finds the rows of a result."""
    tree = sql_of(result, named)
    sql = tree.sql(dialect=DIALECT, identify=True)
    for each in walk.tables:
        if each.sql == sql:
            return each
    made = TableQuery(
        number=len(walk.tables),
        sql=sql,
        needs=releases_in(tree),
        kinds=_kinds(name, sql, walk.releases, walk.public),
        name=name,
    )
    walk.tables.append(made)
    return made


def _keys_of(result: PostQuery) -> dict[str, int]:
    """Return the columns that are keys of the release whose groups the rows are."""
    return {
        name: origin.index
        for name, origin in result.origins.items()
        if origin.kind is OriginKind.KEY and origin.release == result.groups_of
    }


def _released_facts(
    kind: Kind, origin: ColumnOrigin | None, releases: Sequence[Aggregation]
) -> Facts:
    """Return what is known of a column before it is released: keys are as they were declared."""
    plain = Facts(kind=kind, domain=(False, True, None) if kind is Kind.BOOLEAN else None)
    if origin is None or origin.kind is not OriginKind.KEY:
        return plain
    release = releases[origin.release]
    facts = release.keys[origin.index].expression.facts
    if facts.kind is not kind:
        return plain
    if not isinstance(release.groups, DeclaredGroups):
        return replace(facts, domain=plain.domain, nullable=True)
    domain = tuple(dict.fromkeys(row[origin.index] for row in release.groups.rows))
    return replace(facts, domain=domain, nullable=None in domain)


def _has_nulls(facts: Facts) -> bool:
    return facts.domain is not None and None in facts.domain


# --------------------------------------------------------------------------- lists


def check_width(result: PostQuery, node: exp.Expr) -> None:
    """Reject a query in IN, or as a value, that has several columns."""
    if len(result.columns) != 1:
        raise UnsupportedError(
            "A subquery in IN must have one column", "Select one column", span=span_of(node)
        )


def in_released(
    argument: Expression, result: PostQuery, node: exp.In, named: CommonTables, walk: TableWalk
) -> Expression:
    """Return whether a value is among those that a query over releases gives."""
    check_width(result, node)
    query = register_table("the subquery in IN", result, named, walk)
    listed = ConstantColumn(name="value", kind=query.kinds[0])
    inner = ColumnOf(source="", name=listed.name, facts=Facts(kind=listed.kind))
    test = coerce("in", (argument, inner), node)
    compared, other = test.arguments if isinstance(test, Call) else (argument, inner)
    if other is not inner and not (listed.kind.is_number and compared.facts.kind.is_number):
        raise UnsupportedError(
            f"IN compares values of types {argument.facts.kind.value} and {listed.kind.value}",
            "Cast one of them with CAST(... AS ...)",
            span=span_of(node),
        )
    rows = ReleasedRows(number=query.number, columns=(listed,))
    facts = Facts(kind=Kind.BOOLEAN, domain=(False, True, None))
    return InReleasedRows(argument=compared, rows=rows, facts=facts)
