"""No value of the data comes out but through noise: not in errors, logs, shows or copies."""

import json
import logging
import pickle
import traceback
from collections.abc import Iterator
from copy import copy, deepcopy
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import discreet
from discreet.curator import Curator
from discreet.errors import DiscreetError, EngineError, SealedError, SourceError
from discreet.tables import ExactTable
from tests.attacks.twins import SECRET, Twin, twin

SOURCE = Path(discreet.__file__).parent


@pytest.fixture
def victim() -> Iterator[Twin]:
    opened = twin("present")
    yield opened
    opened.curator.close()


def everything_about(error: BaseException) -> str:
    """Return all words that come with an error, its causes and contexts included."""
    words, waiting, met = [], [error], set()
    while waiting:
        each = waiting.pop()
        if id(each) in met:
            continue
        met.add(id(each))
        words += [str(each), repr(each), repr(each.args), repr(vars(each))]
        words += traceback.format_exception(each)
        words += [repr(note) for note in getattr(each, "__notes__", [])]
        waiting += [found for found in (each.__cause__, each.__context__) if found is not None]
    return "\n".join(words)


def break_engine(victim: Twin) -> None:
    """Put a text where the engine expects a truth value: it fails, with the text in its words."""
    connection = victim.curator._engine._store.connection  # type: ignore[attr-defined]
    connection.execute("ALTER TABLE kept.p RENAME TO sound")
    broken = "SELECT * REPLACE (pid AS hiv) FROM kept.sound WHERE hiv"
    connection.execute(f"CREATE TABLE kept.p AS {broken}")


def mend_engine(victim: Twin) -> None:
    connection = victim.curator._engine._store.connection  # type: ignore[attr-defined]
    connection.execute("DROP TABLE kept.p")
    connection.execute("ALTER TABLE kept.sound RENAME TO p")


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT s, COUNT(*) FROM p",
        "SELECT pid FROM p WHERE hiv",
        "SELECT COUNT(*) FROM p WHERE pid",
        "SELECT SUM(pid) FROM p",
        "SELECT COUNT(*) FROM p WHERE pid = 7",
        "SELECT COUNT(*) FROM p WHERE x > (SELECT x FROM p WHERE id = 7)",
        "SELECT MIN(s) FROM p",
        "SELECT COUNT(*) FROM q",
    ],
)
def test_refusals_hold_no_value_of_the_data(victim: Twin, sql: str) -> None:
    with pytest.raises(DiscreetError) as found:
        victim.curator.ask(sql, epsilon=1)
    assert SECRET not in everything_about(found.value)
    assert victim.engine.runs == 0


