"""The tour: a small made-up clinic, asked by every mechanism under one budget."""

from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from discreet.accounting import Budget, compose
from discreet.accounting.events import Event
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
    age: tuple[int, ...]
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
        age=tuple(int(18 + 70 * u**1.3) for u in spread),
        cost=tuple(round(20 + 400 * (1 - u) ** 4, 2) for u in spread),
        complaint=tuple(complaints[int(u * 997) * 13 % 8] for u in spread),
        visits_by_day=tuple(60 + day % 7 * 3 + (45 if day == 23 else 0) for day in range(30)),
        smokes=tuple(i % 9 < 2 for i in range(patients)),
    )


def show_tour(console: Console, output: Path) -> None:
    """Ask the clinic one question after another until the budget refuses, and save two pictures."""
    clinic = make_clinic()
    budget = Budget(epsilon=BUDGET)
    console.print(
        f"A made-up clinic of {len(clinic.age)} patients, one row each. "
        f"Nobody's answers may cost a patient more than ε = {BUDGET} in all.\n"
    )
    for question in (ask_counts, ask_total, ask_complaint, ask_busy_day):
        event = question(console, clinic, output)
        budget = budget.charge(event)
        show_price(console, event, budget)
    show_refusal(console, budget)
    show_survey(console, clinic)
    show_composition(console)
    picture = Geometric(epsilon=1, sensitivity=counting_query()).plot(exact=54)
    console.print(f"The law behind a count and its neighbour: {picture.save(output / 'law.png')}")


def ask_counts(console: Console, clinic: Clinic, output: Path) -> Event:
    """Count patients by region: a histogram costs as much as one count."""
    mechanism = Geometric(epsilon=Fraction(1, 2), sensitivity=histogram())
    exact = clinic.per(clinic.region)
    noisy = mechanism.release(np.array(list(exact.values()))).tolist()
    error = mechanism.error(CONFIDENCE, answers=len(exact))
    table = Table("region", "exact (secret)", "released", "± 95 %, all at once", title=None)
    for region, count, answer in zip(exact, exact.values(), noisy, strict=True):
        table.add_row(region, str(count), str(answer), f"±{error}")
    console.print("[bold]How many patients by region?[/] Geometric noise, whole numbers.")
    console.print(table)
    plot = plot_bars(
        list(exact),
        {"exact": list(exact.values()), "released": noisy},
        {"released": error},
        title="Patients by region",
        label="patients",
    )
    console.print(f"Picture: {plot.save(output / 'regions.png')}")
    return mechanism.event


def ask_total(console: Console, clinic: Clinic, output: Path) -> Event:  # noqa: ARG001
    """Sum a real column whose values are declared to lie in [0, 500]."""
    sensitivity = bounded_sum(0, 500)
    mechanism = Laplace(epsilon=1, sensitivity=sensitivity)
    exact = sum(clinic.cost)
    dearest = f"{mechanism.release(exact):,.0f} ±{mechanism.error(CONFIDENCE):,.0f}"
    gaussian = Gaussian(epsilon=1, delta=1e-6, sensitivity=sensitivity)
    console.print("[bold]What did they pay in all?[/] Costs are declared to lie in 0 … 500.")
    console.print(
        f"  Laplace noise: {dearest}   (exact, secret: {exact:,.0f}; "
        f"Gaussian noise at δ = 1e-6 would be ±{gaussian.error(CONFIDENCE):,.0f})"
    )
    return mechanism.event


def ask_complaint(console: Console, clinic: Clinic, output: Path) -> Event:  # noqa: ARG001
    """Choose the most frequent complaint, without its count."""
    counts = clinic.per(clinic.complaint)
    mechanism = PermuteAndFlip(epsilon=Fraction(1, 2), sensitivity=1, monotone=True)
    choice = mechanism.choose(list(counts), lambda complaint: counts[complaint])
    short = mechanism.error(CONFIDENCE, candidates=len(counts))
    console.print("[bold]What is the commonest complaint?[/] Permute-and-flip, monotone counts.")
    console.print(f"  {choice}   (at most {short:.0f} patients short of the commonest, 95 %)")
    return mechanism.event


def ask_busy_day(console: Console, clinic: Clinic, output: Path) -> Event:  # noqa: ARG001
    """Find the first day above a threshold: one price, however many days are asked about."""
    mechanism = AboveThreshold(epsilon=1, sensitivity=1, threshold=90, monotone=True)
    day = mechanism.release(clinic.visits_by_day)
    error = mechanism.error(CONFIDENCE, questions=len(clinic.visits_by_day))
    console.print("[bold]Which day first had more than 90 visits?[/] Sparse vector.")
    found = "none" if day is None else f"day {day + 1}"
    console.print(f"  {found}   (right for days more than {error:.0f} visits from 90, 95 %)")
    return mechanism.event


def show_price(console: Console, event: Event, budget: Budget) -> None:
    """Print what a release cost and what is left."""
    price = float(compose(event).epsilon)
    console.print(
        f"  paid ε = {price:g} · left ε = {float(budget.remaining().amount):g} of {BUDGET}\n"
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
    laplace = Geometric(epsilon=Fraction(1, 10), sensitivity=1).event * 100
    gaussian = Gaussian.for_budget(epsilon=3, delta=1e-6, releases=100, sensitivity=1).event * 100
    table = Table("100 releases, δ = 1e-6", "ε", "by", "sum of ε")
    for name, events in (("geometric noise, ε = 0.1 each", laplace), ("Gaussian noise", gaussian)):
        price = compose(events, delta=Fraction(1, 10**6))
        simple = price.alternatives.get("pure")
        total = f"{float(simple):.4g}" if simple is not None else "none"
        table.add_row(name, f"{float(price.epsilon):.4f}", price.accountant, total)
    console.print("[bold]What do a hundred answers cost?[/] The best proved price.")
    console.print(table)
