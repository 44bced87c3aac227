"""Privacy Engineering, week 4: a count of 55, two worlds, budgets, and averaging.

Run it with `python examples/course/privacy_engineering.py`; pictures go to build/examples/course.
"""
# ruff: noqa: T201, B018 - an example prints, and a notebook shows what a cell ends with

# %% [markdown]
# # A count of 55
#
# Laplace noise rounded to whole numbers, or geometric noise, at the same ε = 1: the second is right
# more often.

# %%
from math import log
from pathlib import Path

import numpy as np

from discreet.accounting import Budget, PureEvent
from discreet.attacks import Discreet, FreshLaplace, averaging
from discreet.mechanisms import Geometric, Laplace, RandomizedResponse, bounded_sum
from discreet.plots.answers import Panel, plot_answer_lines
from discreet.utility import (
    belief_after_counts,
    event_bounds,
    geometric_channel,
    laplace_channel,
    mean_is_exact,
    uniform,
    world_bounds,
)

PICTURES = Path("build/examples/course")
PICTURES.mkdir(parents=True, exist_ok=True)

for name, channel in (
    ("Laplace, rounded", laplace_channel(0, 110, epsilon=1)),
    ("geometric", geometric_channel(0, 110, epsilon=1)),
):
    chances = [float(channel.probability(z, given=55)) for z in (55, 54)]
    print(f"{name:16} P(55) = {chances[0]:.4f}, P(54) = {chances[1]:.4f}")

# %% [markdown]
# # Two worlds
#
# Something happens with chance 0.5 in the world with Bob's data. In the world without them, its
# chance lies between 0.18 and 0.82. A *belief* that is 0.5 with them can be farther off without.

# %%
print("an event: {:.4f} … {:.4f}".format(*event_bounds(0.5, 1)))
print("a belief: {:.4f} … {:.4f}".format(*world_bounds(0.5, 1)))

# %% [markdown]
# # A budget
#
# 0.6 for one answer and 0.1 for each of four more make 1. The next one is refused. (The lecture
# writes Lap(0.6) where it means ε = 0.6, that is scale 1 / 0.6.)

# %%
budget = Budget(epsilon=1).charge(PureEvent(epsilon=0.6))
for _ in range(4):
    budget = budget.charge(PureEvent(epsilon=0.1))
print(f"left: {float(budget.remaining().epsilon):g}")
scholarships = Laplace(epsilon=0.1, sensitivity=bounded_sum(0, 6000))
print(f"a sum of scholarships up to 6000 has noise of scale {float(scholarships.scale):g}")
lie = RandomizedResponse(epsilon=8).distribution(0).pmf(1)
print(f"at ε = 8 one answer in {1 / lie:.0f} is a lie")

# %% [markdown]
# # Averaging
#
# Asked ten times without a budget, the rounded mean of the answers is exact three times out of
# four. A rational attacker does better than to average: the belief after all answers.

# %%
mechanism = Geometric(epsilon=1, sensitivity=1)
print(f"ten answers: the mean is exact with {mean_is_exact(mechanism.distribution(55), 10):.3f}")
answers = [mechanism.release(55) for _ in range(10)]
belief = belief_after_counts(uniform(0, 110), answers, epsilon=1)
likely = max(belief.labels, key=lambda count: belief[count])
print(f"answers {answers}: belief in {likely} is {float(belief[likely]):.3f}")

# %% [markdown]
# The same as an attack on made-up people, of whom all but one are known. Noise that is drawn anew
# tells the secret in the end; Discreet keeps its answer, and more of the same tell nothing more.

# %%
for defence, queries in ((FreshLaplace(each=1), 32), (Discreet(epsilon=1, each=1), 4)):
    print(averaging(defence, people=20, queries=queries, trials=20).verdict)

# %%
tries = np.arange(1, 61)
panel = Panel(
    title="chance that the rounded mean is the exact count",
    values=np.array(
        [
            mean_is_exact(Geometric(epsilon=epsilon, sensitivity=1).distribution(0), int(k))
            for epsilon in (1, log(2), 0.3)
            for k in tries
        ]
    ),
)
rows = {f"ε = {name} each": np.arange(60) + 60 * i for i, name in enumerate(("1", "ln 2", "0.3"))}
picture = plot_answer_lines(np.tile(tries, 3).astype(float), [panel], lines=rows, label="answers")
print(picture.save(PICTURES / "privacy_engineering.png"))
picture
