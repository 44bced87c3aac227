"""Tests of discreet.opening."""
