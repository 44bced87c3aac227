"""The report: who protects whom, one table of errors for each unit, and where we are not best."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from statistics import median

from benchmarks.accuracy.judging import CONFIDENCE, Comparison, Verdict, compared
from benchmarks.accuracy.questions import DELTA, EPSILON, QUESTIONS, ROWS, Question
from benchmarks.accuracy.systems import System
from benchmarks.report import Report, Table, Target, power, ratio, short

NAME = "accuracy"
MISSING = "not supported"


@dataclass(frozen=True, slots=True, kw_only=True)
class Trials:
    """The figures of a system's trials by question, and why some have none."""

    system: System
    figures: dict[str, list[float]] = field(default_factory=dict)
    reasons: dict[str, str] = field(default_factory=dict)
    trouble: str | None = None
    """Why its process ended early, or could not begin."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """One question, one peer: how its figure compares with ours."""

    question: Question
    peer: System
    comparison: Comparison


def report_of(settings: Sequence[Sequence[Trials]], trials: int) -> Report:
    """Return all tables; the systems of one setting protect the same unit, ours comes first."""
    found = [each for setting in settings for each in comparisons(setting)]
    better_or_equal = [each for each in found if each.comparison.verdict is not Verdict.WORSE]
    share = len(better_or_equal) / len(found) if found else None
    return Report(
        name=NAME,
        tables=[
            _terms(settings),
            *(_errors(setting, trials) for setting in settings),
            _not_best(found),
        ],
        targets=[
            Target(
                sentence="best or equal, of all comparisons",
                measured=None if share is None else 100 * share,
                unit="%",
                least=100.0,
            )
        ],
    )


def comparisons(setting: Sequence[Trials]) -> Iterator[Compared]:
    """Yield every comparison of a peer with us in which both have answers."""
    ours, *peers = setting
    for question in QUESTIONS:
        for each in peers:
            if question.name in ours.figures and question.name in each.figures:
                pair = ours.figures[question.name], each.figures[question.name]
                comparison = compared(question, *pair)
                yield Compared(question=question, peer=each.system, comparison=comparison)


def _terms(settings: Sequence[Sequence[Trials]]) -> Table:
    systems = [each.system for setting in settings for each in setting]
    return Table(
        title=f"Who protects whom, at ε = {EPSILON} and δ = {DELTA:g} for each question",
        columns=("system", "version", "unit", "neighbours", "what it charges"),
        rows=[
            (each.name, each.version, each.unit, each.neighbours, each.charge) for each in systems
        ],
        notes=[f"{each.name}: {each.remark}" for each in systems if each.remark],
    )


def _errors(setting: Sequence[Trials], trials: int) -> Table:
    ours = setting[0]
    found = {(each.question.name, each.peer.name): each for each in comparisons(setting)}

    def cell(question: Question, each: Trials) -> str:
        if question.name not in each.figures:
            return MISSING if question.name in each.reasons else "see below"
        shown = short(median(each.figures[question.name]))
        beside = found.get((question.name, each.system.name))
        return shown if beside is None else f"{shown} ({_words(beside.comparison)})"

    system = ours.system
    return Table(
        title=f"{power(ROWS)} rows, unit: {system.unit}, {system.neighbours}: median absolute "
        f"error over {trials} trials",
        columns=("question", *(each.system.name for each in setting)),
        rows=[(each.name, *(cell(each, one) for one in setting)) for each in QUESTIONS],
        notes=[
            f"(r×, a to b): r times our figure, with the {CONFIDENCE:.0%} interval of a bootstrap "
            "over the trials. If 1 is in the interval, the two are equal within trial noise.",
            "By keys: the median over keys of each trial. Unknown keys shown: their number, more "
            "is better.",
            *_reasons(setting),
        ],
    )


def _words(found: Comparison) -> str:
    return f"{ratio(found.times)}, {found.low:.3g} to {found.high:.3g}"


def _reasons(setting: Iterable[Trials]) -> Iterator[str]:
    """Yield one line for each reason of a system, with all questions that it is about."""
    for each in setting:
        told: dict[str, list[str]] = {}
        for name, reason in each.reasons.items():
            told.setdefault(reason, []).append(name)
        for reason, names in told.items():
            yield f"{each.system.name}, {', '.join(names)}: {reason.rstrip('.')}."
        if each.trouble is not None:
            yield f"{each.trouble.rstrip('.')}."


def _not_best(found: Sequence[Compared]) -> Table:
    worse = [each for each in found if each.comparison.verdict is Verdict.WORSE]
    counted = dict.fromkeys(Verdict, 0)
    for each in found:
        counted[each.comparison.verdict] += 1
    summary = (
        f"Discreet is better in {counted[Verdict.BETTER]} of {len(found)} comparisons, equal "
        f"within trial noise in {counted[Verdict.EQUAL]}, and worse in {counted[Verdict.WORSE]}."
    )
    return Table(
        title="Where Discreet is not best or equal",
        columns=("question", "unit", "better system", "its figure, in times of ours"),
        rows=[
            (each.question.name, each.peer.unit, each.peer.name, _words(each.comparison))
            for each in worse
        ]
        or [("nowhere", "–", "–", "–")],
        notes=[summary],
    )
