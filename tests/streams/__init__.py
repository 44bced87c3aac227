"""Tests of discreet.streams."""
