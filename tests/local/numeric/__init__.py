"""Tests of bounded numbers: means and histograms."""
