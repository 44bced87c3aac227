"""How much code one question passes: functions, files, and changes from one package to another.

python -m benchmarks.pipeline
"""

import sys
from collections.abc import Callable
from pathlib import Path
from types import CodeType, FrameType

import pyarrow as pa

import discreet

SOURCE = str(Path(discreet.__file__).parent)

SQL = "SELECT region, COUNT(*) AS n, AVG(cost) AS cost FROM visits GROUP BY region"

COMPREHENSIONS = {"<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>"}
"""Python 3.11 calls them as functions."""


class Passed:
    """What is called of this package, in order."""

    def __init__(self) -> None:
        self.functions: set[CodeType] = set()
        self.changes = 0
        self._package = ""

    def note(self, frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        if event != "call" or not code.co_filename.startswith(SOURCE):
            return
        if code.co_name in COMPREHENSIONS:
            return
        self.functions.add(code)
        package = Path(code.co_filename).relative_to(SOURCE).parts[0]
        self.changes += package != self._package
        self._package = package

    @property
    def files(self) -> int:
        return len({each.co_filename for each in self.functions})


def passed_by(act: Callable[[], object]) -> Passed:
    """Return what a call passes."""
    passed = Passed()
    sys.setprofile(passed.note)
    try:
        act()
    finally:
        sys.setprofile(None)
    return passed


def main() -> None:
    """Ask two aggregates by group, and print the three figures."""
    people = range(1000)
    table = pa.table(
        {
            "who": list(people),
            "cost": [float(each % 90) for each in people],
            "region": [("north", "south")[each % 2] for each in people],
        }
    )
    with discreet.open(
        table,
        name="visits",
        unit="who",
        epsilon=10,
        bounds={"cost": (0, 100)},
        values={"region": ["north", "south"]},
    ) as curator:
        passed = passed_by(lambda: curator.ask(SQL, epsilon=1))
    print(f"functions {len(passed.functions)}")
    print(f"files {passed.files}")
    print(f"changes of package {passed.changes}")


if __name__ == "__main__":
    main()
