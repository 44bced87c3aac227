"""Queries without groups, executed again for every run, on a single copy."""

from dataclasses import replace
from fractions import Fraction

from discreet.audit.questions.experiments import Asked, Experiment
from discreet.audit.questions.parts import forgetting
from discreet.audit.questions.statistics import LOW, VICTIM, about_visits

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
        questions=tuple(Asked(each.sql, CHEAP) for each in experiment.questions),
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
