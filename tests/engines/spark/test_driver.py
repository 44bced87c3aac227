"""No private row passes through the driver: what tasks send there does not grow with the units."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import discreet
from discreet.curator import Curator
from discreet.engines.growth import Grows, Step
from discreet.engines.spark import SparkEngine, sql
from discreet.engines.spark.sessions import AWAY_FROM_DRIVER, SETTINGS
from discreet.opening.stores import prepare_catalog
from tests.attacks.clinic import tables
from tests.engines.corpus import QUESTIONS, RELEASED, plan_of
from tests.spark import AT, shared_session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SOME = [each for n, each in enumerate(QUESTIONS) if n % 3 == 0 or "NOT IN" in each]
"""Of the corpus, some questions, and all that Spark would broadcast rows for, whatever is set."""

FEW, MANY = 1_000, 8_000
"""Units: of so many more, tasks send no more."""

TOLD = 4_000
"""Bytes by which what tasks tell of themselves may differ."""

QUERIES = (
    "SELECT sex, COUNT(*) AS n, AVG(cost) AS cost FROM visits JOIN patients USING (patient_id) "
    "GROUP BY sex",
    "SELECT COUNT(*) AS n FROM patients WHERE patient_id NOT IN "
    "(SELECT patient_id FROM visits WHERE cost > 3)",
    "SELECT name, COUNT(*) AS n FROM visits JOIN costs USING (cost) GROUP BY name",
)

CATALOG = """
[budget]
epsilon = 1000
[source]
engine = "{at}"
[tables.visits]
from = "visits/"
unit = "patient_id"
rows_per_unit = 2
[tables.visits.columns]
cost = {{ bounds = [0, 9] }}
[tables.patients]
from = "patients.parquet"
unit = "patient_id"
rows_per_unit = 1
[tables.patients.columns]
sex = {{ values = ["f", "m"] }}
[tables.costs]
from = "costs.csv"
public = true
"""


def site(folder: Path, units: int) -> Path:
    """Write tables of so many people, in as many files as ever, and return their catalog."""
    (folder / "visits" / "year=2024").mkdir(parents=True)
    rows = range(3 * units)
    visits = pa.table({"patient_id": [n % units for n in rows], "cost": [n % 7 for n in rows]})
    pq.write_table(visits, folder / "visits" / "year=2024" / "a.parquet")
    sexes = ["fm"[n % 2] for n in range(units)]
    patients = pa.table({"patient_id": range(units), "sex": sexes})
    pq.write_table(patients, folder / "patients.parquet")
    (folder / "costs.csv").write_text("cost,name\n0,free\n1,cheap\n")
    path = folder / "discreet.toml"
    path.write_text(CATALOG.format(at=AT))
    return path


def stages(session: "SparkSession") -> dict[int, int]:
    """Return how many bytes the tasks of each stage sent to the driver; Spark forgets old ones."""
    gateway: Any = session.sparkContext._gateway
    context: Any = session.sparkContext._jsc.sc()
    context.listenerBus().waitUntilEmpty()
    none = gateway.new_array(gateway.jvm.double, 0)
    found = context.statusStore().stageList(None, False, False, none, None)
    each = [found.apply(n) for n in range(found.size())]
    return {int(one.stageId()): int(one.resultSize()) for one in each}


@contextmanager
def sent() -> Iterator[list[int]]:
    """Put into a list how many bytes tasks send to the driver from now on."""
    last, found = max(stages(shared_session()), default=-1), list[int]()
    yield found
    found.append(sum(n for stage, n in stages(shared_session()).items() if stage > last))


def sent_by(curator: Curator, query: str, *, again: int = 0) -> int:
    with sent() as found:
        curator.ask(query, epsilon=1 + again / 100)
    return found[0]


@pytest.fixture
def sites(tmp_path: Path) -> Iterator[tuple[Curator, Curator]]:
    shared_session()
    opened = [discreet.open(site(tmp_path / str(units), units)) for units in (FEW, MANY)]
    yield opened[0], opened[1]
    for each in opened:
        each.close()


def engine_of(curator: Curator) -> SparkEngine:
    engine = curator._engine
    assert isinstance(engine, SparkEngine)
    return engine


def test_what_reaches_the_driver_does_not_grow_with_units(sites: tuple[Curator, Curator]) -> None:
    few, many = sites
    for query in QUERIES:
        assert abs(sent_by(many, query) - sent_by(few, query)) < TOLD, query


def test_a_join_by_the_driver_would_be_seen(sites: tuple[Curator, Curator]) -> None:
    """The broken variant: as Spark is set unless told otherwise, small tables pass the driver."""
    for each in sites:
        for name in AWAY_FROM_DRIVER:
            engine_of(each)._session.conf.unset(name)
    few, many = (sent_by(each, QUERIES[0], again=1) for each in sites)
    assert many - few > 4 * TOLD


def test_a_collect_of_rows_would_be_seen(sites: tuple[Curator, Curator]) -> None:
    found = []
    for each in sites:
        with sent() as bytes_sent:
            engine_of(each)._session.table("visits").toArrow()
        found += bytes_sent
    assert found[1] - found[0] > 4 * TOLD


@pytest.mark.slow
def test_preparing_growing_and_reading_what_is_prepared_send_no_rows(tmp_path: Path) -> None:
    """Of what is new, some units exceed their limit, and others are as many as there are."""
    shared_session()
    found = []
    for units in (FEW, MANY):
        path, told = site(tmp_path / str(units), units), list[Step]()
        pattern = path.read_text().replace("visits/", "visits/year=2024/*.parquet")
        path.write_text(pattern)
        with sent() as bytes_sent:
            assert prepare_catalog(path)
            more = [*range(50), *range(units, 2 * units)]
            rows = pa.table({"patient_id": more, "cost": [1] * len(more)})
            pq.write_table(rows, tmp_path / str(units) / "visits" / "year=2024" / "b.parquet")
            assert prepare_catalog(path, told=told.append)
            assert Grows(table="visits", files=1) in told
            with discreet.open(path) as curator:
                assert engine_of(curator).is_prepared
                curator.ask(QUERIES[0], epsilon=1)
        found += bytes_sent
    assert abs(found[1] - found[0]) < 2 * TOLD


# --------------------------------------------------------------------------- by plan


def collected_parts(plan: str) -> Iterator[str]:
    """Yield the parts of a plan whose rows Spark collects at the driver."""
    lines = plan.splitlines()
    depths = [len(re.match(r"[ :+|-]*", each).group()) for each in lines]  # type: ignore[union-attr]
    for start, line in enumerate(lines):
        if re.search(r"BroadcastExchange|Subquery|CollectLimit|TakeOrdered|rangepart", line):
            ends = (n for n in range(start + 1, len(lines)) if depths[n] <= depths[start])
            yield "\n".join(lines[start : next(ends, len(lines))])


def plans(folder: Path, asked: list[str], settings: dict[str, str]) -> Iterator[tuple[str, str]]:
    """Yield questions of the corpus, and how Spark would run them over files."""
    places: dict[str, str | pa.Table] = {"clinics": tables()["clinics"]}
    for name in ("visits", "patients", "prescriptions"):
        pq.write_table(tables()[name], folder / f"{name}.parquet")
        places[name] = str(folder / f"{name}.parquet")
    engine = SparkEngine.open(shared_session(), places, public=["clinics"])
    for name, value in settings.items():
        engine._session.conf.set(name, value)
    for question in asked:
        for planned in plan_of(question).releases:
            for query in planned.queries:
                frame: Any = engine._session.sql(sql(query, RELEASED))
                yield question, frame._jdf.queryExecution().executedPlan().toString()
    engine.close()


def test_no_plan_of_the_corpus_collects_private_rows(tmp_path: Path) -> None:
    public = 0
    for question, plan in plans(tmp_path, SOME, {}):
        for part in collected_parts(plan):
            assert "FileScan" not in part, question
            public += "LocalTableScan" in part or "ExistingRDD" in part
    assert public, "small public tables are sent to all machines"


def test_plans_that_would_collect_private_rows_are_found(tmp_path: Path) -> None:
    """The broken variant."""
    usual = {"spark.sql.autoBroadcastJoinThreshold": "10MB"}
    joins = [each for each in QUESTIONS if "JOIN" in each][::3]
    found = [part for _, plan in plans(tmp_path, joins, usual) for part in collected_parts(plan)]
    assert sum("FileScan" in part for part in found) > 2


def test_units_do_not_pass_the_driver_to_tell_which_folders_matter(tmp_path: Path) -> None:
    """Where a table has a folder for each unit, Spark may collect units to leave folders out."""
    for unit in "abc":
        (tmp_path / "visits" / f"u={unit}").mkdir(parents=True)
        pq.write_table(pa.table({"x": [1]}), tmp_path / "visits" / f"u={unit}" / "a.parquet")
    pq.write_table(pa.table({"u": ["a", "b"], "age": [1, 50]}), tmp_path / "people.parquet")
    places: dict[str, str | pa.Table] = {
        "visits": f"{tmp_path}/visits/",
        "people": f"{tmp_path}/people.parquet",
    }
    engine = SparkEngine.open(shared_session(), places)
    join = "SELECT count(*) FROM visits JOIN people ON visits.u = people.u WHERE people.age = 50"

    def subqueries() -> list[str]:
        frame: Any = engine._session.sql(join)
        plan = frame._jdf.queryExecution().executedPlan().toString()
        return [each for each in collected_parts(plan) if "Subquery dynamicpruning" in each]

    assert not subqueries()
    name = "spark.sql.optimizer.dynamicPartitionPruning.reuseBroadcastOnly"
    engine._session.conf.set(name, "false")
    assert subqueries(), "the broken variant"
    engine.close()


def test_settings_are_those_of_every_session_of_ours() -> None:
    assert not set(SETTINGS) & set(AWAY_FROM_DRIVER)
    engine = SparkEngine.open(shared_session(), {})
    for name, value in {**SETTINGS, **AWAY_FROM_DRIVER}.items():
        assert engine._session.conf.get(name) == value
    engine.close()
