"""Playgrounds: every number is the library's, parameters are bounded, and everybody may look."""

import json
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from math import exp, isclose, log
from pathlib import Path
from typing import Any

import pytest

from discreet.accounting import compose
from discreet.attacks import Step
from discreet.mechanisms import (
    Exponential,
    Gaussian,
    Geometric,
    Laplace,
    NoisyMax,
    RandomizedResponse,
    Sparse,
    Staircase,
)
from discreet.server.learn.composition import COUNTS, METHODS
from discreet.server.learn.course import course_numbers
from discreet.server.learn.noise import EPSILONS
from discreet.server.learn.streams import STREAM
from discreet.utility import Prior, belief_bounds, posterior
from tests.server.running import BASE, Served, serving, write_catalog

GOLDEN = Path(__file__).parent.parent / "golden" / "lectures.json"
CURVES = 1e-5  # curves are sent in six digits
LEARN = "/v1/learn"

ROUTES = (
    *("neighbours", "draws", "error", "belief", "crowd", "auction", "noisy-max", "stream"),
    "composition",
)


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("clinic")
    config = folder / "server.toml"
    config.write_text("[limits]\nburst = 100000\n")
    with serving(write_catalog(folder), "--config", str(config)) as found:
        yield found


def learned(served: Served, route: str, who: str = "ann", **body: Any) -> Any:
    reply = served.call("POST", f"{LEARN}/{route}", who, json=body)
    assert reply.status_code == 200, reply.text
    assert len(reply.content) < 100_000
    return reply.json()


def is_near(found: list[float], wanted: list[float]) -> bool:
    pairs = zip(found, wanted, strict=True)
    return all(isclose(a, b, rel_tol=CURVES, abs_tol=1e-12) for a, b in pairs)


# --------------------------------------------------------------------------- who may call


@pytest.mark.parametrize("route", ROUTES)
def test_everybody_who_is_signed_in_may_look(served: Served, route: str) -> None:
    for who in ("guest", "ann", "boss"):
        assert learned(served, route, who)
    assert served.call("POST", f"{LEARN}/{route}", None, json={}).status_code == 401


def test_nothing_is_spent_or_written_down(served: Served) -> None:
    before = served.call("GET", f"{BASE}/budget").json()
    learned(served, "attack", attack="averaging", against="discreet")
    learned(served, "neighbours")
    assert served.call("GET", f"{BASE}/budget").json() == before
    assert served.call("GET", f"{BASE}/history").json() == {"entries": []}


@pytest.mark.parametrize(
    ("route", "body"),
    [
        ("neighbours", {"epsilon": 0.001}),
        ("neighbours", {"epsilon": 11}),
        ("neighbours", {"epsilon": "1/0"}),
        ("neighbours", {"sensitivity": 101}),
        ("neighbours", {"mechanism": "gaussian", "delta": 0.5}),
        ("neighbours", {"mechanism": "cauchy"}),
        ("neighbours", {"people": 3}),
        ("draws", {"count": 201}),
        ("draws", {"prior": 0}),
        ("error", {"answers": 10_001}),
        ("error", {"confidence": 0.9999}),
        ("belief", {"prior": 1}),
        ("crowd", {"people": 1001}),
        ("crowd", {"share": 1.5}),
        ("auction", {"bids": [1] * 13}),
        ("auction", {"bids": [4.3]}),
        ("auction", {"draws": 201}),
        ("noisy-max", {"scores": [1] * 13}),
        ("noisy-max", {"scores": [1, 1001]}),
        ("stream", {"hits": 9}),
        ("composition", {"count": 1001}),
        ("composition", {"budget": 1000}),
        ("attack", {"attack": "timing", "against": "raw"}),
        ("attack", {"attack": "averaging", "against": "raw", "before": [{"queries": 1}]}),
    ],
)
def test_parameters_have_public_bounds(served: Served, route: str, body: dict[str, Any]) -> None:
    reply = served.call("POST", f"{LEARN}/{route}", json=body)
    assert reply.status_code == 422
    assert set(reply.json()["error"]) >= {"code", "message", "remedy"}


def test_fractions_are_read_exactly(served: Served) -> None:
    found = learned(served, "neighbours", mechanism="laplace", epsilon="1/3")
    assert found["ratio"] == exp(Fraction(1, 3))


# --------------------------------------------------------------------------- noise


