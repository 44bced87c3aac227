"""Plots of distributions, choices, errors and channels."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from discreet.extras import matplotlib_module
from discreet.plots.figure import (
    COLOURS,
    HERE,
    LETTERS_MOST,
    LIMIT,
    PALE,
    STEMS_MOST,
    THERE,
    Floats,
    Plot,
    legend_above,
    new_figure,
    thousands,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from discreet.plots.answers import Panel


def plot_curves(  # noqa: PLR0913 - two distributions and their names
    values: Floats,
    here: Floats,
    there: Floats,
    *,
    epsilon: float,
    title: str,
    names: tuple[str, str],
) -> Plot:
    """Plot the densities of two neighbouring answers, and below them their likelihood ratio."""
    figure, top, bottom = _distribution_and_loss(title, "density", epsilon)
    top.plot(values, here, color=HERE, label=names[0])
    top.plot(values, there, color=THERE, label=names[1])
    bottom.plot(*_privacy_loss(values, here, there), color=HERE)
    _name_values(top, bottom, "released value")
    return Plot(figure)


def plot_counts(  # noqa: PLR0913 - two distributions and their names
    values: Floats,
    here: Floats,
    there: Floats,
    *,
    epsilon: float,
    title: str,
    names: tuple[str, str],
    label: str = "released value",
) -> Plot:
    """Plot the probabilities of integers, and below them their likelihood ratio.

    There is nothing between integers, so probabilities are stems or dots, and ratios are steps.
    """
    figure, top, bottom = _distribution_and_loss(title, "probability", epsilon)
    has_stems = len(values) <= STEMS_MOST
    aside = 0.08 if has_stems else 0.0
    for law, colour, name, moved in (
        (here, HERE, names[0], -aside),
        (there, THERE, names[1], aside),
    ):
        size = 4 if has_stems else 2
        top.plot(values + moved, law, "o", color=colour, markersize=size, label=name)
        if has_stems:
            top.vlines(values + moved, 0, law, color=colour, linewidth=1)
    top.set_ylim(bottom=0)
    bottom.step(*_privacy_loss(values, here, there), where="mid", color=HERE)
    bottom.locator_params(axis="x", integer=True)
    _name_values(top, bottom, label)
    return Plot(figure)


def plot_choices(
    here: Floats, there: Floats, *, epsilon: float, title: str, names: tuple[str, str]
) -> Plot:
    """Plot the distributions of a choice for two neighbouring lists, one stem per candidate."""
    places = np.arange(len(here), dtype=np.float64)
    return plot_counts(
        places, here, there, epsilon=epsilon, title=title, names=names, label="candidate"
    )


def _distribution_and_loss(title: str, label: str, epsilon: float) -> "tuple[Figure, Axes, Axes]":
    """Return a figure with axes for distributions above, and for their likelihood ratio below."""
    figure = new_figure(7.2, 5.4)
    top, bottom = figure.subplots(2, 1, sharex=True, height_ratios=(2, 1))
    top.set_title(title)
    top.set_ylabel(label)
    for limit in (-epsilon, epsilon):
        bottom.axhline(limit, color=LIMIT, linestyle="--", linewidth=1)
    # The axis shows the logarithm of the ratio, because e^epsilon may be too large for a float.
    bottom.set_yticks([-epsilon, 0, epsilon], ["e^-ε", "1", "e^ε"])
    bottom.set_ylabel("likelihood ratio")
    return figure, top, bottom


def _privacy_loss(values: Floats, here: Floats, there: Floats) -> tuple[Floats, Floats]:
    """Return the values that both distributions can give, and the privacy loss of each."""
    seen = (here > 0) & (there > 0)
    return values[seen], np.log(here[seen]) - np.log(there[seen])


def _name_values(top: "Axes", bottom: "Axes", label: str) -> None:
    """Label the curves and the values. Values are written in full, without an offset."""
    top.legend(frameon=False)
    bottom.set_xlabel(label)
    bottom.ticklabel_format(axis="x", useOffset=False, scilimits=(-4, 12))


def plot_bars(
    names: Sequence[str],
    series: Mapping[str, Sequence[float]],
    errors: Mapping[str, float],
    *,
    title: str,
    label: str,
) -> Plot:
    """Plot one group of bars for each name, with error bars for series that have an error."""
    figure = new_figure(7.2, 4.2)
    axes = figure.subplots()
    width = 0.8 / len(series)
    for i, (name, heights) in enumerate(series.items()):
        places = np.arange(len(names)) + (i - (len(series) - 1) / 2) * width
        colour = (LIMIT, HERE, THERE)[i % 3]
        error = errors.get(name)
        axes.bar(places, heights, width, label=name, color=colour, yerr=error, capsize=3)
    axes.set_xticks(np.arange(len(names)), names)
    axes.set_ylabel(label)
    axes.set_title(title)
    legend_above(axes)
    return Plot(figure)


def plot_truth(
    labels: Sequence[str], truth: Floats, panel: "Panel", *, label: str, title: str
) -> Plot:
    """Plot estimates with their intervals next to the truth, for each label."""
    figure = new_figure(7.2, 4.2)
    axes = figure.subplots()
    places = np.arange(len(labels), dtype=np.float64)
    axes.bar(places, truth, 0.7, color=PALE, label="truth")
    axes.errorbar(
        places,
        panel.values,
        yerr=panel.errors,
        label=panel.title,
        fmt="o",
        color=HERE,
        markersize=4,
        capsize=3,
    )
    axes.axhline(0, color=LIMIT, linewidth=0.8)
    axes.set_xticks(places, labels, parse_math=False)
    if sum(map(len, labels)) + 2 * len(labels) > LETTERS_MOST:
        for text in axes.get_xticklabels():
            text.set(rotation=45, ha="right", rotation_mode="anchor")
    axes.yaxis.set_major_formatter(thousands)
    axes.set_ylabel(label)
    axes.set_title(title)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False)
    return Plot(figure)


def plot_errors(
    places: Floats, lines: Mapping[str, tuple[Floats, Floats]], *, title: str, label: str, at: str
) -> Plot:
    """Plot errors on two logarithmic axes, with theory as lines and observations as dots."""
    figure = new_figure(6.4, 4.4)
    axes = figure.subplots()
    styles = zip(COLOURS, ("-", "--", ":", "-."), lines.items(), strict=False)
    for colour, dashes, (name, (theory, observed)) in styles:
        axes.plot(places, theory, dashes, color=colour, linewidth=1.5, label=name)
        axes.plot(places, observed, "o", color=colour, markersize=4.5)
    axes.set_xscale("log")
    axes.set_yscale("log")
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter(thousands)
        axis.set_minor_formatter(matplotlib_module().ticker.NullFormatter())
    axes.set_xticks(places)
    axes.set_xticks([], minor=True)
    axes.yaxis.set_major_locator(matplotlib_module().ticker.LogLocator(subs=(1, 2, 5)))
    axes.set_xlabel(at)
    axes.set_ylabel(label)
    axes.set_title(title)
    axes.grid(color=PALE, linewidth=0.6)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, title="lines: theory, dots: observed")
    return Plot(figure)


def plot_heat(channel: Floats, *, title: str, rows: Sequence[str], columns: Sequence[str]) -> Plot:
    """Plot a channel as a heat map, with a row for each exact answer and a column per output."""
    figure = new_figure(6.4, 5.6)
    axes = figure.subplots()
    image = axes.imshow(channel, cmap="Blues", vmin=0, aspect="auto", interpolation="nearest")
    figure.colorbar(image, ax=axes, label="probability")
    for labels, axis in ((rows, axes.yaxis), (columns, axes.xaxis)):
        step = max(1, len(labels) // 10)
        axis.set_ticks(range(0, len(labels), step), labels[::step])
    axes.set_xlabel("released")
    axes.set_ylabel("exact")
    axes.set_title(title)
    return Plot(figure)


def plot_heats(
    panels: Sequence[tuple[str, Floats]],
    *,
    title: str,
    rows: Sequence[str],
    columns: Sequence[str],
) -> Plot:
    """Plot channels of the same answers side by side, two in a row, with one colour scale."""
    lines = (len(panels) + 1) // 2
    figure = new_figure(8.4, 0.6 + 3.6 * lines)
    grid = figure.subplots(lines, 2, sharex=True, sharey=True, squeeze=False).ravel()
    most = max(float(channel.max()) for _, channel in panels)
    # Square roots, so that probabilities far from the largest are still visible.
    roots = matplotlib_module().colors.PowerNorm(0.5, vmin=0, vmax=most)
    for axes, (name, channel) in zip(grid, panels, strict=False):
        image = axes.imshow(
            channel, cmap="Blues", norm=roots, aspect="auto", interpolation="nearest"
        )
        axes.set_title(name, fontsize=10)
    for spare in grid[len(panels) :]:
        spare.set_visible(False)
    for labels, axis in ((rows, grid[0].yaxis), (columns, grid[0].xaxis)):
        step = max(1, len(labels) // 5)
        axis.set_ticks(range(0, len(labels), step), labels[::step])
    figure.colorbar(image, ax=list(grid), label="probability", shrink=0.8)
    figure.supxlabel("released", fontsize=10)
    figure.supylabel("exact", fontsize=10)
    figure.suptitle(title)
    return Plot(figure)
