"""Tests of discreet.query.expressions."""
