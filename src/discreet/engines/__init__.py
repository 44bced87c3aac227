"""Engines store the tables and run exact queries, each in its own dialect of SQL."""
