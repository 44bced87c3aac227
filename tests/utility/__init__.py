"""Tests of local privacy: channels, samplers, estimates, collections."""
