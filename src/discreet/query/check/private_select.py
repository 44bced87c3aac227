"""SELECT over private rows: the result is private rows, groups by unit, or a release."""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from sqlglot import exp

from discreet.catalog.schema import Kind
from discreet.query.check.aggregates import (
    aggregate_from,
    is_aggregate,
    kind_of,
    same_level,
)
from discreet.query.check.filtered_rows import (
    ROWS,
    Filtered,
    needed_rows,
    private_rows,
)
from discreet.query.check.first_rows import (
    distinct_on,
    is_distinct_on,
    number_rows,
    refuse_other_units,
)
from discreet.query.check.group_counts import GroupCount, counting, value_of
from discreet.query.check.grouping_sets import (
    GROUPINGS,
    SETS,
    KeySet,
    ReleasedSet,
    key_sets,
    missing_keys,
    put_together,
    refuse_empty,
    refuse_unit,
)
from discreet.query.check.joins import Joined, join_all
from discreet.query.check.keys import groups_of, key_node, key_nodes, unlisted
from discreet.query.check.named_windows import write_out_windows
from discreet.query.check.path_groups import are_of_one_unit
from discreet.query.check.path_values import for_true_rows
from discreet.query.check.post_select import expand_stars, written_names
from discreet.query.check.registered import register
from discreet.query.check.relations import (
    CommonTables,
    OutputColumn,
    PostQuery,
    PrivateRows,
    TableRef,
)
from discreet.query.check.released_tables import opened_select, released_table, table_named
from discreet.query.check.row_numbers import (
    is_row_number,
    picked_by_qualify,
    picked_by_where,
)
from discreet.query.check.row_scope import QuestionWalk, RowScope
from discreet.query.check.selections import Selection
from discreet.query.check.sizes import refuse_many_reads
from discreet.query.check.unit_groups import GROUPS, GroupRewriter, check_square, unit_aggregate
from discreet.query.check.unit_keys import is_one_to_one, refuse_one_unit_groups, with_reason
from discreet.query.check.unit_values import UnitReading
from discreet.query.check.unmatched_rows import refuse_unmatched, unmatched_rows
from discreet.query.check.written_aggregates import rewrite_aggregates
from discreet.query.expressions.narrowing import narrow
from discreet.query.expressions.rejections import below, row_level, unhandled
from discreet.query.expressions.translate import condition, translate
from discreet.query.identity import canonical_aggregate
from discreet.query.parse import DIALECT, span_of
from discreet.query.questions import (
    Aggregate,
    Aggregation,
    Key,
    OneRowPerUnit,
    UndeclaredGroups,
)
from discreet.query.tree import (
    ColumnOf,
    Expression,
    GroupByUnit,
    NamedExpression,
    Select,
)

KEY_KINDS = set(Kind) - {Kind.OTHER, Kind.INTERVAL}


