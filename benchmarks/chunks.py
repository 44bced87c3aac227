"""How the number of draws per pass changes the speed: why the samplers' CHUNK is what it is."""

from benchmarks.cases import timing_from_line
from benchmarks.chunk import CASES, SCALE
from benchmarks.environments import lines_from_module
from benchmarks.report import Figure, Report, Say, Table, power
from benchmarks.timing import Case
from discreet.noise.uniform import CHUNK

CHUNKS = tuple(1 << bits for bits in range(10, 17))
ROUNDS = 5


def run(say: Say) -> Report:
    """Go through all chunks several times, each in a fresh process; keep each one's best median."""
    best: dict[tuple[int, Case], float] = {}
    for turn in range(ROUNDS):
        for chunk in CHUNKS:
            say(f"CHUNK {chunk}, round {turn + 1} of {ROUNDS}")
            for line in lines_from_module("benchmarks.chunk", str(chunk)):
                timing = timing_from_line(line)
                key = chunk, timing.case
                best[key] = min(best.get(key, timing.each), timing.each)
    return Report(name="chunks", tables=[_table(best)])


def _table(best: dict[tuple[int, Case], float]) -> Table:
    heads = (f"{case.what}, size {power(case.size)}" for case in CASES)
    title = f"Draws per pass: median ns per sample at scale {SCALE}, fresh process each"
    return Table(
        title=title,
        columns=("CHUNK", *heads),
        rows=[
            (_name(chunk), *(Figure(best[chunk, case] * 1e9) for case in CASES)) for chunk in CHUNKS
        ],
    )


def _name(chunk: int) -> str:
    return f"2^{chunk.bit_length() - 1}" + (" (ours)" if chunk == CHUNK else "")
