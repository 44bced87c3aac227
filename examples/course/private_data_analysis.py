"""CS 860, lecture 4: many counts, both kinds of neighbours, and groups.

Run it with `python examples/course/private_data_analysis.py`; pictures go to build/examples/course.
"""
# ruff: noqa: T201, B018 - an example prints, and a notebook shows what a cell ends with

# %% [markdown]
# # Neighbours
#
# If a person is added or removed, one bin of a histogram moves by 1. If a person's data change, one
# bin loses what another gains, and the sensitivity is 2. Both are right; mixing them up is not.

# %%
from pathlib import Path

import numpy as np

from discreet.accounting import compose, for_group
from discreet.mechanisms import REPLACE, Geometric, Laplace, counting_queries, histogram
from discreet.plots.answers import Panel, plot_answer_lines
from discreet.utility import Prior, conflict, histograms

PICTURES = Path("build/examples/course")
PICTURES.mkdir(parents=True, exist_ok=True)

for name, kind in (("add or remove", histogram()), ("replace", histogram(REPLACE))):
    error = Laplace(epsilon=1, sensitivity=kind).margin(0.95, answers=10_000)
    print(f"{name:13} sensitivity {kind.l1}, 10 000 bins ±{error:.2f}")

# %% [markdown]
# # Fifty counts
#
# Counts that are fixed in advance share ε: each has noise of scale 50. With a small δ the same
# fifty cost much less than the sum of their prices.

# %%
fifty = Laplace(epsilon=1, sensitivity=counting_queries(50))
print(f"fifty counts together: scale {float(fifty.scale):g} each")
one = Geometric(epsilon=0.1, sensitivity=1).event
print(
    f"fifty counts at ε = 0.1: {float(compose(one * 50).epsilon):g} by adding up, "
    f"{float(compose(one * 50, delta=1e-6).epsilon):.3f} with δ = 1e-6"
)

# %% [markdown]
# # Groups
#
# What is ε-private for a person is kε-private for a family of k.

# %%
for size in (1, 2, 5, 10):
    print(f"{size:2} people: ε = {float(compose(for_group(one, size)).epsilon):g}")

# %% [markdown]
# # No one mechanism for histograms
#
# For counts the geometric mechanism serves all rational users best. For histograms no mechanism
# does: of two people in three bins, one user guesses any histogram, another expects one of two.
# Together they can have less than the sum of what each could have.

# %%
bins = histograms(2, 3)
everyone = Prior(dict.fromkeys(bins.nodes, 1))
two = Prior({node: int(i < 2) for i, node in enumerate(bins.nodes)})
found = conflict(bins, 0.7, (everyone, "identity"), (two, "identity"))
print(
    f"apart {float(found.first.utility + found.second.utility):.4f}, "
    f"together at most {float(found.together.bound):.4f}: proved {found.is_proved}"
)

# %%
counts = np.arange(1, 201, dtype=np.float64)
adding = np.array([float(compose(one * int(k)).epsilon) for k in counts])
composed = np.array([float(compose(one * int(k), delta=1e-6).epsilon) for k in counts[9::10]])
panel = Panel(title="ε of counts at 0.1 each", values=np.concatenate([adding, composed]))
rows = {"added up": np.arange(200), "with δ = 1e-6": np.arange(200, 220)}
places = np.concatenate([counts, counts[9::10]])
picture = plot_answer_lines(places, [panel], lines=rows, label="counts")
print(picture.save(PICTURES / "private_data_analysis.png"))
picture
