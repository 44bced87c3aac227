"""Whole questions, from the text to what the analyst sees, over pairs of neighbouring tables.

| file | holds |
|---|---|
| `scenes.py` | made-up tables, and copies of them side by side |
| `experiments.py` | two neighbours, questions, a claim: thousands of runs in one answer |
| `views.py` | all that an answer shows of a copy |
| `statistics.py` | one question about one table |
"""

from discreet.audit.questions import statistics
from discreet.audit.questions.experiments import Experiment
from discreet.audit.subjects import Subject


def experiments() -> tuple[Experiment, ...]:
    """Return all that is asked of Discreet as it is."""
    return (
        *statistics.measured(),
        *statistics.chosen(),
        *statistics.bounded(),
        *statistics.keyed(),
    )


def subjects() -> tuple[Subject, ...]:
    """Return every kind of question, each with a pair of neighbours and its price."""
    return tuple(each.subject() for each in experiments())
