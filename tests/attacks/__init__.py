"""Attacks on the whole path: what an analyst sees of two neighbouring databases is the same."""
