"""What fails midway (cases L5, R8): the charge stays, nothing is shown, nothing is drawn twice."""

from collections.abc import Callable, Iterator
from typing import Any, NoReturn

import pytest

from discreet.errors import EngineError, EntropyError
from discreet.noise import SystemEntropy
from discreet.tables import ExactTable
from tests.attacks.twins import Twin, twin

SQL = "SELECT s, COUNT(*) AS n, MEDIAN(x) AS m FROM p GROUP BY s"


@pytest.fixture
def victim() -> Iterator[Twin]:
    opened = twin("present")
    yield opened
    opened.curator.close()


def failing(error: BaseException) -> Callable[..., NoReturn]:
    def fail(*_: object, **__: object) -> NoReturn:
        raise error

    return fail


def after(runs: int, error: BaseException, run: Callable[..., ExactTable]) -> Callable[..., Any]:
    """Return a run that fails once so many have been done."""
    left = [runs]

    def fail(*given: object) -> ExactTable:
        if not left[0]:
            raise error
        left[0] -= 1
        return run(*given)

    return fail


def test_r8_without_randomness_nothing_is_answered(
    victim: Twin, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The answer that was paid for comes when the system has randomness again."""
    before = victim.curator.remaining.epsilon
    with monkeypatch.context() as patch:
        patch.setattr(SystemEntropy, "draw", failing(EntropyError()))
        for _ in range(3):
            with pytest.raises(EntropyError, match="nothing was released"):
                victim.curator.ask(SQL, epsilon=1)
    assert before - victim.curator.remaining.epsilon == 1
    answer = victim.curator.ask(SQL, epsilon=1)
    assert len(answer.rows) == 3
    assert before - victim.curator.remaining.epsilon == 1
    assert victim.curator.ask(SQL, epsilon=1).rows == answer.rows


@pytest.mark.parametrize(
    "error",
    [KeyboardInterrupt(), EngineError(), MemoryError(), RuntimeError()],
    ids=lambda each: type(each).__name__,
)
@pytest.mark.parametrize("runs", [0, 1])
def test_l5_what_is_cancelled_after_data_were_read_stays_charged(
    victim: Twin, error: BaseException, runs: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = KeyboardInterrupt if isinstance(error, KeyboardInterrupt) else EngineError
    before = victim.curator.remaining.epsilon
    with monkeypatch.context() as patch:
        patch.setattr(victim.engine, "run", after(runs, error, victim.engine.run))
        with pytest.raises(told):
            victim.curator.ask(SQL, epsilon=1)
    if told is EngineError:
        victim.curator.resume("owner")
    assert before - victim.curator.remaining.epsilon == 1
    assert len(victim.curator.ask(SQL, epsilon=1).rows) == 3
    assert before - victim.curator.remaining.epsilon == 1


def test_l5_an_answer_that_was_never_seen_is_the_answer_when_asked_again(
    victim: Twin, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who breaks off until the noise is kind gets the same noise every time."""
    seen = []
    for _ in range(3):
        with monkeypatch.context() as patch:
            patch.setattr("discreet.curator.present", failing(KeyboardInterrupt()))
            with pytest.raises(KeyboardInterrupt):
                victim.curator.ask(SQL, epsilon=1)
        seen.append(victim.curator.ask(SQL, epsilon=1).rows)
    assert seen[0] == seen[1] == seen[2]
    assert victim.curator.remaining.total_epsilon - victim.curator.remaining.epsilon == 1
