"""Ask every system every question so often, all systems at once: errors take no account of load."""

import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from benchmarks.accuracy.child import Rows, told_from
from benchmarks.accuracy.data import make_visits, truths
from benchmarks.accuracy.judging import figure_of
from benchmarks.accuracy.questions import BY_NAME
from benchmarks.accuracy.systems import SETTINGS, System
from benchmarks.accuracy.tables import Trials, report_of
from benchmarks.environments import PeerError
from benchmarks.report import Report, Say

TRIALS = 30
QUICK_TRIALS = 5


def run(say: Say, trials: int = TRIALS) -> Report:
    """Return the median errors of all systems, and where Discreet is not best or equal."""
    say("making the data")
    folder = make_visits()
    truth = truths(folder)
    with ThreadPoolExecutor(sum(map(len, SETTINGS))) as pool:
        waiting = [
            [pool.submit(trials_of, each, folder, truth, trials, say) for each in setting]
            for setting in SETTINGS
        ]
        settings = [[each.result() for each in setting] for setting in waiting]
    return report_of(settings, trials)


def trials_of(
    system: System, folder: Path, truth: dict[str, Rows], trials: int, say: Say
) -> Trials:
    """Return the figures of all trials of a system, and why some are missing."""
    figures: dict[str, list[float]] = {}
    reasons: dict[str, str] = {}
    trouble = None
    say(f"{system.name}, {system.unit}: opening")
    try:
        for told in filter(None, map(told_from, system.lines(folder, trials))):
            name = told.question
            if told.rows is None:
                reasons[name] = told.reason
                figures.pop(name, None)
                continue
            found = figures.setdefault(name, [])
            found.append(figure_of(BY_NAME[name], told.rows, truth[name]))
            say(f"{system.name}, {system.unit}: {name}, trial {len(found)} of {trials}")
    except PeerError as error:
        trouble = str(error)
        print(trouble, file=sys.stderr)
    return Trials(system=system, figures=figures, reasons=reasons, trouble=trouble)
