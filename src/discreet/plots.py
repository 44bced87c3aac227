"""Pictures, the only place that knows how to draw. Takes plain numbers, gives a `Plot`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from discreet.errors import MissingExtraError, ParameterError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

HERE, THERE, LIMIT = "#1f6feb", "#d9730d", "#8b949e"
"""Blue and orange are told apart with any colour vision; grey for what is only a limit."""

Floats: TypeAlias = NDArray[np.float64]

STEMS_MOST = 80
"""Up to so many values each has a stem; beyond, stems would be one grey wall."""

FORMATS = (".png", ".svg", ".pdf")


@dataclass(frozen=True, slots=True)
class Plot:
    """A picture that a notebook shows by itself and `save` writes to a file."""

    figure: "Figure"

    def save(self, path: str | Path) -> Path:
        """Write the picture as PNG, SVG or PDF, by the name's ending."""
        target = Path(path)
        if target.suffix.lower() not in FORMATS:
            raise ParameterError("path", str(path), f"must end in one of {', '.join(FORMATS)}")
        target.parent.mkdir(parents=True, exist_ok=True)
        # No date and no random names inside: the same picture is the same file.
        metadata = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}}.get(
            target.suffix.lower()
        )
        with _matplotlib().rc_context({"svg.hashsalt": "discreet"}):
            self.figure.savefig(target, dpi=150, metadata=metadata)
        return target

    def _repr_png_(self) -> bytes:
        buffer = BytesIO()
        self.figure.savefig(buffer, format="png", dpi=110)
        return buffer.getvalue()


def plot_curves(  # noqa: PLR0913 - two laws and how to name them
    values: Floats,
    here: Floats,
    there: Floats,
    *,
    epsilon: float,
    title: str,
    names: tuple[str, str],
) -> Plot:
    """Draw the densities of two neighbouring answers above, the odds of each output below."""
    figure, top, bottom = _law_and_odds(title, "density", epsilon)
    top.plot(values, here, color=HERE, label=names[0])
    top.plot(values, there, color=THERE, label=names[1])
    bottom.plot(*_log_odds(values, here, there), color=HERE)
    _name_values(top, bottom, "released value")
    return Plot(figure)


def plot_counts(  # noqa: PLR0913 - two laws and how to name them
    values: Floats,
    here: Floats,
    there: Floats,
    *,
    epsilon: float,
    title: str,
    names: tuple[str, str],
    label: str = "released value",
) -> Plot:
    """Draw the probabilities of whole numbers above, the odds of each below.

    Nothing lies between whole numbers: probabilities are stems or dots, odds are steps.
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
    """Draw the laws of a choice by two neighbouring lists of scores, one stem a candidate."""
    places = np.arange(len(here), dtype=np.float64)
    return plot_counts(
        places, here, there, epsilon=epsilon, title=title, names=names, label="candidate"
    )


def _law_and_odds(title: str, label: str, epsilon: float) -> "tuple[Figure, Axes, Axes]":
    """Return a figure with room for laws above and their odds below, between the limits."""
    figure = _figure(7.2, 5.4)
    top, bottom = figure.subplots(2, 1, sharex=True, height_ratios=(2, 1))
    top.set_title(title)
    top.set_ylabel(label)
    for limit in (-epsilon, epsilon):
        bottom.axhline(limit, color=LIMIT, linestyle="--", linewidth=1)
    # The axis is that of the log-odds, as e^epsilon may be beyond all floats.
    bottom.set_yticks([-epsilon, 0, epsilon], ["e^-ε", "1", "e^ε"])
    bottom.set_ylabel("odds")
    return figure, top, bottom


def _log_odds(values: Floats, here: Floats, there: Floats) -> tuple[Floats, Floats]:
    """Return the values that both laws give at all, and the logarithms of their odds."""
    seen = (here > 0) & (there > 0)
    return values[seen], np.log(here[seen]) - np.log(there[seen])


def _name_values(top: "Axes", bottom: "Axes", label: str) -> None:
    """Name the curves and the values, which are written out: no offset beside the axis."""
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
    """Draw one group of bars for each name, with error bars where a series has an error."""
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


def plot_heat(channel: Floats, *, title: str, rows: Sequence[str], columns: Sequence[str]) -> Plot:
    """Draw a channel as a heat map: one row for each exact answer, one column for each output."""
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


def _legend_above(axes: "Axes") -> None:
    axes.margins(y=0.15)
    axes.legend(frameon=False, loc="upper right", ncols=3)


def _figure(width: float, height: float) -> "Figure":
    # Without pyplot there is no global state to share.
    figure: Figure = _matplotlib().figure.Figure(figsize=(width, height), layout="constrained")
    figure.set_facecolor("white")
    return figure


def _matplotlib() -> ModuleType:
    """Return matplotlib, the extra `plots`, or say how to install it."""
    try:
        import matplotlib.figure  # noqa: PLC0415 - an optional extra, imported here only
    except ImportError as cause:
        raise MissingExtraError("plotting", extra="plots") from cause
    return matplotlib
