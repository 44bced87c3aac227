"""Tests of discreet.engines.spark."""
