"""Privacy Preserving Information Access, part II: coins, histograms, an auction, a threshold.

Run it with `python examples/course/information_access.py`; pictures go to build/examples/course.
"""
# ruff: noqa: T201, B018 - an example prints, and a notebook shows what a cell ends with

# %% [markdown]
# # Two coins
#
# Heads, tell the truth; tails, let a second coin answer. The truth is reported three times out of
# four, and ε = ln 3. What can be believed of someone who answered yes?

# %%
from fractions import Fraction
from pathlib import Path

import numpy as np

from discreet.mechanisms import (
    AboveThreshold,
    Exponential,
    Gaussian,
    Laplace,
    RandomizedResponse,
    histogram,
)
from discreet.plots.distributions import plot_bars
from discreet.utility import Prior, belief_after, belief_bounds, response_channel

PICTURES = Path("build/examples/course")
PICTURES.mkdir(parents=True, exist_ok=True)

coins = RandomizedResponse.fair_coins()
channel = response_channel(("no", "yes"), alpha=Fraction(1, 3))
belief = belief_after(channel, Prior({"no": 0.9, "yes": 0.1}), "yes")
print(f"ε = {float(coins.epsilon):.6f}; from 10 % to {float(belief['yes']):.0%} after a yes")
low, high = belief_bounds(0.1, coins.epsilon)
print(f"no answer at this ε can move it beyond {low:.1%} … {high:.1%}")

# %% [markdown]
# # Ten thousand names
#
# How often does each of 10,000 first names occur? Bins are disjoint, so the histogram costs as
# much as one count. All of them are within ln(10,000 / 0.05) with 95% confidence.

# %%
names = Laplace(epsilon=1, sensitivity=histogram())
print(f"one bin ±{names.margin(0.95):.2f}, all of them ±{names.margin(0.95, answers=10_000):.2f}")
classical = Gaussian(epsilon=0.5, delta=1e-5, sensitivity=1, calibration="classical")
analytic = Gaussian(epsilon=0.5, delta=1e-5, sensitivity=1)
print(
    f"σ by the classical formula {float(classical.scale):.3f}, exactly {float(analytic.scale):.3f}"
)

# %% [markdown]
# # An auction
#
# Four bids: 4.10 and three times 1. At which price is the revenue best? One bid more or less moves
# the revenue of a price by up to 4.20. Revenue only grows with more bids, so the exponent need
# not be halved.

# %%
prices = [Fraction(tenths, 10) for tenths in range(1, 43)]
bids = (Fraction("4.1"), 1, 1, 1)
revenues = [float(price * sum(bid >= price for bid in bids)) for price in prices]
halved = Exponential(epsilon=5, sensitivity=4.2)
full = Exponential(epsilon=5, sensitivity=4.2, monotone=True)
for name, mechanism in (("halved", halved), ("monotone", full)):
    probabilities = np.array(mechanism.distribution(revenues).probabilities)
    print(
        f"{name:8} expected revenue {probabilities @ np.array(revenues):.3f} of {max(revenues):.1f}"
    )

# %% [markdown]
# # The first one above a threshold
#
# However many queries are run, only the one positive answer is charged for.

# %%
watch = AboveThreshold(epsilon=0.5, sensitivity=1, threshold=100, threshold_share=0.5)
visits = [12, 80, 95, 240, 180, 30]
first = watch.release(visits)
print(f"noise of scale {float(watch.threshold_scale):g} and {float(watch.question_scale):g}")
print("nothing above 100" if first is None else f"day {first} is above 100")

# %%
shown = [
    prices.index(Fraction(each)) for each in ("0.5", "0.9", "1", "1.1", "2", "3", "4.1", "4.2")
]
series = {
    name: [100 * mechanism.distribution(revenues).probabilities[i] for i in shown]
    for name, mechanism in (("halved exponent", halved), ("monotone", full))
}
labels = [f"{float(prices[i]):.1f}" for i in shown]
picture = plot_bars(labels, series, {}, title="Which price, at ε = 5?", label="probability, %")
print(picture.save(PICTURES / "information_access.png"))
picture
