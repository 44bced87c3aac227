"""Pictures, the only place that knows how to draw. Takes plain numbers, gives a `Plot`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from io import BytesIO
from math import exp
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from discreet.errors import MissingExtraError, ParameterError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

HERE, THERE, LIMIT = "#1f6feb", "#d9730d", "#8b949e"
"""Blue and orange are told apart with any colour vision; grey for what is only a limit."""

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


def plot_neighbours(  # noqa: PLR0913 - two curves and how to name them
    values: NDArray[np.float64],
    here: NDArray[np.float64],
    there: NDArray[np.float64],
    *,
    epsilon: float,
    title: str,
    names: tuple[str, str],
    is_whole: bool,
    label: str = "released value",
) -> Plot:
    """Draw the laws of two neighbouring answers above, the odds of each output below."""
    figure = _figure(7.2, 5.4)
    top, bottom = figure.subplots(2, 1, sharex=True, height_ratios=(2, 1))
    for law, colour, name in ((here, HERE, names[0]), (there, THERE, names[1])):
        if is_whole:
            top.plot(values, law, "o-", color=colour, markersize=3, linewidth=0.8, label=name)
        else:
            top.plot(values, law, color=colour, label=name)
    top.set_ylabel("probability" if is_whole else "density")
    top.set_title(title)
    top.legend(frameon=False)
    seen = (here > 0) & (there > 0)
    bottom.plot(values[seen], here[seen] / there[seen], color=HERE)
    for limit in (exp(epsilon), exp(-epsilon)):
        bottom.axhline(limit, color=LIMIT, linestyle="--", linewidth=1)
    bottom.set_yscale("log")
    bottom.minorticks_off()
    bottom.set_yticks([exp(-epsilon), 1, exp(epsilon)], ["e^-ε", "1", "e^ε"])
    bottom.set_ylabel("odds")
    bottom.set_xlabel(label)
    return Plot(figure)


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


def plot_heat(
    channel: NDArray[np.float64], *, title: str, rows: Sequence[str], columns: Sequence[str]
) -> Plot:
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
