"""Seconds against rows: a row of panels for each engine, a panel for each workload."""

from pathlib import Path

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from benchmarks.engines.growth import points
from benchmarks.engines.systems import STORAGES, Storage
from benchmarks.workloads.cells import Cells
from benchmarks.workloads.questions import WORKLOADS, Workload
from benchmarks.workloads.running import Measured

LOOKS = {
    "plain SQL": ("#777777", "-", "s"),
    "per-query": ("#c0622d", "-", "^"),
    "prepared": ("#0b6e4f", "-", "o"),
    "copy": ("#0b6e4f", "-", "o"),
}
"""Colour, line and mark of each way to answer."""


def draw(cells: Cells, file: Path) -> Path | None:
    """Draw what was measured, both scales logarithmic, as an SVG that is the same each time."""
    known = {each.system for each in cells if isinstance(each.outcome, Measured)}
    storages = [each for each in STORAGES if known.intersection(each.systems)]
    if not storages:
        return None
    with mpl.rc_context({"svg.hashsalt": "discreet", "font.size": 7, "svg.fonttype": "none"}):
        figure = Figure(figsize=(11, 6.6), layout="constrained")
        grid = figure.subplots(
            len(storages), len(WORKLOADS), sharex=True, sharey="row", squeeze=False
        )
        for line, storage in zip(grid, storages, strict=True):
            for axes, workload in zip(line, WORKLOADS, strict=True):
                _panel(axes, storage, workload, cells)
            line[0].set_ylabel(storage.name)
        for axes, workload in zip(grid[0], WORKLOADS, strict=True):
            axes.set_title(workload.name)
        handles, labels = grid[0][0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside upper center", ncols=3, frameon=False)
        figure.supxlabel("rows")
        figure.supylabel("seconds")
        file.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(file, metadata={"Date": None})
    return file


def _panel(axes: Axes, storage: Storage, workload: Workload, cells: Cells) -> None:
    for system in storage.systems:
        colour, line, mark = LOOKS[system.name.rpartition(", ")[2]]
        found = points(system, workload, cells)
        axes.plot(
            [rows for rows, _ in found],
            [seconds for _, seconds in found],
            color=colour,
            linestyle=line,
            marker=mark,
            markersize=3,
            linewidth=1.1,
            label=system.name.rpartition(", ")[2],
        )
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.grid(visible=True, which="major", color="#e6e6e6", linewidth=0.6)
    axes.minorticks_off()
