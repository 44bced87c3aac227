"""Hypothesis without a clock: how long an exact fraction takes is not what is tested here."""

from hypothesis import settings

settings.register_profile("exact", deadline=None)
settings.load_profile("exact")
