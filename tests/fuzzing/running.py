"""Asks random questions of twin databases: each is refused before the charge, or runs on all."""

import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from discreet.curator import Curator
from discreet.errors import DiscreetError, EngineError
from tests.fuzzing.tables import TWINS, opened

ANSWERED, REFUSED = "answered", "refused"


@contextmanager
def twins(kind: str, *, is_prepared: bool, names: Iterable[str] = TWINS) -> Iterator[list[Curator]]:
    """Yield a curator of each twin on an engine of a kind."""
    with ExitStack() as stack:
        curators = []
        for name in names:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
            made = opened(kind, name, folder, is_prepared=is_prepared)
            curators.append(stack.enter_context(made))
        yield curators


def outcome(curator: Curator, sql: str) -> str:
    """Return whether a question is answered or refused; anything else is what is looked for."""
    before = curator.remaining
    try:
        list(curator.ask(sql, epsilon=1).rows)
    except EngineError:
        return "the engine failed"
    except DiscreetError as error:
        is_free = curator.remaining == before
        return REFUSED if is_free else f"charged, then refused: {type(error).__name__}: {error}"
    except Exception as error:  # noqa: BLE001 - any other class is a mistake, which is reported
        return f"raised {type(error).__name__}: {error}"
    return ANSWERED


def failures(curators: list[Curator], asked: Iterable[str], tally: Counter[str]) -> list[str]:
    """Return what went wrong with these questions, and count how they ended."""
    found = []
    for place, sql in enumerate(asked):
        outcomes = [outcome(each, sql) for each in curators]
        tally[outcomes[0]] += 1
        if len(set(outcomes)) > 1 or outcomes[0] not in (ANSWERED, REFUSED):
            found.append(f"question {place}: {outcomes}\n{sql}")
    return found