def test_sql_that_fails_afterwards_holds_no_value_of_the_data(
    victim: Twin, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    with pytest.raises(DiscreetError) as found:
        victim.curator.ask("SELECT CAST(s || 'x' AS INT), COUNT(*) FROM p GROUP BY s", epsilon=1)
    assert SECRET not in everything_about(found.value)
    assert SECRET not in caplog.text


def test_an_engine_that_fails_is_told_in_fixed_words(
    victim: Twin, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    break_engine(victim)
    before = victim.curator.remaining.epsilon
    with pytest.raises(EngineError) as found:
        victim.curator.ask("SELECT COUNT(*) FROM p WHERE hiv", epsilon=1)
    assert len(victim.engine.failures) == 1
    assert str(found.value) == str(EngineError())
    assert SECRET not in everything_about(found.value)
    assert SECRET not in caplog.text
    assert before - victim.curator.remaining.epsilon == 1  # what data were read for stays charged


def test_the_owner_can_have_the_engines_own_words(
    victim: Twin, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, "discreet.engine")
    break_engine(victim)
    with pytest.raises(EngineError):
        victim.curator.ask("SELECT COUNT(*) FROM p WHERE hiv", epsilon=1)
    assert SECRET in caplog.text  # else the tests above see nothing


def test_a_question_that_failed_is_run_again_without_a_new_charge(victim: Twin) -> None:
    break_engine(victim)
    with pytest.raises(EngineError):
        victim.curator.ask("SELECT COUNT(*) FROM p WHERE hiv", epsilon=1)
    mend_engine(victim)
    victim.curator.resume("owner")
    before = victim.curator.remaining
    assert len(victim.curator.ask("SELECT COUNT(*) FROM p WHERE hiv", epsilon=1).rows) == 1
    assert victim.curator.remaining == before


def test_shows_hold_no_value_of_the_data(victim: Twin) -> None:
    curator = victim.curator
    sql = "SELECT s, COUNT(*) AS n FROM p GROUP BY s"
    shown = [repr(curator), str(curator.remaining), str(curator.explain(sql, epsilon=1))]
    answer = curator.ask(sql, epsilon=1)
    shown += [repr(answer), answer.to_json(), str(answer.to_csv()), str(answer.notes)]
    shown += [repr(each) for each in victim.engine.tables] + [repr(curator.catalog)]
    assert SECRET not in "\n".join(shown)


def test_the_ledger_holds_no_value_of_the_data(tmp_path: Path) -> None:
    place = tmp_path / "books.ledger"
    opened = twin("present", ledger=place)
    opened.curator.ask("SELECT s, COUNT(*), AVG(x) FROM p GROUP BY s", epsilon=1)
    opened.curator.ask("SELECT pid, COUNT(*) FROM p GROUP BY pid", epsilon=1)
    opened.curator.close()
    stored = b"".join(each.read_bytes() for each in tmp_path.iterdir())
    assert SECRET.encode() not in stored


def test_logs_hold_no_value_of_the_data_at_the_default_level(
    victim: Twin, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    victim.curator.ask("SELECT COUNT(*) FROM p WHERE CAST(pid AS INT) > 0", epsilon=1)
    victim.curator.ask("SELECT pid, COUNT(*) FROM p GROUP BY pid", epsilon=1)
    with pytest.raises(DiscreetError) as found:
        victim.curator.ask("SELECT CAST(s AS INT) + COUNT(*) FROM p GROUP BY s", epsilon=1)
    assert SECRET not in everything_about(found.value)
    assert SECRET not in caplog.text


@pytest.mark.parametrize(
    "content",
    [
        f"id,s\n1,a\n{SECRET},b,c\n",
        f'id,s\n1,"{SECRET}\n2,b\n',
        f"id,s\n1,a\n2,{SECRET}\x00\n",
    ],
)
def test_a_file_that_cannot_be_loaded_is_told_by_line_not_by_value(
    tmp_path: Path, content: str, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "p.csv"
    path.write_text(content)
    with pytest.raises(SourceError, match="line") as found:
        discreet.open(path, unit="id", epsilon=1)
    assert SECRET not in str(found.value)
    assert SECRET not in caplog.text


def exact_table() -> ExactTable:
    return ExactTable(pa.table({"secret": [SECRET]}))


def test_an_exact_table_is_not_shown_or_copied_out() -> None:
    table: Any = exact_table()
    assert SECRET not in f"{table!r} {table}"
    for leave in (pickle.dumps, json.dumps, vars, dict, list, len, copy, deepcopy):
        with pytest.raises((SealedError, TypeError)):
            leave(table)


def test_exact_tables_are_opened_in_two_files_only() -> None:
    found = {
        path.relative_to(SOURCE).as_posix()
        for path in SOURCE.rglob("*.py")
        if "unseal(" in path.read_text(encoding="utf-8")
    }
    assert found == {"tables.py", "release.py"}


def test_a_curator_is_not_copied() -> None:
    """A copy would keep books of its own, in which nothing is charged yet."""
    with twin("present").curator as curator, pytest.raises((TypeError, SealedError)):
        pickle.dumps(curator)
    assert isinstance(curator, Curator)
