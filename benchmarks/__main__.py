"""Run the benchmarks named on the command line, or all of them."""

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial

from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from benchmarks import (
    accounting,
    browser,
    chunks,
    cluster,
    growth,
    ledger,
    local,
    overhead,
    questions,
    samplers,
    server,
    streams,
    utility,
)
from benchmarks.accuracy import run as accuracy
from benchmarks.engines import run as engines
from benchmarks.engines.systems import ENGINES, WAYS
from benchmarks.environments import ROOT
from benchmarks.page import write_page
from benchmarks.report import Report, Say, show, write
from benchmarks.workloads import memory
from benchmarks.workloads import run as workloads

PAGE_WIDTH = 120
"""How wide the tables are where there is no screen to ask."""

BENCHMARKS: Mapping[str, Callable[[Say], Report]] = {
    "samplers": samplers.run,
    "chunks": chunks.run,
    "accounting": accounting.run,
    "questions": questions.run,
    "overhead": overhead.run,
    "ledger": ledger.run,
    "server": server.run,
    "browser": browser.run,
    "local": local.run,
    "streams": streams.run,
    "utility": utility.run,
    "workloads": workloads.run,
    "accuracy": accuracy.run,
    "memory": memory.run,
    "engines": engines.run,
    "cluster": cluster.run,
    "growth": growth.run,
}

QUICK: Mapping[str, Callable[[Say], Report]] = {
    "workloads": partial(workloads.run, options=workloads.QUICK),
    "accuracy": partial(accuracy.run, trials=accuracy.QUICK_TRIALS),
    "memory": partial(memory.run, rows=memory.QUICK_ROWS),
    "engines": partial(engines.run, options=engines.QUICK),
    "cluster": partial(cluster.run, rows=cluster.QUICK_ROWS),
}
"""What has a form of some minutes."""


def main() -> None:
    parser = ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="name", help=", ".join(BENCHMARKS))
    parser.add_argument(
        "--page", action="store_true", help="write docs/benchmark-tables.md afterwards"
    )
    parser.add_argument(
        "--quick", action="store_true", help=f"a form of some minutes of {', '.join(QUICK)}"
    )
    parser.add_argument(
        "--rows",
        type=_rows,
        nargs="+",
        help="sizes of workloads and engines, size of memory and cluster: 1e6 1e7",
    )
    parser.add_argument(
        "--engine", action="append", choices=ENGINES, help="engines: only this one; repeatable"
    )
    parser.add_argument(
        "--way", action="append", choices=WAYS, help="engines: only this beside plain SQL"
    )
    parser.add_argument(
        "--workload",
        action="append",
        choices=engines.ALL.workloads,
        help="engines: only this one; repeatable",
    )
    parser.add_argument(
        "--kept", action="store_true", help="engines: measure nothing, show what earlier runs found"
    )
    parser.add_argument("--alone", action="store_true", help="workloads without peers")
    parser.add_argument("--trials", type=int, help="trials of accuracy for each question")
    arguments = parser.parse_args()
    benchmarks = {**BENCHMARKS, **(QUICK if arguments.quick else {})}
    options = workloads.QUICK if arguments.quick else workloads.ALL
    options = replace(options, peers=()) if arguments.alone else options
    benchmarks["workloads"] = partial(workloads.run, options=options)
    if arguments.rows:
        options = replace(options, sizes=tuple(arguments.rows))
        benchmarks["workloads"] = partial(workloads.run, options=options)
        benchmarks["memory"] = partial(memory.run, rows=max(arguments.rows))
        benchmarks["cluster"] = partial(cluster.run, rows=max(arguments.rows))
    benchmarks["engines"] = partial(engines.run, options=engine_options(arguments))
    if arguments.trials:
        benchmarks["accuracy"] = partial(accuracy.run, trials=arguments.trials)
    names = arguments.names or list(QUICK if arguments.quick else BENCHMARKS)
    if unknown := set(names) - set(BENCHMARKS):
        parser.error(f"no benchmark is called {', '.join(sorted(unknown))}")
    console = Console() if sys.stdout.isatty() else Console(width=PAGE_WIDTH)
    for name in names:
        report = _run(name, benchmarks[name], console)
        show(report, console)
        console.print(
            f"\nWritten to {write(report).relative_to(ROOT)}", style="dim", highlight=False
        )
    if arguments.page:
        write_page(names)


def engine_options(arguments: Namespace) -> engines.Options:
    """Return what of the engines is measured; all but a whole run leaves other figures."""
    if arguments.kept:
        return engines.NOTHING
    options = engines.QUICK if arguments.quick else engines.ALL
    named = arguments.rows, arguments.engine, arguments.workload, arguments.way, arguments.quick
    return replace(
        options,
        sizes=tuple(arguments.rows or options.sizes),
        engines=tuple(arguments.engine or options.engines),
        workloads=tuple(arguments.workload or options.workloads),
        ways=tuple(arguments.way or options.ways),
        is_part=any(named),
    )


def _rows(text: str) -> int:
    """Return a number of rows, also where it is written as 1e6."""
    return int(float(text))


def _run(name: str, run: Callable[[Say], Report], console: Console) -> Report:
    columns = SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn()
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task(name)
        return run(lambda step: progress.update(task, description=f"{name}: {step}"))


if __name__ == "__main__":
    main()