@pytest.mark.parametrize("kind", ["geometric", "laplace", "gaussian", "staircase"])
@pytest.mark.parametrize("sensitivity", [1, 3])
def test_curves_are_those_of_the_mechanism(served: Served, kind: str, sensitivity: int) -> None:
    body: dict[str, Any] = {"mechanism": kind, "epsilon": 0.5, "sensitivity": sensitivity}
    found = learned(served, "neighbours", **body)
    terms: dict[str, Any] = {"epsilon": Fraction(1, 2), "sensitivity": sensitivity}
    kinds: dict[str, Any] = {"geometric": Geometric, "laplace": Laplace, "staircase": Staircase}
    made: Any = Gaussian(**terms, delta=1e-5) if kind == "gaussian" else kinds[kind](**terms)
    assert found["exact"] == [100, 100 + sensitivity]
    assert found["margin"] == made.margin(0.95)
    assert found["ratio"] == exp(0.5)
    middle = found["places"].index(100)
    if kind != "gaussian":
        law = made.distribution(100)
        height = law.pmf(100) if kind == "geometric" else law.density(100)
        assert isclose(found["without_you"][middle], height, rel_tol=CURVES)
    inside = [abs(each) <= 0.5 + 1e-5 for each in found["loss"]]
    assert all(inside) == (kind != "gaussian")  # its tails leave the band, which delta allows
    for low, here, high in zip(found["low"], found["without_you"], found["high"], strict=True):
        assert isclose(low * exp(0.5), here, rel_tol=1e-4)
        assert isclose(here * exp(0.5), high, rel_tol=1e-4)


def test_a_draw_moves_a_belief_by_its_likelihoods(served: Served) -> None:
    body: dict[str, Any] = {"mechanism": "geometric", "epsilon": 1, "prior": 0.25, "count": 200}
    draws = learned(served, "draws", **body)["draws"]
    assert len(draws) == 200
    made = Geometric(epsilon=1, sensitivity=1)
    low, high = belief_bounds(Fraction(1, 4), 1)
    for each in draws:
        value = int(each["value"])
        after = posterior(Prior([3, 1]), lambda you, at=value: made.distribution(100 + you).pmf(at))
        assert isclose(each["belief"], float(after[1]))
        assert low - 1e-9 <= each["belief"] <= high + 1e-9
    with_you = sum(each["is_with_you"] for each in draws)
    assert 14 <= with_you <= 92  # 200 coins of 1/4: wrong once in 10^9


def test_no_draw_is_an_empty_list(served: Served) -> None:
    assert learned(served, "draws", count=0) == {"draws": []}


def test_margins_are_those_of_the_mechanisms(served: Served) -> None:
    found = learned(served, "error", sensitivity=2, answers=100, confidence=0.9, epsilon=0.7)
    assert set(found["margins"]) == {"geometric", "laplace", "gaussian"}
    laplace = [Laplace(epsilon=e, sensitivity=2).margin(0.9, 100) for e in EPSILONS]
    assert is_near(found["margins"]["laplace"], laplace)
    assert found["at"]["geometric"] == Geometric(epsilon=0.7, sensitivity=2).margin(0.9, 100)
    assert "staircase" in learned(served, "error")["margins"]


def test_beliefs_stay_in_their_bounds(served: Served) -> None:
    found = learned(served, "belief", prior=0.4, epsilon=0.5)
    assert found["at"] == list(belief_bounds(Fraction(2, 5), Fraction(1, 2)))
    highest = [belief_bounds(Fraction(i, 100), Fraction(1, 2))[1] for i in range(101)]
    assert is_near(found["high"], highest)
    value = learned(served, "belief", prior=0.4, epsilon=0.5, about="value")
    assert value["at"] == list(belief_bounds(Fraction(2, 5), 1))


# --------------------------------------------------------------------------- other mechanisms


def test_a_crowd_is_estimated_by_the_library(served: Served) -> None:
    found = learned(served, "crowd", epsilon=2, share=0.3, people=500)
    response = RandomizedResponse(epsilon=2)
    wanted = response.estimate([int(each) for each in found["reported"]])
    assert found["estimate"] == wanted.shares[1]
    assert found["margin"] == wanted.error[1] / 500
    assert found["honest"] == response.probability
    assert Counter(found["held"]) == {"1": 150, "0": 350}
    again = learned(served, "crowd", epsilon=2, share=0.3, people=500)
    assert again["held"] == found["held"]
    assert again["reported"] != found["reported"]


@pytest.mark.parametrize("is_monotone", [True, False])
def test_prices_are_chosen_by_the_exponential_mechanism(served: Served, is_monotone: bool) -> None:
    body: dict[str, Any] = {
        "epsilon": 2,
        "bids": [4.1, 1, "1", 1],
        "is_monotone": is_monotone,
        "draws": 20,
    }
    found = learned(served, "auction", **body)
    made = Exponential(epsilon=2, sensitivity=Fraction(42, 10), monotone=is_monotone)
    chances = made.distribution(found["revenues"]).probabilities
    assert is_near(found["probabilities"], list(chances))
    assert found["margin"] == made.margin(0.95, candidates=42)
    assert (found["best"], len(found["chosen"]), len(found["prices"])) == (4.1, 20, 42)
    for here, there in zip(found["probabilities"], found["without_first"], strict=True):
        assert abs(log(here / there)) <= 2 + 1e-4


