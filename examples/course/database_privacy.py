"""CSCI 5440, database privacy: Eve, the grades, and what ε promises about beliefs.

Run it with `python examples/course/database_privacy.py`; pictures go to build/examples/course.
"""
# ruff: noqa: T201, B018 - an example prints, and a notebook shows what a cell ends with

# %% [markdown]
# # Eve and the grades
#
# Two women took the exam, and Eve believes of each that she failed with chance 0.4. She asks how
# many women failed. The answer has noise: right with 25 %, within 1 with 55 %, within 2 with 73 %.

# %%
from math import log, sqrt
from pathlib import Path

import numpy as np

from discreet.mechanisms import Geometric
from discreet.plots.answers import Panel, plot_answer_lines
from discreet.utility import belief_after_counts, belief_bounds, independent

PICTURES = Path("build/examples/course")
PICTURES.mkdir(parents=True, exist_ok=True)

epsilon = log(5 / 3)
law = Geometric(epsilon=epsilon, sensitivity=1).distribution(0)
print([round(law.cdf(n) - law.cdf(-n - 1), 10) for n in (0, 1, 2)])
before = independent(0.4, 0.4)


def aisha(*answers: int) -> float:
    """Return what Eve believes of Aisha after these answers."""
    belief = belief_after_counts(before, answers, alpha=0.6, of=sum)
    return float(belief.probability(lambda women: women[0] == 1))


for answer in (0, 1, 2):
    print(f"after the answer {answer}: {aisha(answer):.4f}")

# %% [markdown]
# The lecture prints 0.43 for the answer 1. It is 14/33 = 0.4242…

# %% [markdown]
# # What ε promises
#
# Whatever Eve believes of one person before, the odds move by e^ε at most. Asked once, this noise
# keeps 0.4 between 0.286 and 0.526. Asked k times, it is kε that counts.

# %%
low, high = belief_bounds(0.4, epsilon)
print(f"once: {low:.4f} … {high:.4f}")
for k in (1, 2, 5, 10):
    most = belief_bounds(0.4, k * epsilon)[1]
    print(f"{k:2} times the answer 2: {aisha(*[2] * k):.4f}, at most {most:.4f}")

# %% [markdown]
# # How far off is a count?
#
# At ε = 0.1 the standard deviation of whole-numbered noise is a little less than that of the
# continuous law, √2 / ε.

# %%
tenth = Geometric(epsilon=0.1, sensitivity=1)
print(f"{sqrt(tenth.distribution(0).variance):.3f}, and continuous {sqrt(2) / 0.1:.3f}")

# %%
q = np.linspace(0.01, 0.99, 99)
bounds = np.array([belief_bounds(float(each), epsilon) for each in q])
panel = Panel(title="belief afterwards, ε = ln(5/3)", values=np.concatenate([q, *bounds.T]))
rows = {name: np.arange(99) + 99 * i for i, name in enumerate(("no answer", "least", "largest"))}
picture = plot_answer_lines(np.tile(q, 3), [panel], lines=rows, label="belief before")
print(picture.save(PICTURES / "database_privacy.png"))
picture
