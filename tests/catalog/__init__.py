"""Tests of the catalog: what is refused and where, round trips, drafts, bounds found privately."""
