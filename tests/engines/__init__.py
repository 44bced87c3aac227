"""Engines: their SQL, and what they do with awkward data."""
