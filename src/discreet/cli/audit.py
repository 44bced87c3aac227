"""`discreet audit`: every privacy claim, the lower bound measured on ε, and planted bugs."""

import json
from collections.abc import Sequence
from fnmatch import fnmatch
from math import log10
from pathlib import Path

import typer

from discreet.audit import Finding, Subject
from discreet.audit import plot as chart_of
from discreet.audit.trial import findings, trial
from discreet.cli.console import progress, remark, say, show, show_table
from discreet.errors import ParameterError
from discreet.parameters import nearest_name
from discreet.plots import check_format

FAILED = 1


def audit(*, quick: bool, only: str | None, is_json: bool, plot: Path | None) -> None:
    """Print the findings; exit with 1 if a claim is violated or a planted bug is not caught."""
    subjects = _chosen(trial(quick=quick), only)
    if plot is not None:
        check_format("plot", plot)
    with progress("auditing") as advance:
        found = findings(subjects, quick=quick, tell=advance)
    if is_json:
        show(json.dumps([_content(each) for each in found]))
    else:
        _show(found)
    if plot is not None:
        remark(f"Chart: {chart_of(found).save(plot)}")
    if not all(each.is_right for each in found):
        raise typer.Exit(FAILED)


def _chosen(subjects: Sequence[Subject], only: str | None) -> list[Subject]:
    if only is None:
        return list(subjects)
    chosen = [each for each in subjects if fnmatch(each.name.lower(), f"*{only.lower()}*")]
    if not chosen:
        words = {word.strip(",:") for each in subjects for word in each.name.split()}
        near = nearest_name(only, sorted(words)) or "Laplace"
        raise ParameterError(
            "only", only, f"must be part of a claim's or planted bug's name, such as {near}"
        )
    return chosen


def _show(found: Sequence[Finding]) -> None:
    ours = [each for each in found if not each.is_broken]
    broken = [each for each in found if each.is_broken]
    if ours:
        _show_findings("claim", ours, ("holds", "VIOLATED"))
        show("")
    if broken:
        _show_findings("planted bug", broken, ("NOT CAUGHT", "caught"))
        show("")
    for each in found:
        if not each.is_right:
            say(f"{each.name}: {each.counterexample}\n")
    say(_summary(ours, broken))


def _show_findings(title: str, found: Sequence[Finding], words: tuple[str, str]) -> None:
    """Print a line for each finding; the words say that a claim holds, and that it does not."""
    columns = {
        title: [each.name for each in found],
        "claimed ε": [f"{each.epsilon or 0:.4g}" for each in found],
        "δ": [f"{each.delta:.2g}" if each.delta else "" for each in found],
        "measured ≥": [f"{each.measured:.3f}" for each in found],
        "verdict": [words[each.is_violated] for each in found],
    }
    show_table(columns, right={"claimed ε", "δ", "measured ≥"})


def _summary(ours: Sequence[Finding], broken: Sequence[Finding]) -> str:
    held = sum(each.is_right for each in ours)
    caught = sum(each.is_right for each in broken)
    confidence = [*ours, *broken][0].confidence
    return (
        f"{held} of {len(ours)} claims hold. {caught} of {len(broken)} planted bugs are caught. "
        f"Each measured value is too high in at most one of 10^{-log10(1 - confidence):.0f} audits."
    )


def _content(found: Finding) -> dict[str, object]:
    return {
        "name": found.name,
        "claimed": {"epsilon": found.epsilon, "delta": found.delta},
        "measured": {"epsilon": found.measured, "delta": found.delta_measured},
        "event": found.event,
        "here": {"hits": found.here.hits, "runs": found.here.runs},
        "there": {"hits": found.there.hits, "runs": found.there.runs},
        "is_broken": found.is_broken,
        "is_violated": found.is_violated,
        "is_right": found.is_right,
        "confidence": found.confidence,
        "seconds": round(found.seconds, 3),
    }
