"""Prepared forms of tables in Spark: files beside the catalog, of one state of the data."""

import stat
from pathlib import Path
from typing import Any, cast

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import discreet
from discreet.engines.base import PreparedTables
from discreet.engines.duckdb.copies import make_private
from discreet.engines.spark.prepared import NOTHING, found_form
from discreet.errors import SourceError
from discreet.opening import (
    copy_of,
    forget_catalog,
    is_copy_outdated,
    open_unplugged,
    prepare_catalog,
)
from tests.spark import AT, shared_session

CATALOG = f"""
[budget]
epsilon = 1000

[source]
engine = "{AT}"

[tables.visits]
from = "visits.parquet"
unit = "who"
rows_per_unit = 3

[tables.pills]
from = "pills.parquet"
unit = "visits.who via visit"

[tables.visits.columns]
"we ird, (n)`ame" = {{ bounds = [0, 10] }}
"""

COUNT = "SELECT COUNT(*) AS n FROM visits"


@pytest.fixture
def catalog(tmp_path: Path) -> Path:
    shared_session()
    count = 90
    rows = {
        "visit": range(count),
        "who": [f"p{n % 20 if n < 60 else 7}" for n in range(count)],
        "we ird, (n)`ame": [float(n % 11) for n in range(count)],
        "tags": [[n] for n in range(count)],
    }
    pq.write_table(pa.table(rows), tmp_path / "visits.parquet")
    pq.write_table(pa.table({"visit": range(count)}), tmp_path / "pills.parquet")
    path = tmp_path / "discreet.toml"
    path.write_text(CATALOG)
    return path


def reads_prepared(path: Path) -> bool:
    with discreet.open(path, ledger=":memory:") as curator:
        return "__kept_visits" in curator.explain(COUNT, epsilon=1).to_text(sql=True)


def test_a_form_is_made_used_and_forgotten(catalog: Path) -> None:
    told: list[str] = []
    assert prepare_catalog(catalog, lambda name, *_: told.append(name))
    assert told == ["visits", "visits", "pills", "pills"]
    assert not prepare_catalog(catalog)
    assert stat.S_IMODE(copy_of(catalog).stat().st_mode) == 0o700
    with discreet.open(catalog) as curator, open_unplugged(catalog) as unplugged:
        explained = [
            each.explain(COUNT, epsilon=1).to_text(sql=True) for each in (curator, unplugged)
        ]
        assert explained[0] == explained[1]
        assert "__kept_visits" in explained[0]
        assert curator.ask(COUNT, epsilon=50).rows[0]["n"] == pytest.approx(60, abs=3)
        units = curator.ask("SELECT COUNT(DISTINCT who) AS n FROM visits", epsilon=50)
        assert units.rows[0]["n"] == pytest.approx(20, abs=3)
        sql = 'SELECT COUNT(*) AS n FROM visits WHERE "we ird, (n)`ame" < 3 AND tags IS NOT NULL'
        assert curator.ask(sql, epsilon=50, row_choice="per-query").rows[0]["n"] == pytest.approx(
            sum(min(each, 3) for each in matching(catalog).values()), abs=3
        )
    assert forget_catalog(catalog)
    assert not forget_catalog(catalog)
    assert not list(catalog.parent.glob("discreet.prepared*"))


def matching(catalog: Path) -> dict[str, int]:
    rows = pq.read_table(catalog.parent / "visits.parquet").to_pylist()
    found: dict[str, int] = {}
    for row in rows:
        if row["we ird, (n)`ame"] < 3:
            found[row["who"]] = found.get(row["who"], 0) + 1
    return found


def test_a_form_of_other_data_or_another_catalog_is_not_used(catalog: Path) -> None:
    prepare_catalog(catalog)
    assert reads_prepared(catalog)
    assert not is_copy_outdated(catalog)
    catalog.write_text(CATALOG.replace("rows_per_unit = 3", "rows_per_unit = 4"))
    assert is_copy_outdated(catalog)
    assert not reads_prepared(catalog)
    catalog.write_text(CATALOG)
    pq.write_table(pa.table({"visit": [1, 2]}), catalog.parent / "pills.parquet")
    assert is_copy_outdated(catalog)
    assert not reads_prepared(catalog)
    assert prepare_catalog(catalog)
    assert reads_prepared(catalog)
    assert len(list(copy_of(catalog).iterdir())) == 1


class _StoppedError(Exception):
    """Stands for a process that ends."""


def test_tables_that_are_done_stay_done(catalog: Path) -> None:
    def stop(name: str, _: int, __: int) -> None:
        if name == "pills":
            raise _StoppedError

    with pytest.raises(_StoppedError):
        prepare_catalog(catalog, stop)
    assert not reads_prepared(catalog)
    told: list[str] = []
    assert prepare_catalog(catalog, lambda name, *_: told.append(name))
    assert set(told) == {"pills"}
    assert reads_prepared(catalog)


def test_what_cannot_be_read_back_is_refused(
    catalog: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A folder that only some machines of a cluster can reach would lose the rows of others."""
    monkeypatch.setattr(
        "discreet.engines.spark.prepared.read_form", lambda *_: shared_session().range(7)
    )
    with pytest.raises(SourceError, match="all machines of the cluster"):
        prepare_catalog(catalog)
    monkeypatch.undo()
    assert not reads_prepared(catalog)


def test_what_has_no_files_is_not_prepared(catalog: Path) -> None:
    shared_session().range(3).createOrReplaceTempView("nowhere")
    text = CATALOG.split("[tables.visits]", maxsplit=1)[0]
    catalog.write_text(f'{text}[tables.visits]\nfrom = "nowhere"\nunit = "id"\n')
    with pytest.raises(SourceError, match="table without files cannot be prepared"):
        prepare_catalog(catalog)


def test_a_form_that_others_could_have_written_is_not_used(tmp_path: Path) -> None:
    form = PreparedTables(
        tables={"visits": "visits"}, declared="", place=tmp_path / "discreet.prepared"
    )
    assert form.place is not None
    form.place.mkdir(mode=0o755)
    session = cast("Any", None)  # nothing is asked of it
    assert found_form(session, form, {}) is NOTHING
    with pytest.raises(SourceError, match="other users have access to it"):
        make_private(form.place)
