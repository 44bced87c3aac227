"""The questions as Discreet answers them: `python -m benchmarks.accuracy.ours folder trials unit`.

The unit is `patient_id`, or `visit_id` to protect single rows, as diffprivlib does.
"""

import sys
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from pathlib import Path

import discreet
from benchmarks.accuracy.child import Asking, serve
from benchmarks.accuracy.questions import (
    COST,
    COST_STEP,
    DELTA,
    DIAGNOSES_PER_UNIT,
    EPSILON,
    MINUTES,
    QUESTIONS,
    REGIONS,
    REGIONS_PER_UNIT,
    ROWS_PER_UNIT,
    Question,
)
from discreet.curator import Curator

BY_UNIT, BY_ROW = "patient_id", "visit_id"

STEPS = 2**20
"""Steps of epsilon: each trial costs a little more than the one before, or it would be free."""

Opening = Callable[[], Curator]


def opening_of(unit: str, folder: Path) -> Opening:
    """Return what opens the data anew, so that no question is answered from another's tables."""
    return partial(_opened, unit, folder)


def _opened(unit: str, folder: Path) -> Curator:
    is_row = unit == BY_ROW
    regions, diagnoses = (1, 1) if is_row else (REGIONS_PER_UNIT, DIAGNOSES_PER_UNIT)
    return discreet.open(
        {"visits": folder / "visits.parquet"},
        unit={"visits": unit},
        rows_per_unit={"visits": 1 if is_row else ROWS_PER_UNIT},
        groups_per_unit={"visits": {"region": regions, "diagnosis": diagnoses}},
        bounds={"cost": COST, "minutes": MINUTES},
        step={"cost": COST_STEP},
        values={"region": REGIONS},
        neighbours="replace" if is_row else "add-remove",
        epsilon=10**6,
        delta=0.1,
    )


def asked(question: Question) -> Asking[Opening]:
    """Return how a question is asked, of a curator that has answered no other."""
    opened: list[Curator] = []

    def ask(opening: Opening, number: int) -> list[list[object]]:
        curator = opened[0] if opened else opening()
        opened[:] = [curator]
        epsilon = EPSILON * (1 + Fraction(number, STEPS))
        answer = curator.ask(question.sql, epsilon=epsilon, delta=DELTA)
        return [list(row.values()) for row in answer.rows]

    return ask


def main() -> None:
    unit = sys.argv[3]
    kept = [each for each in QUESTIONS if unit == BY_UNIT or not each.is_about_units]
    refused = {each.name: "every row is a unit" for each in QUESTIONS if each not in kept}
    serve(partial(opening_of, unit), {each.name: asked(each) for each in kept}, refused)


if __name__ == "__main__":
    main()
