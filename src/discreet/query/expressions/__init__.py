"""Expressions over the columns of one row: what may be computed, and what is known of it."""
