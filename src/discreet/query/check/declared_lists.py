"""Queries that only list declared groups: their rows are constants, and nothing is released.

SELECT DISTINCT region FROM patients asks which regions there are. Where the catalog or the query
fixes the groups, the answer lists them all, as an answer with aggregates would, whatever rows there
are. So it follows from the query, the catalog and public tables alone. Proof:
docs/proofs/sql_forms.md.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, date, datetime
from fractions import Fraction

from sqlglot import exp

from discreet.catalog.schema import Kind, Value
from discreet.query.check.aggregates import has_aggregate
from discreet.query.check.constant_tables import releases_in
from discreet.query.check.relations import RELEASED
from discreet.query.parse import DIALECT
from discreet.query.questions import Aggregation, DeclaredGroups, OriginKind, Question

TYPES = {
    Kind.BOOLEAN: "BOOLEAN",
    Kind.INTEGER: "BIGINT",
    Kind.REAL: "DOUBLE",
    Kind.TEXT: "VARCHAR",
    Kind.DATE: "DATE",
    Kind.TIMESTAMP: "TIMESTAMP",
    Kind.TIMESTAMP_TZ: "TIMESTAMPTZ",
}
"""Types of keys, those that keys of released tables have."""


def as_list(question: Question, tree: exp.Query) -> Question:
    """Return a question that only lists declared groups as one without releases, others as is.

    Releases that its conditions would read, such as an average, do not change the list.
    """
    read = releases_in(tree)
    listed = {number: question.aggregations[number] for number in read}
    if not listed or not all(map(_is_list, listed.values())) or not _is_result(tree):
        return question
    nothing = (None,) * len(question.columns)
    return replace(
        question,
        aggregations=(),
        scalars=(),
        tables=(),
        post_sql=_with_constants(tree, listed).sql(dialect=DIALECT, identify=True),
        spreads=nothing,
        is_exact=(True,) * len(nothing),
        is_noisy=(False,) * len(nothing),
        is_chosen=False,
        all_rows_sql=None,
        ends=nothing,
        shown=None,
        over_shown=(),
        listed=tuple(_texts(question, listed)),
        has_unread=len(listed) < len(question.aggregations),
    )


def _is_list(release: Aggregation) -> bool:
    return not release.aggregates and isinstance(release.groups, DeclaredGroups)


def _is_result(tree: exp.Query) -> bool:
    """Return whether lists are only shown: not aggregated, and not compared with other rows.

    There they would be taken for the values that occur.
    """
    tables = list(tree.find_all(exp.Table))
    lists = [each for each in tables if each.name.startswith(RELEASED)]
    seen: set[str] = set()
    while lists:
        node: exp.Expr = lists.pop()
        while (around := node.parent) is not None:
            if isinstance(around, exp.CTE):
                name = around.alias.casefold()
                lists += [each for each in tables if each.name.casefold() == name not in seen]
                seen.add(name)
                break
            is_taken_away = isinstance(around, exp.Except) and node is around.expression
            is_inner = isinstance(node, exp.Query) and not isinstance(around, SHOWING)
            if is_taken_away or is_inner or _aggregates(around):
                return False
            node = around
    return True


SHOWING = (exp.From, exp.Join, exp.SetOperation, exp.Subquery)
"""Where the rows of an inner query become rows of the outer one."""


def _aggregates(node: exp.Expr) -> bool:
    return isinstance(node, exp.Select) and any(
        has_aggregate(each)
        for name in ("expressions", "having", "order", "qualify")
        for each in _parts(node.args.get(name))
    )


def _parts(found: exp.Expr | list[exp.Expr] | None) -> list[exp.Expr]:
    return found if isinstance(found, list) else [] if found is None else [found]


def _texts(question: Question, listed: dict[int, Aggregation]) -> dict[str, None]:
    """Return the keys as they are written, or what the answer calls those that are rewritten."""
    names = {
        (origin.release, origin.index): name
        for name, origin in zip(question.columns, question.sources, strict=True)
        if origin is not None and origin.kind is OriginKind.KEY
    }
    return {
        names.get((number, place), key.text) if INTERNAL in key.text else key.text: None
        for number, each in listed.items()
        for place, key in enumerate(each.keys)
    }


INTERNAL = '"__'
"""How names begin that only rewritten queries have."""


def _with_constants(tree: exp.Query, listed: dict[int, Aggregation]) -> exp.Query:
    """Return SQL that reads constant rows in place of released tables."""
    made = tree.copy()
    for table in list(made.find_all(exp.Table)):
        if table.name.startswith(RELEASED):
            rows = _constants(listed[int(table.name.removeprefix(RELEASED))])
            table.replace(
                exp.Subquery(
                    this=rows,
                    alias=table.args.get("alias") or _alias(table.name),
                    joins=table.args.get("joins"),
                )
            )
    return made


def _alias(name: str) -> exp.TableAlias:
    return exp.TableAlias(this=exp.to_identifier(name, quoted=True))


def _constants(release: Aggregation) -> exp.Select:
    """Return the groups of a release as a query: a list for each key, side by side."""
    assert isinstance(release.groups, DeclaredGroups)  # noqa: S101 - as was checked
    columns = []
    for place, key in enumerate(release.keys):
        kind = key.expression.facts.kind
        value = _column([row[place] for row in release.groups.rows], kind)
        columns.append(exp.alias_(value, key.name, quoted=True, copy=False))
    return exp.Select(expressions=columns)


def _column(values: Sequence[Value], kind: Kind) -> exp.Expr:
    """Return the values of one key, row by row: each is written once, and then by its number."""
    places = {each: place for place, each in enumerate(dict.fromkeys(values), start=1)}
    texts = _cast(exp.Array(expressions=_literals(list(places), kind)), "VARCHAR[]")
    if not values:
        return _cast(exp.Explode(this=texts), TYPES[kind])
    numbers = [exp.Literal.string(",".join(str(places[each]) for each in values))]
    split = exp.Anonymous(this="STRING_SPLIT", expressions=[*numbers, exp.Literal.string(",")])
    number = _cast(exp.Explode(this=split), "INT")
    return _cast(exp.Anonymous(this="LIST_EXTRACT", expressions=[texts, number]), TYPES[kind])


def _cast(node: exp.Expr, to: str) -> exp.Expr:
    return exp.cast(node, to, dialect=DIALECT, copy=False)


def _literals(values: Sequence[Value], kind: Kind) -> list[exp.Expr]:
    return [
        exp.Null() if each is None else exp.Literal.string(_text(each, kind)) for each in values
    ]


def _text(value: Value, kind: Kind) -> str:
    """Return a value as a text that DuckDB casts to it."""
    match value:
        case bool():
            return str(value).lower()
        case datetime():
            moment = value.astimezone(UTC) if value.tzinfo is not None else value
            return moment.isoformat(sep=" ")
        case date():
            return value.isoformat()
        case str():
            return value
        case _:
            return repr(float(Fraction(value or 0))) if kind is Kind.REAL else str(value)
