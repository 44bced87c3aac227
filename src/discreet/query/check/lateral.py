"""LATERAL: queries in FROM that read the rows before them, as joins on what ties them.

An aggregate without GROUP BY gives one row for each outer row, also where it has no rows to
aggregate: its columns become expressions over groups. Any other query becomes a join; LIMIT keeps
the first rows for each outer row.
"""

from sqlglot import exp

from discreet.errors import UnsupportedError
from discreet.query.check.correlated import is_correlated
from discreet.query.check.inner_nodes import (
    group_keys,
    has_groups,
    keep_texts,
    query_of,
    select_of,
    values_in,
)
from discreet.query.check.outer_columns import (
    KnownColumns,
    Visible,
    free_columns,
    own_columns,
    relations_of,
    visible_in,
)
from discreet.query.check.post_select import written_name
from discreet.query.check.relations import TIED
from discreet.query.check.tied_query import Around, TiedQuery
from discreet.query.check.tied_values import exposed, first_rows, lookup, of_groups
from discreet.query.expressions.rejections import unhandled
from discreet.query.parse import span_of


def join_laterals(node: exp.Select, known: KnownColumns) -> None:
    """Rewrite the queries in FROM that read rows of what stands before them."""
    joins = node.args.get("joins") or []
    for number, join in enumerate(list(joins)):
        if not _is_lateral(join.this, node, known):
            continue
        query = _query(join, node, known)
        if has_groups(query.node) and query.node.args.get("group") is None:
            made = _one_row(query, join, f"{TIED}lateral_{number}")
        else:
            made = _rows(query, join)
        joins[number] = made
        node.set("joins", joins)


def _before(node: exp.Select, known: KnownColumns, relation: exp.Expr) -> Visible:
    """Return the columns of what stands before a relation in FROM."""
    everything = visible_in(node, known)
    names = []
    for each in relations_of(node):
        if each is relation:
            break
        names.append(each.alias_or_name.casefold())
    return Visible(sources={each: everything.sources[each] for each in names})


def _is_lateral(relation: exp.Expr, node: exp.Select, known: KnownColumns) -> bool:
    query = relation.this if isinstance(relation, exp.Lateral) else relation
    if not isinstance(query, exp.Subquery):
        return False
    return is_correlated(query, _before(node, known, relation), known) or isinstance(
        relation, exp.Lateral
    )


def _query(join: exp.Join, node: exp.Select, known: KnownColumns) -> TiedQuery:
    relation = join.this
    extra = {name for name, value in join.args.items() if value} - {"this", "on", "side", "kind"}
    if extra or (join.args.get("side") or "LEFT").upper() != "LEFT":
        raise unhandled(
            "This kind of join with LATERAL", join, "Write LEFT JOIN LATERAL ... ON TRUE"
        )
    inner = select_of(relation.this if isinstance(relation, exp.Lateral) else relation)
    if any(isinstance(each, exp.Star) or each.is_star for each in inner.expressions):
        raise unhandled("* in a LATERAL subquery", relation, "Name its columns")
    alias = relation.args.get("alias")
    given = alias.columns if isinstance(alias, exp.TableAlias) else []
    if len(given) > len(inner.expressions) or not relation.alias:
        raise unhandled(
            "A LATERAL subquery without an alias, or with more names than columns,",
            relation,
            "Write LATERAL (SELECT ...) AS t",
        )
    names = [each.name for each in given]
    names += [written_name(each) for each in inner.expressions[len(names) :]]
    inner.set(
        "expressions",
        [
            exp.Alias(this=each.unalias(), alias=exp.to_identifier(name, quoted=True))
            for each, name in zip(inner.expressions, names, strict=True)
        ],
    )
    around = Around(node=node, visible=_before(node, known, relation), known=known)
    return TiedQuery(node=inner, around=around)


def _is_true(node: exp.Expr | None) -> bool:
    return node is None or (isinstance(node, exp.Boolean) and bool(node.this))


