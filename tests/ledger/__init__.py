"""Tests of the ledger: its contract, crashes, races, edits, and files that fail."""
