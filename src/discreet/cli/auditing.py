"""`discreet audit`: what is claimed, what was measured, and whether mistakes are caught."""

import json
from collections.abc import Iterator, Sequence
from fnmatch import fnmatch
from math import log10
from pathlib import Path
from typing import NamedTuple

import typer

from discreet.audit import Finding, Subject, plot
from discreet.audit.trial import findings, trial
from discreet.catalog.policy import nearest
from discreet.cli.screen import progress, remark, show
from discreet.errors import ParameterError
from discreet.plots import check_format

NAME_MOST = 64
"""Longer names are cut in the table."""

BROKEN = "broken on purpose"

FAILED = 1


class Asked(NamedTuple):
    """What was typed."""

    quick: bool
    only: str | None
    is_json: bool
    picture: Path | None


def show_audit(asked: Asked) -> None:
    """Print what was found; ends with 1 if a claim is refuted or a mistake is not caught."""
    subjects = _chosen(trial(quick=asked.quick), asked.only)
    if asked.picture is not None:
        check_format("plot", asked.picture)
    with progress("auditing") as tell:
        found = findings(subjects, quick=asked.quick, tell=tell)
    if asked.is_json:
        show(json.dumps([_content(each) for each in found]))
    else:
        show("\n".join(_lines(found)))
    if asked.picture is not None:
        remark(f"Picture: {plot(found).save(asked.picture)}")
    if not all(each.is_right for each in found):
        raise typer.Exit(FAILED)


def _chosen(subjects: Sequence[Subject], only: str | None) -> list[Subject]:
    if only is None:
        return list(subjects)
    chosen = [each for each in subjects if fnmatch(each.name.lower(), f"*{only.lower()}*")]
    if not chosen:
        words = {word.strip(",:") for each in subjects for word in each.name.split()}
        near = nearest(only, sorted(words)) or "Laplace"
        raise ParameterError("only", only, f"must be a part of a subject's name, such as {near}")
    return chosen


def _lines(found: Sequence[Finding]) -> Iterator[str]:
    ours = [each for each in found if not each.is_broken]
    broken = [each for each in found if each.is_broken]
    width = max(len(BROKEN), *(min(NAME_MOST, len(each.name)) for each in found))
    if ours:
        yield from _table("subject", ours, ("holds", "VIOLATED"), width)
        yield ""
    if broken:
        yield from _table(BROKEN, broken, ("NOT CAUGHT", "caught"), width)
        yield ""
    for each in found:
        if not each.is_right:
            yield f"{each.name}: {each.counterexample}"
            yield ""
    yield _summary(ours, broken)


def _table(
    title: str, found: Sequence[Finding], words: tuple[str, str], width: int
) -> Iterator[str]:
    """Yield a line for each finding; the words say that a claim stands, and that it does not."""
    yield f"{title:{width}}  {'claimed ε':>9}  {'δ':>6}  {'measured ≥':>10}  verdict"
    for each in found:
        name = each.name if len(each.name) <= width else each.name[: width - 1] + "…"
        delta = f"{each.delta:.2g}" if each.delta else ""
        yield (
            f"{name:{width}}  {each.epsilon or 0:9.4g}  {delta:>6}  {each.measured:10.3f}  "
            f"{words[each.is_violated]}"
        )


def _summary(ours: Sequence[Finding], broken: Sequence[Finding]) -> str:
    held = sum(each.is_right for each in ours)
    caught = sum(each.is_right for each in broken)
    any_of_them = next(iter([*ours, *broken]))
    return (
        f"{held} of {len(ours)} claims hold; {caught} of {len(broken)} mistakes are caught. Each "
        f"measurement is too high once in 10^{-log10(1 - any_of_them.confidence):.0f} audits."
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
