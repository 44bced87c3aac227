"""Who is asked, and on what terms each of them protects whom."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from benchmarks.accuracy.ours import BY_ROW, BY_UNIT
from benchmarks.accuracy.questions import DELTA, EPSILON, ROWS_PER_UNIT
from benchmarks.environments import Peer, lines_from_module, python_of
from benchmarks.workloads.systems import FRAMES


@dataclass(frozen=True, slots=True, kw_only=True)
class System:
    """A library, what its epsilon covers, and what one must know about its terms."""

    name: str
    unit: str
    neighbours: str
    charge: str
    remark: str = ""
    way: str | None = None
    peer: Peer | None = None

    def lines(self, folder: Path, trials: int) -> Iterator[str]:
        """Yield what its child tells; makes a peer's environment, or raises PeerError."""
        arguments = str(folder), str(trials)
        if self.peer is not None:
            python = python_of(self.peer)
            yield from lines_from_module(
                self.peer.module, *arguments, python=python, name=self.name
            )
        else:
            module = "benchmarks.accuracy.ours"
            yield from lines_from_module(module, *arguments, str(self.way))

    @property
    def version(self) -> str:
        return "this one" if self.peer is None else self.peer.requirement.partition("==")[2]


def _peer(name: str, requirement: str, module: str, *besides: str) -> Peer:
    return Peer(
        name=name,
        requirement=requirement,
        module=f"benchmarks.peers.accuracy_{module}",
        besides=besides,
    )


SCIKIT_LEARN = "scikit-learn==1.6.1"
"""diffprivlib cannot be imported with newer ones."""

PATIENT = f"a patient, {ROWS_PER_UNIT} rows at most"
ROW = "a row"
ADD_REMOVE, REPLACE = "add-remove", "replace"
WHOLE = f"ε = {EPSILON} in all"

WITH_KEYS = f"{WHOLE}; δ = {DELTA:g} where keys are unknown"

OURS = System(name="discreet", unit=PATIENT, neighbours=ADD_REMOVE, charge=WITH_KEYS, way=BY_UNIT)
OPENDP = System(
    name="OpenDP",
    unit=PATIENT,
    neighbours=ADD_REMOVE,
    charge=WITH_KEYS,
    remark="VARIANCE takes the number of rows as public, and relies on the limit of rows. Its "
    "limit of groups keeps one group fewer than it is told, so it is told one more.",
    peer=_peer("OpenDP", "opendp[polars]==0.16.0", "opendp"),
)
PIPELINEDP = System(
    name="PipelineDP",
    unit=PATIENT,
    neighbours=ADD_REMOVE,
    charge=f"{WITH_KEYS}; its naive accountant splits it",
    peer=_peer("PipelineDP", "pipeline-dp==0.3.1", "pipelinedp", *FRAMES),
)
SMARTNOISE = System(
    name="SmartNoise SQL",
    unit=PATIENT,
    neighbours=ADD_REMOVE,
    charge="its ε for each column, also for hidden ones",
    remark="It gets ε divided by what its odometer counts, so that it charges 1 in all. It has no "
    "limit of groups.",
    peer=_peer("SmartNoise SQL", "smartnoise-sql==1.0.10", "smartnoise", "pyarrow==26.0.1"),
)
OURS_BY_ROW = System(name="discreet", unit=ROW, neighbours=REPLACE, charge=WHOLE, way=BY_ROW)
DIFFPRIVLIB = System(
    name="diffprivlib",
    unit=ROW,
    neighbours=REPLACE,
    charge="its ε for each number; by key twice that",
    remark="A replaced row can change two keys, so by key it gets ε = 1/2 and charges 1. The "
    "number of rows is public to it.",
    peer=_peer("diffprivlib", "diffprivlib==0.6.6", "diffprivlib", *FRAMES, SCIKIT_LEARN),
)

SETTINGS = ((OURS, OPENDP, PIPELINEDP, SMARTNOISE), (OURS_BY_ROW, DIFFPRIVLIB))
"""Systems with the same unit and the same neighbours, ours first."""
