"""Tests of the magics of notebooks."""
