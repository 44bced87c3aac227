"""Tests of the frequency oracles."""
