"""Queries in cells of a notebook, with the magics of `%load_ext discreet`.

This is the source of `examples/notebook.ipynb`, which is run in Jupyter. Comments that begin with a
percent sign are magics there; as a script, only the Python cells run.
"""
# ruff: noqa: T201 - it prints

# %% [markdown]
# # Ask from a notebook
#
# `%load_ext discreet` adds cells that are queries. They take the options of `discreet ask`.
# You need `pip install 'discreet[notebooks,plots]'`.

# %%
from pathlib import Path
from tempfile import mkdtemp

import duckdb

import discreet
from discreet.demo import write_clinic

# %load_ext discreet
clinic = discreet.open(write_clinic(Path(mkdtemp())))

# %% [markdown]
# A preview is free. It says what a query would cost and how large its margins of error would be.

# %%explain --epsilon 0.5
# SELECT region, COUNT(*) AS visits
# FROM visits
# GROUP BY region

# %% [markdown]
# `%%ask` runs the query and stores its answer under a name. State what it may cost, or the
# margin of error that you need.

# %%ask --epsilon 0.5 regions --plot
# SELECT region, COUNT(*) AS visits
# FROM visits
# GROUP BY region

# %% [markdown]
# In Python the same query is free, because its answer is saved. Polars, pandas and DuckDB read an
# answer as an Arrow table.

# %%
answer = clinic.ask("SELECT region, COUNT(*) AS visits FROM visits GROUP BY region", epsilon=0.5)
print(duckdb.sql("SELECT region, visits FROM answer ORDER BY visits DESC"))

# %% [markdown]
# A placeholder such as `:age` is the variable of that name. Its value is never read as SQL.

# %%
age = 65

# %%ask --within 200
# SELECT COUNT(*) AS visits FROM visits WHERE age >= :age

# %% [markdown]
# `%budget` shows what remains. Repeating a query is free.

# %%
# %budget
