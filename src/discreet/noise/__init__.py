"""Exact, cryptographically random, vectorized noise.

Given ideal random bits, every function samples exactly the distribution it states. None takes a
seed.
"""

from discreet.noise.coins import bernoulli, bernoulli_exp, responses
from discreet.noise.gaussian import discrete_gaussian
from discreet.noise.laplace import discrete_laplace, geometric, truncated_laplace
from discreet.noise.selection import (
    exponential_choice,
    exponential_run_choice,
    permute_and_flip_choice,
)
from discreet.noise.source import SYSTEM, Entropy, SystemEntropy
from discreet.noise.trust import check_floats
from discreet.noise.uniform import permutation, uniform_integers

__all__ = [
    "SYSTEM",
    "Entropy",
    "SystemEntropy",
    "bernoulli",
    "bernoulli_exp",
    "discrete_gaussian",
    "discrete_laplace",
    "exponential_choice",
    "exponential_run_choice",
    "geometric",
    "permutation",
    "permute_and_flip_choice",
    "responses",
    "truncated_laplace",
    "uniform_integers",
]

check_floats()
