"""Have you cheated? A survey whose answers nobody can hold against anybody.

Every student flips coins before answering: the answer is true with probability 3/4. Run it with
`python examples/survey_cheating.py`; pictures go to build/examples.
"""
# ruff: noqa: T201 - an example prints

from math import log
from pathlib import Path

import numpy as np

from discreet.local import Client, KaryResponse, Server, standard_error
from discreet.plots.answers import Panel
from discreet.plots.distributions import plot_errors, plot_truth

PICTURES = Path(__file__).parent.parent / "build" / "examples"
PICTURES.mkdir(parents=True, exist_ok=True)

SCHOOLS = {
    "arts": (9_000, 0.21),
    "biology": (4_000, 0.15),
    "chemistry": (2_500, 0.18),
    "economics": (12_000, 0.34),
    "history": (5_000, 0.11),
    "law": (8_000, 0.27),
    "maths": (1_500, 0.05),
    "physics": (1_000, 0.08),
}
"""Synthetic data: students of each school, and the share of them who have cheated."""

COINS = KaryResponse.binary(epsilon=log(3))
"""Heads: answer truthfully. Tails: a second coin answers."""


def answers(people: int, share: float) -> "np.ndarray[tuple[int], np.dtype[np.bool_]]":
    """Return the true answers of `people` students."""
    return np.arange(people) < round(people * share)


def asked(
    mechanism: KaryResponse, truth: "np.ndarray[tuple[int], np.dtype[np.bool_]]"
) -> Server[KaryResponse]:
    """Let every student answer through the coins, and count the answers."""
    server = Server(mechanism)
    server.add(Client(mechanism).report_many(truth))
    return server


def show_schools() -> None:
    """Estimate the share of each school with its error, beside the truth."""
    found, errors, truth = [], [], []
    for people, share in SCHOOLS.values():
        estimate = asked(COINS, answers(people, share)).estimate(confidence=0.95)
        found.append(100 * estimate.shares[1])
        errors.append(100 * 1.96 * estimate.standard_errors[1] / people)
        truth.append(100 * share)
    print("school      students   cheated    estimate")
    for name, true, number, error in zip(SCHOOLS, truth, found, errors, strict=True):
        print(f"{name:10} {SCHOOLS[name][0]:9}   {true:5.1f} %   {number:5.1f} ± {error:.1f} %")
    panel = Panel(title="estimate, ± 95 %", values=np.array(found), errors=np.array(errors))
    title = "Have you cheated? Each answer is private at ε = ln 3"
    picture = plot_truth(list(SCHOOLS), np.array(truth), panel, label="% of students", title=title)
    print(f"\n{picture.save(PICTURES / 'survey_schools.png').name}: estimates beside the truth")


def error_seen(epsilon: float, people: int, surveys: int = 60) -> float:
    """Return how far estimated shares are off, the root of the mean square, in per cent."""
    mechanism, truth = KaryResponse.binary(epsilon=epsilon), answers(people, 0.2)
    p, q = float(mechanism.p), float(mechanism.q)
    yes = np.array([asked(mechanism, truth).support_counts()[1] for _ in range(surveys)])
    found = (yes / people - q) / (p - q)
    return 100 * float(np.sqrt(np.mean((found - truth.mean()) ** 2)))


def error_stated(epsilon: float, people: int) -> float:
    """Return the theoretical error."""
    return 100 * standard_error(KaryResponse.binary(epsilon=epsilon), people) / people


def show_errors() -> None:
    """Draw the error against epsilon and against the number of students."""
    epsilons, crowds = np.array([0.1, 0.2, 0.5, 1, 2, 4]), np.array([300, 1_000, 3_000, 10_000])
    against_epsilon = {
        f"{people} students": (
            np.array([error_stated(each, people) for each in epsilons]),
            np.array([error_seen(each, people) for each in epsilons]),
        )
        for people in (500, 5_000)
    }
    against_people = {
        f"ε = {epsilon:g}": (
            np.array([error_stated(epsilon, int(each)) for each in crowds]),
            np.array([error_seen(epsilon, int(each)) for each in crowds]),
        )
        for epsilon in (0.5, 1, 2)
    }
    label = "error of a share, percentage points"
    for name, places, lines, at in (
        ("survey_epsilon.png", epsilons, against_epsilon, "ε of each answer"),
        ("survey_people.png", crowds.astype(float), against_people, "students"),
    ):
        title = f"The price of privacy: error against {'ε' if 'ε' in at else 'students'}"
        plot_errors(places, lines, title=title, label=label, at=at).save(PICTURES / name)
        print(f"{name}: theory and what was seen")


if __name__ == "__main__":
    show_schools()
    show_errors()
