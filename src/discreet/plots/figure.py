"""The figure that every plot is drawn on: formats, colours, axes."""

from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from discreet.errors import ParameterError
from discreet.extras import matplotlib_module
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
        with matplotlib_module().rc_context({"svg.hashsalt": "discreet"}):
            self.figure.savefig(buffer, format=ending[1:], dpi=150, metadata=metadata)
        return write_file("path", path, buffer.getvalue())

    def _repr_png_(self) -> bytes:
        buffer = BytesIO()
        self.figure.savefig(buffer, format="png", dpi=110)
        return buffer.getvalue()


def legend_above(axes: "Axes") -> None:
    """Put the legend above the curves."""
    axes.margins(y=0.15)
    axes.legend(frameon=False, loc="upper right", ncols=3)


def new_figure(width: float, height: float) -> "Figure":
    """Return an empty figure of this many inches."""
    # Without pyplot there is no shared global state.
    figure: Figure = matplotlib_module().figure.Figure(
        figsize=(width, height), layout="constrained"
    )
    figure.set_facecolor("white")
    return figure


def thousands(value: float, _: float) -> str:
    """Return the label of a tick, with commas between thousands."""
    return f"{value:,.10g}"
