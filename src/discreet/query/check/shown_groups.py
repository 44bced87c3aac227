"""SQL after the noise that counts, sums or averages groups of which small ones are not shown."""

from collections.abc import Iterator, Sequence

from sqlglot import exp, parse_one

from discreet.query.check.aggregates import is_aggregate, same_level
from discreet.query.parse import DIALECT
from discreet.query.questions import (
    Aggregation,
    OverShownGroups,
    ScalarQuery,
    TableQuery,
    UndeclaredGroups,
)


def over_shown_groups(
    asked: exp.Expr,
    inner: Sequence[ScalarQuery | TableQuery],
    releases: Sequence[Aggregation],
    prefix: str,
) -> tuple[OverShownGroups, ...]:
    """Return the releases with undeclared groups that SQL over released tables aggregates."""
    if not any(isinstance(each.groups, UndeclaredGroups) for each in releases):
        return ()
    found: dict[int, bool] = {}
    for tree in (asked, *(parse_one(each.sql, dialect=DIALECT) for each in inner)):
        named = {each.alias.casefold(): each.this for each in tree.find_all(exp.CTE)}
        for select in tree.find_all(exp.Select):
            made = list(_aggregates(select))
            for number in _read(select, named, prefix) if made else ():
                if isinstance(releases[number].groups, UndeclaredGroups):
                    is_count = all(isinstance(each, exp.Count) for each in made)
                    found[number] = found.get(number, True) and is_count
    return tuple(
        OverShownGroups(release=number, is_count=is_count)
        for number, is_count in sorted(found.items())
    )


def _aggregates(select: exp.Select) -> Iterator[exp.Expr]:
    """Yield aggregates of the SELECT itself, over groups or over a window."""
    for clause in ("expressions", "having", "qualify", "order"):
        values = select.args.get(clause)
        for each in values if isinstance(values, list) else [values]:
            for part in same_level(each) if isinstance(each, exp.Expr) else ():
                if isinstance(part, exp.Window) and isinstance(part.this, TOTALS):
                    yield part.this
                elif is_aggregate(part):
                    yield part.this if isinstance(part, exp.Filter) else part


TOTALS = (exp.Sum, exp.Count, exp.Avg, exp.Min, exp.Max)
"""What is an aggregate over a window; ranks and neighbours are of the shown groups anyway."""


def _read(select: exp.Select, named: dict[str, exp.Expr], prefix: str) -> set[int]:
    """Return the releases that a SELECT reads in FROM, also by way of WITH."""
    clauses = [select.args.get("from_"), *(select.args.get("joins") or ())]
    waiting = [each for each in clauses if each is not None]
    seen: set[str] = set()
    found: set[int] = set()
    while waiting:
        for table in waiting.pop().find_all(exp.Table):
            name = table.name.casefold()
            if name.startswith(prefix) and name[len(prefix) :].isdigit():
                found.add(int(name[len(prefix) :]))
            elif name in named and name not in seen:
                seen.add(name)
                waiting.append(named[name])
    return found
