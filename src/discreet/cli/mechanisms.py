"""The tour of mechanisms: a small made-up clinic, asked by each under one budget."""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import numpy as np
from rich.console import Console, Group, RenderableType
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from discreet.accounting import Budget, compose
from discreet.accounting.events import Event
from discreet.cli.screen import printable
from discreet.errors import BudgetError
from discreet.mechanisms import (
    AboveThreshold,
    Gaussian,
    Geometric,
    Laplace,
    PermuteAndFlip,
    RandomizedResponse,
    bounded_sum,
    counting_query,
    histogram,
)
from discreet.plots import plot_bars

BUDGET = 3
CONFIDENCE = 0.95


@dataclass(frozen=True, slots=True, kw_only=True)
class Clinic:
    """One row for each patient, so that a patient is what is protected."""

    region: tuple[str, ...]
    cost: tuple[float, ...]
    complaint: tuple[str, ...]
    visits_by_day: tuple[int, ...]
    smokes: tuple[bool, ...]

    def per(self, column: tuple[str, ...]) -> dict[str, int]:
        """Return exact counts by value, in alphabetical order."""
        return {value: column.count(value) for value in sorted(set(column))}


def make_clinic(patients: int = 4000) -> Clinic:
    """Make up a clinic by arithmetic alone: the same for everybody, and nobody's."""
    spread = [(i * 7919 % patients) / patients for i in range(patients)]
    regions = ("north", "north", "north", "south", "south", "east", "east", "west")
    complaints = ("back", "back", "back", "cough", "cough", "eyes", "knee", "rash")
    return Clinic(
        region=tuple(regions[i * 31 % 8] if u < 0.9 else "north" for i, u in enumerate(spread)),
        cost=tuple(round(20 + 400 * (1 - u) ** 4, 2) for u in spread),
        complaint=tuple(complaints[int(u * 997) * 13 % 8] for u in spread),
        visits_by_day=tuple(60 + day % 7 * 3 + (45 if day == 23 else 0) for day in range(30)),
        smokes=tuple(i % 9 < 2 for i in range(patients)),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What is asked, what it is charged as, and how it is answered once that is paid."""

    text: str
    event: Event
    answer: Callable[[], RenderableType]


def show_tour(output: Path) -> None:
    """Ask the clinic one question after another until the budget refuses, and save two pictures."""
    output.mkdir(parents=True, exist_ok=True)
    console = Console()
    clinic = make_clinic()
    budget = Budget(epsilon=BUDGET)
    console.print(
        f"A made-up clinic of {len(clinic.region)} patients, one row each. "
        f"No patient may pay more than ε = {BUDGET} in all.\n"
    )
    for question in (
        count_by_region(clinic, output),
        total_cost(clinic),
        commonest_complaint(clinic),
        first_busy_day(clinic),
    ):
        console.print(f"[bold]{question.text}[/]")
        budget = budget.charge(question.event)  # before the answer: no refund, no free look
        console.print(question.answer())
        show_price(console, question.event, budget)
    show_refusal(console, budget)
    show_survey(console, clinic)
    show_composition(console)
    picture = Geometric(epsilon=1, sensitivity=counting_query()).plot(exact=54)
    saved = printable(str(picture.save(output / "law.png")))
    console.print(f"The law behind a count and its neighbour: {escape(saved)}")


def count_by_region(clinic: Clinic, output: Path) -> Question:
    """Count patients by region: a histogram costs as much as one count."""
    mechanism = Geometric(epsilon=Fraction(1, 2), sensitivity=histogram())

    def answer() -> RenderableType:
        exact = clinic.per(clinic.region)
        noisy = mechanism.release(np.array(list(exact.values()))).tolist()
        error = mechanism.error(CONFIDENCE, answers=len(exact))
        table = Table("region", "exact (secret)", "released", "± 95 %, all at once")
        for region, count, each in zip(exact, exact.values(), noisy, strict=True):
            table.add_row(region, str(count), str(each), f"±{error}")
        bars = {"exact": list(exact.values()), "released": noisy}
        plot = plot_bars(
            list(exact), bars, {"released": error}, title="Patients by region", label="patients"
        )
        return Group(table, Text(printable(f"Picture: {plot.save(output / 'regions.png')}")))

    text = "How many patients by region? Geometric noise, whole numbers."
    return Question(text=text, event=mechanism.event, answer=answer)


def total_cost(clinic: Clinic) -> Question:
    """Sum a real column whose values are declared to lie in [0, 500]."""
    mechanism = Laplace(epsilon=1, sensitivity=bounded_sum(0, 500))

    def answer() -> RenderableType:
        exact = sum(clinic.cost)
        noisy = f"{mechanism.release(exact):,.0f} ±{mechanism.error(CONFIDENCE):,.0f}"
        gaussian = Gaussian(epsilon=1, delta=1e-6, sensitivity=bounded_sum(0, 500))
        return (
            f"  {noisy}   (exact, secret: {exact:,.0f}; "
            f"Gaussian noise at δ = 1e-6 would be ±{gaussian.error(CONFIDENCE):,.0f})"
        )

    text = "What did they pay in all, each between 0 and 500? Laplace noise."
    return Question(text=text, event=mechanism.event, answer=answer)


def commonest_complaint(clinic: Clinic) -> Question:
    """Choose the most frequent complaint, without its count."""
    mechanism = PermuteAndFlip(epsilon=Fraction(1, 2), sensitivity=1, monotone=True)

    def answer() -> RenderableType:
        counts = clinic.per(clinic.complaint)
        choice = mechanism.choose(list(counts), lambda complaint: counts[complaint])
        short = mechanism.error(CONFIDENCE, candidates=len(counts))
        return f"  {choice}   (at most {short:.0f} patients short of the commonest, 95 %)"

    text = "What is the commonest complaint? Permute-and-flip, monotone counts."
    return Question(text=text, event=mechanism.event, answer=answer)


def first_busy_day(clinic: Clinic) -> Question:
    """Find the first day above a threshold: one price, however many days are asked about."""
    mechanism = AboveThreshold(epsilon=1, sensitivity=1, threshold=90, monotone=True)

    def answer() -> RenderableType:
        day = mechanism.release(clinic.visits_by_day)
        error = mechanism.error(CONFIDENCE, questions=len(clinic.visits_by_day))
        found = "none" if day is None else f"day {day + 1}"
        return f"  {found}   (right for days more than {error:.0f} visits from 90, 95 %)"

    text = "Which day first had more than 90 visits? Sparse vector."
    return Question(text=text, event=mechanism.event, answer=answer)


def show_price(console: Console, event: Event, budget: Budget) -> None:
    """Print what a release cost and what is left."""
    price = float(compose(event).epsilon)
    console.print(
        f"  paid ε = {price:g} · left ε = {float(budget.remaining().epsilon):g} of {BUDGET}\n"
    )


def show_refusal(console: Console, budget: Budget) -> None:
    """Ask once more: the budget is gone."""
    console.print("[bold]One more count, please?[/]")
    try:
        budget.charge(Geometric(epsilon=Fraction(1, 10), sensitivity=1).event)
    except BudgetError as refusal:
        console.print(f"  Refused: {refusal}\n", highlight=False)


def show_survey(console: Console, clinic: Clinic) -> None:
    """Ask a question to which nobody's true answer leaves the patient's hand."""
    mechanism = RandomizedResponse.fair_coins()
    reports = mechanism.release(np.array(clinic.smokes))
    estimate = mechanism.estimate(reports, confidence=CONFIDENCE)
    console.print("[bold]Do you smoke?[/] Randomized response: the clinic need not be trusted.")
    console.print(
        f"  {estimate.counts[1]:.0f} ±{estimate.error[1]:.0f} of {estimate.people} do   "
        f"(exact, unknown to all: {sum(clinic.smokes)}; each report costs its author ε = ln 3)\n"
    )


def show_composition(console: Console) -> None:
    """Price a hundred releases by every accountant that has a theorem for them."""
    counts = Geometric(epsilon=Fraction(1, 10), sensitivity=1).event * 100
    gaussian = Gaussian.for_budget(epsilon=3, delta=1e-6, releases=100, sensitivity=1).event * 100
    table = Table("100 releases, δ = 1e-6", "ε", "by", "sum of ε")
    for name, events in (("geometric noise, ε = 0.1 each", counts), ("Gaussian noise", gaussian)):
        price = compose(events, delta=Fraction(1, 10**6))
        simple = price.alternatives.get("pure")
        total = f"{float(simple):.4g}" if simple is not None else "none"
        table.add_row(name, f"{float(price.epsilon):.4f}", price.accountant, total)
    console.print("[bold]What do a hundred answers cost?[/] The best proved price.")
    console.print(table)
