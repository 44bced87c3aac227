"""Queries with joins, per-unit subqueries, or post-processing."""

from dataclasses import replace
from fractions import Fraction

from discreet.audit.questions.experiments import Asked, Experiment
from discreet.audit.questions.scenes import Row
from discreet.audit.questions.statistics import LOW, VICTIM, about_visits, by_copy

DAYS: dict[str, list[object]] = {"day": [1, 1, 1, 2], "week": ["p", "q", "r", "s"]}
"""A public table in which one day occurs three times, so a row of that day becomes three."""

THRICE: list[Row] = [VICTIM | {"day": each} for each in (1, 2, 3)]


def joined() -> tuple[Experiment, ...]:
    """Return joins, with another private table and with a public one."""
    both = "people AS p JOIN visits AS v ON p.person = v.person"
    with_public = "visits AS v {} JOIN days AS d ON v.day = d.day"
    nine = _of_two("private JOIN, 3 rows with 3", _count(both, "p.copy"))
    fan = about_visits("public JOIN, 1 row becomes 3", _count(with_public.format("")))
    left = replace(fan, name="LEFT JOIN", questions=(Asked(_count(with_public.format("LEFT"))),))
    weekly = f"SELECT copy, week, COUNT(*) AS n FROM {with_public.format('')} GROUP BY copy, week"  # noqa: S608
    return (
        replace(nine, rows_per_unit=3, runs=5_000),
        replace(fan, public={"days": DAYS}),
        replace(left, public={"days": DAYS}),
        replace(
            about_visits("public keys of a JOIN", weekly),
            public={"days": DAYS},
            rows=4,
            runs=5_000,
        ),
    )


def of_units() -> tuple[Experiment, ...]:
    """Return queries that combine all rows of a unit."""
    per_unit = "(SELECT person, MIN(copy) AS copy, {} AS s FROM visits GROUP BY person {})"
    ranked = (
        "(SELECT person, copy, ROW_NUMBER() OVER (PARTITION BY person ORDER BY day) AS s "
        "FROM visits)"
    )
    is_there = "EXISTS (SELECT 1 FROM visits AS v WHERE v.person = p.person AND v.x > 7)"
    not_there = "person NOT IN (SELECT person FROM visits WHERE x < 7)"
    both = "(SELECT person, copy FROM visits UNION ALL SELECT person, copy FROM people)"
    mean = by_copy("AVG(LEAST(s, 8))", table=per_unit.format("SUM(x)", ""))
    heavy = by_copy("COUNT(*)", table=per_unit.format("COUNT(*)", "HAVING COUNT(*) >= 3"))
    running = by_copy("COUNT(*)", "WHERE s <= 3", table=ranked)
    found = (
        about_visits("AVG of sums by unit", mean, THRICE, [LOW]),
        about_visits("units of 3 rows or more", heavy, THRICE, [LOW]),
        about_visits("window by unit", running, THRICE, [LOW]),
        _of_two("EXISTS", by_copy("COUNT(*)", f"WHERE {is_there}", table="people AS p")),
        _of_two("NOT IN", by_copy("COUNT(*)", f"WHERE {not_there}", table="people")),
        _of_two("UNION ALL", by_copy("COUNT(*)", table=both)),
    )
    return tuple(replace(each, rows_per_unit=3) for each in found)


def afterwards() -> tuple[Experiment, ...]:
    """Return queries with post-processing: which rows are shown, and in which order."""
    histogram = by_copy("COUNT(*)", keys="copy, kind")
    first = (
        f"SELECT * FROM ({histogram}) QUALIFY ROW_NUMBER() OVER (PARTITION BY copy ORDER BY n) = 1"  # noqa: S608
    )
    share = "n * 1.0 / NULLIF(SUM(n) OVER (PARTITION BY copy), 0) AS share"
    shares = f"SELECT copy, kind, {share} FROM ({histogram})"  # noqa: S608
    ratio = (
        f"SELECT a.copy AS copy, a.n AS n, b.n AS m FROM ({by_copy('SUM(x)')}) AS a "  # noqa: S608
        f"JOIN ({by_copy('COUNT(*)', 'WHERE day > 0')}) AS b ON a.copy = b.copy"
    )
    of_two = replace(about_visits("ORDER BY", f"{histogram} ORDER BY n DESC", others=[LOW]), rows=2)
    return (
        about_visits("HAVING", f"{by_copy('COUNT(*)')} HAVING COUNT(*) > 0"),
        of_two,
        replace(of_two, name="first row of each group", questions=(Asked(first),)),
        replace(of_two, name="shares", questions=(Asked(shares),)),
        about_visits("two releases joined", ratio),
    )


def _of_two(name: str, sql: str) -> Experiment:
    """Return the experiment whose victim is in two private tables here, in neither there."""
    return Experiment(
        name=name,
        questions=(Asked(sql, Fraction(1)),),
        here={"visits": [*THRICE, LOW], "people": [*THRICE, LOW]},
        there={"visits": [LOW], "people": [LOW]},
    )


def _count(rows: str, key: str = "copy") -> str:
    return f"SELECT {key}, COUNT(*) AS n FROM {rows} GROUP BY {key}"  # noqa: S608
