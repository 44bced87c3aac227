"""Plots of streams: the error of running totals against the horizon."""

from collections.abc import Mapping, Sequence
from itertools import cycle

from discreet.plots.figure import COLOURS, Plot, new_figure, thousands


def plot_horizons(lines: Mapping[str, Mapping[int, float]], *, title: str, error: str) -> Plot:
    """Plot an error against the number of ticks, both scales logarithmic, one line for each name.

    A line holds the error by number of ticks.
    """
    figure = new_figure(7.2, 4.4)
    axes = figure.subplots()
    looks = ((colour, mark) for mark in cycle("os^") for colour in COLOURS)
    for (colour, mark), (name, line) in zip(looks, lines.items(), strict=False):
        ticks: Sequence[int] = sorted(line)
        errors = [line[each] for each in ticks]
        axes.plot(ticks, errors, f"{mark}-", color=colour, markersize=4, label=name)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.xaxis.set_major_formatter(thousands)
    axes.yaxis.set_major_formatter(thousands)
    axes.set_xlabel("ticks")
    axes.set_ylabel(error)
    axes.set_title(title)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5))
    return Plot(figure)
