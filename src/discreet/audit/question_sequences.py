"""Joins, post-processing, single questions and sequences."""

from dataclasses import replace
from fractions import Fraction

from discreet.audit.question_curators import forgetting
from discreet.audit.question_experiments import AskedQuestion, Experiment, Row
from discreet.audit.question_statistics import DELTA, LOW, VICTIM, about_visits, by_copy

DAYS: dict[str, list[object]] = {"day": [1, 1, 1, 2], "week": ["p", "q", "r", "s"]}
"""A public table in which one day occurs three times, so a row of that day becomes three."""


THRICE: list[Row] = [VICTIM | {"day": each} for each in (1, 2, 3)]


def joined() -> tuple[Experiment, ...]:
    """Return joins, with another private table and with a public one."""
    both = "people AS p JOIN visits AS v ON p.person = v.person"
    with_public = "visits AS v {} JOIN days AS d ON v.day = d.day"
    nine = _of_two("private JOIN, 3 rows with 3", _count(both, "p.copy"))
    fan = about_visits("public JOIN, 1 row becomes 3", _count(with_public.format("")))
    left = replace(
        fan, name="LEFT JOIN", questions=(AskedQuestion(_count(with_public.format("LEFT"))),)
    )
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
    first = by_copy("COUNT(*)", "WHERE s = 1", table=ranked)
    found = (
        about_visits("AVG of sums by unit", mean, THRICE, [LOW]),
        about_visits("units of 3 rows or more", heavy, THRICE, [LOW]),
        about_visits("window by unit", running, THRICE, [LOW]),
        about_visits("first row of a unit", first, THRICE, [LOW]),
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
        replace(of_two, name="first row of each group", questions=(AskedQuestion(first),)),
        # Margins of shares are resampled, which has a time limit: few copies stay far below it.
        replace(of_two, name="shares", questions=(AskedQuestion(shares),), runs=2_000),
        about_visits("two releases joined", ratio),
    )


def _of_two(name: str, sql: str) -> Experiment:
    """Return the experiment whose victim is in two private tables here, in neither there."""
    return Experiment(
        name=name,
        questions=(AskedQuestion(sql, Fraction(1)),),
        here={"visits": [*THRICE, LOW], "people": [*THRICE, LOW]},
        there={"visits": [LOW], "people": [LOW]},
    )


def _count(rows: str, key: str = "copy") -> str:
    return f"SELECT {key}, COUNT(*) AS n FROM {rows} GROUP BY {key}"  # noqa: S608


RUNS = 100


CHEAP = Fraction(1, 3)
"""So few runs prove at most epsilon = 0.6, which refutes a claim below that."""


def alone() -> tuple[Experiment, ...]:
    """Return whole queries as analysts write them, with one answer for each run."""
    count = "SELECT COUNT(*) AS n FROM visits"
    limit = "SELECT kind, COUNT(*) AS n FROM visits GROUP BY kind ORDER BY n DESC LIMIT 1"
    above = f"{count} WHERE x > (SELECT AVG(x) FROM visits)"  # noqa: S608
    many = replace(
        about_visits("1000 rows where 3 count, alone", count, [VICTIM] * 1000), rows_per_unit=3
    )
    found = (
        many,
        _replaced("COUNT(*) of what is replaced, alone", f"{count} WHERE x > 7"),
        about_visits("a released number in a condition", above, others=[LOW]),
        about_visits("LIMIT", limit, others=[LOW]),
    )
    return tuple(map(_alone, found))


def found_first() -> Experiment:
    """Return a sum whose bounds are found first. It is slow, so only a long trial has it."""
    crowd = [LOW | {"person": 1 + each, "x": 1.0} for each in range(200)]
    far = [VICTIM | {"x": 1e6}]
    found = about_visits("bounds that are found first", "SELECT SUM(x) FROM visits", far, crowd)
    return _alone(replace(found, declared={"bounds": {"visits.x": "AUTO"}}))


def _alone(experiment: Experiment) -> Experiment:
    return replace(
        experiment,
        questions=tuple(AskedQuestion(each.sql, CHEAP) for each in experiment.questions),
        epsilon=CHEAP,
        keys_are_known=False,
        is_alone=True,
        open=forgetting,
        runs=RUNS,
    )


