"""Cost against rows: one panel for each workload, one line for each system."""

from pathlib import Path

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from benchmarks.environments import ROOT
from benchmarks.report import RESULTS
from benchmarks.workloads.cells import Cells
from benchmarks.workloads.questions import WORKLOADS, Workload
from benchmarks.workloads.systems import (
    OURS,
    OURS_COPY,
    OURS_PER_QUERY,
    PEERS,
    System,
)

PAGE_PICTURE = ROOT / "docs" / "figures" / "workloads.svg"
PICTURE = RESULTS / "workloads.svg"

SHOWN = (OURS, OURS_COPY, OURS_PER_QUERY, *PEERS)
COLOURS = ("#0b6e4f", "#0b6e4f", "#0b6e4f", "#4169a8", "#c0622d", "#8a5aa8", "#7d6a58", "#b0364b")
STYLES = ("-", "--", ":", "-", "-", "-", "-", "-")
MARKS = ("o", "o", "o", "s", "^", "D", "v", "P")


def draw(cells: Cells, file: Path = PICTURE) -> Path:
    """Draw what was measured, both scales logarithmic, as an SVG that is the same each time."""
    with mpl.rc_context({"svg.hashsalt": "discreet", "font.size": 8, "svg.fonttype": "none"}):
        figure = Figure(figsize=(10, 5.2), layout="constrained")
        panels = figure.subplots(2, 4, sharex=True, sharey=True).flat
        for panel, workload in zip(panels, WORKLOADS, strict=False):
            _panel(panel, workload, cells)
        legend = panels[len(WORKLOADS)]
        legend.axis("off")
        handles, labels = panels[1].get_legend_handles_labels()
        legend.legend(handles, labels, loc="center", frameon=False)
        figure.supxlabel("rows")
        figure.supylabel("wall time, in times of the same SQL without privacy")
        file.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(file, metadata={"Date": None})
    return file


def _panel(axes: Axes, workload: Workload, cells: Cells) -> None:
    sizes = sorted({each.rows for each in cells})
    for system, colour, style, mark in zip(SHOWN, COLOURS, STYLES, MARKS, strict=True):
        points = _points(system, workload, cells, sizes)
        axes.plot(
            [rows for rows, _ in points],
            [cost for _, cost in points],
            color=colour,
            linestyle=style,
            marker=mark,
            markersize=3.5,
            linewidth=1.2,
            label=system.name,
        )
    axes.axhline(1, color="#999999", linewidth=0.8)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_title(f"{workload.name} {workload.title}", fontsize=7.5, wrap=True)
    axes.grid(visible=True, which="major", color="#e6e6e6", linewidth=0.6)
    axes.minorticks_off()
    axes.tick_params(labelbottom=True)


def _points(
    system: System, workload: Workload, cells: Cells, sizes: list[int]
) -> list[tuple[int, float]]:
    costs = ((rows, cells.cost(system, workload, rows)) for rows in sizes)
    return [(rows, cost.wall) for rows, cost in costs if cost is not None]
