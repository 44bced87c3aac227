"""Releases of a question: aggregations of the same rows and keys are one."""

from dataclasses import replace

from discreet.query.identity import canonical_release
from discreet.query.questions import Aggregate, Aggregation
from discreet.query.tree import NamedExpression, Select, map_columns


def register(release: Aggregation, releases: list[Aggregation]) -> tuple[int, dict[Aggregate, int]]:
    """Return the release's number, and where its aggregates are there."""
    for number, each in enumerate(releases):
        merged = _merged(each, release)
        if merged is not None:
            releases[number] = merged
            break
    else:
        number = len(releases)
        releases.append(release)
    return number, {each: place for place, each in enumerate(releases[number].aggregates)}


def _merged(old: Aggregation, new: Aggregation) -> Aggregation | None:
    """Return a release that gives what both do, if they are of the same rows and keys."""
    if _base(old) != _base(new):
        return None
    rows = _with_columns(old.rows, new.rows)
    if rows is None or any(
        mine.expression != other.expression for mine, other in zip(old.keys, new.keys, strict=True)
    ):
        return None
    aggregates = tuple(dict.fromkeys((*old.aggregates, *new.aggregates)))
    return replace(old, rows=rows, aggregates=aggregates)


def _base(release: Aggregation) -> str:
    return canonical_release(replace(release, aggregates=()), {})


def _with_columns(old: object, new: object) -> Select | None:
    """Return the old rows with the columns of the new ones besides, by their own names."""
    if not isinstance(old, Select) or not isinstance(new, Select):
        return None
    others = dict(zip(_relations(new), _relations(old), strict=True))
    columns = {each.name: each for each in old.columns}
    for each in new.columns:
        expression = map_columns(
            each.expression, lambda column: replace(column, source=others[column.source])
        )
        known = columns.setdefault(
            each.name, NamedExpression(name=each.name, expression=expression)
        )
        if known.expression != expression:
            return None
    return replace(old, columns=tuple(columns.values()))


def _relations(select: Select) -> list[str]:
    return [select.name, *(each.name for each in select.joins)]
