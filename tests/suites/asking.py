"""Whether a query of a suite is answered as plain DuckDB answers it, ties and all."""

import re
import warnings

import duckdb
import pytest
from sqlglot import exp, parse_one

from discreet import errors
from discreet.curator import Curator
from tests.attacks.watched import watch
from tests.forms.held import Row, are_same, differences, rows_of
from tests.properties.silence import silence
from tests.suites.held import ANSWERED, EMPTY, FREE, Asked, Suite


def of(suite: Suite, *outcomes: str) -> list[Asked]:
    """Return the queries of a suite that have one of these outcomes."""
    return [each for each in suite.queries if each.outcome in outcomes]


def answerable(suite: Suite) -> list[Asked]:
    return of(suite, ANSWERED, FREE, EMPTY)


def rejected(suite: Suite) -> list[Asked]:
    return [each for each in suite.queries if each.outcome.endswith("Error")]


def differences_from_plain(
    curator: Curator, plain: duckdb.DuckDBPyConnection, query: Asked
) -> list[str]:
    """Return in words what plain SQL says otherwise, if no mechanism adds noise."""
    with silence():
        ours = rows_of(curator, query.sql)
    theirs = plain.execute(query.sql).fetchall()
    tree = parse_one(query.sql, dialect="duckdb")
    if not tree.args.get("limit"):
        return differences(ours, theirs)
    return _differences_but_for_ties(ours, theirs, tree, plain)


def _differences_but_for_ties(
    ours: list[Row], theirs: list[Row], tree: exp.Expr, plain: duckdb.DuckDBPyConnection
) -> list[str]:
    """Compare what rows are ordered by; the rows themselves may be any that LIMIT could keep."""
    whole = tree.copy()
    whole.set("limit", None)
    whole.set("offset", None)
    every = plain.execute(whole.sql(dialect="duckdb")).fetchall()
    found = [f"{row} is no row" for row in ours if not any(are_same(row, each) for each in every)]
    for place in _ordered_by(tree):
        mine, other = ([(row[place],) for row in rows] for rows in (ours, theirs))
        if len(mine) != len(other) or not all(map(are_same, mine, other)):
            found.append(f"column {place} is {mine}, not {other}")
    return found


def _ordered_by(tree: exp.Expr) -> list[int]:
    """Return the places of the columns that a query orders its rows by."""
    assert isinstance(tree, exp.Select)
    names = [each.alias_or_name or each.sql() for each in tree.selects]
    texts = [each.unalias().sql() for each in tree.selects]
    keys = [each.this for each in tree.args["order"].expressions]
    return [names.index(key.name) if key.name in names else texts.index(key.sql()) for key in keys]


def assert_rejected(curator: Curator, query: Asked) -> None:
    """Assert that a query is rejected by name, that nothing was spent and no data were read."""
    engine, before = watch(curator), curator.remaining
    runs = engine.runs
    with pytest.raises(errors.DiscreetError, match=re.escape(query.says)) as found:
        curator.ask(query.sql, epsilon=1)
    assert found.type.__name__ == query.outcome
    assert (engine.runs, curator.remaining) == (runs, before)


def assert_empty_by_nature(curator: Curator, query: Asked) -> None:
    """Assert that with noise no group is shown, and that a warning or a note says why."""
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        answer = curator.ask(query.sql, epsilon=1)
    assert answer.rows == []
    assert query.says in " ".join([*answer.notes, *(str(each.message) for each in warned)])


def assert_free(curator: Curator, query: Asked) -> None:
    """Assert that an answer spends nothing."""
    before = curator.remaining
    curator.ask(query.sql, epsilon=1)
    assert curator.remaining == before
