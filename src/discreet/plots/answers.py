"""Plots of answers with error bars, of the success of attacks, and of the claims of an audit."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import cycle
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from discreet.extras import matplotlib_module
from discreet.plots.figure import (
    BAR,
    COLOURS,
    FILL,
    HERE,
    LETTERS_MOST,
    LIMIT,
    PALE,
    PLACES_MOST,
    UPRIGHT_MOST,
    Floats,
    Plot,
    new_figure,
    thousands,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


# --------------------------------------------------------------------------- answers


@dataclass(frozen=True, slots=True, kw_only=True)
class Panel:
    """A column of numbers to plot, NaN for missing ones, with margins of error if it has any.

    Margins have two rows where those below and above a number differ.
    """

    title: str
    values: Floats
    errors: Floats | None = None


def plot_answer_bars(
    labels: Sequence[str], panels: Sequence[Panel], *, is_ordered: bool, label: str
) -> Plot:
    """Plot a panel of bars with error bars for each column, horizontal if labels are long."""
    room = sum(map(len, labels)) + 2 * len(labels)
    if not is_ordered and (len(labels) > UPRIGHT_MOST or room > LETTERS_MOST):
        return _lying_bars(labels, panels, label)
    figure = new_figure(7.2, 1.2 + 2.4 * len(panels))
    places = np.arange(len(labels))
    # Otherwise a few bars would be too wide.
    beside = max(0.0, (4 - len(labels)) / 2)
    for axes, panel in _stacked(figure, panels):
        axes.bar(places, panel.values, 0.7, color=FILL, yerr=panel.errors, error_kw=BAR)
        axes.axhline(0, color=LIMIT, linewidth=0.8)
        axes.set_xlim(-0.6 - beside, len(labels) - 0.4 + beside)
        axes.set_xticks(places, labels, parse_math=False)
        if room > LETTERS_MOST:
            for text in axes.get_xticklabels():
                text.set(rotation=45, ha="right", rotation_mode="anchor")
        axes.yaxis.set_major_formatter(thousands)
    figure.axes[-1].set_xlabel(_literal(label))
    return Plot(figure)


def plot_answer_lines(
    places: "NDArray[np.datetime64] | Floats",
    panels: Sequence[Panel],
    *,
    lines: Mapping[str, NDArray[np.int64]],
    label: str,
) -> Plot:
    """Plot a panel of lines with bands for each column. `lines` has the rows of each, by name."""
    figure = new_figure(7.2, 1.2 + 2.4 * len(panels))
    for axes, panel in _stacked(figure, panels):
        for colour, (name, rows) in zip(COLOURS, lines.items(), strict=False):
            where, heights = places[rows], panel.values[rows]
            axes.plot(where, heights, color=colour, linewidth=1.5, label=_literal(name))
            if panel.errors is not None:
                below, above = np.broadcast_to(panel.errors, (2, len(panel.values)))[:, rows]
                low, high = heights - below, heights + above
                axes.fill_between(where, low, high, color=colour, alpha=0.2, linewidth=0)
        axes.yaxis.set_major_formatter(thousands)
        _order_axis(axes, places)
    if len(lines) > 1:
        handles, names = figure.axes[0].get_legend_handles_labels()
        figure.legend(handles, names, loc="outside right upper", frameon=False)
    figure.axes[-1].set_xlabel(_literal(label))
    return Plot(figure)


def plot_answer_heat(
    panels: Sequence[Panel],
    *,
    names: tuple[Sequence[str], Sequence[str]],
    cells: tuple[NDArray[np.int64], NDArray[np.int64]],
    labels: tuple[str, str],
) -> Plot:
    """Plot a heat map for each column. `cells` has the line and the column of each row's cell.

    `names` and `labels` are those of lines and of columns. A cell without a row stays grey.
    """
    lines, columns = map(len, names)
    width = min(14.0, max(6.4, 2.6 + 0.26 * columns))
    figure = new_figure(width, len(panels) * max(2.4, 1.2 + 0.24 * lines))
    for axes, panel in _stacked(figure, panels):
        grid = np.full((lines, columns), np.nan)
        grid[cells] = panel.values
        image = axes.imshow(grid, cmap="Blues", aspect="auto", interpolation="nearest")
        figure.colorbar(image, ax=axes, format=thousands)
        axes.set_facecolor(PALE)
        _name_cells(axes, names, width)
        axes.set_ylabel(_literal(labels[0]))
    figure.axes[len(panels) - 1].set_xlabel(_literal(labels[1]))
    return Plot(figure)


def _name_cells(axes: "Axes", names: tuple[Sequence[str], Sequence[str]], width: float) -> None:
    """Label lines and columns, some of them where there are many; long labels are turned."""
    for each, axis, most in zip(names, (axes.yaxis, axes.xaxis), (30, 40), strict=True):
        step = -(-len(each) // most)
        axis.set_ticks(range(0, len(each), step), each[::step], parse_math=False)
    shown = axes.get_xticklabels()
    if sum(len(text.get_text()) + 2 for text in shown) > 12 * width:
        for text in shown:
            text.set(rotation=90)


def plot_answer_dots(panels: Sequence[Panel]) -> Plot:
    """Plot each number of a single row as a dot with its interval, each on its own axis."""
    figure = new_figure(6.4, 0.2 + 1.2 * len(panels))
    for axes, panel in _stacked(figure, panels):
        axes.errorbar(panel.values, [0], xerr=panel.errors, fmt="o", color=HERE, capsize=4)
        axes.set_ylim(-1, 1)
        axes.set_yticks([])
        axes.spines["left"].set_visible(False)
        axes.margins(x=0.25)
        axes.xaxis.set_major_formatter(thousands)
    return Plot(figure)


def plot_nothing(sentence: str) -> Plot:
    """Show a sentence if there is nothing to plot."""
    figure = new_figure(6.4, 1.6)
    figure.text(0.5, 0.5, sentence, ha="center", va="center", color=LIMIT)
    return Plot(figure)


def _lying_bars(labels: Sequence[str], panels: Sequence[Panel], label: str) -> Plot:
    """Plot horizontal bars, with panels side by side and the first row on top."""
    figure = new_figure(min(2.2 + 3.6 * len(panels), 16), 1.1 + 0.27 * len(labels))
    side = figure.subplots(1, len(panels), sharey=True, squeeze=False)[0]
    places = np.arange(len(labels))
    for axes, panel in zip(side, panels, strict=True):
        axes.barh(places, panel.values, 0.7, color=FILL, xerr=panel.errors, error_kw=BAR)
        axes.axvline(0, color=LIMIT, linewidth=0.8)
        _name_panel(axes, panel)
        axes.xaxis.set_major_formatter(thousands)
        axes.xaxis.set_major_locator(matplotlib_module().ticker.MaxNLocator(5))
    side[0].set_yticks(places, labels, parse_math=False)
    side[0].set_ylim(len(labels) - 0.4, -0.6)
    side[0].set_ylabel(_literal(label))
    return Plot(figure)


def _stacked(figure: "Figure", panels: Sequence[Panel]) -> "list[tuple[Axes, Panel]]":
    """Return a labelled panel for each column, one below the other."""
    grid = figure.subplots(len(panels), 1, squeeze=False)[:, 0]
    for axes, panel in zip(grid, panels, strict=True):
        _name_panel(axes, panel)
    return list(zip(grid, panels, strict=True))


def _name_panel(axes: "Axes", panel: Panel) -> None:
    axes.set_title(_literal(panel.title), loc="left", fontsize=10)
    axes.spines[["top", "right"]].set_visible(False)


def _order_axis(axes: "Axes", places: "NDArray[np.datetime64] | Floats") -> None:
    """Label days in a short form, and numbers; ticks between whole keys would name none."""
    if not np.issubdtype(places.dtype, np.datetime64):
        numbers = places[np.isfinite(places)].astype(float)
        is_whole = bool(np.all(numbers == np.floor(numbers)))
        # Years have no commas.
        is_short = is_whole and bool(np.all(np.abs(numbers) < 10_000))
        axes.xaxis.set_major_formatter("{x:.10g}" if is_short else thousands)
        if is_whole:
            ticker = matplotlib_module().ticker
            locator = ticker.MaxNLocator("auto", steps=[1, 2, 5, 10], integer=True)
            axes.xaxis.set_major_locator(locator)
        return
    dates = matplotlib_module().dates
    locator = dates.AutoDateLocator()
    written = dates.ConciseDateFormatter(locator)
    low, high = axes.get_xlim()  # in days
    if high - low > 62:
        # The axis shows the names of months, and next to it only the year.
        written.offset_formats[2] = "%Y"
    axes.xaxis.set_major_locator(locator)
    axes.xaxis.set_major_formatter(written)


def _literal(text: str) -> str:
    """Return the text with dollar signs escaped, so that they do not start a formula."""
    return text.replace("$", r"\$")


# --------------------------------------------------------------------------- attacks


@dataclass(frozen=True, slots=True, kw_only=True)
class Success:
    """The share of right guesses by number of queries, and the most that epsilon allows."""

    name: str
    places: Sequence[int]
    shares: Sequence[float]
    intervals: Sequence[tuple[float, float]]
    allowed: float | None = None
    limits: Sequence[float] = ()
    """What is allowed at each place, where it is not the same at all of them."""
    ends: bool = False
    """Whether no more was answered after the last place."""


def plot_success(lines: Sequence[Success], *, chance: float, title: str, at: str) -> Plot:
    """Plot shares of right guesses with intervals, random guessing, and the limit by epsilon."""
    figure = new_figure(7.2, 4.4)
    axes = figure.subplots()
    looks = ((colour, mark) for mark in cycle("os^") for colour in COLOURS)
    for (colour, mark), line in zip(looks, lines, strict=False):
        _draw_success(axes, line, colour, mark)
    if any(line.ends for line in lines):
        axes.plot([], [], "X", color=LIMIT, markersize=8, label="stopped answering")
    axes.axhline(chance, color=LIMIT, linestyle=":", linewidth=1.2, label="random guessing")
    places = sorted({place for line in lines for place in line.places})
    # If no query was answered, the axis begins at 0.
    axes.set_xscale("log" if places[0] > 0 else "symlog")
    _name_places(axes, places)
    axes.yaxis.set_major_formatter(matplotlib_module().ticker.PercentFormatter(1.0, decimals=0))
    least = min(chance - 0.1, *(low for line in lines for low, _ in line.intervals))
    axes.set_ylim(max(0.0, least - 0.02), 1.02)
    axes.set_xlabel(at)
    axes.set_ylabel("correct guesses")
    axes.set_title(_literal(title))
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5))
    return Plot(figure)


def _name_places(axes: "Axes", places: Sequence[int]) -> None:
    """Label each position if there are few, else powers of ten."""
    if len(places) <= PLACES_MOST:
        axes.set_xticks(places)
    axes.xaxis.set_major_formatter(thousands)
    axes.xaxis.set_minor_formatter(matplotlib_module().ticker.NullFormatter())


def _draw_success(axes: "Axes", line: Success, colour: str, mark: str) -> None:
    low, high = np.array(line.intervals).T
    if len(line.places) == 1:
        axes.vlines(line.places, low, high, color=colour, alpha=0.5)
    axes.fill_between(line.places, low, high, color=colour, alpha=0.15, linewidth=0)
    axes.plot(line.places, line.shares, f"{mark}-", color=colour, markersize=4, label=line.name)
    if line.ends:
        axes.plot(line.places[-1], line.shares[-1], "X", color=colour, markersize=9)
    if line.limits:
        axes.plot(line.places, line.limits, "--", color=colour, linewidth=1.2, label="allowed")
    elif line.allowed is not None:
        name = f"allowed: {100 * line.allowed:.3g}%"
        axes.axhline(line.allowed, color=colour, linestyle="--", linewidth=1.2, label=name)


# --------------------------------------------------------------------------- audits


def plot_claims(groups: Mapping[str, Floats], *, title: str) -> Plot:
    """Plot the measured lower bound against the claimed epsilon, one dot each, and the diagonal."""
    figure = new_figure(5.6, 5.2)
    axes = figure.subplots()
    pairs = np.concatenate([np.zeros((1, 2)), *groups.values()])
    most = float(pairs.max()) * 1.05 or 1.0
    axes.plot([0, most], [0, most], color=LIMIT, linewidth=1)
    axes.fill_between([0, most], [0, most], most, color=PALE, alpha=0.35, linewidth=0)
    axes.text(0.6 * most, 0.94 * most, "claim refuted", ha="center", color="#57606a", fontsize=9)
    for (name, points), colour, mark in zip(groups.items(), COLOURS, "os^D", strict=False):
        axes.plot(points[:, 0], points[:, 1], mark, color=colour, markersize=4.5, label=name)
    axes.set(xlim=(0, most), ylim=(0, most), xlabel="claimed ε", ylabel="measured lower bound on ε")
    axes.set_title(title)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, loc="lower right")
    return Plot(figure)
