"""`discreet series`: release ticks that are due, and read released ones."""
# ruff: noqa: PLR0913 - each argument is an option

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from fractions import Fraction
from pathlib import Path

import typer

from discreet.account import Account
from discreet.amounts import Price
from discreet.answer.series_table import SeriesTable
from discreet.catalog.clocks import in_utc, utc_now
from discreet.catalog.resolve import read
from discreet.cli.ask import Asked, check_chart, without_data
from discreet.cli.console import (
    answers,
    is_interactive,
    number,
    progress,
    remark,
    show,
    show_table,
    waiting,
    width_of,
)
from discreet.cli.options import AccountOptions, OutputFormat, output_format
from discreet.cli.series_signatures import SeriesKind
from discreet.curator import Curator
from discreet.errors import BudgetError, DiscreetError, ParameterError
from discreet.explanation.series import SeriesExplanation
from discreet.opening import open_for_ticks
from discreet.series import Series, explain_all

REJECTED, EXHAUSTED = 1, 3
"""The exit codes if ticks of a series could not be released, as of other errors."""

NONE = "The catalog declares no series."


def list_series(*, catalog: Path, is_json: bool, token: str | None, server: str | None) -> None:
    """Print all series as a table, or as JSON."""
    with without_data(catalog, AccountOptions(token=token, server=server)) as curator:
        found = _explained(curator)
    if is_json:
        show(json.dumps({"series": [each.to_record() for each in found]}, indent=2))
    elif not found:
        show(NONE)
    else:
        show_table(_columns(found), right=("released",))
        for each in found:
            if each.problem:
                remark(f"{each.name}: no tick can be released. {each.problem}")


def _explained(curator: Asked) -> Sequence[SeriesExplanation]:
    if isinstance(curator, Curator | Account):
        return explain_all(curator.all_series())
    return curator.explain_all_series()


def _columns(found: Sequence[SeriesExplanation]) -> dict[str, list[str]]:
    return {
        "series": [each.name for each in found],
        "clock": [each.clock for each in found],
        "released": [f"{each.status.released:,} of {each.status.ticks:,}" for each in found],
        "next tick (UTC)": [_next(each) for each in found],
        "cost": [str(each.price) for each in found],
        "charged": ["yes" if each.status.is_charged else "no" for each in found],
    }


def _next(each: SeriesExplanation) -> str:
    status = each.status
    if status.due > status.released:
        return f"{number(status.due - status.released, 'tick')} now"
    moment = status.next_at
    return "none" if moment is None else moment.isoformat(sep=" ", timespec="minutes")


def explain_series(
    *,
    name: str,
    catalog: Path,
    is_json: bool,
    confidence: Fraction,
    token: str | None,
    server: str | None,
) -> None:
    """Print what a series is like, before or after it is charged."""
    with without_data(catalog, AccountOptions(token=token, server=server)) as curator:
        found = curator.series(name).explain(confidence=confidence)
    show(found.to_json(indent=2) if is_json else found.to_text(width=width_of(answers())))


# --------------------------------------------------------------------------- released ticks


def show_series(
    *,
    name: str,
    kind: SeriesKind,
    window: int | None,
    last: int | None,
    catalog: Path,
    is_json: bool,
    is_csv: bool,
    confidence: Fraction,
    token: str | None,
    server: str | None,
) -> None:
    """Print released ticks; of a series that has none, what it will be like."""
    form, kind = output_format(is_json=is_json, is_csv=is_csv), _checked(kind, window)
    with without_data(catalog, AccountOptions(token=token, server=server)) as curator:
        if form is OutputFormat.TEXT:
            about = curator.series(name).explain(confidence=confidence)
            if not about.status.released:
                show(about.to_text(width=width_of(answers())))
                return
        found = _read(curator, name, kind=kind, window=window, last=last, confidence=confidence)
    match form:
        case OutputFormat.TEXT:
            show(found.to_text(width=width_of(answers())))
        case OutputFormat.JSON:
            typer.echo(json.dumps(found.to_json(), indent=2))
        case OutputFormat.CSV:
            typer.echo(str(found.to_csv()).removesuffix("\n"))


def plot_series(
    *,
    name: str,
    output: Path,
    kind: SeriesKind,
    window: int | None,
    last: int | None,
    catalog: Path,
    confidence: Fraction,
    token: str | None,
    server: str | None,
) -> None:
    """Save a chart of a series and say where."""
    check_chart(output)
    kind = _checked(kind, window)
    with without_data(catalog, AccountOptions(token=token, server=server)) as curator:
        found = _read(curator, name, kind=kind, window=window, last=last, confidence=confidence)
    remark(f"Chart: {found.plot().save(output)}")


def _checked(kind: SeriesKind, window: int | None) -> SeriesKind:
    """Return what is shown. A window that is given needs no --kind."""
    if kind is SeriesKind.WINDOW and window is None:
        raise typer.BadParameter("Give the number of ticks of a window, such as --window 7.")
    if kind is SeriesKind.TICK and window is not None:
        raise typer.BadParameter("--window is for --kind window.")
    return kind if window is None else SeriesKind.WINDOW


