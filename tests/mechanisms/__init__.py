"""Tests of the mechanisms: odds, fits, calibration, honesty of errors, refusals, audits."""
