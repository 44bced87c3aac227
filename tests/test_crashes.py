"""A curator that is killed between question and answer, and many that ask at once.

Whatever happens, nothing is seen that was not charged, nothing is charged twice, and who asks again
is answered at no further cost.
"""

import signal
from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import pytest

import discreet
from discreet.ledger import Ledger, existing_ledger
from tests.crashing import (
    COUNT,
    NESTED,
    PROCESSES,
    STEPS,
    TENTH,
    answer_in,
    ask_dying_at,
    ask_others,
    ask_the_same,
    ends_of,
    run,
    start,
    write_people,
)
from tests.ledger.stores import PostgresStore


@pytest.fixture(params=["file", "postgres"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Return where a new ledger will be."""
    if request.param == "postgres":
        return PostgresStore(tmp_path).address
    return str(tmp_path / "people.ledger")


def kinds_in(ledger: Ledger) -> Counter[str]:
    return Counter(str(entry.kind) for entry in ledger.entries())


@dataclass(frozen=True, slots=True, kw_only=True)
class Crash:
    """A question that is killed at one of its steps, in books of its own."""

    sql: str
    releases: int
    within_the_ledger: bool = False

    def check(self, folder: Path, place: str, last: int) -> int:
        """Kill it, check the books, ask again; return how the process ended."""
        folder.mkdir()
        catalog, seen = write_people(folder, place, 10), folder / "seen"
        end = run(
            ask_dying_at, catalog, self.sql, last, seen, within_the_ledger=self.within_the_ledger
        )
        with existing_ledger(place) as ledger:
            ledger.verify()
            kinds = kinds_in(ledger)
            assert kinds["answer"] <= kinds["charge"]
            assert kinds["charge"] in {0, self.releases}  # all of a question, or nothing of it
            assert ledger.remaining().epsilon == 10 - Fraction(kinds["charge"], self.releases)
        assert kinds["answer"] == self.releases or not seen.exists()
        again = answer_in(catalog, self.sql)
        assert not seen.exists() or again == seen.read_text()
        with existing_ledger(place) as ledger:
            ledger.verify()
            charged = {"charge": self.releases, "answer": self.releases}
            assert kinds_in(ledger) == {"policy": 1, **charged}
            assert ledger.remaining().epsilon == 9
        return end

    def check_everywhere(self, folder: Path, place: str) -> int:
        """Kill it at its first step, its second, and so on until it survives; return how many."""
        for last in range(1, 1000):
            here = f"{place}_{last}"  # another file, or another schema
            if self.check(folder / str(last), here, last) == 0:
                return last - 1
        pytest.fail("the question never came to an end")


def test_killed_between_question_and_answer_it_is_paid_before_it_is_seen_and_once(
    tmp_path: Path, place: str
) -> None:
    steps = Crash(sql=COUNT, releases=1).check_everywhere(tmp_path, place)
    assert steps >= 2 * len(STEPS) + 2  # and before and after it is shown


@pytest.mark.slow
@pytest.mark.parametrize("within_the_ledger", [False, True])
def test_killed_between_two_releases_it_is_paid_before_it_is_seen_and_once(
    tmp_path: Path, place: str, within_the_ledger: bool
) -> None:
    crash = Crash(sql=NESTED, releases=2, within_the_ledger=within_the_ledger)
    assert crash.check_everywhere(tmp_path, place) > (40 if within_the_ledger else 23)


def test_all_who_ask_the_same_at_once_see_the_same_and_one_pays(tmp_path: Path, place: str) -> None:
    catalog, barrier = write_people(tmp_path, place, 10), PROCESSES.Barrier(4)
    files = [tmp_path / f"seen {i}" for i in range(4)]
    assert ends_of([start(ask_the_same, catalog, barrier, each) for each in files]) == [0] * 4
    assert len({each.read_text() for each in files}) == 1
    with existing_ledger(place) as ledger:
        ledger.verify()
        assert kinds_in(ledger) == {"policy": 1, "charge": 2, "answer": 2}
        assert ledger.remaining().epsilon == 9


def test_who_asks_while_another_is_killed_pays_once_with_them(tmp_path: Path, place: str) -> None:
    """The first dies when it has charged for both releases and answered neither.

    If the other was faster, it has nothing to charge, and dies before it shows what was kept.
    """
    catalog, seen, barrier = (
        write_people(tmp_path, place, 10),
        tmp_path / "seen",
        PROCESSES.Barrier(1),
    )
    dying = start(ask_dying_at, catalog, NESTED, 4, tmp_path / "unseen")
    living = start(ask_the_same, catalog, barrier, seen)
    assert ends_of([dying, living]) == [-signal.SIGKILL, 0]
    assert not (tmp_path / "unseen").exists()
    assert answer_in(catalog, NESTED) == seen.read_text()
    with existing_ledger(place) as ledger:
        ledger.verify()
        assert ledger.remaining().epsilon == 9


def check_crowd(folder: Path, place: str, *, processes: int, threads: int, fits: int) -> None:
    """Let all threads of all processes ask questions of their own; exactly so many are answered."""
    catalog, barrier = write_people(folder, place, fits * TENTH), PROCESSES.Barrier(processes)
    files = [folder / f"seen {i}" for i in range(processes)]
    crowd = [
        start(ask_others, catalog, barrier, threads, number, file)
        for number, file in enumerate(files)
    ]
    assert ends_of(crowd) == [0] * processes
    ends = Counter(line for each in files for line in each.read_text().splitlines())
    assert ends == {"answered": fits, "refused": processes * threads - fits}
    with existing_ledger(place) as ledger:
        ledger.verify()
        assert kinds_in(ledger) == {"policy": 1, "charge": fits, "answer": fits}
        assert ledger.remaining().epsilon == 0
    with discreet.open(catalog) as people:
        assert people.remaining.epsilon == 0


def test_exactly_what_the_budget_allows_is_answered(tmp_path: Path, place: str) -> None:
    check_crowd(tmp_path, place, processes=8, threads=8, fits=41)


@pytest.mark.slow
@pytest.mark.parametrize(("processes", "threads", "fits"), [(32, 1, 20), (1, 32, 20), (32, 8, 201)])
def test_exactly_what_the_budget_allows_is_answered_to_a_crowd(
    tmp_path: Path, place: str, processes: int, threads: int, fits: int
) -> None:
    check_crowd(tmp_path, place, processes=processes, threads=threads, fits=fits)
