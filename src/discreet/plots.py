"""Plots. The only module that uses Matplotlib: it takes plain numbers and returns a `Plot`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from io import BytesIO
from itertools import cycle
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from discreet.errors import MissingExtraError, ParameterError
from discreet.writing import check_place, write_file

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

HERE, THERE, LIMIT = "#1f6feb", "#d9730d", "#8b949e"
"""Blue and orange differ for any colour vision. Grey is for limits."""

Floats: TypeAlias = NDArray[np.float64]

STEMS_MOST = 80
"""Up to this many values have stems. More stems would not be distinguishable."""

PLACES_MOST = 10
"""The most positions of an axis that are all labelled."""

FORMATS = (".png", ".svg", ".pdf")

COLOURS = (HERE, THERE, "#009e73", "#cc79a7", "#56b4e9", "#6e7781")
"""The colours of lines in one panel. They differ for any colour vision."""

UPRIGHT_MOST, LETTERS_MOST = 8, 72
"""The most vertical bars, and the most letters of their labels in total."""

FILL = "#6ea0f5"
"""The colour of bars, paler than the error bars on them."""

PALE = "#d0d7de"
"""The colour of backgrounds."""

BAR = {"elinewidth": 1.2, "capsize": 3, "ecolor": "#24292f"}
"""The style of an error bar on a bar."""


def check_format(option: str, path: str | Path) -> None:
    """Reject a file name with an unknown format, or a file that cannot be written."""
    if check_place(option, path).suffix.lower() not in FORMATS:
        raise ParameterError(option, str(path), f"must end in one of {', '.join(FORMATS)}")


@dataclass(frozen=True, slots=True)
class Plot:
    """A plot. A notebook shows it, and `save` writes it to a file."""

    figure: "Figure"

    def save(self, path: str | Path) -> Path:
        """Write a PNG, SVG or PDF file, by the ending of the name. The folder must exist."""
        check_format("path", path)
        ending, buffer = Path(path).suffix.lower(), BytesIO()
        # No date and no random names inside, so the same plot gives the same file.
        metadata = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}}.get(ending)
        with _matplotlib().rc_context({"svg.hashsalt": "discreet"}):
            self.figure.savefig(buffer, format=ending[1:], dpi=150, metadata=metadata)
        return write_file("path", path, buffer.getvalue())

    def _repr_png_(self) -> bytes:
        buffer = BytesIO()
        self.figure.savefig(buffer, format="png", dpi=110)
        return buffer.getvalue()


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
    figure, top, bottom = _law_and_odds(title, "density", epsilon)
    top.plot(values, here, color=HERE, label=names[0])
    top.plot(values, there, color=THERE, label=names[1])
    bottom.plot(*_log_odds(values, here, there), color=HERE)
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
    figure, top, bottom = _law_and_odds(title, "probability", epsilon)
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
    bottom.step(*_log_odds(values, here, there), where="mid", color=HERE)
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


def _law_and_odds(title: str, label: str, epsilon: float) -> "tuple[Figure, Axes, Axes]":
    """Return a figure with axes for distributions above, and for their likelihood ratio below."""
    figure = _figure(7.2, 5.4)
    top, bottom = figure.subplots(2, 1, sharex=True, height_ratios=(2, 1))
    top.set_title(title)
    top.set_ylabel(label)
    for limit in (-epsilon, epsilon):
        bottom.axhline(limit, color=LIMIT, linestyle="--", linewidth=1)
    # The axis shows the logarithm of the ratio, because e^epsilon may be too large for a float.
    bottom.set_yticks([-epsilon, 0, epsilon], ["e^-ε", "1", "e^ε"])
    bottom.set_ylabel("likelihood ratio")
    return figure, top, bottom


def _log_odds(values: Floats, here: Floats, there: Floats) -> tuple[Floats, Floats]:
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
    figure = _figure(7.2, 4.2)
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
    _legend_above(axes)
    return Plot(figure)


def plot_truth(
    labels: Sequence[str], truth: Floats, panel: "Panel", *, label: str, title: str
) -> Plot:
    """Plot estimates with their intervals next to the truth, for each label."""
    figure = _figure(7.2, 4.2)
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
    axes.yaxis.set_major_formatter(_thousands)
    axes.set_ylabel(label)
    axes.set_title(title)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False)
    return Plot(figure)


def plot_errors(
    places: Floats, lines: Mapping[str, tuple[Floats, Floats]], *, title: str, label: str, at: str
) -> Plot:
    """Plot errors on two logarithmic axes, with theory as lines and observations as dots."""
    figure = _figure(6.4, 4.4)
    axes = figure.subplots()
    styles = zip(COLOURS, ("-", "--", ":", "-."), lines.items(), strict=False)
    for colour, dashes, (name, (theory, observed)) in styles:
        axes.plot(places, theory, dashes, color=colour, linewidth=1.5, label=name)
        axes.plot(places, observed, "o", color=colour, markersize=4.5)
    axes.set_xscale("log")
    axes.set_yscale("log")
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter(_thousands)
        axis.set_minor_formatter(_matplotlib().ticker.NullFormatter())
    axes.set_xticks(places)
    axes.set_xticks([], minor=True)
    axes.yaxis.set_major_locator(_matplotlib().ticker.LogLocator(subs=(1, 2, 5)))
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
    figure = _figure(6.4, 5.6)
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
    figure = _figure(8.4, 0.6 + 3.6 * lines)
    grid = figure.subplots(lines, 2, sharex=True, sharey=True, squeeze=False).ravel()
    most = max(float(channel.max()) for _, channel in panels)
    # Square roots, so that probabilities far from the largest are still visible.
    roots = _matplotlib().colors.PowerNorm(0.5, vmin=0, vmax=most)
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


def _legend_above(axes: "Axes") -> None:
    axes.margins(y=0.15)
    axes.legend(frameon=False, loc="upper right", ncols=3)


def _figure(width: float, height: float) -> "Figure":
    # Without pyplot there is no shared global state.
    figure: Figure = _matplotlib().figure.Figure(figsize=(width, height), layout="constrained")
    figure.set_facecolor("white")
    return figure


def _matplotlib() -> ModuleType:
    """Return Matplotlib, or raise an error that says how to install it."""
    try:
        import matplotlib.figure  # noqa: PLC0415 - an optional extra, imported here only
    except ImportError as cause:
        raise MissingExtraError("Plot support", extra="plots") from cause
    return matplotlib


# --------------------------------------------------------------------------- answers


@dataclass(frozen=True, slots=True, kw_only=True)
class Panel:
    """A column of numbers to plot, NaN for missing ones, with margins of error if it has any."""

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
    figure = _figure(7.2, 1.2 + 2.4 * len(panels))
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
        axes.yaxis.set_major_formatter(_thousands)
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
    figure = _figure(7.2, 1.2 + 2.4 * len(panels))
    for axes, panel in _stacked(figure, panels):
        for colour, (name, rows) in zip(COLOURS, lines.items(), strict=False):
            where, heights = places[rows], panel.values[rows]
            axes.plot(where, heights, color=colour, linewidth=1.5, label=_literal(name))
            if panel.errors is not None:
                low, high = heights - panel.errors[rows], heights + panel.errors[rows]
                axes.fill_between(where, low, high, color=colour, alpha=0.2, linewidth=0)
        axes.yaxis.set_major_formatter(_thousands)
        _order_axis(axes, places)
    if len(lines) > 1:
        handles, names = figure.axes[0].get_legend_handles_labels()
        figure.legend(handles, names, loc="outside right upper", frameon=False)
    figure.axes[-1].set_xlabel(_literal(label))
    return Plot(figure)


def plot_answer_dots(panels: Sequence[Panel]) -> Plot:
    """Plot each number of a single row as a dot with its interval, each on its own axis."""
    figure = _figure(6.4, 0.2 + 1.2 * len(panels))
    for axes, panel in _stacked(figure, panels):
        axes.errorbar(panel.values, [0], xerr=panel.errors, fmt="o", color=HERE, capsize=4)
        axes.set_ylim(-1, 1)
        axes.set_yticks([])
        axes.spines["left"].set_visible(False)
        axes.margins(x=0.25)
        axes.xaxis.set_major_formatter(_thousands)
    return Plot(figure)


def plot_nothing(sentence: str) -> Plot:
    """Show a sentence if there is nothing to plot."""
    figure = _figure(6.4, 1.6)
    figure.text(0.5, 0.5, sentence, ha="center", va="center", color=LIMIT)
    return Plot(figure)


def _lying_bars(labels: Sequence[str], panels: Sequence[Panel], label: str) -> Plot:
    """Plot horizontal bars, with panels side by side and the first row on top."""
    figure = _figure(min(2.2 + 3.6 * len(panels), 16), 1.1 + 0.27 * len(labels))
    side = figure.subplots(1, len(panels), sharey=True, squeeze=False)[0]
    places = np.arange(len(labels))
    for axes, panel in zip(side, panels, strict=True):
        axes.barh(places, panel.values, 0.7, color=FILL, xerr=panel.errors, error_kw=BAR)
        axes.axvline(0, color=LIMIT, linewidth=0.8)
        _name_panel(axes, panel)
        axes.xaxis.set_major_formatter(_thousands)
        axes.xaxis.set_major_locator(_matplotlib().ticker.MaxNLocator(5))
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
    """Label days in a short form, and numbers with a comma between thousands."""
    if not np.issubdtype(places.dtype, np.datetime64):
        axes.xaxis.set_major_formatter(_thousands)
        return
    dates = _matplotlib().dates
    locator = dates.AutoDateLocator()
    written = dates.ConciseDateFormatter(locator)
    low, high = axes.get_xlim()  # in days
    if high - low > 62:
        # The axis shows the names of months, and next to it only the year.
        written.offset_formats[2] = "%Y"
    axes.xaxis.set_major_locator(locator)
    axes.xaxis.set_major_formatter(written)


def _thousands(value: float, _: float) -> str:
    return f"{value:,.10g}"


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
    figure = _figure(7.2, 4.4)
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
    axes.yaxis.set_major_formatter(_matplotlib().ticker.PercentFormatter(1.0, decimals=0))
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
    axes.xaxis.set_major_formatter(_thousands)
    axes.xaxis.set_minor_formatter(_matplotlib().ticker.NullFormatter())


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
    figure = _figure(5.6, 5.2)
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
