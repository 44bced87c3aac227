"""Data versions: what is the same data, what is charged again, and what says so."""

import json
import os
import shutil
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from hashlib import sha256
from mmap import mmap
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import discreet
from discreet.engines.duckdb import DuckDbEngine
from discreet.errors import SourceError
from discreet.explanation.sentences import CHANGED, SAVED_BY_OLDER
from discreet.known_releases import DataVersion
from discreet.ledger import existing_ledger
from discreet.opening import contents, open_catalog, open_unplugged, prepare_catalog
from discreet.opening import sources as opened_sources
from discreet.opening.contents import FileDigests, cache_of
from discreet.opening.sources import earlier_version
from discreet.opening.versions import NewVersion
from discreet.query.plan.identity import Identity, identities_of
from tests.cli.runs import call
from tests.opening.people import AGES, COUNT, declare, written

MORE = f"{AGES}777,40,2024-01-01\n"
SUM = "SELECT SUM(age) AS s FROM people"


@pytest.fixture(autouse=True)
def _own_state(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DISCREET_STATE", str(tmp_path_factory.mktemp("state")))


@pytest.fixture
def catalog(tmp_path: Path) -> Path:
    return written(tmp_path, AGES)


@pytest.fixture
def settled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take files that were written just now for old ones."""
    monkeypatch.setattr(contents, "SETTLED", 0.0)
    monkeypatch.setattr(opened_sources, "SETTLED", 0.0)


def asked(catalog: Path, sql: str = COUNT) -> tuple[bool, tuple[str, ...]]:
    """Return whether an answer was free, and what it says of its data."""
    with discreet.open(catalog) as people:
        answer = people.ask(sql, epsilon=1)
    said = tuple(each for each in answer.notes if "data" in each.casefold())
    assert all(each in answer.to_text(width=1000) for each in said)
    return answer.from_ledger, said


def explained(catalog: Path, sql: str = COUNT) -> str:
    """Return the line of the cost, which is the same with the data open and without."""
    with discreet.open(catalog) as people:
        opened = people.explain(sql, epsilon=1)
    with open_unplugged(catalog, ledger=existing_ledger(ledger_of(catalog))) as people:
        unplugged = people.explain(sql, epsilon=1)
    assert (unplugged.price, unplugged.due) == (opened.price, opened.due)
    assert unplugged.remaining == opened.remaining
    return next(each for each in opened.to_text(width=1000).splitlines() if "Cost" in each)


def ledger_of(catalog: Path) -> Path:
    return catalog.with_suffix(".ledger")


def kinds(catalog: Path) -> list[str]:
    with existing_ledger(ledger_of(catalog)) as ledger:
        return [each.kind for each in ledger.entries()]


TODAY = f"{datetime.now(UTC):%Y-%m-%d}"
DATED = f"The data changed on {TODAY}; this is a new charge."


def test_touching_a_file_costs_nothing(catalog: Path) -> None:
    assert asked(catalog) == (False, ())
    before = kinds(catalog)
    os.utime(catalog.with_name("people.csv"), (1, 1))
    assert "nothing: this is the saved answer to this query" in explained(catalog)
    assert asked(catalog) == (True, ())
    assert kinds(catalog) == before


def test_a_charge_for_changed_data_is_said_once_where_the_price_is(catalog: Path) -> None:
    assert asked(catalog) == (False, ())
    written(catalog.parent, MORE)
    assert explained(catalog).endswith(f"ε = 1. {DATED}")
    assert asked(catalog) == (False, (DATED,))
    assert "changed" not in explained(catalog)
    assert asked(catalog) == (True, ())
    assert asked(catalog, SUM) == (False, ())


def test_data_that_are_restored_have_their_answers_again(catalog: Path) -> None:
    asked(catalog)
    written(catalog.parent, MORE)
    assert asked(catalog, SUM) == (False, ())
    written(catalog.parent, AGES)
    assert asked(catalog) == (True, ())
    assert asked(catalog, SUM) == (False, (CHANGED,))


def test_an_explanation_has_the_change_for_programs(catalog: Path) -> None:
    asked(catalog)
    written(catalog.parent, MORE)
    with discreet.open(catalog) as people:
        told = json.loads(people.explain(COUNT, epsilon=1).to_json())
        other = json.loads(people.explain(SUM, epsilon=1).to_json())
    assert told["change"] == DATED
    assert "change" not in other


def test_the_search_for_bounds_says_it_too(tmp_path: Path) -> None:
    given: dict[str, Any] = {"unit": "who", "rows_per_unit": 1, "epsilon": 99, "name": "people"}
    said = []
    for ages in (range(300), range(100, 500)):
        table = pa.table({"who": list(range(len(ages))), "age": list(ages)})
        with discreet.open(table, ledger=tmp_path / "l", **given) as people:
            terms: dict[str, Any] = {"epsilon": 20, "find_bounds_of": ["people.age"]}
            said.append(people.explain(SUM, **terms).change)
            said.append(" ".join(people.ask(SUM, **terms).notes))
    assert [DATED in each for each in said] == [False, False, True, True]


def test_answers_name_a_declared_version(catalog: Path) -> None:
    declare(catalog, '[source]\nversion = "2024-11"')
    assert asked(catalog) == (False, ("Data version: 2024-11.",))
    assert asked(catalog) == (True, ("Data version: 2024-11.",))
    declare(catalog, '[source]\nversion = "2024-12"')
    with discreet.open(catalog) as people:
        told = people.explain(COUNT, epsilon=1)
        assert "Data        version 2024-12" in str(told)
        assert json.loads(told.to_json())["data_version"] == "2024-12"
    assert asked(catalog) == (False, ("Data version: 2024-12.", DATED))
    declare(catalog, '[source]\nversion = "2024-11"')
    assert asked(catalog) == (True, ("Data version: 2024-11.",))


def test_a_version_in_memory_is_named_too() -> None:
    people = pa.table({"who": list(range(50))})
    given: dict[str, Any] = {"unit": "who", "rows_per_unit": 1, "epsilon": 9, "name": "people"}
    with discreet.open(people, version="May", **given) as curator:
        assert "Data version: May." in curator.ask(COUNT, epsilon=1).notes


# --------------------------------------------------------------------------- older ledgers


@pytest.fixture
def older(catalog: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a catalog whose ledger has a charge of an older release."""
    name = earlier_version({"people": str(catalog.with_name("people.csv"))})
    assert name is not None
    with monkeypatch.context() as patch:
        patch.setattr("discreet.opening.open.note_version", lambda *_: DataVersion(name=name))
        assert asked(catalog) == (False, ())
    return catalog


def test_what_an_older_release_charged_stays_free_once_it_was_opened(older: Path) -> None:
    discreet.open(older).close()
    before = kinds(older)
    file, copy = older.with_name("people.csv"), older.with_name("copy.csv")
    os.utime(file, (1, 1))
    assert asked(older) == (True, (SAVED_BY_OLDER,))
    shutil.copy(file, copy)
    copy.replace(file)
    assert asked(older) == (True, (SAVED_BY_OLDER,))
    assert "nothing: this is the saved answer to this query" in explained(older)
    assert kinds(older) == before


def test_what_an_older_release_charged_for_other_data_is_charged_again(older: Path) -> None:
    written(older.parent, MORE)
    assert asked(older)[0] is False


def test_a_change_after_an_older_release_is_said(older: Path) -> None:
    discreet.open(older).close()
    written(older.parent, MORE)
    assert asked(older) == (False, (DATED,))


MEDIAN = "SELECT MEDIAN(age) AS m FROM people"


@pytest.fixture
def with_median(catalog: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a catalog whose ledger has a median of an older release, which had no interval."""
    data = earlier_version({"people": str(catalog.with_name("people.csv"))})
    assert data is not None

    def older(*given: Any) -> tuple[Identity, ...]:
        return tuple(replace(each, whole=each.earlier) for each in identities_of(*given))

    with monkeypatch.context() as patch:
        patch.setattr("discreet.opening.open.note_version", lambda *_: DataVersion(name=data))
        patch.setattr("discreet.query.plan.pricing.identities_of", older)
        assert asked(catalog, MEDIAN) == (False, ())
    discreet.open(catalog).close()
    return catalog


def test_a_median_of_an_older_release_stays_free_over_the_same_data(with_median: Path) -> None:
    assert asked(with_median, MEDIAN) == (True, (SAVED_BY_OLDER,))
    assert "nothing: this is the saved answer to this query" in explained(with_median, MEDIAN)


def test_a_change_after_a_median_of_an_older_release_is_said(with_median: Path) -> None:
    written(with_median.parent, MORE)
    assert asked(with_median, MEDIAN) == (False, (DATED,))


def test_the_older_name_is_sealed_in_the_ledger(older: Path) -> None:
    name = earlier_version({"people": str(older.with_name("people.csv"))})
    discreet.open(older).close()
    with existing_ledger(ledger_of(older)) as ledger:
        noted = [each.about for each in ledger.entries() if "earlier_version" in each.about]
    (about,) = noted
    assert len(about["earlier_version"]) == 64
    assert about["earlier_version"] != name
    assert str(name) not in ledger_of(older).read_text(encoding="latin-1")


# --------------------------------------------------------------------------- nothing is shown


@pytest.mark.usefixtures("settled")
def test_no_digest_of_the_data_is_shown_exported_or_stored(
    catalog: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked(catalog)
    written(catalog.parent, MORE)
    asked(catalog)
    bare = [sha256(each.encode()).hexdigest() for each in (AGES, MORE)]
    joined = [sha256(f"\n{each}".encode()).hexdigest() for each in bare]
    with existing_ledger(ledger_of(catalog)) as ledger, ledger.view() as view:
        keyed = list(view.versions())
    assert len(keyed) == 2
    place = str(ledger_of(catalog))
    shown = [call(capsys, monkeypatch, "ledger", each, place).out for each in ("show", "export")]
    assert all(COUNT in each for each in shown)
    assert "new data version" in shown[0]
    with discreet.open(catalog) as people:
        shown.append(repr(people) + repr(people._version) + repr(people._reuse))
    assert not any(each in text for text in shown for each in (*bare, *joined, *keyed))
    stored = [each.read_bytes() for each in catalog.parent.glob("*.ledger*")]
    for digest in (*bare, *joined):
        for form in (digest.encode(), bytes.fromhex(digest)):
            assert not any(form in each for each in stored)


# --------------------------------------------------------------------------- the cache


def read_again(monkeypatch: pytest.MonkeyPatch, act: Callable[[], object]) -> int:
    """Return how many files were read for their digests."""
    count = 0
    read = FileDigests._read

    def counted(self: FileDigests, *given: Any) -> tuple[str, dict[int, str]]:
        nonlocal count
        count += 1
        return read(self, *given)

    with monkeypatch.context() as patch:
        patch.setattr(FileDigests, "_read", counted)
        act()
    return count


@pytest.mark.usefixtures("settled")
def test_a_file_is_read_once_as_long_as_it_does_not_change(
    catalog: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, cache = catalog.with_name("people.csv"), cache_of(ledger_of(catalog))

    def count() -> int:
        return read_again(monkeypatch, lambda: asked(catalog))

    assert [count(), count()] == [1, 0]
    assert cache.stat().st_mode & 0o777 == 0o600
    os.utime(file, (1, 1))
    assert [count(), count()] == [1, 0]
    os.link(file, file.with_name("link.csv"))
    assert [count(), count()] == [1, 0]
    cache.unlink()
    assert [count(), count()] == [1, 0]
    cache.chmod(0o640)
    assert [count(), count()] == [1, 0]
    cache.write_text("{", encoding="utf-8")
    cache.chmod(0o600)
    assert [count(), count()] == [1, 0]
    assert asked(catalog) == (True, ())


@pytest.mark.usefixtures("settled")
def test_links_lead_to_the_same_digest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file, hard, soft, cache = (tmp_path / each for each in ("a", "b", "c", "cache"))
    file.write_bytes(b"the same")
    os.link(file, hard)
    soft.symlink_to(file)
    digests = FileDigests(cache)
    assert digests.of(file) == sha256(b"the same").hexdigest()
    digests.save()
    again = FileDigests(cache)
    assert read_again(monkeypatch, lambda: [again.of(hard), again.of(soft)]) == 0
    assert again.of(hard) == again.of(soft) == digests.of(file)
    soft.unlink()
    soft.symlink_to(tmp_path / "other")
    (tmp_path / "other").write_bytes(b"another!")
    assert again.of(soft) == sha256(b"another!").hexdigest()


@pytest.mark.usefixtures("settled")
def test_other_bytes_of_the_same_size_and_time_are_other_data(catalog: Path) -> None:
    asked(catalog)
    file = catalog.with_name("people.csv")
    state = file.stat()
    file.write_text(AGES.replace("20", "21"), encoding="utf-8")
    os.utime(file, ns=(state.st_atime_ns, state.st_mtime_ns))
    assert (file.stat().st_size, file.stat().st_mtime_ns) == (state.st_size, state.st_mtime_ns)
    assert asked(catalog) == (False, (DATED,))


@pytest.mark.usefixtures("settled")
def test_a_cache_that_was_altered_or_has_another_key_is_not_believed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, cache = tmp_path / "a", tmp_path / "cache"
    file.write_bytes(b"bytes")
    digest = sha256(b"bytes").hexdigest()

    def noted() -> dict[str, list[str]]:
        digests = FileDigests(cache)
        digests.of(file)
        digests.save()
        found: dict[str, list[str]] = json.loads(cache.read_text(encoding="utf-8"))
        return found

    ((name, (sealed, check)),) = noted().items()
    for forged in (
        {name: ["0" * 64, check]},
        {name: [sealed, "f" * 64]},
        {name: [digest, digest]},
        {name: ["1" * 200, check]},
        {name: [sealed]},
        {name: "x"},
        [name],
        {name: [None, 1]},
    ):
        cache.write_text(json.dumps(forged), encoding="utf-8")
        assert FileDigests(cache).of(file) == digest
    monkeypatch.setenv("DISCREET_STATE", str(tmp_path / "another"))
    cache.write_text(json.dumps({name: [sealed, check]}), encoding="utf-8")
    other = FileDigests(cache)
    assert read_again(monkeypatch, lambda: other.of(file)) == 1


def test_a_file_that_changed_just_now_is_not_cached(catalog: Path) -> None:
    asked(catalog)
    assert not cache_of(ledger_of(catalog)).exists()


@pytest.mark.usefixtures("settled")
def test_a_cache_that_cannot_be_written_changes_nothing(
    catalog: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "no space")

    monkeypatch.setattr(contents, "_write", full)
    assert [asked(catalog)[0], asked(catalog)[0]] == [False, True]
    monkeypatch.setattr(contents, "machine_key", full)
    assert asked(catalog) == (True, ())


@pytest.mark.usefixtures("settled")
def test_a_server_s_ledger_and_one_in_memory_have_no_cache(tmp_path: Path) -> None:
    file = tmp_path / "people.csv"
    file.write_text(AGES, encoding="utf-8")
    with discreet.open(file, unit="who", epsilon=1):
        assert [each.name for each in tmp_path.iterdir()] == ["people.csv"]


def test_large_files_report_progress(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(contents, "CHUNK", 2**4)
    monkeypatch.setattr(contents, "REPORTED", 2**6)
    (tmp_path / "large").write_bytes(bytes(200))
    (tmp_path / "small").write_bytes(bytes(60))
    told: list[tuple[str, int, int]] = []
    digests = FileDigests(progress=lambda *each: told.append(each))
    assert digests.of(tmp_path / "large") == sha256(bytes(200)).hexdigest()
    assert told == [("large (MiB)", each, 12) for each in (4, 8, 12, 12)]
    digests.of(tmp_path / "small")
    assert len(told) == 4


def test_every_kind_of_file_is_known_by_its_bytes(tmp_path: Path) -> None:
    """Parts of a folder belong together: one more part is other data."""
    table = pa.table({"who": list(range(50))})
    given: dict[str, Any] = {"unit": "who", "rows_per_unit": 1, "epsilon": 9, "name": "people"}

    def free(source: str | Path | Mapping[str, Any], ledger: str) -> bool:
        with discreet.open(source, ledger=tmp_path / ledger, **given) as people:
            return people.ask(COUNT, epsilon=1).from_ledger

    for number in (1, 2):
        pq.write_table(table, tmp_path / f"part{number}.parquet")
    parts = str(tmp_path / "part*.parquet")
    assert [free(parts, "l"), free(parts, "l")] == [False, True]
    os.utime(tmp_path / "part2.parquet", (1, 1))
    assert free(parts, "l")
    pq.write_table(table, tmp_path / "part3.parquet")
    assert not free(parts, "l")


# --------------------------------------------------------------------------- changes while reading


def rewrite_at(
    monkeypatch: pytest.MonkeyPatch, place: Any, name: str, file: Path, *, after: bool = False
) -> None:
    """Write other bytes of the same length when a function is called."""
    act = getattr(place, name)

    def changing(*given: Any, **more: Any) -> Any:
        result = act(*given, **more) if after else None
        file.write_text(file.read_text().replace("20", "21"), encoding="utf-8")
        return result if after else act(*given, **more)

    monkeypatch.setattr(place, name, changing)


def test_a_file_that_changes_while_its_digest_is_computed_is_rejected(
    catalog: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    os.utime(catalog.with_name("people.csv"), (1, 1))
    rewrite_at(monkeypatch, FileDigests, "_read", catalog.with_name("people.csv"), after=True)
    with pytest.raises(SourceError, match="changed while it was read"):
        discreet.open(catalog)


@pytest.mark.parametrize("is_coarse", [False, True])
def test_rows_that_changed_after_the_version_was_read_are_rejected(
    catalog: Path, monkeypatch: pytest.MonkeyPatch, is_coarse: bool
) -> None:
    """Where the clock of the disk is so coarse that times do not show it, the bytes do."""
    asked(catalog)
    if is_coarse:
        monkeypatch.setattr(opened_sources, "state_of", lambda _: "the same")
    file = catalog.with_name("people.csv")
    rewrite_at(monkeypatch, DuckDbEngine, "load", file)
    with pytest.raises(SourceError, match="changed while it was read"):
        discreet.open(catalog)


def meanwhile(
    monkeypatch: pytest.MonkeyPatch,
    before: Callable[[], object],
    after: Callable[[], object],
    place: Any = DuckDbEngine,
    name: str = "load",
) -> None:
    """Do something before rows are loaded, and something else when they are."""
    real = getattr(place, name)

    def load(*given: Any, **more: Any) -> Any:
        before()
        try:
            return real(*given, **more)
        finally:
            after()

    monkeypatch.setattr(place, name, load)


def open_people(file: Path | str) -> discreet.Curator:
    return discreet.open(file, name="people", unit="who", epsilon=100)


@pytest.mark.usefixtures("settled")
@pytest.mark.parametrize("swapped", ["people.csv", "now"])
def test_a_link_that_leads_elsewhere_while_rows_are_loaded_is_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, swapped: str
) -> None:
    """It leads to the first file when its digest is computed, and again when all is compared."""
    for folder, text in (("first", AGES), ("second", MORE)):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "ages.csv").write_text(text, encoding="utf-8")
    links = {"now": "{}", "people.csv": "now/../{}/ages.csv"}
    for name, leads in links.items():
        (tmp_path / name).symlink_to(leads.format("first"))

    def lead_to(folder: str) -> None:
        (tmp_path / "new").symlink_to(links[swapped].format(folder))
        (tmp_path / "new").replace(tmp_path / swapped)

    file = tmp_path / ("people.csv" if swapped == "people.csv" else "now/ages.csv")
    open_people(file).close()
    meanwhile(monkeypatch, lambda: lead_to("second"), lambda: lead_to("first"))
    with pytest.raises(SourceError, match="changed while it was read"):
        open_people(file)


@pytest.mark.usefixtures("settled")
@pytest.mark.parametrize("is_prepared", [False, True])
def test_of_a_pattern_the_files_that_have_a_digest_are_loaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_prepared: bool
) -> None:
    catalog = written(tmp_path, AGES)
    declared = catalog.read_text(encoding="utf-8")
    catalog.write_text(declared.replace("people.csv", "peopl*.csv"), encoding="utf-8")
    late = tmp_path / "people2.csv"
    rows = "".join(f"{number},40,2024-01-01\n" for number in range(10_000, 10_500))
    place = (discreet.opening.stores, "make_copy") if is_prepared else (DuckDbEngine, "load")
    meanwhile(
        monkeypatch,
        lambda: late.write_text(f"{AGES.splitlines()[0]}\n{rows}", encoding="utf-8"),
        late.unlink,
        *place,
    )
    if is_prepared:
        prepare_catalog(catalog)
    with discreet.open(catalog) as people:
        ((counted,),) = people.ask(COUNT, epsilon=10).to_arrow().select([0]).to_pydict().values()
    assert counted < 400


def test_a_file_is_cached_only_when_mapped_memory_was_written_to_the_disk(
    catalog: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A page that is already marked as changed is written to again, and no time changes."""
    file = catalog.with_name("people.csv")
    with file.open("r+b") as opened, mmap(opened.fileno(), 0) as mapped:
        mapped[:] = mapped[:]
        later = file.stat().st_ctime_ns + 10 * 10**9
        for each in (contents, opened_sources):
            monkeypatch.setattr(each, "time", SimpleNamespace(time_ns=lambda: later))
        assert not asked(catalog)[0]
        mapped[:] = mapped[:].replace(b"20", b"21")
        assert not asked(catalog)[0]


def test_a_copy_of_rows_that_changed_meanwhile_is_rejected(
    catalog: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("discreet.opening.stores.state_of", lambda _: "the same")
    stores = discreet.opening.stores
    rewrite_at(monkeypatch, stores, "make_copy", catalog.with_name("people.csv"))
    with pytest.raises(SourceError, match="changed while it was read"):
        prepare_catalog(catalog)


# --------------------------------------------------------------------------- who moves on


def test_only_the_owner_moves_to_a_new_version_where_that_is_asked_for(catalog: Path) -> None:
    def serve() -> bool:
        with open_catalog(catalog, new_version=NewVersion.REJECT) as people:
            return people.ask(COUNT, epsilon=1).from_ledger

    assert [serve(), serve()] == [False, True]
    os.utime(catalog.with_name("people.csv"), (1, 1))
    assert serve()
    written(catalog.parent, MORE)
    before = kinds(catalog)
    for _ in range(2):
        with pytest.raises(SourceError, match="data owner must open the new version first"):
            serve()
    assert before.count("charge") == kinds(catalog).count("charge") == 1
    discreet.open(catalog).close()
    assert [serve(), serve()] == [False, True]
