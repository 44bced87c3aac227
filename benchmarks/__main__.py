"""Run the benchmarks named on the command line, or all of them."""

import sys
from argparse import ArgumentParser
from collections.abc import Callable, Mapping

from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from benchmarks import accounting, chunks, ledger, local, overhead, questions, samplers
from benchmarks.environments import ROOT
from benchmarks.page import write_page
from benchmarks.report import Report, Say, show, write

PAGE_WIDTH = 120
"""How wide the tables are where there is no screen to ask."""

BENCHMARKS: Mapping[str, Callable[[Say], Report]] = {
    "samplers": samplers.run,
    "chunks": chunks.run,
    "accounting": accounting.run,
    "questions": questions.run,
    "overhead": overhead.run,
    "ledger": ledger.run,
    "local": local.run,
}


def main() -> None:
    parser = ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="name", help=", ".join(BENCHMARKS))
    parser.add_argument("--page", action="store_true", help="write docs/benchmarks.md afterwards")
    arguments = parser.parse_args()
    names = arguments.names or list(BENCHMARKS)
    if unknown := set(names) - set(BENCHMARKS):
        parser.error(f"no benchmark is called {', '.join(sorted(unknown))}")
    console = Console() if sys.stdout.isatty() else Console(width=PAGE_WIDTH)
    for name in names:
        report = _run(name, console)
        show(report, console)
        console.print(
            f"\nWritten to {write(report).relative_to(ROOT)}", style="dim", highlight=False
        )
    if arguments.page:
        write_page(BENCHMARKS)


def _run(name: str, console: Console) -> Report:
    columns = SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn()
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task(name)
        return BENCHMARKS[name](lambda step: progress.update(task, description=f"{name}: {step}"))


if __name__ == "__main__":
    main()
