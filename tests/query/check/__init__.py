"""Tests of discreet.query.check."""
