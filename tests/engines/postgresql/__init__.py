"""Tests of discreet.engines.postgresql."""
