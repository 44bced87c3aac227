"""Released tables, and a SELECT over private rows as one over the table that is released."""

from collections.abc import Sequence

from sqlglot import exp

from discreet.query.check.intervals import ends_of
from discreet.query.check.post_select import finish_post_query
from discreet.query.check.relations import RELEASED, PostQuery, TableRef
from discreet.query.check.unit_groups import GroupRewriter
from discreet.query.questions import Aggregate, ColumnOrigin, OriginKind, Statistic

CHOSEN = {Statistic.QUANTILE, Statistic.MIN, Statistic.MAX, Statistic.MODE}
"""Values that a mechanism chooses: their error is one of rank, not of distance."""


def released_table(number: int, keys: int, aggregates: Sequence[Aggregate]) -> PostQuery:
    """Return what a release gives: so many keys k0, k1, ... and its aggregates a0, a1, ..."""
    names = [f"a{i}" for i in range(len(aggregates))]
    key_names = [f"k{i}" for i in range(keys)]
    return PostQuery(
        tree=exp.Select(expressions=[exp.Star()], from_=exp.From(this=table_named(number))),
        columns=(*key_names, *names),
        spreads={
            name: f"{name}_spread"
            for name, each in zip(names, aggregates, strict=True)
            if each.statistic not in CHOSEN
        },
        noisy=frozenset(names),
        ends=ends_of(aggregates),
        origins=origins_of(number, key_names, names),
        is_public=False,
        is_single=not keys,
        groups_of=number,
    )


def table_named(number: int) -> exp.Table:
    """Return the table of a release, for FROM."""
    return exp.Table(this=exp.to_identifier(f"{RELEASED}{number}", quoted=True))


def opened_select(
    node: exp.Select, regroup: GroupRewriter, table: exp.Expr, groups: PostQuery
) -> PostQuery:
    """Return the SELECT as one over a table of its groups."""
    columns = [regroup.column(each) for each in node.expressions]
    opened = exp.Select(expressions=columns, from_=exp.From(this=table))
    if having := node.args.get("having"):
        opened.set("where", exp.Where(this=regroup.rewritten(having.this)))
    if qualify := node.args.get("qualify"):
        opened.set("qualify", exp.Qualify(this=regroup.rewritten(qualify.this)))
    if windows := node.args.get("windows"):
        opened.set("windows", [regroup.rewritten(each) for each in windows])
    if order := node.args.get("order"):
        regroup.prefers_aliases = True
        opened.set("order", regroup.rewritten(order))
    if distinct := node.args.get("distinct"):
        opened.set("distinct", regroup.rewritten(distinct))
    for clause in ("limit", "offset", "with_"):
        if node.args.get(clause):
            opened.set(clause, node.args[clause])
    return finish_post_query(opened, (TableRef(name=regroup.table, relation=groups),))


def origins_of(
    release: int, keys: Sequence[str], aggregates: Sequence[str]
) -> dict[str, ColumnOrigin]:
    """Return which column of a release each of these names is, keys first."""
    return {
        name: ColumnOrigin(release=release, kind=kind, index=i)
        for kind, names in ((OriginKind.KEY, keys), (OriginKind.AGGREGATE, aggregates))
        for i, name in enumerate(names)
    }
