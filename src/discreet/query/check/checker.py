"""Walks through a parsed query and separates private rows from post-processing.

Every SELECT is one of three things. Over private rows without an aggregate, or grouped by the unit,
it is private rows again. Over private rows with an aggregate it is a release: a noisy table takes
its place. Over released and public tables only it is left as it is, to be run after the noise.
"""

from contextlib import suppress
from dataclasses import dataclass, field, replace

from sqlglot import exp

from discreet.catalog.catalog import Catalog
from discreet.catalog.schema import PrivateTable, PublicTable
from discreet.errors import QuestionError, UnsupportedError
from discreet.query.check.bracketed_rows import bracketed_rows
from discreet.query.check.constant_tables import beside_private_rows, releases_in
from discreet.query.check.correlated import tie_queries
from discreet.query.check.declared_lists import as_list
from discreet.query.check.from_clause import selection_from
from discreet.query.check.from_items import (
    Bracket,
    Item,
    all_joins,
    is_private,
    item_from,
    leaves,
    open_sources,
    settle_natural,
    with_leaves,
)
from discreet.query.check.given_names import (
    alias_columns,
    fitting_names,
    renamed_rows,
    settle_names,
)
from discreet.query.check.group_counts import group_count_from
from discreet.query.check.lateral import join_laterals
from discreet.query.check.named_tables import QueryTables
from discreet.query.check.post_select import (
    all_rows,
    check_clauses,
    check_functions,
    expand_stars,
    finish_post_query,
    inner_queries,
    is_first_only,
    renamed,
    shown_of,
    whole,
    without_margins,
)
from discreet.query.check.private_select import PrivateSelect
from discreet.query.check.private_sets import PrivateSets, mark_repeats
from discreet.query.check.relations import (
    RELEASED,
    CommonTables,
    Names,
    PostQuery,
    PrivateRows,
    PublicReader,
    TableRef,
)
from discreet.query.check.scans import scan
from discreet.query.check.selections import Selection, lookup_joining
from discreet.query.check.set_operations import open_set_operation
from discreet.query.check.shown_groups import over_shown_groups
from discreet.query.check.sizes import CheckedQueries, within_size
from discreet.query.check.split_rows import unnest_split_texts
from discreet.query.check.table_names import check_schema
from discreet.query.expressions.rejections import (
    available,
    below,
    row_level,
    unhandled,
    unknown_table,
)
from discreet.query.parse import DIALECT, span_of
from discreet.query.questions import Aggregation, Question, ScalarQuery, TableQuery


def check(tree: exp.Query, catalog: Catalog, public: PublicReader) -> Question:
    """Return the checked question; its tree is used up."""
    return Checker(catalog=catalog, public=public).question(tree)


