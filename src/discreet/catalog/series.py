"""Series as the catalog declares them: what is counted, how often, for how long, at what cost.

A series is charged once, when its first tick is released. Every tick is released once.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import Enum
from fractions import Fraction

from discreet.catalog.clocks import Clock

ROWS_FIX = "Write the most rows of one unit that count over the whole series: rows_per_unit = 10"


TICK, MARGIN = "tick", "_margin"
"""Columns that a series adds: when each tick began, and beside each number its margin of error."""


class SeriesMechanism(Enum):
    """How the noise of the ticks belongs together."""

    AUTO = "auto"
    """The one of the smallest error."""
    SQUARE_ROOT = "square-root"
    BUFFERED = "buffered-toeplitz"
    TREE = "tree"
    """Of the arity with the smallest error."""
    BINARY_TREE = "binary-tree"


@dataclass(frozen=True, slots=True, kw_only=True)
class SeriesPolicy:
    """A query whose result is released again at every tick, for one payment."""

    name: str
    question: str
    clock: Clock
    first: datetime
    """When the first tick begins, by UTC and without an offset."""
    ticks: int
    epsilon: Fraction
    delta: Fraction | None = None
    """None: as for a query."""
    rows_per_unit: int | None = None
    """The most rows of a unit that count over the whole series: its first ones by arrival."""
    rows_per_tick: int | None = None
    """The most rows of a unit that count in one tick."""
    wait: timedelta = timedelta(0)
    """How long after its end a tick is released, so that late rows are in it."""
    mechanism: SeriesMechanism = SeriesMechanism.AUTO

    def start(self, tick: int) -> datetime:
        """Return when a tick begins; the first one is tick 1."""
        return self.clock.after(self.first, tick - 1)

    def due(self, now: datetime) -> int:
        """Return how many ticks can be released by now."""
        return min(self.ticks, self.clock.between(self.first, now - self.wait))
