"""Series on a server, as a client reads them."""

from collections.abc import Awaitable
from fractions import Fraction
from typing import Protocol, TypeVar

from discreet.answer.series_table import SeriesStatus, SeriesTable
from discreet.client import calls
from discreet.client.calls import Steps
from discreet.explanation.series import SeriesExplanation
from discreet.parameters import Real

T = TypeVar("T")


class MakesCalls(Protocol):
    """Makes the calls of some steps, and returns their result."""

    def __call__(self, steps: Steps[T], /) -> T: ...


class AwaitsCalls(Protocol):
    """The same for asyncio."""

    def __call__(self, steps: Steps[T], /) -> Awaitable[T]: ...


class RemoteSeries:
    """A series on a server: its released ticks are read for free."""

    def __init__(self, name: str, path: str, run: MakesCalls) -> None:
        self.name, self._path, self._run = name, path, run

    @property
    def status(self) -> SeriesStatus:
        """How far it is."""
        return self.explain().status

    @property
    def epsilon(self) -> Fraction:
        """What all ticks together cost."""
        return self.explain().price.epsilon

    @property
    def delta(self) -> Fraction:
        """The delta of all ticks together."""
        return self.explain().price.delta

    def read(
        self,
        kind: str = "running",
        *,
        window: int | None = None,
        confidence: Real = 0.95,
        last: int | None = None,
    ) -> SeriesTable:
        """Return what is released, as `SeriesReader.read` does; of many ticks, the last ones."""
        return self._run(self._reading(kind, window, confidence, last))

    def explain(self, *, confidence: Real = 0.95) -> SeriesExplanation:
        """Return its cost, its state and its margins of error."""
        return self._run(calls.explain_series(self._path, self.name, confidence))

    def _reading(
        self, kind: str, window: int | None, confidence: Real, last: int | None
    ) -> Steps[SeriesTable]:
        terms = {"kind": kind, "window": window, "confidence": confidence, "last": last}
        return calls.read_series(self._path, self.name, terms)

    def __repr__(self) -> str:
        return f"RemoteSeries({self.name!r})"


class AsyncRemoteSeries:
    """A series on a server, for asyncio."""

    def __init__(self, name: str, path: str, run: AwaitsCalls) -> None:
        self.name, self._path, self._run = name, path, run

    async def status(self) -> SeriesStatus:
        """Return how far it is."""
        return (await self.explain()).status

    async def read(
        self,
        kind: str = "running",
        *,
        window: int | None = None,
        confidence: Real = 0.95,
        last: int | None = None,
    ) -> SeriesTable:
        """Return what is released, as `SeriesReader.read` does; of many ticks, the last ones."""
        return await self._run(self._reading(kind, window, confidence, last))

    async def explain(self, *, confidence: Real = 0.95) -> SeriesExplanation:
        """Return its cost, its state and its margins of error."""
        return await self._run(calls.explain_series(self._path, self.name, confidence))

    def _reading(
        self, kind: str, window: int | None, confidence: Real, last: int | None
    ) -> Steps[SeriesTable]:
        terms = {"kind": kind, "window": window, "confidence": confidence, "last": last}
        return calls.read_series(self._path, self.name, terms)

    def __repr__(self) -> str:
        return f"AsyncRemoteSeries({self.name!r})"
