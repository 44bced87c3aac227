"""Programs that people wrote for 0.1 still give what they gave, and each old name warns once."""

import doctest
import warnings
from collections import Counter
from importlib import import_module
from inspect import get_annotations
from pathlib import Path
from typing import Any

import pytest

from discreet.attacks import Raw, averaging
from discreet.attacks.people import People

GOLDEN = Path(__file__).parent / "golden"
PAGES = {
    title.strip(): text
    for title, text in (
        page.split("\n", 1)
        for page in (GOLDEN / "pages_0_1.md").read_text(encoding="utf-8").split("## ")[1:]
    )
}
NAMES = (GOLDEN / "public_names_0_1.txt").read_text(encoding="utf-8").splitlines()

GONE = {
    "discreet.explanation.cautions_of": "takes a plan, which was never public",
    "discreet.explanation.explain_plan": "takes a plan, which was never public",
    "discreet.explanation.notes_of": "takes a plan, which was never public",
    "discreet.local.estimates.chance_intervals": "was a helper of the estimates",
}
PROTOCOLS = {
    "discreet.attacks.Defence",
    "discreet.attacks.KnownDefence",
    "discreet.ledger.Ledger",
    "discreet.local.FrequencyOracle",
}
"""An old member would have to be implemented by everyone. Our classes have the old members."""

WARNED = {
    "README.md": ["Geometric.error", "Geometric.for_error"],
    "docs/answers.md": [
        "Answer(half_widths=)",
        "Answer(widths=)",
        "Answer.error",
        "discreet.answer.exports.inert",
    ],
    "docs/attacks.md": [],
    "docs/audit.md": ["discreet.audit.questions.twins"],
    "docs/budgets.md": ["Answer.was_kept"],
    "docs/catalog.md": [
        "discreet.bounding.find_all",
        "discreet.catalog.BINS",
        "discreet.catalog.TableDraft",
        "discreet.catalog.bin_of",
        "discreet.catalog.bounds_from_noisy",
        "discreet.catalog.declare",
        "discreet.catalog.draft",
        "discreet.catalog.read",
        "discreet.catalog.threshold_for",
    ],
    "docs/ledger.md": ["Answer.was_kept", "Answer.was_kept"],
    "docs/local.md": [
        "discreet.local.longitudinal.accounts.fresh_price",
        "discreet.local.longitudinal.accounts.prices_over_time",
        "discreet.local.longitudinal.accounts.rappor_price",
        "discreet.local.numeric.Histogram",
        "discreet.local.numeric.MeanEstimate",
        "discreet.local.numeric.NumericClient",
        "discreet.local.numeric.SquareWave",
        "discreet.local.numeric.SquareWaveClient",
        "discreet.local.numeric.choose_numeric",
        "discreet.local.numeric.estimate_mean",
        "discreet.local.numeric.reconstruct",
        "discreet.local.shuffle.shuffled_epsilon",
        "discreet.local.shuffle.shuffled_epsilon_2021",
        "discreet.local.shuffle.shuffled_epsilon_closed",
        "discreet.local.shuffle.shuffled_epsilon_closed_2021",
        "discreet.local.tallies.Tally",
    ],
    "docs/mechanisms.md": [
        "Geometric.error",
        "Geometric.error",
        "Geometric.for_error",
        "Geometric.law",
        "Geometric.law",
        "Laplace.error",
        "Laplace.error",
        "Laplace.for_error",
        "Laplace.law",
        "PartitionSelection.error",
        "PermuteAndFlip.error",
        "PermuteAndFlip.law",
        "RandomizedResponse.error",
        "RandomizedResponse.law",
        "RandomizedResponse.law",
        "Sparse.error",
        "Staircase.error",
        "Truncated.law",
    ],
    "docs/utility.md": ["Channel.chance", "Channel.odds", "Prior.chance"],
}
"""The old names on each page, as often as they are there."""


def old_names_in(seen: list[warnings.WarningMessage], file: str) -> list[str]:
    """Return the names that warned: all are in this file, none inside of Discreet."""
    told = [each for each in seen if issubclass(each.category, DeprecationWarning)]
    assert all(file in each.filename for each in told)
    return sorted(str(each.message).split(" is ")[0] for each in told)


@pytest.mark.parametrize("page", PAGES)
def test_the_examples_of_0_1_give_what_they_gave(page: str) -> None:
    text = PAGES[page].replace("```", "")
    example = doctest.DocTestParser().get_doctest(text, {}, page, page, 0)
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        result = doctest.DocTestRunner(verbose=False).run(example)
    assert result.attempted >= 5
    assert result.failed == 0
    assert old_names_in(seen, "<doctest ") == WARNED[page]


