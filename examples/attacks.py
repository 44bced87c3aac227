"""Attack made-up people, with and without a budget: run it with `python examples/attacks.py`."""
# ruff: noqa: T201 - an example prints

from discreet.attacks import Discreet, Outcome, Raw, Rounded, differencing, reconstruction


def main() -> None:
    """Tell one person's secret, then everybody's; and fail to, against a budget."""
    outcomes: list[Outcome] = [
        differencing(Raw(), people=30, queries=2, trials=20),
        differencing(Rounded(to=10), people=60, queries=16, trials=10),
        differencing(Discreet(epsilon=1, each=0.25), people=30, queries=16, trials=8),
        reconstruction(Rounded(to=4), people=40, queries=200),
        reconstruction(Discreet(epsilon=1, each=0.1), people=40, queries=200),
    ]
    for outcome in outcomes:
        print(outcome.verdict)


if __name__ == "__main__":
    main()