def _replaced(name: str, sql: str) -> Experiment:
    return replace(
        about_visits(name, sql),
        there={"visits": [VICTIM | {"x": 0.0}]},
        declared={"neighbours": "replace"},
    )


HALF, THIRD = Fraction(1, 2), Fraction(1, 3)


COUNT = by_copy("COUNT(*)")


OTHER = LOW | {"person": 9}


AGAIN = "select copy, count(1) as how_many from Visits as v group by 1 order by copy"


def repeated() -> tuple[Experiment, ...]:
    """Return repeated queries, which reveal nothing more."""
    asked = {
        "asked twice": (AskedQuestion(COUNT), AskedQuestion(COUNT)),
        "asked in other words": (AskedQuestion(COUNT), AskedQuestion(AGAIN)),
        "asked again for less": (AskedQuestion(COUNT), AskedQuestion(COUNT, HALF)),
        "asked again as a part": (
            AskedQuestion(by_copy("AVG(x) AS m, COUNT(*)")),
            AskedQuestion(COUNT, HALF),
        ),
    }
    return tuple(
        replace(about_visits(name, COUNT, others=[LOW]), questions=each)
        for name, each in asked.items()
    )


def composed() -> tuple[Experiment, ...]:
    """Return queries whose costs add up, some of them to more than the budget."""
    total = replace(
        about_visits("COUNT, SUM and AVG in turn", COUNT),
        questions=tuple(
            AskedQuestion(by_copy(each), THIRD)
            for each in ("COUNT(*)", "SUM(x)", "COUNT(DISTINCT kind)")
        ),
    )
    difference = replace(
        about_visits("all, and all but the victim", COUNT, others=[LOW]),
        questions=(
            AskedQuestion(COUNT, HALF),
            AskedQuestion(by_copy("COUNT(*)", "WHERE kind <> 'a'"), HALF),
        ),
    )
    return (total, difference, bounded_twice(), disjoint(), limited(), concentrated())


def bounded_twice() -> Experiment:
    """Return the same query on rows chosen in advance, and on rows chosen for the query."""
    many = [VICTIM | {"x": 8 - each / 8} for each in range(30)]
    asked = by_copy("SUM(x)", "WHERE x > 5")
    return replace(
        about_visits("prepared, then per query", asked, many),
        questions=(AskedQuestion(asked, HALF), AskedQuestion(asked, HALF, bounding="per-query")),
        rows_per_unit=3,
        copies=5_000,
        runs=5_000,
    )


def disjoint() -> Experiment:
    """Return queries on tables of different people, each with the whole budget."""
    return Experiment(
        name="tables of different people",
        questions=(AskedQuestion(COUNT), AskedQuestion(by_copy("COUNT(*)", table="people"))),
        here={"visits": [VICTIM], "people": [OTHER]},
        there={"visits": [], "people": [OTHER]},
        budget=(Fraction(1), Fraction(0)),
        declared={"disjoint": [["visits", "people"]]},
    )


def limited() -> Experiment:
    """Return more queries than the budget allows."""
    filters = ("", "WHERE day = 1", "WHERE kind = 'a'", "WHERE x > 7")
    return replace(
        about_visits("4 questions, budget for 2", COUNT),
        questions=tuple(AskedQuestion(by_copy("COUNT(*)", each), HALF) for each in filters),
        budget=(Fraction(1), Fraction(0)),
    )


def concentrated() -> Experiment:
    """Return queries with Gaussian noise, more than the sum of rho allows."""
    days = [VICTIM | {"day": each} for each in range(8)]
    filters = [f"WHERE x > {each}" for each in range(4)]
    return replace(
        about_visits("Gaussian noise, concentrated", COUNT, days),
        questions=tuple(
            AskedQuestion(
                by_copy("COUNT(DISTINCT person)", each, keys="copy, day"), Fraction(2), DELTA / 10
            )
            for each in filters
        ),
        budget=(Fraction(4), DELTA),
        epsilon=Fraction(4),
        delta=DELTA,
        rows_per_unit=8,
        rows=8,
        copies=500,
        runs=1_000,
        declared={"accounting": "concentrated"},
    )
