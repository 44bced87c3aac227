"""A curator whose engine fails by what the data hold, for tests of failures after a charge."""

from typing import Any

from discreet.curator import Curator
from discreet.errors import EngineError, Failure
from tests.curated import curator_of

PEOPLE = 40
COLUMNS: dict[str, list[int]] = {
    "patient_id": list(range(PEOPLE)),
    "hiv": [int(i % 3 == 2) for i in range(PEOPLE)],
}
DECLARED: dict[str, Any] = {"bounds": {"hiv": (0, 1)}, "rows_per_unit": 1}


def about(person: int) -> str:
    return f"SELECT COUNT(*) FROM visits WHERE patient_id = {person} AND hiv = 1"  # noqa: S608


class Oracle:
    """An engine that fails if and only if the rows that are asked about exist."""

    def __init__(self, engine: Any, failure: Failure = "failed") -> None:
        self._engine, self._failure = engine, failure
        self.ran = 0
        self.is_mended = False

    def __getattr__(self, name: str) -> Any:
        return getattr(self._engine, name)

    def run(self, *given: Any) -> Any:
        self.ran += 1
        table = self._engine.run(*given)
        counts = [each for column in table.unseal().columns for each in column.to_pylist()]
        if not self.is_mended and any(counts):
            raise EngineError(self._failure)
        return table


def made(**declared: Any) -> tuple[Curator, Oracle]:
    engines: list[Oracle] = []

    def oracle(engine: object) -> Oracle:
        engines.append(Oracle(engine))
        return engines[0]

    given = {"seed": None, **DECLARED, **declared}
    return curator_of(COLUMNS, engine=given.pop("engine", oracle), **given), engines[0]


def interrupted(*_: object) -> None:
    raise KeyboardInterrupt
