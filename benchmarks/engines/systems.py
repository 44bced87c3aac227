"""Who is asked: each engine as plain SQL, per query and prepared."""

from dataclasses import dataclass, replace

from benchmarks.workloads.ours import COPY, PER_QUERY, PREPARED, RAW, RAW_FILE
from benchmarks.workloads.systems import System

DUCKDB, POSTGRESQL, SPARK = "duckdb", "postgresql", "spark"
ENGINES = (DUCKDB, POSTGRESQL, SPARK)

PLAIN, PER_QUERY_NAME, PREPARED_NAME, COPY_NAME = "plain SQL", "per-query", "prepared", "copy"

WAYS = (PER_QUERY_NAME, PREPARED_NAME, COPY_NAME)

CHILD = "benchmarks.engines.ours"


@dataclass(frozen=True, slots=True, kw_only=True)
class Storage:
    """Where an engine has the tables, in what forms, and up to how many rows they are asked."""

    name: str
    engine: str
    systems: tuple[System, ...]
    """The first is plain SQL, with which the others are compared."""
    most_rows: int
    is_shared: bool
    """Whether one child asks all workloads, because it takes long to start."""
    target: float | None = None
    """The most that a question may take without preparation, in times of plain SQL."""

    @property
    def plain(self) -> System:
        return self.systems[0]

    def in_ways(self, ways: tuple[str, ...]) -> "Storage":
        """Return the same with plain SQL and only these ways of ours."""
        ours = (each for each in self.systems[1:] if _way(each) in ways)
        return replace(self, systems=(self.plain, *ours))

    @property
    def is_prepared(self) -> bool:
        return any(_way(each) in (PREPARED_NAME, COPY_NAME) for each in self.systems)

    @property
    def per_query(self) -> System | None:
        name = f"{self.name}, {PER_QUERY_NAME}"
        return next((each for each in self.systems if each.name == name), None)


def _way(system: System) -> str:
    return system.name.rpartition(", ")[2]


def _systems(
    storage: str, ways: dict[str, str], module: str = "benchmarks.workloads.ours"
) -> tuple[System, ...]:
    baseline = f"{storage}, {PLAIN}"
    return tuple(
        System(name=f"{storage}, {name}", baseline=baseline, way=way, module=module)
        for name, way in ways.items()
    )


def _on_server(storage: str, engine: str) -> tuple[System, ...]:
    ways = {PLAIN: RAW, PER_QUERY_NAME: PER_QUERY, PREPARED_NAME: PREPARED}
    named = {name: f"{engine}:{way}" for name, way in ways.items()}
    return _systems(storage, named, module=CHILD)


STORAGES = (
    Storage(
        name="DuckDB",
        engine=DUCKDB,
        systems=_systems(
            "DuckDB", {PLAIN: RAW, PER_QUERY_NAME: PER_QUERY, PREPARED_NAME: PREPARED}
        ),
        most_rows=10**8,
        is_shared=False,
        target=3.0,
    ),
    Storage(
        name="DuckDB file",
        engine=DUCKDB,
        systems=_systems("DuckDB file", {PLAIN: RAW_FILE, COPY_NAME: COPY}),
        most_rows=10**9,
        is_shared=False,
    ),
    Storage(
        name="PostgreSQL",
        engine=POSTGRESQL,
        systems=_on_server("PostgreSQL", POSTGRESQL),
        most_rows=10**7,
        is_shared=True,
        target=6.0,
    ),
    Storage(
        name="Spark",
        engine=SPARK,
        systems=_on_server("Spark", SPARK),
        most_rows=10**9,
        is_shared=True,
        target=4.0,
    ),
)

SYSTEMS = {each.name: each for storage in STORAGES for each in storage.systems}
