"""Plots of answers, distributions, attacks and audits. Drawing them needs Matplotlib."""

from discreet.plots.answers import (
    Panel,
    Success,
    plot_answer_bars,
    plot_answer_dots,
    plot_answer_heat,
    plot_answer_lines,
    plot_claims,
    plot_nothing,
    plot_success,
)
from discreet.plots.distributions import (
    plot_bars,
    plot_choices,
    plot_counts,
    plot_curves,
    plot_errors,
    plot_heat,
    plot_heats,
    plot_truth,
)
from discreet.plots.figure import Plot, check_format
from discreet.plots.horizons import plot_horizons

__all__ = [
    "Panel",
    "Plot",
    "Success",
    "check_format",
    "plot_answer_bars",
    "plot_answer_dots",
    "plot_answer_heat",
    "plot_answer_lines",
    "plot_bars",
    "plot_choices",
    "plot_claims",
    "plot_counts",
    "plot_curves",
    "plot_errors",
    "plot_heat",
    "plot_heats",
    "plot_horizons",
    "plot_nothing",
    "plot_success",
    "plot_truth",
]
