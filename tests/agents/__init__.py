"""Tests of the interface for agents."""
