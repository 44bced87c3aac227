"""Tests of sketches: channels, samplers, estimates."""
