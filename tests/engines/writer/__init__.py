"""Tests of discreet.engines.writer."""
