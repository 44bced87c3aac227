"""Tests of discreet.bounds."""