def test_the_largest_count_is_named_by_noisy_max(served: Served) -> None:
    found = learned(served, "noisy-max", epsilon=0.3, scores=[20, 20, 3], draws=30)
    made = NoisyMax(epsilon=0.3, sensitivity=1, monotone=True)
    chances = made.distribution([20, 20, 3]).probabilities
    assert is_near(found["probabilities"], list(chances))
    assert isclose(found["best"], chances[0] + chances[1])
    assert isclose(found["shortfall"], 17 * chances[2])
    assert found["margin"] == made.margin(0.95, candidates=3)
    assert set(found["chosen"]) <= {0, 1, 2}
    assert found["exponential"][2] >= found["probabilities"][2]


def test_a_stream_stops_after_its_hits(served: Served) -> None:
    found = learned(served, "stream", epsilon=10, threshold=90, hits=2)
    made = Sparse(epsilon=10, sensitivity=1, threshold=90, answers=2, monotone=True)
    assert found["values"] == list(STREAM)
    assert sum(found["above"]) <= 2
    assert found["above"][-1] or len(found["above"]) == len(STREAM)
    assert found["margin"] == made.margin(0.95, questions=len(STREAM))
    assert found["query_scale"] == float(made.question_scale)
    total = found["threshold_epsilon"] + 2 * found["hit_epsilon"]
    assert isclose(total, 10)


def test_answers_cost_what_the_accountants_prove(served: Served) -> None:
    found = learned(served, "composition", epsilon=0.1, count=50, delta=1e-6, budget=3)
    one = Laplace(epsilon=Fraction(1, 10), sensitivity=1).event
    wanted = compose(one * 50, 1e-6).alternatives
    assert found["at"] == {name: float(wanted[each]) for name, each in METHODS.items()}
    assert found["counts"] == list(COUNTS)
    assert found["fits"]["basic"] == 30
    most = found["fits"]["PLD"]
    assert float(compose(one * most, 1e-6).alternatives["PLD"]) <= 3
    assert float(compose(one * (most + 1), 1e-6).alternatives["PLD"]) > 3


@pytest.mark.parametrize("epsilon", [0.01, 10])
def test_composition_works_at_the_ends_of_its_range(served: Served, epsilon: float) -> None:
    found = learned(served, "composition", epsilon=epsilon, count=1000, delta=1e-12, budget=100)
    assert isclose(found["at"]["basic"], 1000 * epsilon)
    assert found["fits"]["basic"] == min(1000, 100 / epsilon)


# --------------------------------------------------------------------------- attacks


@pytest.mark.parametrize("attack", ["averaging", "differencing", "reconstruction"])
def test_attacks_add_up_from_call_to_call(served: Served, attack: str) -> None:
    first = learned(served, "attack", attack=attack, against="raw")
    tally = [
        {name: each[name] for name in ("queries", "right", "guesses")} for each in first["steps"]
    ]
    second = learned(served, "attack", attack=attack, against="raw", before=tally)
    last, former = second["steps"][-1], first["steps"][-1]
    assert last["guesses"] == 2 * former["guesses"]
    assert last["success"] == 1  # exact answers reveal everything
    step = Step(queries=last["queries"], right=last["right"], guesses=last["guesses"])
    assert last["interval"] == list(step.interval)
    assert (second["guessing"], second["allowed"]) == (0.5, None)


def test_discreet_stops_when_its_budget_is_spent(served: Served) -> None:
    found = learned(served, "attack", attack="differencing", against="discreet", epsilon=2)
    assert found["stopped_after"] == 10
    assert isclose(found["allowed"], 1 / (1 + exp(-4)))


# --------------------------------------------------------------------------- the course


def test_numbers_of_courses_are_those_of_the_lectures(served: Served) -> None:
    listed = {each["id"]: each for each in json.loads(GOLDEN.read_text(encoding="utf-8"))}
    found = served.call("GET", f"{LEARN}/course", "guest").json()["numbers"]
    assert len(found) == len(course_numbers().numbers)
    for each in found:
        wanted = listed[each["id"]]
        values = wanted["value"] if isinstance(wanted["value"], list) else [wanted["value"]]
        assert each["source"].split(",")[0] == wanted["source"].split(",")[0]
        for ours, theirs in zip(each["values"], values, strict=True):
            assert isclose(ours, theirs, rel_tol=2.6e-3 if each["id"] == "averaging" else 1e-4)
