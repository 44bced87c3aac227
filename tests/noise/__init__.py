"""Tests of the samplers: exact brackets, exact laws, the source, the borders."""
