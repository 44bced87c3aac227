"""Several queries, audited together: all answers reveal no more than was charged."""

from dataclasses import replace
from fractions import Fraction

from discreet.audit.questions.experiments import Asked, Experiment
from discreet.audit.questions.statistics import DELTA, LOW, VICTIM, about_visits, by_copy

HALF, THIRD = Fraction(1, 2), Fraction(1, 3)

COUNT = by_copy("COUNT(*)")
OTHER = LOW | {"person": 9}
AGAIN = "select copy, count(1) as how_many from Visits as v group by 1 order by copy"


def repeated() -> tuple[Experiment, ...]:
    """Return repeated queries, which reveal nothing more."""
    asked = {
        "asked twice": (Asked(COUNT), Asked(COUNT)),
        "asked in other words": (Asked(COUNT), Asked(AGAIN)),
        "asked again for less": (Asked(COUNT), Asked(COUNT, HALF)),
        "asked again as a part": (Asked(by_copy("AVG(x) AS m, COUNT(*)")), Asked(COUNT, HALF)),
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
            Asked(by_copy(each), THIRD) for each in ("COUNT(*)", "SUM(x)", "COUNT(DISTINCT kind)")
        ),
    )
    difference = replace(
        about_visits("all, and all but the victim", COUNT, others=[LOW]),
        questions=(Asked(COUNT, HALF), Asked(by_copy("COUNT(*)", "WHERE kind <> 'a'"), HALF)),
    )
    return (total, difference, bounded_twice(), disjoint(), limited(), concentrated())


def bounded_twice() -> Experiment:
    """Return the same query on rows chosen in advance, and on rows chosen for the query."""
    many = [VICTIM | {"x": 8 - each / 8} for each in range(30)]
    asked = by_copy("SUM(x)", "WHERE x > 5")
    return replace(
        about_visits("prepared, then per query", asked, many),
        questions=(Asked(asked, HALF), Asked(asked, HALF, bounding="per-query")),
        rows_per_unit=3,
        copies=5_000,
        runs=5_000,
    )


def disjoint() -> Experiment:
    """Return queries on tables of different people, each with the whole budget."""
    return Experiment(
        name="tables of different people",
        questions=(Asked(COUNT), Asked(by_copy("COUNT(*)", table="people"))),
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
        questions=tuple(Asked(by_copy("COUNT(*)", each), HALF) for each in filters),
        budget=(Fraction(1), Fraction(0)),
    )


def concentrated() -> Experiment:
    """Return queries with Gaussian noise, more than the sum of rho allows."""
    days = [VICTIM | {"day": each} for each in range(8)]
    filters = [f"WHERE x > {each}" for each in range(4)]
    return replace(
        about_visits("Gaussian noise, concentrated", COUNT, days),
        questions=tuple(
            Asked(
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
