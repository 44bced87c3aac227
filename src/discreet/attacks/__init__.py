"""Attacks on systems that answer questions about people: what goes wrong, and what holds."""
