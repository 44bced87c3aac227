"""Tests of reports over time."""
