"""Tests: the same tree as src/discreet, and what they share."""
