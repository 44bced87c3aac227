"""Tests of the interface of PEP 249."""