def _read(
    curator: Asked,
    name: str,
    *,
    kind: SeriesKind,
    window: int | None,
    last: int | None,
    confidence: Fraction,
) -> SeriesTable:
    """Return released ticks; a server sends only those that are wanted."""
    if not isinstance(curator, Curator | Account):
        found = curator.series(name)
        return found.read(kind.value, window=window, confidence=confidence, last=last)
    table = curator.series(name).read(kind.value, window=window, confidence=confidence)
    return table if last is None else table.last(last)


# --------------------------------------------------------------------------- releasing


@dataclass(frozen=True, slots=True, kw_only=True)
class TickReport:
    """What was released of a series, and charged for it."""

    series: str
    clock: str
    ticks: int
    charged: Price | None

    def __str__(self) -> str:
        done = f"Released {number(self.ticks, self.clock)}" if self.ticks else "No tick is due"
        paid = "" if self.charged is None else f" Spent {self.charged}."
        return f"{self.series}: {done}.{paid}"

    def to_json(self) -> dict[str, object]:
        """Return it for JSON."""
        price = None if self.charged is None else self.charged.to_json()
        return {"series": self.series, "ticks": self.ticks, "charged": price}


class Failures(list[tuple[str, DiscreetError]]):
    """The series that failed. Each is reported at once, and the others go on."""

    @contextmanager
    def of(self, series: Series) -> Iterator[None]:
        """Report an error of a series and go on."""
        try:
            yield
        except DiscreetError as error:
            self.append((series.name, error))
            remark(f"{series.name}: no tick was released. {error}")

    def to_json(self) -> list[dict[str, object]]:
        """Return them for JSON."""
        return [
            {"series": name, "type": type(error).__name__, "message": str(error)}
            for name, error in self
        ]


def tick_series(
    *, names: list[str] | None, until: str | None, yes: bool, catalog: Path, is_json: bool
) -> None:
    """Release what is due, and print what was released and charged.

    Before a series is charged, its cost is said, and someone at a terminal is asked.
    """
    moment, declared = _moment(until), read(catalog)
    with waiting("reading the data") as advance:
        curator = open_for_ticks(catalog, declared=declared, progress=advance)
    done: list[TickReport] = []
    failures = Failures()
    with curator:
        chosen = _chosen(curator, names or [])
        found: list[tuple[Series, SeriesExplanation]] = []
        for each in chosen:
            with failures.of(each):
                found.append((each, each.explain()))
        new = [(each, about) for each, about in found if _is_new(each, about, moment)]
        _confirm([about for _, about in new], is_confirmed=yes)
        for each, about in found:
            with failures.of(each):
                done.append(_ticked(each, about, moment))
                if not is_json:
                    show(str(done[-1]))
        is_charged = any(each.status.is_charged for each, _ in new)
        left = str(curator.remaining)
    if is_json:
        released = [each.to_json() for each in done]
        show(json.dumps({"released": released, "failed": failures.to_json()}, indent=2))
    elif not chosen:
        show(NONE)
    if is_charged:
        remark(f"Remaining: {left}")
    if failures:
        raise typer.Exit(EXHAUSTED if isinstance(failures[0][1], BudgetError) else REJECTED)


def _moment(until: str | None) -> datetime | None:
    if until is None:
        return None
    try:
        moment = datetime.fromisoformat(until)
    except ValueError:
        raise typer.BadParameter(
            f"{until!r} is not a timestamp. Write one like 2026-07-01 or 2026-07-01T12:00."
        ) from None
    if in_utc(moment) > utc_now():
        raise ParameterError("until", until, "must not be in the future")
    return moment


def _chosen(curator: Curator, names: Sequence[str]) -> list[Series]:
    """Return the series that were named, or all that the catalog declares."""
    if names:
        return [curator.series(each) for each in names]
    return [each for each in curator.all_series() if each.policy is not None]


def _is_new(series: Series, about: SeriesExplanation, until: datetime | None) -> bool:
    """Return whether a series would be charged now."""
    if about.status.is_charged or series.policy is None:
        return False
    return series.policy.due(utc_now() if until is None else in_utc(until)) > 0


def _confirm(new: Sequence[SeriesExplanation], *, is_confirmed: bool) -> None:
    """Say what would be charged, and ask someone at a terminal."""
    for each in new:
        ticks = f"all {each.status.ticks:,} {each.clock}s"
        remark(f"{each.name} costs {each.price} for {ticks}, charged once and now.")
    if not new or is_confirmed or not is_interactive():
        return
    if not typer.confirm("Charge and release?", err=True):
        raise DiscreetError("No tick was released, and nothing was spent")


def _ticked(series: Series, about: SeriesExplanation, until: datetime | None) -> TickReport:
    """Release what is due of a series."""
    with progress("releasing") as advance:
        ticks = series.tick(until, progress=lambda done, due: advance(series.name, done, due))
    is_new = series.status.is_charged and not about.status.is_charged
    return TickReport(
        series=series.name,
        clock=about.clock,
        ticks=ticks,
        charged=about.price if is_new else None,
    )
