"""`discreet local`: synthetic reports, counts of reports, and estimates with margins of error."""
# ruff: noqa: PLR0913 - each argument is an option

import json
from base64 import b64decode, b64encode
from binascii import Error as Base64Error
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import numpy as np

from discreet.cli.console import progress, remark, show, show_table, table_lines
from discreet.errors import CollectionError, ParameterError
from discreet.local import (
    Client,
    Collector,
    Duchi,
    FrequencyOracle,
    HadamardResponse,
    Hybrid,
    KaryResponse,
    LocalHashing,
    Mechanism,
    Piecewise,
    Reports,
    Server,
    SquareWave,
    SubsetSelection,
    Tally,
    UnaryEncoding,
    choose,
    mechanism_from_json,
    mechanism_to_json,
)
from discreet.local.collector import LEAST_PEOPLE
from discreet.local.means import MeanMechanism
from discreet.noise import SYSTEM
from discreet.parameters import integer
from discreet.plots import (
    Panel,
    Plot,
    check_format,
    plot_answer_bars,
    plot_answer_dots,
    plot_answer_lines,
)
from discreet.writing import check_place, write_file

BATCH = 5_000
"""Reports in a transaction."""

PEOPLE_MOST = 10**8

BOUNDS = (0, 1)


class Survey(NamedTuple):
    """What is reported, and by how many people."""

    mechanism: str
    epsilon: Fraction
    categories: int
    people: int


ORACLES: Mapping[str, Callable[[Fraction, int], FrequencyOracle]] = {
    "kary": lambda epsilon, k: KaryResponse(epsilon=epsilon, categories=k),
    "symmetric": lambda epsilon, k: UnaryEncoding(epsilon=epsilon, categories=k, form="symmetric"),
    "unary": lambda epsilon, k: UnaryEncoding(epsilon=epsilon, categories=k),
    "subset": lambda epsilon, k: SubsetSelection(epsilon=epsilon, categories=k),
    "hashing": lambda epsilon, k: LocalHashing(epsilon=epsilon, categories=k),
    "hadamard": lambda epsilon, k: HadamardResponse(epsilon=epsilon, categories=k),
}
MEANS: Mapping[str, type[MeanMechanism]] = {
    "duchi": Duchi,
    "piecewise": Piecewise,
    "hybrid": Hybrid,
}
NAMES = ("best", *ORACLES, *MEANS, "square-wave")


# --------------------------------------------------------------------------- simulate


def simulate(
    *,
    epsilon: Fraction,
    mechanism: str,
    categories: int,
    people: int,
    values: Path | None,
    output: Path,
) -> None:
    """Write the reports of synthetic or given people, and print the truth about them."""
    survey = Survey(mechanism, epsilon, categories, people)
    check_place("output", output)
    integer("people", survey.people, least=1, most=PEOPLE_MOST)
    reporting = _mechanism(survey)
    if isinstance(reporting, Duchi | Piecewise | Hybrid | SquareWave):
        numbers = _synthetic_numbers(people) if values is None else _read(values, float)
        reports = Client(reporting).report_many(numbers)
        truth = [f"mean   {np.mean(numbers):.6g}"]
    else:
        held = _synthetic_values(survey) if values is None else _read(values, int)
        reports = Client(reporting).report_many(held)
        counts = np.bincount(held, minlength=categories)
        columns = {"value": range(len(counts)), "people": counts.tolist()}
        truth = list(table_lines(columns, right=columns))
    _write(output, reports)
    show("\n".join(truth))
    remark(f"Wrote {len(reports):,} reports of {reporting!r} to {output}. Above: the truth.")


def _mechanism(
    survey: Survey,
) -> FrequencyOracle | MeanMechanism | SquareWave:
    name, epsilon, k, people = survey
    if name == "best":
        return choose(epsilon, k, people).mechanism
    if name in ORACLES:
        return ORACLES[name](epsilon, k)
    if name in MEANS:
        return MEANS[name](epsilon=epsilon, bounds=BOUNDS)
    if name == "square-wave":
        return SquareWave(epsilon=epsilon, bounds=BOUNDS, buckets=k)
    raise ParameterError("mechanism", name, f"must be one of {', '.join(NAMES)}")


