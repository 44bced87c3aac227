"""Whole questions, from the text to what the analyst sees, over pairs of neighbouring tables.

| file | holds |
|---|---|
| `scenes.py` | made-up tables, and copies of them side by side |
| `experiments.py` | two neighbours, questions, a claim: thousands of runs in one answer |
| `views.py` | all that an answer shows of a copy |
| `statistics.py` | one question about one table |
| `relations.py` | joins, rows of a unit together, what comes after the noise |
| `sequences.py` | several questions, repeated ones and those beyond the budget |
| `alone.py` | questions without groups, asked for every run |
| `parts.py`, `broken.py`, `twins.py` | curators of which one part is broken, to be caught |
"""

from discreet.audit.questions import relations, sequences, statistics
from discreet.audit.questions.alone import alone
from discreet.audit.questions.experiments import Experiment
from discreet.audit.questions.twins import broken_experiments
from discreet.audit.subjects import Subject


def experiments() -> tuple[Experiment, ...]:
    """Return all that is asked of Discreet as it is."""
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
    """Return every kind of question, each with a pair of neighbours and its price."""
    return tuple(each.subject() for each in experiments())


def twins() -> tuple[Subject, ...]:
    """Return the same kinds of questions, each broken in one place."""
    return tuple(each.subject() for each in broken_experiments())
