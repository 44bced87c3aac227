"""Tests of discreet.engines.duckdb."""