def _synthetic_values(survey: Survey) -> "np.ndarray[tuple[int], np.dtype[np.int64]]":
    """Return values, the first the most frequent, the second half as frequent, and so on."""
    weights = 1 / np.arange(1, survey.categories + 1)
    ends = np.rint(np.cumsum(weights) / weights.sum() * survey.people).astype(np.int64)
    return np.repeat(np.arange(survey.categories), np.diff(ends, prepend=0))


def _synthetic_numbers(people: int) -> "np.ndarray[tuple[int], np.dtype[np.float64]]":
    """Return numbers between 0 and 1, most of them small."""
    return ((np.arange(people) + 0.5) / people) ** 2


def _read(
    path: Path, kind: type[int] | type[float]
) -> "np.ndarray[tuple[int], np.dtype[np.float64]]":
    rule = f"must contain one {'integer' if kind is int else 'number'} per line"
    try:
        found = np.array([kind(line) for line in path.read_text(encoding="utf-8").split()])
    except ValueError:
        raise ParameterError("values", str(path), rule) from None
    if not len(found):
        raise ParameterError("values", str(path), f"{rule}, and at least one")
    return found


def _write(output: Path, reports: Reports) -> None:
    """Write the mechanism on the first line, and below a random id and a report on each."""
    mechanism = reports.mechanism
    rows = np.split(reports.rows, len(reports)) if len(reports) else []
    lines = [
        f"{SYSTEM.draw(16).hex()} {b64encode(bytes(Reports(mechanism, row))).decode()}\n"
        for row in rows
    ]
    text = "".join([mechanism_to_json(mechanism), "\n", *lines])
    write_file("output", output, text.encode("ascii"))


# --------------------------------------------------------------------------- collect


def collect(*, reports: list[Path], into: Path, min_people: int | None) -> None:
    """Count the reports of several files, each id once."""
    counted = repeated = 0
    for path in reports:
        with path.open(encoding="ascii", errors="replace") as file:
            mechanism = mechanism_from_json(file.readline())
            with (
                _collector(into, mechanism, min_people) as collector,
                progress(path.name) as advance,
            ):
                lines = _lines(path, file, mechanism)
                while batch := list(islice(lines, BATCH)):
                    added = collector.add_many(batch)
                    counted, repeated = counted + added.counted, repeated + added.repeated
                    advance("counted", counted, counted)
                total = collector.people
    show(f"Counted {counted:,} new reports. Ignored {repeated:,} duplicates. Total: {total:,}.")


def _collector(into: Path, mechanism: Mechanism, min_people: int | None) -> Collector:
    if not into.exists():
        least = LEAST_PEOPLE if min_people is None else min_people
        return Collector.create(into, mechanism, least_people=least)
    collector = Collector(into)
    if min_people not in {None, collector.least_people}:
        collector.close()
        raise CollectionError(
            f"The collection {into} shows counts of {collector.least_people} people or more, which "
            "is fixed",
            "leave out --min-people, or collect into another file",
        )
    if mechanism_to_json(collector.mechanism) != mechanism_to_json(mechanism):
        collector.close()
        raise CollectionError(
            f"The collection {into} counts reports of {collector.mechanism!r}, and these are of "
            f"{mechanism!r}",
            "collect them into another file",
        )
    return collector


def _lines(path: Path, lines: Iterator[str], mechanism: Mechanism) -> Iterator[tuple[str, bytes]]:
    """Read ids with reports; a wrong line stops the file before its batch is counted."""
    for number, line in enumerate(lines, start=2):
        name, _, written = line.strip().partition(" ")
        try:
            report = b64decode(written, validate=True)
            is_one = bool(name) and len(Reports.from_bytes(mechanism, report)) == 1
        except (Base64Error, ValueError):
            is_one = False
        if not is_one:
            raise CollectionError(
                f"Line {number} of {path} is not an id with a report of {mechanism!r}",
                "fix it and collect the file again; reports are counted only once",
            )
        yield name, report


