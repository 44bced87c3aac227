"""Foundations of Privacy, lecture 7: noise for percentages, utility, and its exercises.

Run it with `python examples/course/foundations_of_privacy.py`; pictures go to
build/examples/course.
"""
# ruff: noqa: T201, B018 - an example prints, and a notebook shows what a cell ends with

# %% [markdown]
# # Noise for a percentage
#
# What percentage of the people earns more than 10 000? There are at least 1000 of them, and
# neighbours differ in one person's data. One person moves the percentage by 100 / 1000 at most, and
# that is what the noise must hide.

# %%
from fractions import Fraction
from itertools import product
from pathlib import Path

from discreet.mechanisms import REPLACE, Laplace, percentage
from discreet.plots.distributions import plot_heats
from discreet.utility import (
    Channel,
    best_remap,
    geometric_channel,
    graph_of,
    path,
    plain_utility,
    response_channel,
    uniform,
    utility,
)

PICTURES = Path("build/examples/course")
PICTURES.mkdir(parents=True, exist_ok=True)

noise = Laplace(epsilon=1, sensitivity=percentage(least=1000, neighbours=REPLACE))
print(f"one person moves it by {noise.sensitivity}, so the scale is {float(noise.scale):.3f}")
print(f"95 % of the answers are within ±{noise.margin(0.95):.2f} percentage points")

# %% [markdown]
# **Its truncated form.** What falls below 0 or above 100 is moved to the end. That is
# post-processing: it costs nothing. Of a true 100 %, half of the answers are exactly 100.

# %%
truncated = noise.truncated(0, 100)
likely = truncated.distribution(100).pmf(100)
print(f"P(100 | 100) = {likely:.4f}, at the same ε = {truncated.epsilon}")

# %% [markdown]
# # Utility
#
# A count from 0 to 20, geometric noise with α = ½, all counts as likely. What is a guess worth,
# if only the right one counts (identity), and if every step away costs 1 (distance)?

# %%
count, prior = geometric_channel(0, 20, alpha=Fraction(1, 2)), uniform(0, 20)
for gain in ("identity", "absolute"):
    print(f"{gain:9} {float(utility(count, prior, gain)):.6f}")

# %% [markdown]
# **A mechanism with the same ε and a lower utility.** Randomized response over all 21 counts treats
# every wrong answer alike, though only neighbours need to look alike.

# %%
response = response_channel(21, alpha=Fraction(1, 2))
print(
    "likelihood ratio of neighbours:",
    count.likelihood_ratio(path(0, 20)),
    "and",
    response.likelihood_ratio(path(0, 20)),
)
for gain in ("identity", "absolute"):
    print(f"{gain:9} {float(utility(response, prior, gain)):.6f} with randomized response")

# %% [markdown]
# **Can post-processing lower the utility?** Yes, of course: throw the answer away. Can it raise it?
# Never for a rational user, whose best guess has used all there is. For a user who takes outputs as
# they come it can, and the best remap is how.

# %%
constant = count.then(Channel([[1]] * 21))
print(f"thrown away: {float(utility(constant, prior)):.6f}")
rounded = count.then(Channel([[int(z // 5 * 5 == w) for w in range(21)] for z in range(21)]))
remap = best_remap(rounded, prior, "absolute")
print(f"rounded down to fives, as they are: {float(plain_utility(rounded, prior, 'absolute')):.3f}")
print(f"the same with the best guesses:     {float(remap.utility):.3f}")

# %% [markdown]
# **The definition by Hamming distance.** If neighbours differ in one place, databases that differ
# in d places have odds of at most e^(dε): a path of d neighbours joins them. Four people, each in
# or out of the count:

# %%
databases = list(product((0, 1), repeat=4))
apart = {(x, y): sum(a != b for a, b in zip(x, y)) for x in databases for y in databases}  # noqa: B905
neighbours = graph_of(databases, [pair for pair, distance in apart.items() if distance == 1])
answers = geometric_channel(0, 4, alpha=Fraction(1, 2)).lifted(databases, sum)
print("likelihood ratio of neighbours:", answers.likelihood_ratio(neighbours))
for d in (1, 2, 3, 4):
    far = graph_of(databases, [pair for pair, distance in apart.items() if distance == d])
    print(
        f"distance {d}: likelihood ratio up to {answers.likelihood_ratio(far)}, and 2^{d} = {2**d}"
    )

# %%
names = [str(y) for y in range(21)]
panels = [("geometric", count.to_floats()), ("randomized response", response.to_floats())]
picture = plot_heats(panels, title="The same ε, different utility", rows=names, columns=names)
print(picture.save(PICTURES / "foundations_of_privacy.png"))
picture