class PrivateSelect:
    """One SELECT over private rows, on its way to what it is."""

    def __init__(self, walker: QuestionWalk, selection: Selection, named: CommonTables) -> None:
        self.walker, self.selection, self.named = walker, selection, named
        self.node = selection.node
        self.names = selection.names
        expand_stars(self.node, self.names)
        rewrite_aggregates(self.node)
        self.scope = RowScope(walker, self.names, named, self._aliases())

    def result(self) -> PrivateRows | PostQuery:
        """Return what the SELECT is."""
        sets = key_sets(self.node)
        if sets is not None:
            return self._released_sets(sets)
        keys = self._key_nodes()
        if keys is not None:
            return self._grouped(keys)
        is_plain = is_distinct_on(self.node) or not self.node.args.get("distinct")
        return self._rows() if is_plain else self._distinct()

    # ----------------------------------------------------------------------- rows

    def _rows(self) -> PrivateRows:
        """Row by row: filter and compute."""
        self._settle_windows()
        self._refuse_order()
        if self.node.args.get("having"):
            raise unhandled("HAVING without GROUP BY or an aggregate", self.node.args["having"])
        filtered = self._filtered()
        refuse_unmatched(filtered.unmatched, self.names)
        self.scope.allows_windows = True
        qualify = self.node.args.get("qualify")
        only = None if qualify is None else condition(qualify.this, self.scope)
        joined = picked_by_qualify(filtered.joined, only)
        names = written_names(self.node.expressions)
        columns = tuple(
            NamedExpression(
                name=name, expression=filtered.known(translate(each.unalias(), self.scope))
            )
            for name, each in zip(names, self.node.expressions, strict=True)
        )
        rows = Select(
            source=joined.rows,
            name=joined.name,
            joins=joined.joins,
            where=filtered.where,
            columns=columns,
            qualify=only,
        )
        outs = tuple(self._out(each, keeps_origin=not joined.joins) for each in columns)
        return private_rows(rows, outs, joined)

    def _out(self, column: NamedExpression, *, keeps_origin: bool) -> OutputColumn:
        expression = column.expression
        found = self.names.out(expression) if isinstance(expression, ColumnOf) else None
        return OutputColumn(
            name=column.name,
            facts=expression.facts,
            is_unit=self.names.is_unit(expression),
            has_nulls=found.has_nulls if found is not None else _makes_nulls(expression),
            origin=found.origin if found is not None and keeps_origin else None,
            leads_to=frozenset() if found is None else found.leads_to,
            is_unit_or_null=found is not None and found.is_unit_or_null,
            is_row_number=is_row_number(expression)
            or (found is not None and keeps_origin and found.is_row_number),
        )

    def _distinct(self) -> PrivateRows | PostQuery:
        """DISTINCT rows: with the unit among them, groups by unit; without it, keys to release."""
        keys = [each.unalias() for each in self.node.expressions]
        self.node.set("distinct", None)
        return self._grouped(keys)

    def _settle_windows(self) -> None:
        """Write out named windows, and DISTINCT ON as a condition on row numbers."""
        write_out_windows(self.node)
        if is_distinct_on(self.node):
            parts = distinct_on(self.node)
            if not any(self.names.is_unit(translate(each, self.scope)) for each in parts):
                raise refuse_other_units(parts, self.names)
            number_rows(self.node, parts)

    def _refuse_order(self) -> None:
        for clause in ("limit", "offset", "order"):
            if self.node.args.get(clause) and self.node is self.walker.outermost:
                raise row_level(self.node, is_per_unit=bool(self.node.args.get("group")))
            if self.node.args.get(clause):
                raise below(self.node.args[clause], clause.upper())

    def number_of_groups(self, count: GroupCount) -> PostQuery | None:
        """Return the SELECT around this one, which counts its groups; None if they are of units."""
        has_keys = self.node.args.get("group") is not None
        nodes = (
            self._key_nodes() if has_keys else [each.unalias() for each in self.node.expressions]
        )
        filtered = self._filtered()
        keys = [filtered.known(translate(each, self.scope)) for each in nodes or ()]
        value = value_of(nodes or (), keys)
        if value is None or any(is_one_to_one(each, self.names) for each in keys):
            return None
        self.node = counting(count, nodes or (), value)
        return self._release([], [], filtered)

    # ----------------------------------------------------------------------- filters

    def _filtered(self) -> Filtered:
        where = self.node.args.get("where")
        asked = None if where is None else where.this
        joined = join_all(
            self.selection,
            asked,
            self.names,
            self.walker.public,
            self._all_of,
        )
        conditions = [*joined.conditions, *([asked] if asked is not None else [])]
        together = self._all_of(conditions) if conditions else None
        return Filtered(
            joined=picked_by_where(joined, together, self.names),
            where=together,
            narrowed={} if together is None else narrow(together),
            unmatched=unmatched_rows(self.selection, asked, self._all_of),
        )

    def _all_of(self, conditions: list[exp.Expr]) -> Expression:
        node = exp.and_(*conditions, copy=True) if conditions else exp.true()
        return condition(for_true_rows(node), self.scope)

    # ----------------------------------------------------------------------- groups

    def _aliases(self) -> dict[str, exp.Expr]:
        return {
            each.alias.casefold(): each.this
            for each in self.node.expressions
            if isinstance(each, exp.Alias)
        }

    def _key_nodes(self) -> list[exp.Expr] | None:
        """Return what rows are grouped by; None if they are not grouped at all."""
        group = self.node.args.get("group")
        if group is None:
            return [] if any(self._aggregates()) else None
        return key_nodes(self.node, group, self.names, self._aliases())

    def _aggregates(self) -> Iterator[exp.Expr]:
        """Yield the aggregates of the SELECT, outermost, in the order of writing."""
        for clause in ("expressions", "having", "qualify", "windows", "order"):
            values = self.node.args.get(clause)
            for each in values if isinstance(values, list) else [values]:
                if isinstance(each, exp.Expr):
                    yield from (part for part in same_level(each) if is_aggregate(part))

    def _grouped(self, key_nodes: list[exp.Expr]) -> PrivateRows | PostQuery:
        filtered = self._filtered()
        keys = self._keys(key_nodes, filtered)
        is_inner = not self.walker.is_answer(self.node)
        is_path = is_inner and are_of_one_unit(keys, filtered, self.names, self.walker.public)
        if is_path or any(self.names.is_unit(each) for each in keys):
            return self._per_unit(list(keys), filtered)
        return self._release(list(keys.values()), list(keys), filtered)

    def _keys(self, key_nodes: list[exp.Expr], filtered: Filtered) -> dict[Expression, exp.Expr]:
        """Return the different keys, and how each is written."""
        for each in key_nodes:
            if any(is_aggregate(part) for part in same_level(each)):
                raise unhandled("An aggregate in GROUP BY", each)
        keys: dict[Expression, exp.Expr] = {}
        for each in key_nodes:
            key = filtered.known_key(translate(each, self.scope))
            if key.facts.kind not in KEY_KINDS:
                raise unhandled(f"GROUP BY a value of type {key.facts.kind.value}", each)
            keys.setdefault(key, each)
        return keys

    # ----------------------------------------------------------------------- groups by unit

    def _per_unit(self, keys: list[Expression], filtered: Filtered) -> PrivateRows:
        """GROUP BY the unit: what is computed of one unit's rows is private still."""
        self._settle_windows()
        self._refuse_order()
        refuse_unmatched(filtered.unmatched, self.names)
        if self.node.args.get("distinct"):
            raise unhandled("DISTINCT with GROUP BY on the privacy unit", self.node)
        reading = UnitReading(scope=self.scope, names=self.names, keys=keys, known=filtered.known)
        nodes = list(self._aggregates())
        made = [reading.aggregate(each) for each in nodes]
        inner, rebase = needed_rows(filtered, keys, [x for each in made for x in each.arguments])
        key_columns = tuple(
            NamedExpression(name=f"k{i}", expression=rebase(each)) for i, each in enumerate(keys)
        )
        is_single_row = filtered.joined.one_row_per_unit
        aggregates = [
            unit_aggregate(f"u{i}", each, rebase, node, is_single_row=is_single_row)
            for i, (each, node) in enumerate(zip(made, nodes, strict=True))
        ]
        rows = GroupByUnit(source=inner, name=ROWS, keys=key_columns, aggregates=tuple(aggregates))
        names = {id(node): f"u{i}" for i, node in enumerate(nodes)}
        is_single = len(keys) == 1 and self.names.is_unit(keys[0])
        outs = (
            *(self._key_out(i, each, filtered.joined) for i, each in enumerate(keys)),
            *(OutputColumn(name=each.name, facts=each.facts) for each in aggregates),
        )
        groups = private_rows(rows, outs, filtered.joined)
        if is_single:
            groups = replace(
                groups, contribution_limit=1, one_row_per_unit=True, reason=OneRowPerUnit()
            )
        return self._from_groups(replace(groups, is_per_unit=True), keys, names)

    def _key_out(self, place: int, key: Expression, joined: Joined) -> OutputColumn:
        found = self.names.out(key) if isinstance(key, ColumnOf) else None
        return OutputColumn(
            name=f"k{place}",
            facts=key.facts,
            is_unit=self.names.is_unit(key),
            has_nulls=found.has_nulls if found is not None else _makes_nulls(key),
            origin=None if found is None or joined.joins else found.origin,
            leads_to=frozenset() if found is None else found.leads_to,
        )

    def _from_groups(
        self, groups: PrivateRows, keys: list[Expression], names: dict[int, str]
    ) -> PrivateRows:
        """Return the SELECT over groups by unit as a SELECT over the rows that they are."""
        regroup = GroupRewriter(self.node, self.scope, keys, names, table=GROUPS)
        columns = [regroup.column(each) for each in self.node.expressions]
        having = self.node.args.get("having")
        plain = exp.Select(expressions=columns)
        if having is not None:
            plain.set("where", exp.Where(this=regroup.rewritten(having.this)))
        if qualify := self.node.args.get("qualify"):
            plain.set("qualify", exp.Qualify(this=regroup.rewritten(qualify.this)))
        source = TableRef(name=GROUPS, relation=groups)
        inner = PrivateSelect(self.walker, Selection(node=plain, first=source), self.named)
        return replace(inner._rows(), is_per_unit=True)

    # ----------------------------------------------------------------------- releases

    def _release(
        self, key_nodes: list[exp.Expr], keys: list[Expression], filtered: Filtered
    ) -> PostQuery:
        """Release an aggregate over rows of many units: here the noise comes in."""
        nodes = list(self._aggregates())
        number, places = self._registered(key_nodes, keys, nodes, filtered)
        names = {id(node): f"a{place}" for node, place in zip(nodes, places, strict=True)}
        groups = released_table(number, len(keys), self.walker.releases[number].aggregates)
        return self._opened(table_named(number), groups, keys, names)

    def _registered(
        self,
        key_nodes: list[exp.Expr],
        keys: list[Expression],
        nodes: list[exp.Expr],
        filtered: Filtered,
    ) -> tuple[int, tuple[int, ...]]:
        """Note what is released, and return its number and where each aggregate is there."""
        made = [_known(aggregate_from(each, self.scope, self.names), filtered) for each in nodes]
        for each, node in zip(made, nodes, strict=True):
            check_square(each, node)
        arguments = [part for each in made for part in each.arguments]
        inner, rebase = needed_rows(filtered, keys, arguments)
        refuse_many_reads(inner, "The query", self.node)
        joined = filtered.joined
        shown, around = inner, self.names
        if unmatched := filtered.unmatched:
            shown, around = unmatched.among(inner, self.names)
            unmatched.check(keys, [aggregate_from(each, self.scope, around) for each in nodes])
        asked = [each.mapped(rebase) for each in made]
        texts = [each.sql(dialect=DIALECT) for each in key_nodes]
        known = groups_of(tuple(keys), around, self.walker.public, shown)
        if isinstance(known, UndeclaredGroups):
            refuse_one_unit_groups(keys, key_nodes, self.names)
            known = with_reason(known, keys, key_nodes, self.names)
        release = Aggregation(
            rows=inner,
            name=ROWS,
            contribution_limit=joined.contribution_limit,
            limit_reason=joined.reason,
            one_row_per_unit=joined.one_row_per_unit,
            keys=tuple(
                Key(
                    name=f"k{i}",
                    expression=rebase(each),
                    text=text,
                    span=span_of(node),
                )
                for i, (node, each, text) in enumerate(zip(key_nodes, keys, texts, strict=True))
            ),
            groups=known,
            aggregates=tuple(
                sorted(dict.fromkeys(asked), key=lambda each: canonical_aggregate(each, ROWS))
            ),
            left_out=(
                *joined.left_out,
                *unlisted(tuple(keys), texts, known, self.names, filtered.where),
            ),
        )
        number, places = register(release, self.walker.releases)
        return number, tuple(places[each] for each in asked)

    def _opened(
        self, table: exp.Expr, groups: PostQuery, keys: list[Expression], names: dict[int, str]
    ) -> PostQuery:
        """Return the SELECT as one over a table of its groups."""
        regroup = GroupRewriter(self.node, self.scope, keys, names, table=table.alias_or_name)
        return opened_select(self.node, regroup, table, groups)

    def _released_sets(self, sets: list[KeySet]) -> PostQuery:
        """Release an aggregate for each set of keys, and put the results together."""
        filtered = self._filtered()
        nodes = [self._key_nodes_of(each) for each in sets]
        keys = self._keys([each for one in nodes for each in one], filtered)
        refuse_unit(keys, self.names)
        found = list(self._aggregates())
        groupings = [each for each in found if isinstance(each, GROUPINGS)]
        aggregates = [each for each in found if not isinstance(each, GROUPINGS)]
        if not aggregates:
            refuse_empty(sets, self.node)
        released = []
        for one in nodes:
            own = self._keys(one, filtered)
            chosen = [key for key in keys if key in own]
            written = [keys[key] for key in chosen]
            number, places = self._registered(written, chosen, aggregates, filtered)
            released.append(ReleasedSet(number=number, keys=tuple(chosen), places=places))
        missing = [
            missing_keys(each, self._keys(self._key_nodes_of(each.expressions), filtered), released)
            for each in groupings
        ]
        made = self.walker.releases
        together = put_together(released, made, list(keys), missing)
        names = {id(node): f"a{i}" for i, node in enumerate(aggregates)}
        names |= {id(node): f"g{i}" for i, node in enumerate(groupings)}
        table = together.tree.subquery(SETS, copy=False)
        return self._opened(table, together, list(keys), names)

    def _key_nodes_of(self, nodes: Iterable[exp.Expr]) -> list[exp.Expr]:
        columns, aliases = self.node.expressions, self._aliases()
        return [key_node(each, columns, self.names, aliases) for each in nodes]


def _known(aggregate: Aggregate, filtered: Filtered) -> Aggregate:
    known = aggregate.mapped(filtered.known)
    return replace(known, kind=kind_of(known))


def _makes_nulls(expression: Expression) -> bool:
    """Return whether NULL is among an expression's known values, as of a CASE without ELSE."""
    domain = expression.facts.domain
    return domain is not None and None in domain