# --------------------------------------------------------------------------- estimate


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownEstimates:
    """Estimates as they are shown: names, numbers and margins of error."""

    what: str
    names: list[str]
    numbers: list[float]
    errors: list[float] | None
    people: int
    places: list[float] | None = None
    """The positions of the numbers on a line, if they have any."""


def estimate(*, collection: Path, confidence: Fraction, is_json: bool, plot: Path | None) -> None:
    """Print the estimates, and save a chart if one is wanted."""
    if plot is not None:
        check_format("plot", plot)
    with Collector(collection) as collector:
        tally = collector.tally()
    found = _estimates(tally, confidence)
    if plot is not None:
        _chart(found).save(plot)
    if is_json:
        keys = ("people", "what", "names", "numbers", "errors")
        show(json.dumps({key: getattr(found, key) for key in keys}))
        return
    columns = {"": found.names, found.what: [f"{each:.6g}" for each in found.numbers]}
    if found.errors is not None:
        columns[f"± {float(confidence) * 100:g}%"] = [f"±{each:.3g}" for each in found.errors]
    show_table(columns, right=columns)
    remark(f"{found.people:,} people, ε = {float(tally.mechanism.epsilon):g} per report.")


def _chart(found: ShownEstimates) -> Plot:
    """Draw a curve over a line, a dot for a single number, and bars for all else."""
    errors = None if found.errors is None else np.array(found.errors)
    panel = Panel(title=found.what, values=np.array(found.numbers), errors=errors)
    if found.places is not None:
        all_of_them = {"": np.arange(len(found.places))}
        return plot_answer_lines(np.array(found.places), [panel], lines=all_of_them, label="value")
    if len(found.numbers) == 1:
        return plot_answer_dots([panel])
    return plot_answer_bars(found.names, [panel], is_ordered=True, label="value")


def _estimates(tally: Tally[Mechanism], confidence: Fraction) -> ShownEstimates:
    mechanism, n = tally.mechanism, tally.people
    if isinstance(mechanism, SquareWave):
        found = Server.from_bytes(mechanism, bytes(tally)).estimate()
        names = [
            f"{low:.3g}–{high:.3g}" for low, high in zip(found.edges, found.edges[1:], strict=False)
        ]
        return ShownEstimates(
            what="share",
            names=names,
            numbers=found.shares.tolist(),
            errors=None,
            people=n,
            places=((found.edges[1:] + found.edges[:-1]) / 2).tolist(),
        )
    if isinstance(mechanism, Duchi | Piecewise | Hybrid):
        mean = Server.from_bytes(mechanism, bytes(tally)).estimate(confidence=confidence)
        reach = max(mean.high - mean.mean, mean.mean - mean.low)
        return ShownEstimates(
            what="mean", names=["mean"], numbers=[mean.mean], errors=[reach], people=n
        )
    oracle = _oracle(mechanism)
    counts = Server.from_bytes(oracle, bytes(tally)).estimate(confidence=confidence)
    reach_of_each = np.maximum(counts.high - counts.counts, counts.counts - counts.low)
    return ShownEstimates(
        what="people",
        names=[str(value) for value in range(oracle.categories)],
        numbers=counts.counts.tolist(),
        errors=reach_of_each.tolist(),
        people=n,
    )


def _oracle(mechanism: Mechanism) -> FrequencyOracle:
    kinds = KaryResponse, UnaryEncoding, SubsetSelection, LocalHashing, HadamardResponse
    if not isinstance(mechanism, kinds):
        raise CollectionError(
            f"{mechanism!r} needs candidates that this command does not know",
            "decode the tally in Python",
        )
    return mechanism