@dataclass(kw_only=True)
class Checker:
    """One walk through one query; collects what must be released on the way."""

    catalog: Catalog
    public: PublicReader
    releases: list[Aggregation] = field(default_factory=list)
    scalars: list[ScalarQuery] = field(default_factory=list)
    tables: list[TableQuery] = field(default_factory=list)
    outermost: exp.Expr | None = None
    """The SELECT whose result is the answer."""
    last: set[int] = field(default_factory=set)
    """The parts of UNION ALL that are the answer, by `id`."""
    unnamed: int = 0
    """How many queries in FROM have been given a name."""
    checked: CheckedQueries = field(default_factory=CheckedQueries)

    def question(self, tree: exp.Query) -> Question:
        """Return the query with all its releases, or reject rows of units as its result."""
        settle_names(tree)
        self.outermost = tree
        self.last = {id(tree)}
        result = self.query(tree, {})
        if isinstance(result, PrivateRows):
            raise row_level(tree, is_per_unit=result.is_per_unit)
        check_functions(result.tree)
        spreads = tuple(result.spreads.get(each) for each in result.columns)
        rows = all_rows(result.tree)
        question = Question(
            aggregations=tuple(self.releases),
            scalars=tuple(self.scalars),
            tables=tuple(self.tables),
            post_sql=result.tree.sql(dialect=DIALECT, identify=True),
            columns=result.columns,
            spreads=spreads,
            is_exact=tuple(each not in result.rough for each in result.columns),
            is_noisy=tuple(each in result.noisy for each in result.columns),
            is_chosen=result.is_chosen,
            all_rows_sql=None if rows is None else rows.sql(dialect=DIALECT, identify=True),
            sources=tuple(result.origins.get(each) for each in result.columns),
            reads=tuple(result.reads.get(each, frozenset()) for each in result.columns),
            ends=tuple(result.ends.get(each) for each in result.columns),
            shown=shown_of(result.tree, f"{RELEASED}0"),
            over_shown=over_shown_groups(
                result.tree, (*self.scalars, *self.tables), self.releases, RELEASED
            ),
        )
        return as_list(question, result.tree)

    # ----------------------------------------------------------------------- queries

    def query(self, node: exp.Expr, named: CommonTables) -> PrivateRows | PostQuery:
        """Return what a query is."""
        self.checked.count(node)
        match node:
            case exp.Select():
                counted = self.number_of_groups(node, named)
                return counted or self.select(node, self.named_in(node, named))
            case exp.SetOperation():
                return self.set_operation(node, self.named_in(node, named))
            case exp.Subquery():
                return self.bracketed(node, self.named_in(node, named))
            case exp.Values():
                return self.values(node)
            case _:
                raise UnsupportedError(
                    "This is not supported here", "Write a SELECT", span=span_of(node)
                )

    def named_in(self, node: exp.Expr, named: CommonTables) -> CommonTables:
        """Return the names that hold inside a query; private ones leave its WITH."""
        clause = node.args.get("with_")
        if clause is None:
            return named
        if clause.args.get("recursive"):
            fix = "Remove RECURSIVE. A query in WITH cannot refer to itself"
            raise unhandled("WITH RECURSIVE", clause, fix)
        known = dict(named)
        kept = []
        for each in clause.expressions:
            result = self.query(each.this, known)
            names = tuple(column.name for column in each.args["alias"].columns)
            fitting = fitting_names(names, result, each)
            known.pop(name := self.free_name(each), None)  # what is named last stands last
            if isinstance(result, PrivateRows):
                known[name] = within_size(renamed_rows(result, fitting), each)
                continue
            each.set("this", result.tree)
            known[name] = replace(renamed(result, fitting), entry=each)
            kept.append(each)
        clause.set("expressions", kept)
        if not kept:
            node.set("with_", None)
        return known

    def free_name(self, node: exp.Expr) -> str:
        """Return what a query or a table is called, if released tables are not called so."""
        name = node.alias_or_name.casefold()
        if name.startswith(RELEASED):
            raise UnsupportedError(
                f"Names that begin with {RELEASED} are reserved",
                "Choose another name",
                span=span_of(node),
            )
        return name

    def set_operation(self, node: exp.SetOperation, named: CommonTables) -> PrivateRows | PostQuery:
        """Return private rows combined with others; of what was released it is for afterwards."""
        if id(node) in self.last:
            self.last.add(id(node.this))
        mark_repeats(node)
        written = node if isinstance(node, exp.Union) else node.copy()
        left, right = self.query(node.this, named), self.query(node.expression, named)
        if isinstance(left, PrivateRows) or isinstance(right, PrivateRows):
            sets = PrivateSets(node=node, written=written, walker=self, named=named)
            return sets.result(left, right)
        return open_set_operation(node, left, right, is_answer=id(node) in self.last)

    def bracketed(self, node: exp.Subquery, named: CommonTables) -> PrivateRows | PostQuery:
        """Return a query in brackets; ORDER BY and LIMIT outside them come afterwards."""
        result = self.query(node.this, named)
        extra = [
            name
            for name, value in node.args.items()
            if value and name not in ("this", "alias", "with_")
        ]
        if isinstance(result, PrivateRows):
            if extra:
                raise below(node, extra[0].upper())
            return result
        if set(extra) - {"order", "limit", "offset"}:
            raise unhandled(extra[0].upper(), node)
        if not extra:
            return result
        node.set("this", result.tree)
        return replace(
            result,
            tree=node,
            is_chosen=result.is_chosen or not result.is_public,
            is_single=result.is_single or is_first_only(node),
        )

    def values(self, node: exp.Values) -> PostQuery:
        """Return a list of constants."""
        width = len(node.expressions[0].expressions)
        tree = exp.Select(expressions=[exp.Star()], from_=exp.From(this=node))
        return PostQuery(tree=tree, columns=tuple(f"col{i}" for i in range(width)))

    # ----------------------------------------------------------------------- select

    def number_of_groups(self, node: exp.Select, named: CommonTables) -> PostQuery | None:
        """Return COUNT(*) over groups of private rows as a release of its own; None for others."""
        count = group_count_from(node)
        if count is None:
            return None
        before = (list(self.releases), list(self.scalars), list(self.tables), self.unnamed)
        with suppress(QuestionError):  # which the query as it is written gives again
            known = self.named_in(count.outer, named)
            check_clauses(count.inner)
            item = self.item(count.inner, known)
            if item is not None and is_private(item):
                selection = self.selection(count.inner, item, known)
                found = PrivateSelect(self, selection, known).number_of_groups(count)
                if found is not None:
                    return found
        self.releases[:], self.scalars[:], self.tables[:], self.unnamed = before
        return None

    def select(self, node: exp.Select, named: CommonTables) -> PrivateRows | PostQuery:
        """Return what a SELECT is: private rows, a release, or SQL for afterwards."""
        check_clauses(node)
        unnest_split_texts(node, self.catalog, named)
        join_laterals(node, QueryTables(catalog=self.catalog, named=named).columns)
        item = self.item(node, named)
        if item is not None and is_private(item):
            return PrivateSelect(self, self.selection(node, item, named), named).result()
        return self.open_select(node, item, named)

    def item(self, node: exp.Select, named: CommonTables) -> Item | None:
        """Return what stands in FROM."""
        item = item_from(node, lambda each: self.source(each, named))
        names = [] if item is None else [each.name.casefold() for each in leaves(item)]
        if len(set(names)) < len(names):
            twice = next(each for each in names if names.count(each) > 1)
            what, where = f"{twice} appears twice in FROM", span_of(node.args["from_"])
            raise UnsupportedError(what, "Give each an alias", span=where)
        return item

    def selection(self, node: exp.Select, item: Item, named: CommonTables) -> Selection:
        """Return what stands in FROM as relations in a row, one of them private."""
        for each in leaves(item):
            if each.renamed and isinstance(each.relation, PublicTable):
                raise unhandled(
                    f"{each.name}({', '.join(each.renamed)}) next to a private table",
                    node.args["from_"],
                )
        beside = with_leaves(item, lambda each: beside_private_rows(each, named, self))
        return self.with_lookups(selection_from(node, beside, self, named), named)

    def with_lookups(self, selection: Selection, named: CommonTables) -> Selection:
        """Rewrite the queries in a SELECT that read its rows, as joins."""
        tables, found = QueryTables(catalog=self.catalog, named=named), selection
        for each in tie_queries(selection.node, tables.columns, tables.is_single):
            source = beside_private_rows(self.source(each.this, named), named, self)
            found = found.joined(lookup_joining(each, source))
        return found

    def is_answer(self, node: exp.Expr) -> bool:
        """Return whether the rows of a query are those of the answer."""
        return node is self.outermost or id(node) in self.last

    def source_of_only(self, node: exp.Select, named: CommonTables) -> TableRef:
        """Return the rows that a SELECT reads as one relation."""
        item = self.item(node, named)
        if item is None:
            raise unhandled("EXISTS without FROM", node)
        if isinstance(item, TableRef):
            return item
        if not is_private(item):
            raise unhandled("EXISTS over a join of public tables", node)
        selection = self.selection(node, item, named)
        return selection.first if selection.is_one else bracketed_rows(selection, self, named)

    def source(self, node: exp.Expr, named: CommonTables) -> TableRef:
        """Return one relation of FROM."""
        match node:
            case exp.Table():
                return self.table(node, named)
            case exp.Subquery():
                result = self.query(node, named)
                if isinstance(result, PostQuery) and result.tree is not node:
                    node.set("this", result.tree)
            case exp.Values():
                result = self.values(node)
            case _:
                raise UnsupportedError(
                    "FROM must name a table of the catalog or contain a query",
                    available("Use a table from the catalog", self._tables),
                    span=span_of(node),
                )
        name = node.alias or self.unused_alias(node)
        names = fitting_names(tuple(each.name for each in alias_columns(node)), result, node)
        if isinstance(result, PrivateRows):
            return TableRef(name=name, relation=renamed_rows(result, names))
        return TableRef(name=name, relation=result, renamed=names)

    def unused_alias(self, node: exp.Expr) -> str:
        """Give a query without a name one, the same whenever the query is asked."""
        self.unnamed += 1
        name = f"__query_{self.unnamed}"
        alias = node.args.get("alias") or exp.TableAlias()
        alias.set("this", exp.to_identifier(name, quoted=True))
        node.set("alias", alias)
        return name

    def table(self, node: exp.Table, named: CommonTables) -> TableRef:
        """Return a table of the catalog, or a query that WITH names."""
        if not isinstance(node.this, exp.Identifier):
            raise UnsupportedError(
                "Queries cannot read files or call table functions",
                available("Use a table from the catalog", self._tables),
                span=span_of(node),
            )
        for name, value in node.args.items():
            if value and name not in ("this", "alias", "joins", "db", "catalog"):
                raise UnsupportedError(
                    f"{name.upper()} is not supported with a table",
                    f"Write only {node.name}",
                    span=span_of(node),
                )
        alias = node.alias or node.name
        names = tuple(each.name for each in alias_columns(node))
        known = named.get(node.name.casefold())
        has_schema = check_schema(node)
        if known is not None and not has_schema:
            fitting = fitting_names(names, known, node)
            if isinstance(known, PrivateRows):
                return TableRef(name=alias, relation=renamed_rows(known, fitting))
            return TableRef(name=alias, relation=known, renamed=fitting)
        table = self.catalog.table(node.name)
        if table is None:
            tables = [*self._tables, *named]
            raise unknown_table(f"There is no table {node.name}", node.name, tables, node.this)
        if isinstance(table, PublicTable):
            self.free_name(node.this)
            node.set("db", exp.to_identifier("main") if has_schema and known else None)
            node.set("this", exp.to_identifier(table.name, quoted=True))
            if not node.alias:
                node.set("alias", exp.TableAlias(this=exp.to_identifier(alias, quoted=True)))
            return TableRef(name=alias, relation=table, renamed=fitting_names(names, table, node))
        rows = self.scan(table)
        fitting = fitting_names(names, rows, node)
        return TableRef(name=alias, relation=renamed_rows(rows, fitting))

    @property
    def _tables(self) -> list[str]:
        return [each.name for each in self.catalog.tables]

    def scan(self, table: PrivateTable) -> PrivateRows:
        """Return a private table's rows with their units."""
        return scan(table, self.catalog)

    # ----------------------------------------------------------------------- afterwards

    def open_select(self, node: exp.Select, item: Item | None, named: CommonTables) -> PostQuery:
        """Keep SQL over released and public tables, with names for its columns and error bars."""
        item = self.with_released_lookups(node, item, named)
        self.open_inner_queries(node, item, named)
        if item is None:
            expand_stars(node, Names(()))
            return finish_post_query(node, ())
        readable = tuple(open_sources(item))
        expand_stars(node, Names(readable, shared=settle_natural(item), is_open=True))
        return finish_post_query(node, tuple(leaves(item)))

    def with_released_lookups(
        self, node: exp.Select, item: Item | None, named: CommonTables
    ) -> Item | None:
        """Join what subqueries of public rows ask of private ones: a release by what ties them."""
        tables = QueryTables(catalog=self.catalog, named=named)
        if item is None or not tables.has_private_values(node):
            return item
        for each in tie_queries(node, tables.columns, tables.is_single, tables.reads_private):
            source = self.source(each.this, named)
            if isinstance(source.relation, PrivateRows):
                raise row_level(each.this, is_per_unit=True)
            node.append("joins", each)
            item = Bracket(first=item, joins=((each, source),))
        return item

    def open_inner_queries(self, node: exp.Select, item: Item | None, named: CommonTables) -> None:
        """Check the queries inside a SELECT's expressions; they too come afterwards."""
        for each in inner_queries(node, () if item is None else all_joins(item)):
            result = self.query(each, named)
            if isinstance(result, PrivateRows):
                raise row_level(each, is_per_unit=result.is_per_unit)
            each.replace(_bare(without_margins(result)))

    def scalar(self, node: exp.Expr, result: PostQuery, named: CommonTables) -> int:
        """Return the number under which a later release finds the only value of a query."""
        tree = whole(without_margins(result), named)
        needs = releases_in(tree)
        if len(result.columns) != 1:
            what = "A subquery that is used as a value must have one column"
            raise UnsupportedError(what, "Select one column", span=span_of(node))
        if not result.is_single:
            raise UnsupportedError(
                "A subquery that is used as a value may return several rows",
                "Use an aggregate without GROUP BY, or add LIMIT 1",
                span=span_of(node),
            )
        check_functions(tree)
        sql = tree.sql(dialect=DIALECT, identify=True)
        for each in self.scalars:
            if each.sql == sql:
                return each.number
        self.scalars.append(ScalarQuery(number=len(self.scalars), sql=sql, needs=needs))
        return len(self.scalars) - 1


def _bare(tree: exp.Query) -> exp.Expr:
    return tree if isinstance(tree, exp.Subquery) else exp.Subquery(this=tree)
