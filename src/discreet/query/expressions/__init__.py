"""Expressions over the columns of one row: supported functions, and facts about their values."""
