"""Tests of discreet.query.plan."""
