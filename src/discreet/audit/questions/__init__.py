"""Whole queries, from the SQL to the answer that the analyst sees, on pairs of neighbouring tables.

| file | contents |
|---|---|
| `scenes.py` | synthetic tables, and copies of them side by side |
| `experiments.py` | two neighbours, queries, a claim: thousands of runs in one answer |
| `views.py` | everything that an answer shows about a copy |
| `statistics.py` | one query on one table |
| `relations.py` | joins, per-unit subqueries, post-processing |
| `sequences.py` | several queries, repeated ones and those beyond the budget |
| `alone.py` | queries without groups, run again for every run |
| `parts.py`, `broken.py`, `twins.py` | curators with one deliberately broken part |
"""

from discreet.audit.questions import relations, sequences, statistics
from discreet.audit.questions.alone import alone
from discreet.audit.questions.experiments import Experiment
from discreet.audit.questions.twins import broken_experiments
from discreet.audit.subjects import Subject


def experiments() -> tuple[Experiment, ...]:
    """Return all experiments with Discreet as it is."""
    return (
        *statistics.measured(),
        *statistics.chosen(),
        *statistics.bounded(),
        *statistics.keyed(),
        *relations.joined(),
        *relations.of_units(),
        *relations.afterwards(),
        *sequences.repeated(),
        *sequences.composed(),
        *alone(),
    )


def subjects() -> tuple[Subject, ...]:
    """Return every kind of query, each with a pair of neighbours and its cost."""
    return tuple(each.subject() for each in experiments())


def twins() -> tuple[Subject, ...]:
    """Return the same kinds of queries, each deliberately broken in one place."""
    return tuple(each.subject() for each in broken_experiments())
