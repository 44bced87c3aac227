"""Plots, with matplotlib: the extra `plots`."""

from typing import TYPE_CHECKING

from discreet.deprecated import deprecated_names

if not TYPE_CHECKING:
    __getattr__ = deprecated_names(
        __name__,
        {
            "Panel": "discreet.plots.answers.Panel",
            "Plot": "discreet.plots.figure.Plot",
            "Success": "discreet.plots.answers.Success",
            "check_format": "discreet.plots.figure.check_format",
            "plot_answer_bars": "discreet.plots.answers.plot_answer_bars",
            "plot_answer_dots": "discreet.plots.answers.plot_answer_dots",
            "plot_answer_lines": "discreet.plots.answers.plot_answer_lines",
            "plot_bars": "discreet.plots.distributions.plot_bars",
            "plot_choices": "discreet.plots.distributions.plot_choices",
            "plot_claims": "discreet.plots.answers.plot_claims",
            "plot_counts": "discreet.plots.distributions.plot_counts",
            "plot_curves": "discreet.plots.distributions.plot_curves",
            "plot_errors": "discreet.plots.distributions.plot_errors",
            "plot_heat": "discreet.plots.distributions.plot_heat",
            "plot_heats": "discreet.plots.distributions.plot_heats",
            "plot_nothing": "discreet.plots.answers.plot_nothing",
            "plot_success": "discreet.plots.answers.plot_success",
            "plot_truth": "discreet.plots.distributions.plot_truth",
        },
    )
