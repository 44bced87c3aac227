"""Time the samplers with another CHUNK than theirs, in a process that has drawn nothing yet."""

import sys
from dataclasses import asdict
from functools import partial
from json import dumps

from benchmarks.timing import YARDSTICK, Case, Run, Timing, fastest, usual, yardstick
from discreet import noise

SCALE = 1000
SIZES = (20_000, 10**6)
"""The small one exceeds most chunks, and leaves the C library's heap settings as they were."""

CASES = tuple(Case(law, SCALE, size) for size in SIZES for law in ("laplace", "gaussian"))
SECONDS = 0.3


def set_chunk(chunk: int) -> None:
    """Set CHUNK in every module that defines it or imported it by name."""
    for name, module in list(sys.modules.items()):
        if name.startswith("discreet.") and hasattr(module, "CHUNK"):
            vars(module)["CHUNK"] = chunk


def tell() -> None:
    """Write one timing per line: medians, as the price of a chunk is paid by chance.

    Temporaries of 128 KiB and more may be handed back to the system and faulted in again, or not.
    The small size comes first and the yardstick last: once a large array has been freed, the C
    library keeps more of the heap, which hides what a chunk costs in a young process.
    """
    seconds = {case: usual(_run(case), SECONDS) for case in CASES}
    yardstick_seconds = fastest({YARDSTICK: yardstick}, SECONDS)[YARDSTICK]
    for case in CASES:
        timing = Timing(
            case=case,
            timed_size=case.size,
            seconds=seconds[case],
            yardstick_seconds=yardstick_seconds,
        )
        print(dumps(asdict(timing)), flush=True)


def _run(case: Case) -> Run:
    if case.what == "laplace":
        return partial(noise.discrete_laplace, case.scale, case.size)
    return partial(noise.discrete_gaussian, case.scale**2, case.size)


if __name__ == "__main__":
    set_chunk(int(sys.argv[1]))
    tell()