def _one_row(query: TiedQuery, join: exp.Join, name: str) -> exp.Join:
    """Put expressions over groups in place of the columns of a query that has one row."""
    node, inner, alias = query.around.node, query.node, join.this.alias.casefold()
    if inner.args.get("having") or inner.args.get("limit") or not _is_true(join.args.get("on")):
        raise unhandled(
            "HAVING, LIMIT or ON with an aggregate in LATERAL",
            join,
            "Write the condition in the WHERE clause of the outer query",
        )
    names = [each.alias.casefold() for each in inner.expressions]
    read = _read_columns(node, alias, names, query.around.known)
    values = [exp.paren(each.unalias(), copy=False) for each in inner.expressions]
    aggregates = query.aggregates(*values)
    found = dict(zip(names, of_groups(query, values, aggregates, name), strict=True))
    keep_texts(node, read)
    for each in read:
        value = found[each.name.casefold()].copy()
        value.meta.update(each.meta)
        each.replace(value)
    return lookup(query, name)


def _read_columns(
    node: exp.Select, alias: str, names: list[str], known: KnownColumns
) -> list[exp.Column]:
    """Return where a SELECT reads the columns of a relation of its FROM."""
    for each in node.expressions:
        if isinstance(each, exp.Star) or each.is_star:
            raise unhandled("* beside LATERAL with an aggregate", each, "Name the columns")
    visible = visible_in(node, known)
    nested = [
        each
        for clause in node.args.values()
        for part in (clause if isinstance(clause, list) else [clause])
        if isinstance(part, exp.Expr)
        for value in values_in(part)
        for each in free_columns(query_of(value), known)
    ]
    found = []
    for each in (*own_columns(node), *nested):
        places = list(visible.places(each))
        if alias not in places or each.name.casefold() not in names:
            continue
        if len(places) > 1:
            raise UnsupportedError(
                f"Column {each.name} is ambiguous",
                f"Write {alias}.{each.name}",
                span=span_of(each),
            )
        found.append(each)
    return found


def _rows(query: TiedQuery, join: exp.Join) -> exp.Join:
    """Return a query of several rows as a join, its first rows only where it has LIMIT."""
    inner, alias = query.node, join.this.alias
    limit = inner.args.get("limit")
    if limit is not None and not (isinstance(limit, exp.Limit) and limit.expression.is_int):
        raise unhandled("This LIMIT", inner, "Write LIMIT with a number")
    if inner.args.get("group") is not None:
        keys = group_keys(inner, query.own)
        query.take_in(*keys, *inner.expressions, *filter(None, [inner.args.get("having")]))
        keys = group_keys(inner, query.own)
        inner.set("group", exp.Group(expressions=[*query.key_copies(), *keys]))
        if limit is not None:
            raise unhandled("LIMIT with GROUP BY in LATERAL", inner)
        inner.set("order", None)
    elif limit is not None or inner.args.get("distinct"):
        if limit is not None and inner.args.get("distinct"):
            raise unhandled("DISTINCT with LIMIT in LATERAL", inner)
        order = inner.args.get("order")
        query.take_in(*inner.expressions, *filter(None, [order]))
        if limit is not None:
            first = exp.Ordered(this=inner.expressions[0].unalias().copy())
            first_rows(query, [first], int(limit.expression.name))
        inner.set("order", None)
    else:
        if any(map(query.reads_outer, inner.expressions)):
            query.take_in(*inner.expressions)
        inner.set("order", None)
    columns = [*inner.expressions, *query.keys()]
    conditions = query.conditions(alias)
    columns += exposed(query, alias)
    conditions += query.mixed
    inner.set("expressions", columns)
    on = join.args.get("on")
    if on is not None and not _is_true(on):
        conditions.append(exp.paren(on.copy()))
    made = exp.Subquery(
        this=inner, alias=exp.TableAlias(this=exp.to_identifier(alias, quoted=True))
    )
    side = join.args.get("side")
    return exp.Join(this=made, side=side, on=exp.and_(*conditions, copy=False))
