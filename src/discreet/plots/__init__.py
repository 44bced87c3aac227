"""Plots of answers, distributions, attacks and audits. Drawing them needs Matplotlib."""

from typing import TYPE_CHECKING

from discreet.on_use import names_of

if TYPE_CHECKING:
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

_MODULES = {
    "answers": (
        "Panel Success plot_answer_bars plot_answer_dots plot_answer_heat "
        "plot_answer_lines plot_claims plot_nothing plot_success"
    ),
    "distributions": (
        "plot_bars plot_choices plot_counts plot_curves plot_errors plot_heat plot_heats plot_truth"
    ),
    "figure": "Plot check_format",
    "horizons": "plot_horizons",
}
"""The modules, and the public names that each gives."""

if not TYPE_CHECKING:
    __getattr__ = names_of(__name__, _MODULES)
