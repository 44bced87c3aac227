"""Engines hold the tables and run exact queries; each speaks its own SQL."""
