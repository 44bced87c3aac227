"""Benchmarks that others wrote, on small tables of our own."""
