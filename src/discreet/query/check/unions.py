"""UNION ALL of private rows, and private rows under other column names."""

from dataclasses import replace

from sqlglot import exp

from discreet.catalog.schema import Kind
from discreet.errors import UnsupportedError
from discreet.query.check.sources import Out, Private
from discreet.query.places import span_of
from discreet.query.questions import UnionSum
from discreet.query.tree import Column, ColumnOf, Facts, Interval, Select, Union

NAMED = "__named"
"""What rows are called while their columns get other names."""


def renamed_rows(private: Private, names: tuple[str, ...]) -> Private:
    """Return private rows whose first columns have these names."""
    if not names:
        return private
    given = (*names, *(each.name for each in private.outs[len(names) :]))
    columns = tuple(
        Column(name=name, expression=ColumnOf(source=NAMED, name=out.name, facts=out.facts))
        for name, out in zip(given, private.outs, strict=True)
    )
    return replace(
        private,
        rows=Select(source=private.rows, name=NAMED, columns=columns),
        outs=tuple(replace(out, name=name) for name, out in zip(given, private.outs, strict=True)),
    )


def united(left: Private, right: Private, node: exp.Expr) -> Private:
    """Return the rows of both, column by column."""
    outs = []
    for here, there in zip(left.outs, right.outs, strict=True):
        is_alike = here.facts.kind is there.facts.kind is not Kind.OTHER
        if not is_alike and not (here.facts.kind.is_number and there.facts.kind.is_number):
            raise UnsupportedError(
                f"UNION ALL cannot combine columns of types {here.facts.kind.value} and "
                f"{there.facts.kind.value}",
                "Cast one of them with CAST(... AS ...)",
                span=span_of(node),
            )
        outs.append(_united(here, there))
    return Private(
        rows=Union(parts=(left.rows, right.rows)),
        outs=tuple(outs),
        unit_kind=left.unit_kind,
        limit=left.limit + right.limit,
        reason=UnionSum(left=left.limit, right=right.limit),
        left_out=tuple(dict.fromkeys((*left.left_out, *right.left_out))),
    )


def _united(here: Out, there: Out) -> Out:
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
    return Out(
        name=here.name,
        facts=facts,
        is_unit=here.is_unit and there.is_unit,
        has_nulls=here.has_nulls or there.has_nulls,
    )
