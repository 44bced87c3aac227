"""Set operations in SQL after the noise: their noisy columns, and the margins of UNION ALL."""

from sqlglot import exp

from discreet.query.check.post_select import unused_name, without_margins
from discreet.query.check.relations import PostQuery


def open_set_operation(
    node: exp.SetOperation, left: PostQuery, right: PostQuery, *, is_answer: bool
) -> PostQuery:
    """Return a set operation over released and public tables."""
    is_all = isinstance(node, exp.Union) and node.args.get("distinct") is False
    is_plain = is_all and not node.args.get("by_name")
    if is_plain and is_answer and len(left.columns) == len(right.columns):
        return _united(node, left, right)
    node.set("this", without_margins(left))
    node.set("expression", without_margins(right))
    return PostQuery(
        tree=node,
        columns=left.columns,
        noisy=_noisy_of_either(left, right),
        is_chosen=left.is_chosen or right.is_chosen or not is_all,
        is_public=left.is_public and right.is_public,
    )


def _united(node: exp.SetOperation, left: PostQuery, right: PostQuery) -> PostQuery:
    """Return UNION ALL of two queries with their error bars beside them, NULL where there are none.

    Only for the answer itself: the text of inner queries is part of what a later release is.
    """
    names = left.columns
    there = [
        left_name in left.spreads or right_name in right.spreads
        for left_name, right_name in zip(names, right.columns, strict=True)
    ]
    hidden: dict[str, str] = {}
    for name, is_one in zip(names, there, strict=True):
        if is_one:
            hidden[name] = unused_name("__spread", [*names, *hidden.values()])
    bars = [hidden.get(name) for name in names]
    node.set("this", _with_bars(left, bars))
    node.set("expression", _with_bars(right, bars))
    pairs = list(zip(names, right.columns, strict=True))
    return PostQuery(
        tree=node,
        columns=names,
        spreads=hidden,
        rough=frozenset(
            a
            for a, b in pairs
            if (a in left.rough or b in right.rough)
            or (a in left.noisy and a not in left.spreads)
            or (b in right.noisy and b not in right.spreads)
        ),
        noisy=_noisy_of_either(left, right),
        is_chosen=left.is_chosen or right.is_chosen or bool(node.args.get("limit")),
        is_public=left.is_public and right.is_public,
    )


def _noisy_of_either(left: PostQuery, right: PostQuery) -> frozenset[str]:
    """Return the columns of a set operation that are noisy on one side or the other."""
    pairs = zip(left.columns, right.columns, strict=False)
    return frozenset(a for a, b in pairs if a in left.noisy or b in right.noisy)


def _with_bars(opened: PostQuery, bars: list[str | None]) -> exp.Select:
    """Return the asked columns of a query, and behind them those with error bars, in this order."""
    null = exp.cast(exp.Null(), exp.DataType.Type.DOUBLE)
    columns: list[exp.Expr] = [_quoted(each) for each in opened.columns]
    for name, bar in zip(opened.columns, bars, strict=True):
        if bar is not None:
            own = opened.spreads.get(name)
            width = null.copy() if own is None else _quoted(own)
            columns.append(exp.alias_(width, bar, quoted=True))
    inner = opened.tree
    if isinstance(inner, exp.Subquery):
        inner = exp.Select().select("*").from_(inner, copy=False)
    return exp.Select(expressions=columns, from_=exp.From(this=inner.subquery("t", copy=False)))


def _quoted(name: str) -> exp.Column:
    return exp.column(exp.to_identifier(name, quoted=True))
