"""A budget for 50 questions, and 8 who ask 20 each at once (L1): 50 answers, and no more.

The ledger's own races, of threads and of processes, are in tests/ledger/test_races.py; here whole
questions race, from their text to their answers.
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from fractions import Fraction
from threading import Barrier

import pyarrow as pa

import discreet
from discreet.curator import Curator
from discreet.errors import BudgetError

THREADS, ASKS, FITS = 8, 20, 50
PRICE = Fraction(1, 10)

Ask = Callable[[str], bool]
"""Asks a question at its price, and says whether it was answered."""


def opened(epsilon: Fraction) -> Curator:
    visits = pa.table({"person": [1, 2, 3], "day": [1, 2, 3]})
    return discreet.open(visits, name="visits", unit="person", rows_per_unit=1, epsilon=epsilon)


def answered(ask: Ask) -> int:
    """Return how many questions are answered, of which no two are the same."""

    def asked(who: int) -> int:
        days = range(who * ASKS, (who + 1) * ASKS)
        return sum(ask(f"SELECT COUNT(*) FROM visits WHERE day > {-each}") for each in days)  # noqa: S608

    with ThreadPoolExecutor(THREADS) as pool:
        return sum(pool.map(asked, range(THREADS)))


def charging_first(curator: Curator) -> Ask:
    def ask(sql: str) -> bool:
        try:
            curator.ask(sql, epsilon=PRICE)
        except BudgetError:
            return False
        return True

    return ask


def answering_first(curator: Curator, unpaid: Curator) -> Ask:
    """Look whether enough is left, answer, and charge for it then; all look before anyone pays."""
    together = Barrier(THREADS)

    def ask(sql: str) -> bool:
        is_enough = curator.remaining.epsilon >= PRICE
        together.wait()
        if is_enough:
            unpaid.ask(sql, epsilon=PRICE)
            with suppress(BudgetError):
                curator.ask(sql, epsilon=PRICE)
        together.wait()
        return is_enough

    return ask


def test_exactly_what_the_budget_allows_is_answered() -> None:
    with opened(FITS * PRICE) as curator:
        assert answered(charging_first(curator)) == FITS
        assert curator.remaining.epsilon == 0


def test_a_twin_that_answers_before_it_charges_is_caught() -> None:
    with opened(FITS * PRICE) as curator, opened(Fraction(1000)) as unpaid:
        assert answered(answering_first(curator, unpaid)) > FITS
        assert curator.remaining.epsilon == 0
