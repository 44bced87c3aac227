"""Tests of RAPPOR: prices, reports, decoding, discovery."""