# --------------------------------------------------------------------------- a program

PROGRAM = """
import discreet
from discreet.demo.clinic import write_clinic
from discreet.mechanisms import gaussian_spread, laplace_spread

write_clinic(folder)
clinic = discreet.open(
    folder / "visits.csv",
    unit="patient_id",
    rows_per_unit=15,
    bounds={"age": (0, 110)},
    epsilon=30,
    delta=1e-6,
    bounding="per-query",
)
bounding = clinic.catalog.source.bounding
before = clinic.explain("SELECT COUNT(*) AS n, AVG(age) AS age FROM visits", epsilon=1)
texts = [before.columns[0].spread_text, before.columns[0].price_text]
answer = clinic.ask("SELECT COUNT(*) AS n, AVG(age) AS age FROM visits", epsilon=1)
error = answer.error
wider = answer.error_at(0.99)
half_widths = answer.half_widths
widths = answer.widths
was_kept = answer.was_kept
cautions = answer.cautions
cost = clinic.ask("SELECT SUM(cost) AS cost FROM visits", epsilon=2, find_bounds=["cost"])
clinic.ask("SELECT SUM(age) AS age FROM visits", epsilon=1, bounding="per-query")
spreads = [laplace_spread([[1, 0]], 0.95), gaussian_spread([[9, 16]], 0.95)]
clinic.close()
"""


def test_a_program_of_0_1_runs_and_warns_at_each_old_name(tmp_path: Path) -> None:
    names: dict[str, Any] = {"folder": tmp_path}
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        exec(compile(PROGRAM, "program_0_1.py", "exec"), names)  # noqa: S102 - what people wrote
    assert names["bounding"].value == "per-query"
    assert all(names["texts"])
    assert 90_000 < names["answer"].rows[0]["n"] < 110_000
    assert names["error"] == names["answer"].margins
    assert names["wider"]["n"][0] > names["error"]["n"][0]
    assert names["half_widths"] == names["answer"].column_margins
    assert callable(names["widths"])
    assert names["was_kept"] is False
    assert set(names["cautions"]) <= set(names["answer"].notes)
    assert names["cost"].rows[0]["cost"] > 0
    assert [round(float(each[0]), 3) for each in names["spreads"]] == [2.996, 9.8]
    assert Counter(old_names_in(seen, "program_0_1.py")) == Counter(
        {
            "Answer.cautions": 1,
            "Answer.error": 1,
            "Answer.error_at": 1,
            "Answer.half_widths": 1,
            "Answer.was_kept": 1,
            "Answer.widths": 1,
            "ExplainedColumn.price_text": 1,
            "ExplainedColumn.spread_text": 1,
            "SourcePolicy.bounding": 1,
            "bounding=": 2,
            "discreet.demo.clinic.write_clinic": 1,
            "discreet.mechanisms.gaussian_spread": 1,
            "discreet.mechanisms.laplace_spread": 1,
            "find_bounds=": 1,
        }
    )


# --------------------------------------------------------------------------- every name


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_every_public_name_of_0_1_is_there() -> None:
    """Each line of the list is a name, and the public members of a class."""
    missing = {}
    for path, *members in map(str.split, NAMES):
        module, _, name = path.rpartition(".")
        found = getattr(import_module(module), name, None)
        if found is None:
            missing[path] = "all of it"
        elif members and path not in PROTOCOLS:
            classes = found.__mro__
            there = set(dir(found)).union(*map(vars, classes), *map(get_annotations, classes))
            if not there.issuperset(members):
                missing[path] = f"{set(members) - there}"
    assert missing.keys() == GONE.keys(), missing


class OldDefence:
    """A defence as the page about attacks described it."""

    name, epsilon, is_fixed, spread = "mine", None, True, 0.0

    def guard(self, people: People) -> object:
        return Raw().protect(people)

    def surprise(self, answer: float, exact: int) -> float:
        return Raw().negative_log_likelihood(answer, exact)


def test_a_defence_of_0_1_can_be_attacked() -> None:
    mine: Any = OldDefence()
    with pytest.warns(DeprecationWarning, match=r"^Defence.guard is deprecated, use ") as seen:
        outcome = averaging(mine, people=5, queries=2, trials=2)
    assert outcome.steps[-1].right == 2
    assert [each.filename for each in seen] == [__file__]
