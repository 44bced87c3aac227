"""Which sites crash the browser? Counted with local differential privacy.

Every browser reports once, with its own noise, the site it crashed on. The server stores counts in
a file and no reports. Run it with `python examples/browser_crashes.py`; pictures go to
build/examples.
"""
# ruff: noqa: T201 - an example prints

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from discreet.local import (
    Client,
    Collector,
    FrequencyOracle,
    HadamardResponse,
    HeavyHitters,
    KaryResponse,
    LocalHashing,
    Reports,
    Server,
    UnaryEncoding,
    choose,
    choose_mean,
    prices_over_time,
    shuffled_epsilon,
    standard_error,
)
from discreet.plots.answers import Panel
from discreet.plots.distributions import plot_errors, plot_truth

PICTURES = Path(__file__).parent.parent / "build" / "examples"
PICTURES.mkdir(parents=True, exist_ok=True)

SITES = [
    *("video", "maps", "mail", "news", "shop", "games", "bank", "music", "chat", "photos"),
    *("weather", "travel", "forum", "wiki", "jobs", "radio"),
]
EPSILON, BROWSERS = 2, 30_000

Ints = np.ndarray[tuple[int], np.dtype[np.int64]]


def crashes(browsers: int, sites: int = len(SITES)) -> Ints:
    """Return the site each browser crashed on: the second half as often as the first."""
    weights = 1 / np.arange(1, sites + 1)
    ends = np.rint(np.cumsum(weights) / weights.sum() * browsers).astype(np.int64)
    return np.repeat(np.arange(sites), np.diff(ends, prepend=0))


def collected(mechanism: FrequencyOracle, values: Ints) -> Server[FrequencyOracle]:
    """Send each report to a collection in a file, some of them twice, and return its counts."""
    reports = Client(mechanism).report_many(values)
    sent = [
        (f"browser {i}", bytes(Reports(mechanism, reports.rows[i : i + 1])))
        for i in range(len(reports))
    ]
    with (
        TemporaryDirectory() as folder,
        Collector.create(Path(folder) / "crashes.db", mechanism) as collector,
    ):
        print(collector.add_many(sent))
        print(collector.add_many(sent[:1000]))
        return Server.from_bytes(mechanism, bytes(collector.tally()))


def show_sites() -> None:
    """Count crashes on known sites, beside the truth."""
    chosen = choose(EPSILON, len(SITES), BROWSERS)
    print(chosen)
    values = crashes(BROWSERS)
    truth = np.bincount(values).astype(np.float64)
    found = collected(chosen.mechanism, values).estimate()
    panel = Panel(
        title="estimate, ± 95 % each", values=found.counts, errors=1.96 * found.standard_errors
    )
    title = f"Crashes by site: {BROWSERS} browsers, ε = {EPSILON} each"
    picture = plot_truth(SITES, truth, panel, label="browsers", title=title)
    print(picture.save(PICTURES / "crashes_sites.png").name)
    hidden = shuffled_epsilon(epsilon=EPSILON, delta=1e-6, people=BROWSERS)
    print(f"shuffled by someone who is trusted, each report costs {hidden:.3f} at δ = 1e-6")


def show_unknown_sites() -> None:
    """Find sites that nobody listed, letter by letter."""
    mechanism = HeavyHitters(epsilon=4, length=7)
    server = Server(mechanism)
    server.add(Client(mechanism).report_many([SITES[i] for i in crashes(BROWSERS)]))
    found = server.estimate()
    print("found without a list:")
    for word, count, error in zip(found.words, found.counts, found.standard_errors, strict=True):
        print(f"  {word:8} {count:7.0f} ± {1.96 * error:.0f}")


def show_mean() -> None:
    """Estimate how long a browser ran before it crashed, in hours."""
    hours = 24 * ((np.arange(BROWSERS) + 0.5) / BROWSERS) ** 2
    mechanism = choose_mean(epsilon=EPSILON, bounds=(0, 24))
    server = Server(mechanism)
    server.add(Client(mechanism).report_many(hours))
    found = server.estimate()
    print(f"{mechanism!r}")
    print(f"hours before a crash: {found.mean:.2f} ± {1.96 * found.standard_error:.2f}", end="")
    print(f" (truth {hours.mean():.2f})")
    for price in prices_over_time(epsilon=EPSILON, rounds=30):
        print(f"  {price}; hides {price.hides}")


def error_seen(mechanism: FrequencyOracle, people: int, times: int = 6) -> float:
    """Return how far estimated counts are off, the root of the mean square, in per cent of all."""
    values = crashes(people, mechanism.categories)
    truth = np.bincount(values, minlength=mechanism.categories)
    squares = []
    for _ in range(times):
        server = Server(mechanism)
        server.add(Client(mechanism).report_many(values))
        p, q = float(mechanism.p), float(mechanism.q)
        counts = (server.support_counts() - people * q) / (p - q)
        squares.append(np.mean((counts - truth) ** 2))
    return 100 * float(np.sqrt(np.mean(squares))) / people


def error_stated(mechanism: FrequencyOracle, people: int) -> float:
    """Return the theoretical error."""
    return 100 * standard_error(mechanism, people) / people


def show_errors() -> None:
    """Draw the error of four mechanisms against epsilon and against the number of browsers."""
    kinds = {
        "k-ary response": KaryResponse,
        "unary encoding": UnaryEncoding,
        "local hashing": LocalHashing,
        "Hadamard response": HadamardResponse,
    }
    epsilons, crowds = np.array([0.5, 1, 2, 3, 4]), np.array([1_000, 3_000, 10_000, 30_000])
    against_epsilon, against_people = {}, {}
    for name, kind in kinds.items():
        made: list[FrequencyOracle] = [kind(epsilon=each, categories=64) for each in epsilons]
        against_epsilon[name] = (
            np.array([error_stated(each, 3_000) for each in made]),
            np.array([error_seen(each, 3_000) for each in made]),
        )
        one: FrequencyOracle = kind(epsilon=EPSILON, categories=64)
        against_people[name] = (
            np.array([error_stated(one, int(each)) for each in crowds]),
            np.array([error_seen(one, int(each), times=3) for each in crowds]),
        )
    label = "error of a share, percentage points"
    for file, places, lines, at, rest in (
        ("crashes_epsilon.png", epsilons, against_epsilon, "ε of each report", "3 000 browsers"),
        ("crashes_people.png", crowds.astype(float), against_people, "browsers", f"ε = {EPSILON}"),
    ):
        title = f"64 sites, {rest}"
        plot_errors(places, lines, title=title, label=label, at=at).save(PICTURES / file)
        print(file)


if __name__ == "__main__":
    show_sites()
    show_unknown_sites()
    show_mean()
    show_errors()
